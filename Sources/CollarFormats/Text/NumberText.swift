import CollarWire

/// A number with decimal places: ``value`` / 10^``fractionDigits``.
struct FixedPoint: Equatable {
    let value: Int64
    /// 0 … 8.
    let fractionDigits: Int
    /// Whether all decimal places are written, also zeros at the end.
    private(set) var keepsZeros = false

    /// The length of the longest text: a sign, 19 digits and a decimal point.
    static let longestText = 21
    /// 10 to the power of each number of decimal places.
    static let scales: InlineArray<_, UInt64> = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]

    init(_ value: some BinaryInteger, fractionDigits: Int = 0) {
        self.value = Int64(value)
        self.fractionDigits = fractionDigits
    }

    /// The number, to be written with all its decimal places.
    var keepingZeros: FixedPoint {
        var number = self
        number.keepsZeros = true
        return number
    }

    var text: String { String(decoding: [UInt8](capacity: FixedPoint.longestText) { $0.append(self) }, as: UTF8.self) }
}

/// The values of a fix in the units of most formats. They are written without zeros at their ends.
extension Fix {
    var latitudeDegrees: FixedPoint { FixedPoint(latitudeSteps, fractionDigits: positionStep.fractionDigits) }
    var longitudeDegrees: FixedPoint { FixedPoint(longitudeSteps, fractionDigits: positionStep.fractionDigits) }
    var altitudeMeters: FixedPoint? { altitudeSteps.map { FixedPoint($0, fractionDigits: altitudeStep.fractionDigits) } }
    var horizontalAccuracyMeters: FixedPoint? { horizontalAccuracy?.meters }
    var verticalAccuracyMeters: FixedPoint? { verticalAccuracy?.meters }
    var speedMetersPerSecond: FixedPoint? { speedDecimetersPerSecond.map { FixedPoint($0, fractionDigits: 1) } }
    var courseDegrees: FixedPoint? { course.map { FixedPoint($0.degrees) } }
    var headingDegrees: FixedPoint? { heading.map { FixedPoint($0.degrees) } }
    var battery: FixedPoint? { batteryPercent.map { FixedPoint($0) } }
}

extension ReceivedFix {
    var receptionUnixMilliseconds: FixedPoint? { receivedUnixMilliseconds.map { FixedPoint($0) } }
    var strengthDBm: FixedPoint? { signal.map { FixedPoint($0.strengthDBm) } }
    var signalToNoiseDB: FixedPoint? { signal?.signalToNoiseTenthsDB.map { FixedPoint($0, fractionDigits: 1) } }
}

extension AccuracyCode {
    /// The millimetres of each code: to compute them takes longer than to write a line.
    private static let lengths = (0...top).map { AccuracyCode(rawValue: $0)?.millimeters ?? 0 }

    /// ``millimeters``, in constant time.
    var knownMillimeters: UInt32 { AccuracyCode.lengths[Int(rawValue)] }

    var meters: FixedPoint { FixedPoint(knownMillimeters, fractionDigits: 3) }

    /// In metres for people: with one decimal place below 10 m, else without.
    var shownMeters: FixedPoint {
        let length = knownMillimeters
        return length >= 10_000 ? FixedPoint((length + 500) / 1000) : FixedPoint((length + 50) / 100, fractionDigits: 1).keepingZeros
    }
}

extension Int64 {
    /// The quotient, rounded down also below 0, and the remainder, which is never negative.
    func dividedDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension [UInt8] {
    mutating func append(_ text: StaticString) { append(addingCapacity: text.utf8CodeUnitCount) { $0.append(text) } }

    /// Appends a row, or the part of a row that has no text of any length, such as a name. So it has at most 512 bytes.
    mutating func appendRow(_ write: (_ row: inout OutputSpan<UInt8>) -> Void) {
        append(addingCapacity: 512, initializingWith: write)
    }
}

extension OutputSpan<UInt8> {
    @inline(__always)
    mutating func append(_ text: StaticString) {
        // Unsafe because a StaticString gives its bytes only through a pointer, and because an OutputSpan takes several bytes at once
        // only through another. The bytes are constant and stay where they are; both bounds are checked.
        unsafe withUnsafeMutableBufferPointer { bytes, count in
            let constant = unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            count = unsafe bytes.extracting(count...).update(fromContentsOf: constant) + count
        }
    }

