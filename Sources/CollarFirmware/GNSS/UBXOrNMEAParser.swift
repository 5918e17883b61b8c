/// Reads UBX messages and NMEA sentences from the same stream: a u-blox receiver speaks NMEA until it is configured.
public struct UBXOrNMEAParser: GNSSDialect {
    private var ubx = UBXParser()
    private var nmea = NMEAParser()
    /// Whether the last event came from an NMEA sentence.
    public private(set) var isLastEventNMEA = false

    /// Creates a parser at the start of a stream.
    public init() {}

    /// The receiver may be one of u-blox.
    public static var takesConfiguration: Bool { true }
    /// Whether sentences of a moment have come that has not ended.
    public var isMomentOpen: Bool { nmea.isMomentOpen }

    /// Reads one byte.
    public mutating func append(_ byte: UInt8) {
        ubx.append(byte)
        nmea.append(byte)
    }

    /// The next event of the bytes so far; nil if there is no further one.
    public mutating func next() -> GNSSEvent? {
        if let event = ubx.next() {
            isLastEventNMEA = false
            return event
        }
        let event = nmea.next()
        if event != nil { isLastEventNMEA = true }
        return event
    }

    /// Ends the moment whose sentences were read.
    /// - Returns: its event; nil if there is no such moment.
    public mutating func endMoment() -> GNSSEvent? {
        isLastEventNMEA = true
        return nmea.endMoment()
    }
}
