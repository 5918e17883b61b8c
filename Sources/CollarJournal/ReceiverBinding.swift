/// What a receiver's identity is bound to besides its random bytes, so that a copy of them is another receiver: to the
/// machine, to the board, to the disk, and to the very file. A cloned disk has the same machine id and the same files, but
/// another number of its own; a restored backup is a file made later.
public struct ReceiverBinding: Equatable, Sendable {
    /// The text that names the installation; empty where it has none.
    public var machineID: [UInt8] = []
    /// When the file with the random bytes was made, in whole seconds since 1970; 0 where the file system does not keep it.
    public var birthUnixSeconds: Int64 = 0
    /// The number that the maker of the disk gave it; empty where it has none, or none is told.
    public var diskID: [UInt8] = []
    /// The number that the maker of the board gave it; empty where it has none.
    public var boardID: [UInt8] = []

    /// Bound to nothing.
    public init() {}

    /// Where Linux tells of machine, board and disks.
    public struct Places: Equatable, Sendable {
        /// The machine's id.
        public var machineID = "/etc/machine-id"
        /// The board's serial number, on boards described by a device tree.
        public var boardID = "/sys/firmware/devicetree/base/serial-number"
        /// A directory for each block device, named by its numbers.
        public var blockDevices = "/sys/dev/block"

        /// The usual ones.
        public init() {}
    }

    /// Looks for what a file can be bound to.
    /// - Throws: ``JournalError/file(_:)`` where the file or the machine's id cannot be read.
    init(of path: String, _ places: Places, _ fileSystem: any FileSystem) throws(JournalError) {
        machineID = try SmallFile.contents(of: places.machineID, fileSystem).filter { $0 > 0x20 }
        let origin = try JournalError.wrapping { () throws(FileFailure) in
            let file = try fileSystem.open(path, .reading)
            defer { fileSystem.close(file) }
            return try fileSystem.origin(of: file)
        }
        birthUnixSeconds = origin.birthUnixSeconds
        boardID = Self.attribute(places.boardID, fileSystem)
        // 0 is no block device but a network, memory or composed file system.
        guard origin.deviceMajor != 0 else { return }
        let device = "\(places.blockDevices)/\(origin.deviceMajor):\(origin.deviceMinor)"
        // The directory is a link to that of the disk, or of a partition below it. The first that is there counts, so that
        // a kernel that tells more changes nothing: an SD card tells `cid` and `serial`.
        for parent in [device, "\(device)/.."] {
            for name in ["cid", "serial", "wwid"] {
                diskID = Self.attribute("\(parent)/device/\(name)", fileSystem)
                if !diskID.isEmpty { return }
            }
        }
    }

    /// What the kernel tells; nothing where it refuses, as it does for good where a device does not know.
    private static func attribute(_ path: String, _ fileSystem: any FileSystem) -> [UInt8] {
        do throws(JournalError) { return try SmallFile.contents(of: path, fileSystem).filter { $0 > 0x20 } } catch {
            return []
        }
    }

    /// The fields as bytes, apart from one another.
    var bytes: [UInt8] {
        machineID + [0] + Array(String(birthUnixSeconds).utf8) + [0] + diskID + [0] + boardID
    }
}
