import CheckedNumbers

/// The file `<state directory>/receiver`: the receiver's identity, or the id of a receiver that has moved away.
package enum ReceiverFile: Equatable {
    /// A receiver whose id comes from random bytes and what they are bound to. A receiver that has moved here keeps its id:
    /// `difference` is the xor of that id and the id computed here; 0 for a receiver that was made here.
    case identity(randomBytes: [UInt8], difference: UInt32)
    /// The receiver has moved to another state directory.
    case retired(receiverID: UInt32)

    private static let randomByteCount = 16

    static func path(in stateDirectory: String) -> String { "\(stateDirectory)/receiver" }

    /// A new receiver, with new random bytes.
    static func new(random: inout some RandomNumberGenerator) -> ReceiverFile {
        let bytes = (0..<randomByteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return .identity(randomBytes: bytes, difference: 0)
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
            let digits = bytes.map { String($0, radix: 16, minimumDigits: 2) }.joined()
            let moved = difference == 0 ? "" : Self.movedPrefix + String(difference, radix: 16, minimumDigits: 8) + "\n"
            return Array((digits + "\n" + moved).utf8)
        case .retired(let receiverID):
            return Array((Self.retiredPrefix + String(receiverID, radix: 16, minimumDigits: 8) + "\n").utf8)
        }
    }

    private static let movedPrefix = "moved "
    /// The start of the text if the receiver has moved.
    package static let retiredPrefix = "retired "

    /// Reads the text of the file; nil if it is no such text.
    package static func parse(_ text: String) -> ReceiverFile? {
        let lines = text.split(separator: "\n")
        guard let first = lines.first else { return nil }
        if first.hasPrefix(retiredPrefix) {
            return UInt32(hexadecimal: first.dropFirst(retiredPrefix.count)).map { .retired(receiverID: $0) }
        }
        let digits = Array(first.utf8)
        guard digits.count == 2 * randomByteCount else { return nil }
        let bytes = (0..<randomByteCount).compactMap { index in
            UInt8(digits: digits[(2 * index)..<(2 * index + 2)], radix: 16, in: 0 ... .max)
        }
        guard bytes.count == randomByteCount else { return nil }
        guard lines.count > 1 else { return .identity(randomBytes: bytes, difference: 0) }
        guard lines[1].hasPrefix(movedPrefix), let difference = UInt32(hexadecimal: lines[1].dropFirst(movedPrefix.count))
        else { return nil }
        return .identity(randomBytes: bytes, difference: difference)
    }
}
