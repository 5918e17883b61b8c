import CollarJournal
import CollarWire

/// Writes one JSON object (RFC 8259) on a line. It is used only for rare lines; ``FixLineWriter`` writes the fixes.
package struct JSONLine {
    private var bytes: [UInt8] = []

    /// Begins an object that is a member of another one.
    package init() { bytes.append(UInt8(ascii: "{")) }

    /// Begins an object with its `type`.
    package init(type: String) {
        self.init()
        add("type", type)
    }

    /// Begins an object with its `type` and a time, in milliseconds since 1970.
    package init(type: String, unixMilliseconds: Int64) {
        self.init(type: type)
        add("unix_ms", unixMilliseconds)
    }

    /// Adds a text, or null.
    package mutating func add(_ key: String, _ value: String?) {
        begin(key)
        if let value { bytes.append(jsonString: value) } else { bytes += "null".utf8 }
    }

    /// Adds the id of a collar and the name of the animal that wears it, if there is one.
    package mutating func add(collar deviceID: UInt64, name: String?) {
        add("collar", MessageDescription.hexadecimal(deviceID))
        if let name { add("name", name) }
    }

    /// Adds a number, or null.
    package mutating func add(_ key: String, _ value: (some BinaryInteger)?) {
        begin(key)
        bytes += (value.map { String($0) } ?? "null").utf8
    }

    /// Adds a number that is written already, or null.
    package mutating func add(_ key: String, number: String?) {
        begin(key)
        bytes += (number ?? "null").utf8
    }

    /// Adds an object that contains the settings; settings without a name are left out.
    package mutating func add(_ key: String, _ settings: [Setting]) {
        begin(key)
        bytes.append(UInt8(ascii: "{"))
        for setting in settings {
            guard let name = SettingKey(rawValue: setting.key)?.name else { continue }
            if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
            bytes.append(jsonString: name)
            bytes.append(UInt8(ascii: ":"))
            bytes += String(setting.value).utf8
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Adds true or false.
    package mutating func add(_ key: String, _ value: Bool) {
        begin(key)
        bytes += (value ? "true" : "false").utf8
    }

    /// Adds a list of texts, or null.
    package mutating func add(_ key: String, _ texts: [String]?) {
        begin(key)
        guard let texts else {
            bytes += "null".utf8
            return
        }
        bytes.append(UInt8(ascii: "["))
        for (index, text) in texts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(jsonString: text)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Adds a list of lists of numbers.
    mutating func add(_ key: String, _ rows: [[Int64]]) {
        begin(key)
        let texts = rows.map { "[" + $0.map(String.init).joined(separator: ",") + "]" }
        bytes += ("[" + texts.joined(separator: ",") + "]").utf8
    }

    /// Adds an object.
    package mutating func add(_ key: String, _ object: JSONLine) {
        begin(key)
        bytes += object.bytes + "}".utf8
    }

    /// Adds a list of objects.
    package mutating func add(_ key: String, _ objects: [JSONLine]) {
        begin(key)
        bytes.append(UInt8(ascii: "["))
        for (index, object) in objects.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += object.bytes + "}".utf8
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Adds an object that is a line already, with or without its line feed, or null.
    package mutating func add(_ key: String, line: [UInt8]?) {
        begin(key)
        bytes += line.map { $0.last == UInt8(ascii: "\n") ? $0.dropLast() : $0[...] } ?? ArraySlice("null".utf8)
    }

    /// Adds a list of objects that are lines already, with their line feeds.
    package mutating func add(_ key: String, lines: [[UInt8]]) {
        begin(key)
        bytes.append(UInt8(ascii: "["))
        bytes += lines.map { $0.dropLast() }.joined(separator: ",".utf8)
        bytes.append(UInt8(ascii: "]"))
    }

    /// The object with the members added so far, as a line that ends with a line feed.
    package var line: [UInt8] { bytes + "}\n".utf8 }

    private mutating func begin(_ key: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(jsonString: key)
        bytes.append(UInt8(ascii: ":"))
    }
}

/// The kinds of lines; the raw values are the names that `--events` accepts.
package enum LineKind: String, CaseIterable, Sendable {
    /// A fix.
    case fix
    /// A message of a collar's application.
    case message
    /// A change of a gap.
    case gap
    /// A change of the link to a radio or a collar.
    case link
    /// Something that went wrong.
    case error
    /// Figures.
    case stats
    /// The condition of a collar.
    case status
    /// The end of a command.
    case result

    /// The kinds whose lines are in the event log; the others are made from the journals.
    package static let ofEvents: Set<LineKind> = [.link, .error, .stats, .status, .result]
}

extension EntrySelection {
    /// Chooses the entries that have these kinds of lines.
    package mutating func choose(_ kinds: Set<LineKind>) {
        hasFixes = kinds.contains(.fix)
        hasGaps = kinds.contains(.gap)
        hasMessages = kinds.contains(.message)
    }
}
