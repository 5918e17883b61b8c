/// Finds the NMEA 0183 sentences of a GNSS receiver in a stream of bytes, and puts together what the sentences of one moment say.
///
/// A sentence counts only if it has a correct checksum and at most 100 bytes between "$" and "*". Sentences with the same time of
/// day belong to the same moment. A moment ends when RMC, GGA and GST have come, when a sentence with another time comes, or
/// with ``endMoment()``; sentences that come later for it have no effect.
///
/// NMEA cannot tell whether the receiver knows the leap seconds yet: until it has heard them, up to 12.5 minutes after its first
/// start, its time may be wrong by some seconds. UBX can tell.
public struct NMEAParser: GNSSDialect {
    private enum State: Equatable {
        /// Waits for "$".
        case outside
        /// Collects the sentence.
        case inside
        /// Waits for the two digits of the checksum; the first one, once it is known.
        case checksum(UInt8?)
    }

    private var state = State.outside
    private var sentence = InlineArray<100, UInt8>(repeating: 0)
    private var count = 0
    /// Exclusive or of the bytes of the sentence.
    private var checksum: UInt8 = 0
    private var moment: NMEAMoment?
    /// The time of the moment that ended last.
    private var endedTime: Int32 = -1
    private var event: GNSSEvent?

    /// Creates a parser at the start of a stream.
    public init() {}

    /// There is no configuration that all NMEA receivers take.
    public static var takesConfiguration: Bool { false }
    /// Every event comes from NMEA.
    public var isLastEventNMEA: Bool { true }
    /// Whether sentences of a moment have come that has not ended.
    public var isMomentOpen: Bool { moment != nil }

    /// The event of the last byte; nil if there is none, or it was taken.
    public mutating func next() -> GNSSEvent? {
        let taken = event
        event = nil
        return taken
    }

    /// Reads one byte.
    public mutating func append(_ byte: UInt8) {
        if byte == UInt8(ascii: "$") {
            (state, count, checksum) = (.inside, 0, 0)
            return
        }
        switch state {
        case .outside:
            break
        case .inside:
            if byte == UInt8(ascii: "*") {
                state = .checksum(nil)
            } else if byte < 0x20 || byte > 0x7E || count == sentence.count {
                state = .outside
            } else {
                sentence[count] = byte
                count &+= 1
                checksum ^= byte
            }
        case .checksum(let high):
            guard let digit = NMEAParser.digit(byte) else {
                state = .outside
                return
            }
            guard let high else {
                state = .checksum(digit)
                return
            }
            state = .outside
            if high &<< 4 | digit == checksum { event = receive() }
        }
    }

    /// Ends the moment whose sentences were read.
    /// - Returns: its event; nil if there is no such moment.
    public mutating func endMoment() -> GNSSEvent? {
        guard let moment else { return nil }
        endedTime = moment.time
        self.moment = nil
        return moment.event
    }

    /// Takes the sentence, whose checksum is correct.
    private mutating func receive() -> GNSSEvent {
        guard let kind = kind() else { return .other }
        guard let digits = NMEAFields.decimal(1, of: sentence.span.extracting(0..<count), fractionDigits: 3), digits >= 0,
            digits <= 235_960_999
        else {
            // A receiver that was just switched on knows no time.
            return endMoment() ?? .noFix
        }
        let time = Int32(truncatingIfNeeded: digits)
        guard time != endedTime else { return .other }
        let ended = moment?.time == time ? nil : endMoment()
        var moment = moment ?? NMEAMoment(time: time)
        moment.add(kind, sentence.span.extracting(0..<count))
        self.moment = moment
        return moment.isComplete ? endMoment() ?? .other : ended ?? .other
    }

    /// The kind of the sentence, after the two letters of the talker; nil if the collar does not need it. An address that begins with P
    /// is proprietary: `PGRMC` is no RMC.
    private func kind() -> NMEAMoment.Sentence? {
        guard count > 6, sentence[5] == UInt8(ascii: ","), sentence[0] != UInt8(ascii: "P") else { return nil }
        switch (sentence[2], sentence[3], sentence[4]) {
        case (UInt8(ascii: "R"), UInt8(ascii: "M"), UInt8(ascii: "C")): return .rmc
        case (UInt8(ascii: "G"), UInt8(ascii: "G"), UInt8(ascii: "A")): return .gga
        case (UInt8(ascii: "G"), UInt8(ascii: "S"), UInt8(ascii: "T")): return .gst
        default: return nil
        }
    }

    /// The value of a hexadecimal digit; nil for another byte.
    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
        default: nil
        }
    }
}
