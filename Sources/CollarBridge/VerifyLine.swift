import CollarWire

/// What of a log is stored, lost, missing and damaged: one line of JSON, as `Protocol/schema/verify.schema.json` describes
/// it.
public struct VerifyLine: Equatable, Sendable {
    /// The collar's factory id.
    public var deviceID: UInt64
    /// The log, 26 bits.
    public var logID: UInt32
    /// Whether nothing is damaged, in this log and in the files that hold it.
    public var isIntact = true
    /// Fixes that are there.
    public var stored: [SequenceRange] = []
    /// What the collar does not have any more.
    public var lost: [SequenceRange] = []
    /// What another receiver has.
    public var elsewhere: [SequenceRange] = []
    /// What was stored and has been removed on purpose.
    public var removed: [SequenceRange] = []
    /// What is not there although later fixes are.
    public var missing: [SequenceRange] = []
    /// What was stored and is gone.
    public var damaged: [SequenceRange] = []

    /// A line of a log of which nothing is there.
    public init(deviceID: UInt64, logID: UInt32) {
        self.deviceID = deviceID
        self.logID = logID
    }

    /// The line as text in UTF-8, which ends with a line feed.
    public var bytes: [UInt8] {
        var object = ObjectText(type: "verify")
        object.add("collar", MessageText.hexadecimal(deviceID))
        object.add("log", Int64(logID))
        object.add("intact", isIntact)
        for (name, ranges) in sets { object.add(name, ranges.map { [Int64($0.first), Int64($0.last)] }) }
        return object.line
    }

    /// The same for a person, a line for each set that is not empty.
    public var text: String {
        var text = "collar \(MessageText.hexadecimal(deviceID)), log \(logID): \(isIntact ? "intact" : "DAMAGED")\n"
        for (name, ranges) in sets where !ranges.isEmpty {
            let count = ranges.reduce(0) { $0 + $1.count }
            text += "  \(VerifyLine.words(for: name)): \(count) (\(VerifyLine.text(of: ranges)))\n"
        }
        return text
    }

    /// Ranges for a person; of many the first.
    public static func text(of ranges: [SequenceRange]) -> String {
        let shown = ranges.prefix(20).map { $0.first == $0.last ? "\($0.first)" : "\($0.first) to \($0.last)" }
        return shown.joined(separator: ", ") + (ranges.count > 20 ? ", and \(ranges.count - 20) more ranges" : "")
    }

    private var sets: [(name: String, ranges: [SequenceRange])] {
        [
            ("stored", stored), ("lost", lost), ("elsewhere", elsewhere), ("removed", removed), ("missing", missing),
            ("damaged", damaged),
        ]
    }

    private static func words(for name: String) -> String {
        switch name {
        case "lost": "lost, the collar does not have them any more"
        case "elsewhere": "delivered to another receiver"
        case "removed": "stored once and removed since"
        case "missing": "missing, the collar is asked for them"
        case "damaged": "stored once and gone"
        default: name
        }
    }
}
