import CollarWire

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
    /// The satellites with a signal in the sentences GSV since the last RMC; nil if there was no GSV.
    private var satellitesInView: UInt8?
    /// The same for an event that is due.
    private var satelliteCount: UInt8?

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
        if let satelliteCount {
            self.satelliteCount = nil
            return .satellites(satelliteCount)
        }
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
        case .outside: break
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
        guard let kind = kind() else {
            countSatellites()
            return .other
        }
        if kind == .rmc, let satellitesInView {
            satelliteCount = satellitesInView
            self.satellitesInView = nil
        }
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

    /// Counts the satellites of a GSV, whose signals are in dBHz. Each talker has sentences of its own for the satellites of one system.
    private mutating func countSatellites() {
        guard isStandard,
            (sentence[2], sentence[3], sentence[4]) == (UInt8(ascii: "G"), UInt8(ascii: "S"), UInt8(ascii: "V"))
        else { return }
        var number = satellitesInView ?? 0
        // The sentence has up to four satellites, of four fields each.
        var field = 7
        while field <= 19 {
            let density = NMEAFields.decimal(field, of: sentence.span.extracting(0..<count), fractionDigits: 0) ?? 0
            if density >= Int64(widening: SatelliteCounter.leastDensity), number < .max { number &+= 1 }
            field &+= 4
        }
        satellitesInView = number
    }

    /// Whether the sentence is one of NMEA: two letters of the talker and three of the kind. An address that begins with P is
    /// proprietary: `PGRMC` is no RMC.
    private var isStandard: Bool { count > 6 && sentence[5] == UInt8(ascii: ",") && sentence[0] != UInt8(ascii: "P") }

    /// The kind of the sentence; nil if no moment needs it.
    private func kind() -> NMEAMoment.Sentence? {
        guard isStandard else { return nil }
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

/// The content of the sentences of one moment: RMC (date, time, position, speed, course), GGA (altitude) and GST (accuracies).
///
/// Without RMC there is no reading, because only RMC has the date. Without GGA the altitude is unknown, and without GST the
/// accuracies: a dilution of precision is no accuracy.
struct NMEAMoment {
    /// The kinds of sentences; one bit each.
    enum Sentence: UInt8 {
        case rmc = 1
        case gga = 2
        case gst = 4
    }

    /// The digits "hhmmss" and three more of the fraction, as a number: the time of day.
    let time: Int32
    private var sentences: UInt8 = 0
    private var hasFix = true
    private var date: UTCDate?
    private var latitudeE7: Int32?
    private var longitudeE7: Int32?
    private var altitudeMillimeters: Int32?
    private var horizontalAccuracyMillimeters: UInt32?
    private var verticalAccuracyMillimeters: UInt32?
    private var speedMillimetersPerSecond: UInt32?
    private var courseCentidegrees: UInt16?

    init(time: Int32) { self.time = time }

    /// Whether every sentence has come that says something.
    var isComplete: Bool { sentences == 7 }

    mutating func add(_ kind: Sentence, _ sentence: Span<UInt8>) {
        sentences |= kind.rawValue
        switch kind {
        case .rmc: addRMC(sentence)
        case .gga: addGGA(sentence)
        case .gst: addGST(sentence)
        }
    }

    private mutating func addRMC(_ sentence: Span<UInt8>) {
        if NMEAFields.letter(2, of: sentence) != UInt8(ascii: "A") { hasFix = false }
        // Newer receivers also tell the mode: here anything but an autonomous, differential, kinematic or precise fix is none.
        switch NMEAFields.letter(12, of: sentence) {
        case nil, UInt8(ascii: "A"), UInt8(ascii: "D"), UInt8(ascii: "F"), UInt8(ascii: "P"), UInt8(ascii: "R"): break
        default: hasFix = false
        }
        addPosition(sentence, at: 3)
        if let speed = NMEAFields.decimal(7, of: sentence, fractionDigits: 3), speed >= 0, speed < 1_000_000_000 {
            // A knot is 1852 m in 3600 s.
            speedMillimetersPerSecond = UInt32(truncatingIfNeeded: (speed &* 1852 &+ 1800) / 3600)
        }
        if let course = NMEAFields.decimal(8, of: sentence, fractionDigits: 2), course >= 0, course <= 36_000 {
            courseCentidegrees = UInt16(truncatingIfNeeded: course)
        }
        if let digits = NMEAFields.decimal(9, of: sentence, fractionDigits: 0), digits >= 0, digits <= 311_299 {
            let number = UInt32(truncatingIfNeeded: digits)
            let year = number % 100
            // Two digits: GPS began in 1980.
            date = UTCDate(
                year: year < 80 ? 2000 &+ year : 1900 &+ year, month: UInt8(truncatingIfNeeded: number / 100 % 100),
                day: UInt8(truncatingIfNeeded: number / 10_000))
        }
    }

    private mutating func addGGA(_ sentence: Span<UInt8>) {
        // 0 is no fix, 6 is estimated, 7 was typed in, 8 is simulated.
        let quality = NMEAFields.letter(6, of: sentence) ?? UInt8(ascii: "0")
        if quality < UInt8(ascii: "1") || quality > UInt8(ascii: "5") { hasFix = false }
        addPosition(sentence, at: 2)
        altitudeMillimeters = NMEAFields.millimeters(9, of: sentence)
    }

    private mutating func addGST(_ sentence: Span<UInt8>) {
        if let north = NMEAFields.millimeters(6, of: sentence), let east = NMEAFields.millimeters(7, of: sentence) {
            horizontalAccuracyMillimeters = hypotenuse(north.magnitude, east.magnitude)
        }
        if let up = NMEAFields.millimeters(8, of: sentence), up > 0 { verticalAccuracyMillimeters = up.magnitude }
    }

    private mutating func addPosition(_ sentence: Span<UInt8>, at field: Int) {
        let latitude = NMEAFields.angleE7(field, of: sentence, positive: UInt8(ascii: "N"), negative: UInt8(ascii: "S"))
        let longitude = NMEAFields.angleE7(field &+ 2, of: sentence, positive: UInt8(ascii: "E"), negative: UInt8(ascii: "W"))
        guard let latitude, let longitude, latitude.magnitude <= 900_000_000 else { return }
        latitudeE7 = latitude
        longitudeE7 = longitude
    }

    /// The result of the moment. Sentences without RMC say nothing about a position that has a date; some receivers send RMC and GGA
    /// in turn.
    var event: GNSSEvent {
        if hasFix, sentences & Sentence.rmc.rawValue == 0 { return .other }
        guard hasFix, let latitudeE7, let longitudeE7, let unixMilliseconds else { return .noFix }
        return .reading(
            GNSSReading(
                unixMilliseconds: unixMilliseconds, latitudeE7: latitudeE7, longitudeE7: longitudeE7,
                altitudeMillimeters: altitudeMillimeters, horizontalAccuracyMillimeters: horizontalAccuracyMillimeters,
                verticalAccuracyMillimeters: verticalAccuracyMillimeters,
                speedMillimetersPerSecond: speedMillimetersPerSecond, courseCentidegrees: courseCentidegrees))
    }

    private var unixMilliseconds: Int64? {
        guard time >= 0, time <= 235_960_999 else { return nil }
        let seconds = time / 1000
        return date?.unixMilliseconds(
            hour: UInt8(truncatingIfNeeded: seconds / 10_000), minute: UInt8(truncatingIfNeeded: seconds / 100 % 100),
            second: UInt8(truncatingIfNeeded: seconds % 100)
        ).map { $0 &+ Int64(widening: time % 1000) }
    }
}

/// The square root of the sum of two squares, rounded to the nearest integer; nil if it is 0.
private func hypotenuse(_ first: UInt32, _ second: UInt32) -> UInt32? {
    let square = UInt64(widening: first) &* UInt64(widening: first) &+ UInt64(widening: second) &* UInt64(widening: second)
    var root: UInt64 = 0
    var bit: UInt64 = 1 &<< 31
    while bit > 0 {
        let next = root | bit
        if next &* next <= square { root = next }
        bit = bit &>> 1
    }
    if square &- root &* root > root { root &+= 1 }
    return root == 0 ? nil : UInt32(truncatingIfNeeded: root)
}

/// The fields of an NMEA sentence. The sentence is the bytes between "$" and "*"; field 0 is its address.
enum NMEAFields {
    /// A field; empty if the sentence ends before it.
    ///
    /// Complexity: linear in the sentence.
    @_lifetime(copy sentence)
    static func field(_ number: Int, of sentence: Span<UInt8>) -> Span<UInt8> {
        var start = 0
        var left = number
        while left > 0, start < sentence.count {
            if sentence[start] == UInt8(ascii: ",") { left &-= 1 }
            start &+= 1
        }
        var end = start
        while end < sentence.count, sentence[end] != UInt8(ascii: ",") { end &+= 1 }
        return left > 0 ? sentence.extracting(0..<0) : sentence.extracting(start..<end)
    }

    /// The only letter of a field; nil if the field has another length.
    static func letter(_ number: Int, of sentence: Span<UInt8>) -> UInt8? {
        let field = field(number, of: sentence)
        return field.count == 1 ? field[0] : nil
    }

    /// The number of a field times 10^`fractionDigits`; further digits are cut off. Nil if the field is empty or is no number, or
    /// if the result is beyond ±10¹⁵.
    static func decimal(_ number: Int, of sentence: Span<UInt8>, fractionDigits: Int) -> Int64? {
        let field = field(number, of: sentence)
        let isNegative = field.count > 0 && field[0] == UInt8(ascii: "-")
        var index = isNegative ? 1 : 0
        guard index < field.count else { return nil }
        var value: Int64 = 0
        var fractionLeft: Int?
        while index < field.count {
            let byte = field[index]
            index &+= 1
            if byte == UInt8(ascii: "."), fractionLeft == nil {
                fractionLeft = fractionDigits
                continue
            }
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            if let left = fractionLeft {
                if left == 0 { continue }
                fractionLeft = left &- 1
            }
            value = value &* 10 &+ Int64(widening: byte &- UInt8(ascii: "0"))
            guard value <= 1_000_000_000_000_000 else { return nil }
        }
        var left = fractionLeft ?? fractionDigits
        while left > 0 {
            value = value &* 10
            guard value <= 1_000_000_000_000_000 else { return nil }
            left &-= 1
        }
        return isNegative ? 0 &- value : value
    }

    /// A latitude or longitude in degrees × 10⁷, from a field of degrees and minutes ("ddmm.mmmm") and the field of its
    /// hemisphere after it. Nil if one of them is wrong.
    static func angleE7(_ number: Int, of sentence: Span<UInt8>, positive: UInt8, negative: UInt8) -> Int32? {
        guard let value = decimal(number, of: sentence, fractionDigits: 7), value >= 0,
            let hemisphere = letter(number &+ 1, of: sentence), hemisphere == positive || hemisphere == negative
        else { return nil }
        let degrees = value / 1_000_000_000
        let minutesE7 = value &- degrees &* 1_000_000_000
        guard degrees <= 180, minutesE7 < 600_000_000 else { return nil }
        let angle = Int32(truncatingIfNeeded: degrees &* 10_000_000 &+ (minutesE7 &+ 30) / 60)
        return hemisphere == positive ? angle : 0 &- angle
    }

    /// A length in millimetres from a field in metres; nil if it does not fit.
    static func millimeters(_ number: Int, of sentence: Span<UInt8>) -> Int32? {
        guard let value = decimal(number, of: sentence, fractionDigits: 3), value.magnitude <= 2_000_000_000 else { return nil }
        return Int32(truncatingIfNeeded: value)
    }
}
