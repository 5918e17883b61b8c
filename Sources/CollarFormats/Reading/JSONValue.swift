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

    /// One key of an object and its value.
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

    /// The text of a string; nil for anything else.
    package var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The value of true or false; nil for anything else.
    package var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }

    /// The value of an integer in a range; nil for anything else.
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
    /// What was found or expected there.
    package let problem: String
}
