/// A fix in the form in which the models code it: every field is an integer, even if it is unknown.
struct FixCodes {
    var sequence: UInt32 = 0
    var unixMilliseconds: Int64 = 0
    /// Raw value of a ``FixSource``.
    var source: UInt8 = 0
    /// Raw value of a ``PositionStep``.
    var positionStep: UInt8 = 0
    /// Raw value of an ``AltitudeStep``.
    var altitudeStep: UInt8 = 0
    var presence = FieldPresence(rawValue: 0)
    /// Values by ``Field``: the fields of ``FieldPresence`` in the same order, then latitude and longitude.
    private(set) var fields = InlineArray<9, Int32>(repeating: 0)

    /// Indices into ``fields``.
    enum Field {
        static let altitude = 0
        static let horizontalAccuracy = 1
        static let verticalAccuracy = 2
        static let speed = 3
        static let course = 4
        static let heading = 5
        static let battery = 6
        static let latitude = 7
        static let longitude = 8
        static let count = 9

        /// The fields that models code after ``speed``, in coding order, four bits each, the first field in the lowest bits.
        static var orderAfterSpeed: UInt32 { 0x6542_1087 }

        @inline(__always)
        static func isAngle(_ field: Int) -> Bool { field == course || field == heading }

        /// The name of a field in an error.
        static func name(of field: Int) -> WireField {
            switch field {
            case altitude: .altitude
            case speed: .speed
            case latitude: .latitude
            case longitude: .longitude
            case horizontalAccuracy: .horizontalAccuracy
            case verticalAccuracy: .verticalAccuracy
            case course: .course
            case heading: .heading
            default: .battery
            }
        }
    }

    /// Creates codes in which no optional field is known and every value is 0.
    init() {}

    /// Creates the codes of a fix; an unknown field is 0.
    init(of fix: Fix) {
        sequence = fix.sequence
        unixMilliseconds = fix.unixMilliseconds
        source = fix.source.rawValue
        positionStep = fix.positionStep.rawValue
        altitudeStep = fix.altitudeStep.rawValue
        keep(Field.latitude, fix.latitudeSteps)
        keep(Field.longitude, fix.longitudeSteps)
        know(Field.altitude, fix.altitudeSteps)
        know(Field.horizontalAccuracy, fix.horizontalAccuracy.map { Int32($0.rawValue) })
        know(Field.verticalAccuracy, fix.verticalAccuracy.map { Int32($0.rawValue) })
        know(Field.speed, fix.speedDecimetersPerSecond.map { Int32(truncatingIfNeeded: $0) })
        know(Field.course, fix.course.map { Int32($0.steps) })
        know(Field.heading, fix.heading.map { Int32($0.steps) })
        know(Field.battery, fix.batteryPercent.map { Int32($0) })
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    private mutating func know(_ field: Int, _ value: Int32?) {
        guard let value else { return }
        keep(field, value)
        presence.rawValue |= 0x40 &>> UInt8(truncatingIfNeeded: field)
    }

    @inline(__always)
    mutating func keep(_ field: Int, _ value: Int32) { fields[field] = value }

    @inline(__always)
    func value(_ field: Int) -> Int32 { fields[field] }

    /// The value of a field, for codes that are a parameter: a collar would copy all of them for ``value(_:)``.
    @inline(__always)
    func givenValue(_ field: Int) -> Int32 { fields.span[field] }

    @inline(__always)
    func isKnown(_ field: Int) -> Bool {
        field >= Field.latitude || presence.rawValue &<< UInt8(truncatingIfNeeded: field) & 0x40 != 0
    }

    /// Whether a value lies in the range of its field.
    func accepts(_ value: Int64, as field: Int) -> Bool {
        let highest: Int32
        switch field {
        case Field.altitude: highest = Fix.altitudeStepsRange.upperBound
        case Field.latitude: highest = stepsPerQuarterTurn
        case Field.longitude: highest = 2 &* stepsPerQuarterTurn
        case Field.speed: highest = Int32(bitPattern: Fix.maximumSpeedDecimetersPerSecond)
        case Field.battery: highest = Int32(Fix.maximumBatteryPercent)
        case Field.course, Field.heading: highest = Int32(AngleCode.count) &- 1
        default: highest = Int32(AccuracyCode.top)
        }
        // The altitude has a range of two's complement, −highest − 1 … highest.
        let lowest = field == Field.altitude ? ~highest : field >= Field.latitude ? 0 &- highest : 0
        return value >= Int64(widening: lowest) && value <= Int64(widening: highest)
    }

    /// The fix with these codes, all of which must be in range.
    var fix: Fix {
        Fix(
            sequence: sequence, unixMilliseconds: unixMilliseconds, source: FixSource(rawValue: source) ?? .collar,
            positionStep: PositionStep(rawValue: positionStep) ?? .e5, latitudeSteps: fields[Field.latitude],
            longitudeSteps: fields[Field.longitude], altitudeStep: AltitudeStep(rawValue: altitudeStep) ?? .meter,
            altitudeSteps: isKnown(Field.altitude) ? fields[Field.altitude] : nil,
            horizontalAccuracy: byte(Field.horizontalAccuracy).flatMap(AccuracyCode.init(rawValue:)),
            verticalAccuracy: byte(Field.verticalAccuracy).flatMap(AccuracyCode.init(rawValue:)),
            speedDecimetersPerSecond: isKnown(Field.speed) ? UInt32(bitPattern: fields[Field.speed]) : nil,
            course: byte(Field.course).flatMap(AngleCode.init(steps:)),
            heading: byte(Field.heading).flatMap(AngleCode.init(steps:)), batteryPercent: byte(Field.battery))
    }

    private func byte(_ field: Int) -> UInt8? { isKnown(field) ? UInt8(truncatingIfNeeded: fields[field]) : nil }

    /// Steps in 90 degrees.
    @inline(__always)
    var stepsPerQuarterTurn: Int32 { FixCodes.stepsPerQuarterTurn(positionStep) }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    static func stepsPerQuarterTurn(_ positionStep: UInt8) -> Int32 {
        positionStep == 0 ? 9_000_000 : positionStep == 1 ? 90_000_000 : 900_000_000
    }

    /// The ratio of two position steps: 1, 10 or 100. Their order does not matter.
    static func ratio(of first: UInt8, to second: UInt8) -> Int32 { first == second ? 1 : first &+ second == 2 ? 100 : 10 }

    /// A longitude that at most one turn brings to −180° … 180°, brought there; any number if `halfTurn` is 0.
    static func wrapped(_ longitude: Int64, halfTurn: Int64) -> Int64 {
        if halfTurn == 0 { return longitude }
        let turn = 2 &* halfTurn
        return longitude > halfTurn ? longitude &- turn : longitude < 0 &- halfTurn ? longitude &+ turn : longitude
    }

    /// `value` times 10^`decimals`, for `decimals` from −2 to 2. Halves are rounded away from zero.
    static func rescale(_ value: Int32, decimals: Int) -> Int32 {
        let factor: Int32 = abs(decimals) == 0 ? 1 : abs(decimals) == 1 ? 10 : 100
        guard decimals < 0 else { return value &* factor }
        return value.roundedQuotient(by: factor)
    }

    /// The nearest second of a time (halves up) and the rest, −500 … 499 ms.
    static func splitSeconds(_ milliseconds: Int64) -> (seconds: Int64, rest: Int32) {
        let shifted = milliseconds &+ 500
        var seconds = shifted / 1000
        var rest = Int32(truncatingIfNeeded: shifted &- seconds &* 1000)
        if rest < 0 {
            seconds &-= 1
            rest &+= 1000
        }
        return (seconds, rest &- 500)
    }
}

extension Int32 {
    /// The quotient, rounded to the nearest integer; halves are rounded away from zero. The magnitude of the number plus half the
    /// divisor must fit `Int32`.
    @inline(__always)
    func roundedQuotient(by divisor: Int32) -> Int32 { (self &+ (self < 0 ? 0 &- divisor : divisor) / 2) / divisor }
}

/// A model that codes the fields of a fix one after the other.
protocol FieldModel {
    /// Codes a field, if it is known.
    /// - Parameter given: the value to encode; a decoder ignores it.
    @_lifetime(coder: copy coder)
    mutating func field<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ field: Int, _ given: Int32, _ coder: inout Coder)
}

