import CollarWire

/// The pieces of a line of JSON that are the same for every fix of one log while the same animal wears the collar.
struct LogLineBytes: Sendable {
    /// The fix's UUID without its last eight digits, which are the sequence.
    let identifierHead: InlineBytes
    /// The key `collar` with its value.
    let collar: InlineBytes
    /// The key `log` with its value, and the key that follows.
    let log: InlineBytes
    /// Whether the animal's name is known.
    let isNamed: Bool
    /// The key `name` with its value; empty if it is unknown.
    let name: [UInt8]

    init(_ log: LogOfAnimal) {
        identifierHead = log.identifierHead
        collar = InlineBytes(",\"collar\":\"" + log.collar + "\"")
        self.log = InlineBytes(",\"log\":\(log.logID),\"rx_unix_ms\":")
        var name: [UInt8] = []
        if let animal = log.animal {
            name += ",\"name\":".utf8
            name.append(jsonString: animal.name)
        }
        isNamed = log.animal != nil
        self.name = name
    }
}
