import CheckedNumbers

/// A JSON value. Its numbers keep all digits, as they were written.
package indirect enum JSONValue: Equatable {
    case null
    case boolean(Bool)
    /// The number as it was written.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// Members in the order in which they were written.
    case object([Member])

    package struct Member: Equatable {
        package let key: String
        package let value: JSONValue
    }

    /// The value of a key of an object; nil if the key is absent or given twice, or if this is not an object.
    package subscript(_ key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        let found = members.filter { $0.key == key }
        return found.count == 1 ? found[0].value : nil
    }

    package var text: String? { if case .string(let text) = self { text } else { nil } }

    package var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }

    package func integer<Value: FixedWidthInteger>(in range: ClosedRange<Value>) -> Value? {
        if case .number(let digits) = self { Value(digits, in: range) } else { nil }
    }

    /// The kind of value, in words for a message.
    package var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// Text that is not JSON (RFC 8259).
package struct JSONSyntaxError: Error, Equatable {
    /// Byte offset at which the text stops being JSON.
    package let byteOffset: Int
    /// The fault: the text that was found or expected there.
    package let problem: String
}

/// Reads one JSON text, and reports the place at which it stops being JSON.
///
/// `JSONDecoder` reports only "not valid JSON" and reads numbers as doubles. A person who repairs a track file needs the
/// place, and the fix needs all digits.
package struct JSONScanner {
    private let bytes: [UInt8]
    private var index = 0

    /// How deeply arrays and objects may nest, so that hostile input cannot exhaust the stack.
    static let maximumDepth = 32

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The value in `bytes`; white space before and after it is allowed.
    package static func value(of bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
        var scanner = JSONScanner(bytes)
        let value = try scanner.value(depth: 0)
        scanner.skipSpace()
        guard scanner.index == bytes.count else { throw scanner.error("something after the end of the value") }
        return value
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private func error(_ problem: String) -> JSONSyntaxError { JSONSyntaxError(byteOffset: index, problem: problem) }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        index += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        skipSpace()
        guard let byte = next else { throw error("the text ends where a value is expected") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        guard bytes[index...].starts(with: word.utf8) else { throw error("neither a value nor \"\(word)\"") }
        index += word.utf8.count
        return value
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth < JSONScanner.maximumDepth else { throw error("nested too deeply") }
        index += 1
        var members: [JSONValue.Member] = []
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error("a key in quotes is expected") }
            let key = try string()
            skipSpace()
            guard take(":") else { throw error("a colon is expected after the key \"\(key)\"") }
            members.append(JSONValue.Member(key: key, value: try value(depth: depth + 1)))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw error("a comma or } is expected") }
        }
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth < JSONScanner.maximumDepth else { throw error("nested too deeply") }
        index += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(elements) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw error("a comma or ] is expected") }
        }
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = index
        _ = take("-")
        // JSON allows no digit after a leading zero: 012 is not a number.
        if !take("0") { guard skipDigits() else { throw error("a value is expected") } }
        if take("."), !skipDigits() { throw error("a digit is expected after the point") }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard skipDigits() else { throw error("a digit is expected in the exponent") }
        }
        return .number(String(decoding: bytes[start..<index], as: UTF8.self))
    }

    private mutating func skipDigits() -> Bool {
        let start = index
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { index += 1 }
        return index > start
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        index += 1
        var content: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: content, as: UTF8.self) else {
                    throw error("a string that is not UTF-8")
                }
                index += 1
                return text
            case UInt8(ascii: "\\"):
                index += 1
                content.append(contentsOf: String(Character(try escape())).utf8)
            case 0..<0x20: throw error("a control character in a string")
            default:
                content.append(byte)
                index += 1
            }
        }
        throw error("the text ends inside a string")
    }

    /// Reads the rest of an escape, after its backslash, and returns the character that the escape stands for.
    private mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
        guard let byte = next else { throw error("the text ends inside a string") }
        let simple: [UInt8: Unicode.Scalar] = [
            0x22: "\"", 0x5C: "\\", 0x2F: "/", 0x62: "\u{8}", 0x66: "\u{C}", 0x6E: "\n", 0x72: "\r", 0x74: "\t",
        ]
        if let scalar = simple[byte] {
            index += 1
            return scalar
        }
        guard take("u") else { throw error("an unknown escape in a string") }
        let first = try fourHexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take("\\"), take("u") else { throw error("half a surrogate pair in a string") }
        let second = try fourHexDigits()
        guard second >= 0xDC00, second < 0xE000,
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        else { throw error("half a surrogate pair in a string") }
        return scalar
    }

    private mutating func fourHexDigits() throws(JSONSyntaxError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("four hexadecimal digits are expected")
            }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }
}
