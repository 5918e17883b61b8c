/// A position fix in the integer codes in which it is logged, sent and acknowledged.
///
/// A fix is quantised once, when the collar logs it. Every frame that carries it, every retransmission and every
/// live fix that is coded against it uses exactly these codes, so nothing is rounded twice.
public struct Fix: Equatable, Sendable {
    /// Index of the fix in the collar's persistent log, 0 … ``maximumSequence``. The indices of a log never restart.
    public var sequence: UInt32
    /// Time of the fix, in milliseconds since 1970-01-01T00:00:00Z. Within ``timeRange``.
    public var unixMilliseconds: Int64
    /// The device that made the fix.
    public var source: FixSource
    /// Size of the step in which ``latitudeSteps`` and ``longitudeSteps`` count.
    public var positionStep: PositionStep
    /// Latitude in ``positionStep``, −90° … 90°, north positive.
    public var latitudeSteps: Int32
    /// Longitude in ``positionStep``, −180° … 180°, east positive. −180° and 180° are different values.
    public var longitudeSteps: Int32
    /// Size of the step in which ``altitudeSteps`` counts.
    public var altitudeStep: AltitudeStep
    /// Altitude above mean sea level in ``altitudeStep``, within ``altitudeStepsRange``; nil when unknown.
    public var altitudeSteps: Int32?
    /// Horizontal accuracy (a radius); nil when unknown.
    public var horizontalAccuracy: AccuracyCode?
    /// Vertical accuracy; nil when unknown.
    public var verticalAccuracy: AccuracyCode?
    /// Speed over ground in 0.1 m/s, 0 … ``maximumSpeedDecimetersPerSecond``; nil when unknown.
    public var speedDecimetersPerSecond: UInt32?
    /// Course over ground from true north; nil when unknown.
    public var course: AngleCode?
    /// Heading of the collar's compass from true north; nil without a compass.
    public var heading: AngleCode?
    /// Battery charge in percent, 0 … 100; nil when unknown.
    public var batteryPercent: UInt8?

    /// Creates a fix without checking it; encoders check it with ``validate()``.
    public init(
        sequence: UInt32, unixMilliseconds: Int64, source: FixSource = .collar, positionStep: PositionStep = .e5,
        latitudeSteps: Int32, longitudeSteps: Int32, altitudeStep: AltitudeStep = .meter,
        altitudeSteps: Int32? = nil, horizontalAccuracy: AccuracyCode? = nil,
        verticalAccuracy: AccuracyCode? = nil, speedDecimetersPerSecond: UInt32? = nil,
        course: AngleCode? = nil, heading: AngleCode? = nil, batteryPercent: UInt8? = nil
    ) {
        self.sequence = sequence
        self.unixMilliseconds = unixMilliseconds
        self.source = source
        self.positionStep = positionStep
        self.latitudeSteps = latitudeSteps
        self.longitudeSteps = longitudeSteps
        self.altitudeStep = altitudeStep
        self.altitudeSteps = altitudeSteps
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.speedDecimetersPerSecond = speedDecimetersPerSecond
        self.course = course
        self.heading = heading
        self.batteryPercent = batteryPercent
    }

    /// The highest sequence that a fix can have. It is one below the highest 32-bit number, so that the next sequence of a full
    /// log fits 32 bits.
    public static var maximumSequence: UInt32 { 0xFFFF_FFFE }
    /// The times that the protocol carries, in milliseconds since 1970: 48 bits, two's complement.
    public static var timeRange: ClosedRange<Int64> { -0x8000_0000_0000...0x7FFF_FFFF_FFFF }
    /// The altitudes that the protocol carries, in ``altitudeStep``: 24 bits, two's complement.
    public static var altitudeStepsRange: ClosedRange<Int32> { -0x80_0000...0x7F_FFFF }
    /// The highest speed that the protocol carries, in 0.1 m/s: 20 bits.
    public static var maximumSpeedDecimetersPerSecond: UInt32 { (1 &<< 20) - 1 }

    /// The charge of a full battery, in percent.
    static var maximumBatteryPercent: UInt8 { 100 }

    /// Checks every field against its range.
    /// - Throws: ``EncodeError/field(_:value:)`` with the first field that is out of range.
    public func validate() throws(EncodeError) {
        guard sequence <= Fix.maximumSequence else { throw .field(.sequence, value: sequence) }
        guard Fix.timeRange.contains(unixMilliseconds) else { throw .field(.time, value: 0) }
        let codes = FixCodes(of: self)
        for field in 0..<FixCodes.Field.count where codes.isKnown(field) {
            let value = codes.givenValue(field)
            guard codes.accepts(Int64(widening: value), as: field) else {
                throw .field(FixCodes.Field.name(of: field), value: UInt32(bitPattern: value))
            }
        }
    }
}

