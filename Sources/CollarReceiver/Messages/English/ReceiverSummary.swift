import CollarBridge

extension ReceiverFigures {
    /// What a run has received, in one line for the person who ends it.
    public var summary: String {
        let heard = collars.count { $0.value[.missing] != nil }
        let time = durationText(milliseconds: values[.uptime] ?? 0)
        let fixes = counted(values[.fixes] ?? 0, "fix", "fixes")
        let messages = values[.messages] ?? 0
        let missing = collars.values.reduce(0) { $0 + ($1[.missing] ?? 0) }
        return fixes + (messages > 0 ? " and " + counted(messages, "message", "messages") : "")
            + " of \(counted(Int64(heard), "collar", "collars")) in \(time); "
            + (missing == 0 ? "none missing" : "\(missing) missing, which the collar will be asked for again")
    }
}

/// A count with its noun.
func counted(_ count: Int64, _ singular: String, _ plural: String) -> String { "\(count) \(count == 1 ? singular : plural)" }
