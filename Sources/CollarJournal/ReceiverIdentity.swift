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
        let bytes = (0..<randomByteCount).compactMap { index in
            UInt8(String(decoding: text[(2 * index)..<(2 * index + 2)], as: UTF8.self), radix: 16)
        }
        // The detour refuses what reads as numbers but is not how this program writes them.
        guard self.text(of: bytes) == text else { throw .unreadableReceiver(path: path) }
        return bytes
    }

    /// Two lower-case digits a byte, and the end of the line.
    private static func text(of bytes: [UInt8]) -> [UInt8] {
        Array((bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\n").utf8)
    }

    /// Makes the file. It is not used before it is durable. The caller keeps other processes out, see ``StateDirectoryLock``.
    private static func create(
        at path: String, in directory: String, _ fileSystem: any FileSystem,
        _ random: inout some RandomNumberGenerator
    ) throws(JournalError) -> [UInt8] {
        let bytes = (0..<randomByteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        try JournalError.wrapping { () throws(FileFailure) in
            try SmallFile.replace(path, in: directory, with: text(of: bytes), fileSystem)
        }
        return bytes
    }
}