/// The kind of device that made a fix; two bits on the wire.
public enum FixSource: UInt8, Equatable, Sendable {
    /// A watch worn by the pet.
    case watchOS = 0
    /// A phone.
    case iOS = 1
    /// A collar of this protocol.
    case collar = 2
}

/// Size of the step in which a position is counted; two bits on the wire.
public enum PositionStep: UInt8, Equatable, Sendable {
    /// 1e-5 degree (1.1 m of latitude), the default.
    case e5 = 0
    /// 1e-6 degree (11 cm).
    case e6 = 1
    /// 1e-7 degree (1.1 cm).
    case e7 = 2

    /// Decimal places of a degree: 5, 6 or 7.
    public var fractionDigits: Int { 5 + Int(rawValue) }

    /// Steps in 90 degrees.
    public var stepsPerQuarterTurn: Int32 { FixCodes.stepsPerQuarterTurn(rawValue) }
}

/// Size of the step in which an altitude is counted; one bit on the wire.
public enum AltitudeStep: UInt8, Equatable, Sendable {
    /// 1 m, the default.
    case meter = 0
    /// 0.1 m.
    case decimeter = 1

    /// Decimal places of a metre: 0 or 1.
    public var fractionDigits: Int { Int(rawValue) }
}

/// A direction from true north in steps of 2°, 0 … 179.
public struct AngleCode: Equatable, Sendable {
    /// Steps of 2°, 0 … 179.
    public let steps: UInt8

    /// Creates an angle from its code; nil above 179.
    public init?(steps: UInt8) {
        guard steps < AngleCode.count else { return nil }
        self.steps = steps
    }

    /// Creates an angle from a code that the caller knows to be below ``count``.
    init(checked steps: UInt8) { self.steps = steps }

    /// Number of codes: 180.
    public static var count: UInt8 { 180 }

    /// The angle in degrees, an even number 0 … 358.
    public var degrees: Int { 2 * Int(steps) }

    /// The code nearest to an angle in hundredths of a degree, 0 … 36000; nil outside that range. Halves are rounded up, and
    /// 360° is 0°.
    public init?(nearestToCentidegrees centidegrees: Int) {
        guard centidegrees >= 0, centidegrees <= 36_000 else { return nil }
        steps = UInt8((centidegrees + 100) / 200 % Int(AngleCode.count))
    }
}

/// The permanent identifier of a fix, the same for every receiver: the collar, its log, and the index in that log.
///
/// It is written as a UUID of version 8 (RFC 9562). The 122 free bits of such a UUID hold the device id (64 bits), the log id
/// (26 bits) and the sequence (32 bits), most significant first:
///
///     bits of the UUID   0…47     48…51      52…63     64…65        66…69    70…95    96…127
///                        device   version    device    variant      device   log id   sequence
///                        63…16    1000       15…4      10           3…0
public struct FixIdentifier: Equatable, Sendable {
    /// The collar's 64-bit factory id.
    public let deviceID: DeviceID
    /// The id of the log that holds the fix, 26 bits, drawn when the log was formatted.
    public let logID: LogID
    /// Index of the fix in that log.
    public let sequence: UInt32

    /// Creates an identifier.
    @inlinable
    public init(deviceID: DeviceID, logID: LogID, sequence: UInt32) {
        self.deviceID = deviceID
        self.logID = logID
        self.sequence = sequence
    }

    /// Reads an identifier from the two halves of a UUID, most significant bytes first.
    /// Nil if the UUID has another version than 8 or another variant than that of RFC 9562.
    public init?(high: UInt64, low: UInt64) {
        guard (high &>> 12) & 0xF == 8, low &>> 62 == 0b10 else { return nil }
        let upperDevice = high & 0xFFFF_FFFF_FFFF_0000
        let middleDevice = (high & 0xFFF) &<< 4
        deviceID = DeviceID(rawValue: upperDevice | middleDevice | ((low &>> 58) & 0xF))
        logID = LogID(lowBitsOf: UInt32(truncatingIfNeeded: low &>> 32))
        sequence = UInt32(truncatingIfNeeded: low)
    }

    /// The first eight bytes of the UUID, most significant first.
    @inlinable
    public var high: UInt64 {
        let version: UInt64 = 0x8000
        return (deviceID.rawValue & 0xFFFF_FFFF_FFFF_0000) | version | ((deviceID.rawValue &>> 4) & 0xFFF)
    }

    /// The last eight bytes of the UUID, most significant first.
    @inlinable
    public var low: UInt64 {
        let variant: UInt64 = 0x8000_0000_0000_0000
        return variant | ((deviceID.rawValue & 0xF) &<< 58) | (UInt64(widening: logID.rawValue) &<< 32) | UInt64(widening: sequence)
    }

    /// The sixteen bytes of the UUID in the order in which they are written.
    public var bytes: InlineArray<16, UInt8> {
        InlineArray { index in
            let half = index < 8 ? high : low
            return UInt8(truncatingIfNeeded: half &>> shiftCount(56 - 8 * (index % 8)))
        }
    }
}
