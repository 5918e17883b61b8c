import CollarHost

extension GapChange {
    /// Fixes of a log that are not there, or no longer missing: one line of JSON, as `Protocol/schema/gap.schema.json`
    /// describes it, which ends with a line feed.
    /// - Parameter deviceID: the collar's factory id.
    public func line(deviceID: UInt64) -> [UInt8] {
        var object = ObjectText(type: "gap", unixMilliseconds: unixMilliseconds)
        object.add("event", event.rawValue)
        object.add("collar", MessageText.hexadecimal(deviceID))
        object.add("log", logID)
        object.add("first_seq", range.first)
        object.add("last_seq", range.last)
        return object.line
    }
}
