import CollarControl
import CollarFormats

extension ReceiverFigures {
    /// The counts of a run in one line, for the person who ends it.
    package var summary: String {
        // A receiver knows every collar that has a journal.
        let heard = collars.values.filter { $0[.heard] == 1 }
        let time = durationText(milliseconds: values[.uptime] ?? 0)
        let fixes = counted(values[.fixes] ?? 0, "fix", "fixes")
        let messages = values[.messages] ?? 0
        let missing = heard.reduce(0) { $0 + ($1[.missing] ?? 0) }
        return fixes + (messages > 0 ? " and " + counted(messages, "message", "messages") : "")
            + " of \(counted(Int64(heard.count), "collar", "collars")) in \(time); "
            + (missing == 0 ? "none missing" : "\(missing) missing, requested again in the next run")
    }
}

/// A count with its noun.
package func counted(_ count: some BinaryInteger, _ singular: String, _ plural: String) -> String { "\(count) \(count == 1 ? singular : plural)" }
