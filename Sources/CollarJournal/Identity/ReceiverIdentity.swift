import CheckedNumbers

/// The identity of this receiver: 16 random bytes in `<state directory>/receiver`, bound to their machine, board, disk and
/// file (see ``ReceiverBinding``). So a copy of the directory is another receiver and does not acknowledge in the name of the
/// original.
package struct ReceiverIdentity: Equatable, Sendable {
    /// The receiver's id on the air; never 0.
    package let receiverID: UInt32

    /// Computes the id: FNV-1a, 64 bits, over the random bytes and then the binding (machine, birth time as decimal digits,
    /// disk and board, with a zero byte between each two). The upper half is xored into the lower half; if that gives 0 the
    /// id is 1.
    package init(randomBytes: [UInt8], binding: ReceiverBinding) { self.init(hashing: randomBytes + binding.bytes) }

    init(hashing bytes: [UInt8]) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let folded = UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
        receiverID = folded == 0 ? 1 : folded
    }

    /// Reads the identity, or makes a new one if there is none. The caller must keep other processes out, see
    /// ``StateDirectoryLock``.
    /// - Parameters:
    ///   - stateDirectory: path of the state directory, which is made if it is missing.
    ///   - places: the paths that describe machine, board and disks; each may be missing.
    /// - Throws: ``JournalError/retired(receiverID:path:)`` if the receiver has moved away.
    package static func load(
        stateDirectory: String, places: ReceiverBinding.Places = .init(), fileSystem: any FileSystem,
        random: inout some RandomNumberGenerator
    ) throws(JournalError) -> ReceiverIdentity {
        try JournalError.wrapping(try JournalDirectory.make(stateDirectory, fileSystem: fileSystem))
        if let known = try existing(stateDirectory: stateDirectory, places: places, fileSystem: fileSystem) {
            // The process that made the file may have ended before the file's name was durable.
            try JournalError.wrapping(try fileSystem.synchronizeDirectory(at: stateDirectory))
            return known
        }
        let path = ReceiverFile.path(in: stateDirectory)
        let file = ReceiverFile.identity(randomBytes: ReceiverFile.randomBytes(from: &random), difference: 0)
        // The new identity is not used before it is durable.
        try JournalError.wrapping(try SmallFile.replace(path, in: stateDirectory, with: file.text, fileSystem))
        return try ReceiverIdentity(file, path: path, places, fileSystem)
    }

    package static func existing(
        stateDirectory: String, places: ReceiverBinding.Places = .init(), fileSystem: (any FileSystem)? = nil
    ) throws(JournalError) -> ReceiverIdentity? {
        let fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        guard let file = try ReceiverFile.load(stateDirectory, fileSystem) else { return nil }
        return try ReceiverIdentity(file, path: ReceiverFile.path(in: stateDirectory), places, fileSystem)
    }

    private init(
        _ file: ReceiverFile, path: String, _ places: ReceiverBinding.Places, _ fileSystem: any FileSystem
    ) throws(JournalError) {
        switch file {
        case .retired(let receiverID): throw .retired(receiverID: receiverID, path: path)
        case .identity(let bytes, let difference):
            let here = ReceiverIdentity(randomBytes: bytes, binding: try ReceiverBinding(of: path, places, fileSystem))
            let moved = here.receiverID ^ difference
            receiverID = moved == 0 ? 1 : moved
        }
    }
}

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

    package init() {}

    /// The paths at which Linux describes the machine, the board and the disks.
    package struct Places: Equatable, Sendable {
        package var machineID = "/etc/machine-id"
        /// The board's serial number, on boards described by a device tree.
        package var boardID = "/sys/firmware/devicetree/base/serial-number"
        /// The directory with an entry for each block device, named by the device's numbers.
        package var blockDevices = "/sys/dev/block"

        package init() {}
    }

    /// Finds what the file at `path` can be bound to.
    /// - Throws: ``JournalError/file(_:)`` if the file or the machine's id cannot be read.
    init(of path: String, _ places: Places, _ fileSystem: any FileSystem) throws(JournalError) {
        machineID = try SmallFile.contents(of: places.machineID, fileSystem).filter { $0 > 0x20 }
        let origin = try JournalError.wrappingAll { () throws(FileFailure) in
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
        (try? SmallFile.contents(of: path, fileSystem))?.filter { $0 > 0x20 } ?? []
    }

    /// The fields as bytes, separated by zero bytes.
    var bytes: [UInt8] { machineID + [0] + Array(String(birthUnixSeconds).utf8) + [0] + diskID + [0] + boardID }
}

/// The file `<state directory>/receiver`: the receiver's identity, or the id of a receiver that has moved away.
package enum ReceiverFile: Equatable {
    /// A receiver whose id comes from random bytes and what they are bound to. A receiver that has moved here keeps its id:
    /// `difference` is the xor of that id and the id computed here; 0 for a receiver that was made here.
    case identity(randomBytes: [UInt8], difference: UInt32)
    /// The receiver has moved to another state directory.
    case retired(receiverID: UInt32)

    private static let randomByteCount = 16

    static func path(in stateDirectory: String) -> String { "\(stateDirectory)/receiver" }

    static func randomBytes(from random: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<randomByteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// Reads the file; nil if it is missing, or a crash interrupted its creation.
    static func load(_ stateDirectory: String, _ fileSystem: any FileSystem) throws(JournalError) -> ReceiverFile? {
        let path = path(in: stateDirectory)
        let text = try SmallFile.contents(of: path, fileSystem)
        let isUnfinished = text.count < retiredPrefix.utf8.count + 9 || !text.contains { $0 != 0 }
        guard !isUnfinished else { return nil }
        // Comparing with the text of the value refuses numbers in a form that this program does not write.
        guard let file = parse(String(decoding: text, as: UTF8.self)), file.text == text else {
            if text.count <= 2 * randomByteCount, text.last != 0x0A { return nil }
            throw .unreadableReceiver(path: path)
        }
        return file
    }

    /// Two lower-case hexadecimal digits for each random byte, and the difference on a second line unless it is 0; or a line
    /// that says that the receiver has moved away.
    var text: [UInt8] {
        switch self {
        case .identity(let bytes, let difference):
            let moved = difference == 0 ? "" : Self.movedPrefix + String(difference, radix: 16, minimumDigits: 8) + "\n"
            return Array((String(hexadecimal: bytes.span) + "\n" + moved).utf8)
        case .retired(let receiverID):
            return Array((Self.retiredPrefix + String(receiverID, radix: 16, minimumDigits: 8) + "\n").utf8)
        }
    }

    private static let movedPrefix = "moved "
    /// The start of the text if the receiver has moved.
    package static let retiredPrefix = "retired "

    package static func parse(_ text: String) -> ReceiverFile? {
        let lines = text.split(separator: "\n")
        guard let first = lines.first else { return nil }
        if first.hasPrefix(retiredPrefix) {
            return UInt32(hexadecimal: first.dropFirst(retiredPrefix.count)).map { .retired(receiverID: $0) }
        }
        guard let bytes = [UInt8](hexadecimal: first), bytes.count == randomByteCount else { return nil }
        guard lines.count > 1 else { return .identity(randomBytes: bytes, difference: 0) }
        guard lines[1].hasPrefix(movedPrefix), let difference = UInt32(hexadecimal: lines[1].dropFirst(movedPrefix.count))
        else { return nil }
        return .identity(randomBytes: bytes, difference: difference)
    }
}
