/// A value of JSON as it was written: numbers keep their digits.
indirect enum JSONText: Equatable {
    case null
    case boolean(Bool)
    /// The number as it was written.
    case number(String)
    case string(String)
    case array([JSONText])
    /// Members in the order in which they were written.
    case object([Member])

    /// One key of an object and its value.
    struct Member: Equatable {
        let key: String
        let value: JSONText
    }

    /// What it is, for a message.
    var kind: String {
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
struct JSONSyntaxError: Error, Equatable {
    /// Bytes before the place where it stops being JSON.
    let byteOffset: Int
    /// What was found or expected there.
    let problem: String
}
