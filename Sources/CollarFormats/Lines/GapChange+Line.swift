import CollarJournal

extension GapChange {
    /// The change of a gap as one line of JSON that ends with a line feed; `Protocol/schema/gap.schema.json` describes
    /// it.
    /// - Parameters:
    ///   - deviceID: the collar's factory id.
    ///   - name: the name of the animal that wore the collar; nil if unknown.
    package func line(deviceID: UInt64, name: String? = nil) -> [UInt8] {
        var object = JSONLine(type: "gap", unixMilliseconds: unixMilliseconds)
        object.add("event", event.rawValue)
        object.add("collar", MessageDescription.hexadecimal(deviceID))
        object.add("log", logID)
        object.add("first_seq", range.first)
        object.add("last_seq", range.last)
        if let name { object.add("name", name) }
        return object.line
    }
}
