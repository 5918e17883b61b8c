import CheckedNumbers

/// A line of a recorded machine: `KEY = VALUE`. A percent sign and two hexadecimal digits are a byte of a character that would break
/// the line, or the key.
package struct FactLine: Equatable {
    package let key: String
    package let value: String

    package init(key: String, value: String) {
        self.key = key
        self.value = value
    }

    /// Reads a line without its line feed; nil if it has no equals sign.
    package init?(_ line: some StringProtocol) {
        guard let equals = line.firstIndex(of: "=") else { return nil }
        var key = line[..<equals]
        var value = line[line.index(after: equals)...]
        while key.last == " " { key = key.dropLast() }
        while value.first == " " { value = value.dropFirst() }
        guard !key.isEmpty else { return nil }
        self.init(key: FactLine.unescaped(key), value: FactLine.unescaped(value))
    }

    /// The line, with its line feed.
    package var text: String { "\(FactLine.escaped(key, alsoEquals: true)) = \(FactLine.escaped(value))\n" }

    private static func escaped(_ text: String, alsoEquals: Bool = false) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte < 0x20 || byte == UInt8(ascii: "%") || (alsoEquals && byte == UInt8(ascii: "=")) {
                bytes += (byte < 0x10 ? "%0" : "%").utf8
                bytes += String(byte, radix: 16, uppercase: true).utf8
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unescaped(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let code = UInt8(digits: digits, radix: 16, in: 0 ... .max) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
