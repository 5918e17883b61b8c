import CollarHost

/// Fixes of a log that are not there, or no longer missing: one line of JSON, as `Protocol/schema/gap.schema.json`
/// describes it.
public struct GapLine: Equatable, Sendable {
    /// What became known.
    public var change: GapChange
    /// The collar's factory id.
    public var deviceID: UInt64

    /// Creates a line.
    public init(_ change: GapChange, deviceID: UInt64) {
        self.change = change
        self.deviceID = deviceID
    }

    /// The line as text in UTF-8, which ends with a line feed.
    public var bytes: [UInt8] {
        var object = ObjectText(type: "gap")
        object.add("unix_ms", change.unixMilliseconds)
        object.add("event", change.event.rawValue)
        object.add("collar", MessageText.hexadecimal(deviceID))
        object.add("log", Int64(change.logID))
        object.add("first_seq", Int64(change.range.first))
        object.add("last_seq", Int64(change.range.last))
        return object.line
    }
}
