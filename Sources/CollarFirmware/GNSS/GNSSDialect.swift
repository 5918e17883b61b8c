/// What a GNSS receiver may speak: the parser of one protocol, or of two.
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
