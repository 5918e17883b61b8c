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

    package mutating func add(_ key: String, _ value: String?) { add(key, json: value.map { [UInt8](jsonString: $0) }) }

    /// Adds the id of a collar and the name of the animal that wears it, if there is one.
    package mutating func add(collar deviceID: DeviceID, name: String?) {
        add("collar", deviceID.description)
        if let name { add("name", name) }
    }

    package mutating func add(_ key: String, _ value: (some BinaryInteger)?) { add(key, number: value.map { String($0) }) }

    /// Adds a number that is written already, or null.
    package mutating func add(_ key: String, number: String?) { add(key, json: number.map { Array($0.utf8) }) }

    /// Adds an object that contains the settings; settings without a name are left out.
    package mutating func add(_ key: String, _ settings: [Setting]) {
        var object = JSONLine()
        for setting in settings {
            if let name = SettingKey(rawValue: setting.key)?.name { object.add(name, setting.value) }
        }
        add(key, object)
    }

    package mutating func add(_ key: String, _ value: Bool) { add(key, number: value ? "true" : "false") }

    package mutating func add(_ key: String, _ texts: [String]?) { add(key, list: texts?.map { [UInt8](jsonString: $0) }) }

    /// Adds a list of lists of numbers.
    mutating func add(_ key: String, _ rows: [[Int64]]) {
        add(key, list: rows.map { Array("[\($0.map(String.init).joined(separator: ","))]".utf8) })
    }

    package mutating func add(_ key: String, _ object: JSONLine) { add(key, json: object.bytes + "}".utf8) }

    package mutating func add(_ key: String, _ objects: [JSONLine]) { add(key, list: objects.map { $0.bytes + "}".utf8 }) }

    /// Adds an object that is a line already, with or without its line feed, or null.
    package mutating func add(_ key: String, line: [UInt8]?) {
        add(key, json: line.map { $0.last == UInt8(ascii: "\n") ? $0.dropLast() : $0 })
    }

    /// Adds a list of objects that are lines already, with their line feeds.
    package mutating func add(_ key: String, lines: [[UInt8]]) { add(key, list: lines.map { $0.dropLast() }) }

    private mutating func add(_ key: String, list: [[UInt8]]?) {
        add(key, json: list.map { Array("[".utf8) + $0.joined(separator: ",".utf8) + "]".utf8 })
    }

    /// Adds a value that is JSON already, or null.
    private mutating func add(_ key: String, json value: [UInt8]?) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(jsonString: key)
        bytes.append(UInt8(ascii: ":"))
        bytes += value ?? Array("null".utf8)
    }

    /// The object with the members added so far, as a line that ends with a line feed.
    package var line: [UInt8] { bytes + "}\n".utf8 }
}

/// The kinds of lines; the raw values are the names that `--events` accepts.
package enum LineKind: String, CaseIterable, Sendable {
    case fix
    case message
    case gap
    /// A change of the link to a radio or a collar.
    case link
    /// Something that went wrong.
    case error
    /// Figures.
    case stats
    /// The condition of a collar.
    case status
    /// How a collar spends its battery.
    case power
    /// The end of a command.
    case result
    /// An alert, which a reader makes of the others.
    case alert
    /// Where the owner is, as a reader knows it.
    case owner

    /// The kinds that every program with lines can write.
    package static let common = allCases.filter { $0 != .alert && $0 != .owner }

    /// The kinds whose lines are in the event log; the others are made from the journals.
    package static let ofEvents: Set<LineKind> = [.link, .error, .stats, .status, .power, .result]

    /// The beginning of each line of this kind in the event log.
    package var head: [UInt8] { Array("{\"type\":\"\(rawValue)\",".utf8) }

    /// The kinds whose lines are JSON only.
    package static let jsonOnly = ofEvents.union([.owner])
}

extension EntrySelection {
    /// Chooses the entries that have these kinds of lines.
    package mutating func choose(_ kinds: Set<LineKind>) {
        hasFixes = kinds.contains(.fix)
        hasGaps = kinds.contains(.gap)
        hasMessages = kinds.contains(.message)
    }
}
