/// The machine, the board, the disk and the file to which a receiver's identity is bound, in addition to its random bytes. So
/// a copy of the random bytes makes another receiver: a cloned disk has the same machine id and the same files, but another
/// disk id; a restored backup is a file with a later birth time.
package struct ReceiverBinding: Equatable, Sendable {
    /// The id of the installation; empty if it has none.
    package var machineID: [UInt8] = []
    /// When the file with the random bytes was made, in whole seconds since 1970; 0 if the file system does not keep it.
    package var birthUnixSeconds: Int64 = 0
    /// The maker's id of the disk; empty if the disk has none or does not report it.
    package var diskID: [UInt8] = []
    /// The maker's id of the board; empty if the board has none.
    package var boardID: [UInt8] = []

    /// Creates a binding to nothing.
    package init() {}

    /// The paths at which Linux describes the machine, the board and the disks.
    package struct Places: Equatable, Sendable {
        /// The machine's id.
        package var machineID = "/etc/machine-id"
        /// The board's serial number, on boards described by a device tree.
        package var boardID = "/sys/firmware/devicetree/base/serial-number"
        /// The directory with an entry for each block device, named by the device's numbers.
        package var blockDevices = "/sys/dev/block"

        /// The usual paths.
        package init() {}
    }

    /// Finds what the file at `path` can be bound to.
    /// - Throws: ``JournalError/file(_:)`` if the file or the machine's id cannot be read.
    init(of path: String, _ places: Places, _ fileSystem: any FileSystem) throws(JournalError) {
        machineID = try SmallFile.contents(of: places.machineID, fileSystem).filter { $0 > 0x20 }
        let origin = try JournalError.wrapping { () throws(FileFailure) in
            let file = try fileSystem.open(path, .reading)
            defer { fileSystem.close(file) }
            return try fileSystem.origin(of: file)
        }
        birthUnixSeconds = origin.birthUnixSeconds
        boardID = Self.attribute(places.boardID, fileSystem)
        // Major number 0 means that the file is on no block device, but in a network, memory or composed file system.
        guard origin.deviceMajor != 0 else { return }
        let device = "\(places.blockDevices)/\(origin.deviceMajor):\(origin.deviceMinor)"
        // The entry is a link to the directory of the disk or of a partition below it. Only the first attribute found is used, so
        // that the id stays the same if a kernel adds an attribute later in the list: an SD card has `cid` and `serial`.
        for parent in [device, "\(device)/.."] {
            for name in ["cid", "serial", "wwid"] {
                diskID = Self.attribute("\(parent)/device/\(name)", fileSystem)
                if !diskID.isEmpty { return }
            }
        }
    }

    /// The value of a kernel attribute; empty if it cannot be read, as is always the case for a device without that
    /// attribute.
    private static func attribute(_ path: String, _ fileSystem: any FileSystem) -> [UInt8] {
        do throws(JournalError) { return try SmallFile.contents(of: path, fileSystem).filter { $0 > 0x20 } } catch {
            return []
        }
    }

    /// The fields as bytes, separated by zero bytes.
    var bytes: [UInt8] {
        machineID + [0] + Array(String(birthUnixSeconds).utf8) + [0] + diskID + [0] + boardID
    }
}
