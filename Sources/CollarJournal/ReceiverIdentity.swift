/// Who this receiver is: 16 random bytes in `<state directory>/receiver`, bound to where they lie (see
/// ``ReceiverBinding``), so that a copy of the directory is another receiver and does not acknowledge in the first one's
/// name.
public struct ReceiverIdentity: Equatable, Sendable {
    /// The receiver's id on the air; never 0.
    public let receiverID: UInt32

    /// Computes the id: FNV-1a, 64 bits, over the random bytes and then the binding (machine, birth time as decimal
    /// digits, disk and board, with a zero byte between each two), the upper half xored into the lower; 1 where that
    /// gives 0.
    public init(randomBytes: [UInt8], binding: ReceiverBinding) {
        self.init(hashing: randomBytes + binding.bytes)
    }

    init(hashing bytes: [UInt8]) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let folded = UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
        receiverID = folded == 0 ? 1 : folded
    }

    /// Reads the identity, and makes it where there is none.
    /// - Parameters:
    ///   - places: where machine, board and disks are told of; each may be missing.
    ///   - random: where a new identity comes from.
    public static func load(
        stateDirectory: String, places: ReceiverBinding.Places = .init(), fileSystem: any FileSystem,
        random: inout some RandomNumberGenerator
    ) throws(JournalError) -> ReceiverIdentity {
        try JournalError.wrapping { () throws(FileFailure) in
            try JournalDirectory.make(stateDirectory, fileSystem: fileSystem)
        }
        let path = "\(stateDirectory)/receiver"
        let stored = try SmallFile.contents(of: path, fileSystem)
        let randomBytes: [UInt8]
        if let known = try parse(stored, path: path) {
            // The process that made the file may have ended before its name was durable.
            try JournalError.wrapping { () throws(FileFailure) in
                try fileSystem.synchronizeDirectory(at: stateDirectory)
            }
            randomBytes = known
        } else {
            randomBytes = try create(at: path, in: stateDirectory, fileSystem, &random)
        }
        return ReceiverIdentity(
            randomBytes: randomBytes, binding: try ReceiverBinding(of: path, places, fileSystem))
    }

    private static let randomByteCount = 16
    /// 32 digits and the end of the line.
    private static let textByteCount = 2 * randomByteCount + 1

    /// The random bytes in a file; nil where it is missing or a crash cut its making short.
    private static func parse(_ text: [UInt8], path: String) throws(JournalError) -> [UInt8]? {
        guard text.count >= textByteCount, text.contains(where: { $0 != 0 }) else { return nil }
        let values = text.prefix(textByteCount - 1).compactMap { value(ofDigit: $0) }
        guard text.count == textByteCount, text.last == 0x0A, values.count == 2 * randomByteCount else {
            throw .unreadableReceiver(path: path)
        }
        return (0..<randomByteCount).map { values[2 * $0] << 4 | values[2 * $0 + 1] }
    }

    /// Makes the file. It is not used before it is durable. The caller keeps other processes out, see ``StateDirectoryLock``.
    private static func create(
        at path: String, in directory: String, _ fileSystem: any FileSystem,
        _ random: inout some RandomNumberGenerator
    ) throws(JournalError) -> [UInt8] {
        let bytes = (0..<randomByteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        var text: [UInt8] = []
        for byte in bytes { text += [digit(byte >> 4), digit(byte & 15)] }
        text.append(0x0A)
        try JournalError.wrapping { () throws(FileFailure) in
            try SmallFile.replace(path, in: directory, with: text, fileSystem)
        }
        return bytes
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }
}
