import CollarFormats
import CollarJournal
import CollarWire

/// Items that are delivered together: they are split where the command wants entries of one collar or one animal.
package struct DeliveryBatch {
    /// The collar and the animal of all items of a part.
    package struct Key: Hashable {
        /// The collar's id; empty if the command does not name it, `none` for an event without a collar.
        package var collar = ""
        /// The animal's name, or the collar's id if no animal is known to wear it; empty if the command does not name it.
        package var name = ""
    }

    /// The input of one run of the command.
    package struct Part {
        package let key: Key
        /// The document, which is complete after ``DeliveryBatch/end()``.
        package private(set) var bytes: [UInt8] = []
        package private(set) var count = 0
        private var formatter: EntryFormatter

        fileprivate init(_ key: Key, _ format: FormatOptions) {
            self.key = key
            formatter = EntryFormatter(format)
            formatter.begin(into: &bytes)
        }

        fileprivate mutating func append(_ entry: EmittedEntry) {
            let before = bytes.count
            formatter.append(entry.content, deviceID: entry.deviceID, to: &bytes)
            if bytes.count > before { count += 1 }
        }

        fileprivate mutating func append(_ alert: RaisedAlert) {
            let before = bytes.count
            formatter.append(alert, to: &bytes)
            if bytes.count > before { count += 1 }
        }

        /// How many fixes the format cannot express.
        fileprivate var leftOutFixCount: Int { formatter.omissions.fixCount }

        fileprivate mutating func append(event line: [UInt8]) {
            let before = bytes.count
            formatter.append(event: line, to: &bytes)
            if bytes.count > before { count += 1 }
        }

        fileprivate mutating func note(_ owner: Owner) { formatter.owner = owner }

        fileprivate mutating func end() { formatter.end(into: &bytes) }
    }

    private let command: DeliveryCommand
    package private(set) var format: FormatOptions
    /// The parts in the order of their first items; the first is delivered next.
    package private(set) var parts: [Part] = []
    /// The receipts of all items, also of those that are not delivered because they are not wanted.
    package private(set) var receipts: [StoredReceipt] = []
    package private(set) var count = 0

    package init(_ command: DeliveryCommand, _ format: FormatOptions) {
        self.command = command
        self.format = format
    }

    package mutating func add(_ item: StoredItem) {
        switch item {
        case .entry(let entry, let isWanted):
            if isWanted {
                let index = part(key(of: entry.deviceID, at: entry.content.unixMilliseconds))
                parts[index].append(entry)
                count += 1
            }
            receipts.append(.entry(entry.receipt, hasID: true))
        case .event(let line, let isWanted):
            if isWanted {
                let index = part(key(of: line.bytes))
                parts[index].append(event: line.bytes)
                count += 1
            }
            receipts.append(.event(line.end))
        case .alert(let alert):
            let index = part(key(of: alert.deviceID, at: alert.alert.unixMilliseconds))
            parts[index].append(alert)
            count += 1
            receipts.append(.alert(alert.id))
        case .owner(let owner, let line):
            format.owner = owner
            for index in parts.indices { parts[index].note(owner) }
            if let line {
                let index = part(key(of: line))
                parts[index].append(event: line)
                count += 1
            }
            receipts.append(.owner)
        }
    }

    /// How many fixes the format cannot express; known after ``end()``.
    package private(set) var leftOutFixCount = 0

    /// Ends the documents of all parts. Parts without an entry are left out.
    package mutating func end() {
        leftOutFixCount = parts.reduce(0) { $0 + $1.leftOutFixCount }
        parts.removeAll { $0.count == 0 }
        for index in parts.indices { parts[index].end() }
    }

    package mutating func removeFirstPart() { parts.removeFirst() }

    private mutating func part(_ key: Key) -> Int {
        if let index = parts.firstIndex(where: { $0.key == key }) { return index }
        parts.append(Part(key, format))
        return parts.count - 1
    }

    private func key(of deviceID: DeviceID, at unixMilliseconds: Int64) -> Key {
        var key = Key()
        let collar = deviceID.description
        if command.splitsByCollar { key.collar = collar }
        if command.splitsByName { key.name = format.deployments.wearer(of: deviceID, at: unixMilliseconds)?.name ?? collar }
        return key
    }

    /// The key of a line of the event log, which names its collar or none.
    private func key(of line: [UInt8]) -> Key {
        guard command.splitsByCollar || command.splitsByName else { return Key() }
        let object = try? JSONScanner.value(of: line)
        let collar = object?["collar"]?.text ?? "none"
        let time = object?["unix_ms"]?.integer(in: .unixMilliseconds) ?? 0
        let animal = DeviceID(hexadecimal: collar).flatMap { format.deployments.wearer(of: $0, at: time)?.name }
        return Key(collar: command.splitsByCollar ? collar : "", name: command.splitsByName ? animal ?? collar : "")
    }
}

/// The command that takes batches, with its placeholders: `{collar}`, `{name}` and `{count}`.
package struct DeliveryCommand: Equatable, Sendable {
    /// The program and its arguments; not empty.
    package let words: [String]

    package init?(words: [String]) {
        if words.isEmpty { return nil }
        self.words = words
    }

    package var name: String { words[0] }

    /// Whether a batch must hold entries of one collar only.
    package var splitsByCollar: Bool { contains("{collar}") }

    /// Whether a batch must hold entries of one animal only.
    package var splitsByName: Bool { contains("{name}") }

    private func contains(_ placeholder: String) -> Bool {
        words.contains { word in word.replacing { $0 == placeholder ? "" : nil } != word }
    }

    /// A name as a part of an argument: one file name that leads nowhere else, and no option, whatever a person has put into it.
    /// Different names stay different.
    private static func argument(_ name: String) -> String {
        let text = name.map { $0 == "%" ? "%25" : $0 == "/" ? "%2F" : String($0) }.joined()
        return switch text.first {
        case "-": "%2D" + text.dropFirst()
        case ".": "%2E" + text.dropFirst()
        default: text
        }
    }

    package func words(collar: String, name: String, count: Int) -> [String] {
        words.map { word in
            word.replacing { placeholder in
                switch placeholder {
                case "{collar}": collar
                case "{name}": DeliveryCommand.argument(name)
                case "{count}": "\(count)"
                default: nil
                }
            }
        }
    }
}

extension String {
    /// The text with its parts in braces replaced, in one pass: what is put in is not searched.
    /// - Parameter replacement: gives the text for a part with its braces; nil to leave it as it is.
    fileprivate func replacing(_ replacement: (String) -> String?) -> String {
        var result = ""
        var rest = self[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let part = String(rest[open...close])
            if let text = replacement(part) {
                result += rest[..<open] + text
                rest = rest[rest.index(after: close)...]
            } else {
                result += rest[...open]
                rest = rest[rest.index(after: open)...]
            }
        }
        return result + rest
    }
}