    /// Appends a number after a constant text, and perhaps before another.
    @inline(__always)
    mutating func append(_ text: StaticString, _ number: FixedPoint, _ end: StaticString = "") {
        append(text)
        append(number)
        append(end)
    }

    @inline(__always)
    mutating func append(_ text: StaticString, _ integer: some BinaryInteger) { append(text, FixedPoint(integer)) }

    /// Appends a constant text, and a number, or what stands for an unknown one.
    @inline(__always)
    mutating func append(_ text: StaticString, _ number: FixedPoint?, orUnknown unknown: StaticString) {
        append(text)
        if let number { append(number) } else { append(unknown) }
    }

    /// Appends a number after a constant text, and perhaps before another. Nothing is appended if the number is unknown.
    @inline(__always)
    mutating func append(_ text: StaticString, ifKnown number: FixedPoint?, _ end: StaticString = "") {
        if let number { append(text, number, end) }
    }

    /// Appends the first bytes of a word, the lowest byte first.
    @inline(__always)
    mutating func append(_ word: UInt64, byteCount: Int) {
        for index in 0..<byteCount { append(UInt8(truncatingIfNeeded: word &>> UInt64(8 &* index))) }
    }

    /// Appends an integer below 10^8 in `digits` digits, 8 at most; it has no more.
    @inline(__always)
    mutating func append(_ integer: UInt32, digits: Int) {
        append((DecimalDigits.eight(of: integer) | DecimalDigits.ascii) &>> UInt64(64 &- 8 &* digits), byteCount: digits)
    }

    @inline(__always)
    mutating func append(hexadecimal value: UInt32) { append(HexadecimalDigits.eight(of: value), byteCount: 8) }

    /// Appends a number; a digit stands before the decimal point.
    mutating func append(_ number: FixedPoint) {
        var rest = number.value.magnitude
        var fractionDigits = number.fractionDigits
        while fractionDigits > 0, !number.keepsZeros, rest % 10 == 0 {
            rest /= 10
            fractionDigits -= 1
        }
        if number.value < 0 { append(UInt8(ascii: "-")) }
        if fractionDigits == 0 { return append(integer: rest) }
        let (whole, fraction) = rest.quotientAndRemainder(dividingBy: FixedPoint.scales[fractionDigits])
        append(integer: whole)
        append(UInt8(ascii: "."))
        append(UInt32(truncatingIfNeeded: fraction), digits: fractionDigits)
    }

    private mutating func append(integer: UInt64) {
        guard integer >= 100_000_000 else { return append(below100Million: UInt32(truncatingIfNeeded: integer)) }
        let (upper, lower) = integer.quotientAndRemainder(dividingBy: 100_000_000)
        if upper < 100_000_000 {
            append(below100Million: UInt32(truncatingIfNeeded: upper))
        } else {
            append(below100Million: UInt32(truncatingIfNeeded: upper / 100_000_000))
            append(UInt32(truncatingIfNeeded: upper % 100_000_000), digits: 8)
        }
        append(UInt32(truncatingIfNeeded: lower), digits: 8)
    }

    @inline(__always)
    private mutating func append(below100Million integer: UInt32) {
        let digits = DecimalDigits.eight(of: integer)
        let leadingZeroBits = DecimalDigits.leadingZeroBits(in: digits)
        append((digits | DecimalDigits.ascii) &>> UInt64(leadingZeroBits), byteCount: 8 &- leadingZeroBits &>> 3)
    }
}
