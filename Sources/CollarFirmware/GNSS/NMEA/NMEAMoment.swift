import CollarWire

/// What the sentences of one moment say together: RMC (date, time, position, speed, course), GGA (altitude) and GST (accuracies).
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

    /// Adds a sentence of this moment.
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