extension FieldModel {
    /// Codes all fields, the speed first.
    @inline(__always)
    @_lifetime(coder: copy coder)
    mutating func fields<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ given: FixCodes, _ coder: inout Coder) {
        field(FixCodes.Field.speed, given.givenValue(FixCodes.Field.speed), &coder)
        #if hasFeature(Embedded)
        fields(inOrder: FixCodes.Field.orderAfterSpeed, given, &coder)
        #else
        // There is one call for each field, so that the compiler specialises the code for each field.
        field(FixCodes.Field.latitude, given.givenValue(FixCodes.Field.latitude), &coder)
        field(FixCodes.Field.longitude, given.givenValue(FixCodes.Field.longitude), &coder)
        field(FixCodes.Field.altitude, given.givenValue(FixCodes.Field.altitude), &coder)
        field(FixCodes.Field.horizontalAccuracy, given.givenValue(FixCodes.Field.horizontalAccuracy), &coder)
        field(FixCodes.Field.verticalAccuracy, given.givenValue(FixCodes.Field.verticalAccuracy), &coder)
        field(FixCodes.Field.course, given.givenValue(FixCodes.Field.course), &coder)
        field(FixCodes.Field.heading, given.givenValue(FixCodes.Field.heading), &coder)
        field(FixCodes.Field.battery, given.givenValue(FixCodes.Field.battery), &coder)
        #endif
    }

    /// Codes the fields of a list: four bits each, the first field in the lowest bits. The last one must not be field 0.
    @_lifetime(coder: copy coder)
    mutating func fields<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        inOrder list: UInt32, _ given: FixCodes, _ coder: inout Coder
    ) {
        var rest = list
        while rest != 0 {
            let next = Int(truncatingIfNeeded: rest & 0xF)
            field(next, given.givenValue(next), &coder)
            rest = rest &>> 4
        }
    }
}

/// Which of the seven optional fields are known: seven bits, with the first field in the most significant bit.
struct FieldPresence: Equatable {
    var rawValue: UInt8

    static let bitCount = 7
    static let complete = FieldPresence(rawValue: (1 &<< 7) - 1)

    var isComplete: Bool { self == .complete }
}
