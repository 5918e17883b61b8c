/// The file `<state directory>/receiver`: who the receiver is, or who it was.
enum ReceiverFile: Equatable {
    /// A receiver made of random bytes and what they are bound to. One that has moved here from another machine keeps its id:
    /// `difference` is what the id here would differ by, bit by bit; 0 for one that was made here.
    case identity(randomBytes: [UInt8], difference: UInt32)
    /// The receiver has moved to another machine.
    case retired(receiverID: UInt32)

    private static let randomByteCount = 16

    static func path(in stateDirectory: String) -> String { "\(stateDirectory)/receiver" }

    /// A receiver that there was never before.
    static func new(random: inout some RandomNumberGenerator) -> ReceiverFile {
        let bytes = (0..<randomByteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return .identity(randomBytes: bytes, difference: 0)
    }

    /// Reads the file; nil where it is missing or a crash cut its making short.
    static func load(_ stateDirectory: String, _ fileSystem: any FileSystem) throws(JournalError) -> ReceiverFile? {
        let path = path(in: stateDirectory)
        let text = try SmallFile.contents(of: path, fileSystem)
        let isUnfinished = text.count < retiredPrefix.utf8.count + 9 || !text.contains { $0 != 0 }
        guard !isUnfinished else { return nil }
        // The detour refuses what reads as numbers but is not how this program writes them.
        guard let file = parse(String(decoding: text, as: UTF8.self)), file.text == text else {
            if text.count <= 2 * randomByteCount, text.last != 0x0A { return nil }
            throw .unreadableReceiver(path: path)
        }
        return file
    }

    /// Two lower-case digits a random byte, and in a second line how the id differs; or that the receiver has moved.
    var text: [UInt8] {
        switch self {
        case .identity(let bytes, let difference):
            let digits = bytes.map { Self.digits(UInt32($0), count: 2) }.joined()
            let moved = difference == 0 ? "" : Self.movedPrefix + Self.digits(difference, count: 8) + "\n"
            return Array((digits + "\n" + moved).utf8)
        case .retired(let receiverID):
            return Array((Self.retiredPrefix + Self.digits(receiverID, count: 8) + "\n").utf8)
        }
    }

    private static let movedPrefix = "moved "
    private static let retiredPrefix = "retired "

    private static func parse(_ text: String) -> ReceiverFile? {
        let lines = text.split(separator: "\n")
        guard let first = lines.first else { return nil }
        if first.hasPrefix(retiredPrefix) {
            return UInt32(first.dropFirst(retiredPrefix.count), radix: 16).map { .retired(receiverID: $0) }
        }
        let digits = Array(first.utf8)
        guard digits.count == 2 * randomByteCount else { return nil }
        let bytes = (0..<randomByteCount).compactMap { index in
            UInt8(String(decoding: digits[(2 * index)..<(2 * index + 2)], as: UTF8.self), radix: 16)
        }
        guard lines.count > 1 else { return .identity(randomBytes: bytes, difference: 0) }
        guard lines[1].hasPrefix(movedPrefix), let difference = UInt32(lines[1].dropFirst(movedPrefix.count), radix: 16)
        else { return nil }
        return .identity(randomBytes: bytes, difference: difference)
    }

    private static func digits(_ number: UInt32, count: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
