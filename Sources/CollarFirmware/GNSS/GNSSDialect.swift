import CollarWire

/// The language of a GNSS receiver: the parser of one protocol, or of two.
///
/// A board names the dialect of its receiver, and the linker leaves out the parsers of the others: ``UBXParser``,
/// ``NMEAParser``, or ``UBXOrNMEAParser`` for a receiver that begins with NMEA and can be changed to UBX.
public protocol GNSSDialect: Sendable {
    /// Whether the receiver takes the configuration of u-blox receivers.
    static var takesConfiguration: Bool { get }

    /// Creates a parser at the start of a stream.
    init()

    /// Reads one byte. After each byte, call ``next()`` until it returns nil.
    mutating func append(_ byte: UInt8)

    /// The next event of the bytes so far; nil if there is no further one.
    mutating func next() -> GNSSEvent?

    /// Ends the moment whose sentences were read, because the line has been quiet after them.
    /// - Returns: the event of that moment; nil if no sentence waits for others.
    mutating func endMoment() -> GNSSEvent?

    /// Whether ``endMoment()`` would return an event.
    var isMomentOpen: Bool { get }

    /// Whether the last event came from an NMEA sentence.
    var isLastEventNMEA: Bool { get }
}

/// A result of the bytes of a GNSS receiver.
public enum GNSSEvent: Equatable, Sendable {
    /// A position whose time is resolved to UTC, with the date as the receiver says it.
    case reading(GNSSReading)
    /// The receiver works, but does not know its position or its time.
    case noFix
    /// How many satellites the receiver hears.
    case satellites(UInt8)
    /// The receiver accepts or refuses a message of its configuration.
    case answer(UBXMessageType, isAccepted: Bool)
    /// The receiver says whether its antenna is short-circuited or open. The value is false if it does not watch its antenna.
    case antenna(isFaulty: Bool)
    /// A valid message of another kind.
    case other
}

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
