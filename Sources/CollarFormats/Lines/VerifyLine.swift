import CollarJournal
import CollarWire

/// Which fixes of a log are stored, lost, delivered elsewhere, removed, missing and damaged: one line of JSON, as
/// `Protocol/schema/verify.schema.json` describes it.
package struct VerifyLine: Equatable, Sendable {
    /// The collar's factory id.
    package var deviceID: UInt64
    /// The result for one log.
    package var log: LogVerification
    /// Whether both this log and the files that hold it are free of damage.
    package var isIntact: Bool

    /// Creates a line.
    package init(deviceID: UInt64, log: LogVerification, isIntact: Bool) {
        self.deviceID = deviceID
        self.log = log
        self.isIntact = isIntact
    }

    /// The line as text in UTF-8, which ends with a line feed.
    package var bytes: [UInt8] {
        var object = JSONLine(type: "verify")
        object.add("collar", MessageDescription.hexadecimal(deviceID))
        object.add("log", log.logID)
        object.add("intact", isIntact)
        for (name, ranges) in sets { object.add(name, ranges.map { [Int64($0.first), Int64($0.last)] }) }
        return object.line
    }

    /// The verification as text for a person: a heading, then a line for each set of fixes that is not empty.
    package var text: String {
        var text = "collar \(MessageDescription.hexadecimal(deviceID)), log \(log.logID): \(isIntact ? "intact" : "DAMAGED")\n"
        for (name, ranges) in sets where !ranges.isEmpty {
            let count = ranges.reduce(0) { $0 + $1.count }
            text += "  \(VerifyLine.words(for: name)): \(count) (\(VerifyLine.text(of: ranges)))\n"
        }
        return text
    }

    /// Ranges as text for a person: the first 20 ranges, then the number of the other ranges.
    package static func text(of ranges: [SequenceRange]) -> String {
        let shown = ranges.prefix(20).map { $0.first == $0.last ? "\($0.first)" : "\($0.first) to \($0.last)" }
        return shown.joined(separator: ", ") + (ranges.count > 20 ? ", and \(ranges.count - 20) more ranges" : "")
    }

    private var sets: [(name: String, ranges: [SequenceRange])] {
        [
            ("stored", log.stored.ranges), ("lost", log.lost.ranges), ("elsewhere", log.deliveredElsewhere.ranges),
            ("removed", log.removed.ranges), ("missing", log.missing), ("damaged", log.damaged.ranges),
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
