import CollarWire

/// Finds the messages of a u-blox receiver in a stream of bytes, and reads the ones that a collar needs.
///
/// All other bytes are skipped: other protocols, messages with a wrong checksum, and messages with more than 92 bytes of payload, of
/// which only the satellites of NAV-SAT are counted. Damaged bytes never hide a message that follows them: after a wrong checksum the
/// search goes on at the second byte of what looked like a message.
public struct UBXParser: GNSSDialect {
    /// The bytes from the first one on that may begin a message.
    private var bytes = InlineArray<100, UInt8>(repeating: 0)
    private var count = 0
    private var satelliteCounter = SatelliteCounter()
    /// The number of satellites of a message that has just ended.
    private var satelliteCount: UInt8?

    /// The bytes before the payload: two of synchronisation, class, number, and two of length.
    private static var headerByteCount: Int { 6 }
    private static var checksumByteCount: Int { 2 }
    /// The payload of the longest message that the collar needs.
    private static var longestPayload: Int { 92 }

    /// Creates a parser at the start of a stream.
    public init() {}

    /// A u-blox receiver takes its configuration.
    public static var takesConfiguration: Bool { true }
    /// UBX messages are complete: none waits for others.
    public var isMomentOpen: Bool { false }
    /// A UBX parser reads no NMEA.
    public var isLastEventNMEA: Bool { false }

    /// UBX messages are complete: none waits for others.
    public mutating func endMoment() -> GNSSEvent? { nil }

    /// Reads one byte. After each byte, call ``next()`` until it returns nil; otherwise old bytes are lost.
    public mutating func append(_ byte: UInt8) {
        if count == bytes.count { drop(1) }
        bytes[count] = byte
        count &+= 1
        if let found = satelliteCounter.add(byte) { satelliteCount = found }
    }

    /// The event of the next message; nil if the bytes hold no further whole message.
    ///
    /// Complexity: constant for a byte that continues a message; at worst quadratic in the 100 bytes that are kept.
    public mutating func next() -> GNSSEvent? {
        if let satelliteCount {
            self.satelliteCount = nil
            return .satellites(satelliteCount)
        }
        var start = 0
        while start < count {
            switch judge(at: start) {
            case .incomplete:
                drop(start)
                return nil
            case .noMessage: start &+= 1
            case .message(let end):
                let event = event(ofMessageAt: start, end: end)
                drop(end)
                return event
            }
        }
        count = 0
        return nil
    }

    private enum Judgement {
        case incomplete
        case noMessage
        /// A message with a correct checksum; it ends before this index.
        case message(end: Int)
    }

    /// Judges whether a message begins at `start`, which is below `count`.
    private mutating func judge(at start: Int) -> Judgement {
        guard bytes[start] == UBXCommand.synchronisation.0 else { return .noMessage }
        guard start &+ 1 < count else { return .incomplete }
        guard bytes[start &+ 1] == UBXCommand.synchronisation.1 else { return .noMessage }
        guard start &+ UBXParser.headerByteCount <= count else { return .incomplete }
        let length = Int(bytes.span.littleEndian16(at: start &+ 4))
        guard length <= UBXParser.longestPayload else { return .noMessage }
        let checksumStart = start &+ UBXParser.headerByteCount &+ length
        let end = checksumStart &+ UBXParser.checksumByteCount
        guard end <= count else { return .incomplete }
        var checksum = UBXChecksum()
        for index in (start &+ 2)..<checksumStart { checksum.add(bytes[index]) }
        let isCorrect = bytes[checksumStart] == checksum.first && bytes[checksumStart &+ 1] == checksum.second
        return isCorrect ? .message(end: end) : .noMessage
    }

    private mutating func event(ofMessageAt start: Int, end: Int) -> GNSSEvent {
        let type = UBXMessageType(bytes[start &+ 2], bytes[start &+ 3])
        let payload = bytes.span.extracting((start &+ UBXParser.headerByteCount)..<(end &- UBXParser.checksumByteCount))
        if type == .navigationPVT, payload.count >= NavigationSolution.leastByteCount {
            return NavigationSolution.event(of: payload)
        }
        if type == .accepted || type == .refused, payload.count == 2 {
            return .answer(UBXMessageType(payload[0], payload[1]), isAccepted: type == .accepted)
        }
        // The state of the antenna in MON-HW and MON-RF. The first of the blocks of MON-RF counts: they are the bands of one antenna.
        let offset = type == .hardwareStatus ? 20 : type == .radioStatus ? 6 : payload.count
        guard offset < payload.count else { return .other }
        // 3 is short, 4 is open. The others are: not known yet, not watched, and good.
        return .antenna(isFaulty: payload[offset] == 3 || payload[offset] == 4)
    }

    private mutating func drop(_ dropped: Int) {
        guard dropped > 0 else { return }
        for index in dropped..<count { bytes[index &- dropped] = bytes[index] }
        count &-= dropped
    }
}

/// Class and number of a UBX message. The names are those of u-blox's interface descriptions.
public struct UBXMessageType: Equatable, Sendable {
    /// The class.
    public let messageClass: UInt8
    /// The number within the class.
    public let number: UInt8

    init(_ messageClass: UInt8, _ number: UInt8) {
        self.messageClass = messageClass
        self.number = number
    }

    /// Position, velocity and time of a moment.
    static var navigationPVT: UBXMessageType { UBXMessageType(0x01, 0x07) }
    /// The satellites of a moment, and their signals.
    static var navigationSatellites: UBXMessageType { UBXMessageType(0x01, 0x35) }
    /// Asks the receiver to save power, here to switch itself off.
    static var powerRequest: UBXMessageType { UBXMessageType(0x02, 0x41) }
    static var refused: UBXMessageType { UBXMessageType(0x05, 0x00) }
    static var accepted: UBXMessageType { UBXMessageType(0x05, 0x01) }
    /// How often a message is sent (before generation 9).
    static var messageRate: UBXMessageType { UBXMessageType(0x06, 0x01) }
    /// Interval of measurements (before generation 9).
    static var rate: UBXMessageType { UBXMessageType(0x06, 0x08) }
    /// Whether power is saved (before generation 9).
    static var receiverManager: UBXMessageType { UBXMessageType(0x06, 0x11) }
    /// The dynamic model (before generation 9).
    static var navigationEngine: UBXMessageType { UBXMessageType(0x06, 0x24) }
    /// How power is saved (before generation 9).
    static var powerManagement: UBXMessageType { UBXMessageType(0x06, 0x3B) }
    /// State of the antenna, among others (before generation 9).
    static var hardwareStatus: UBXMessageType { UBXMessageType(0x0A, 0x09) }
    /// State of the antenna, among others (from generation 9 on).
    static var radioStatus: UBXMessageType { UBXMessageType(0x0A, 0x38) }
    /// Sets values by their keys (from generation 9 on).
    static var setValues: UBXMessageType { UBXMessageType(0x06, 0x8A) }
}

/// The checksum of a UBX message: two sums of the bytes from the class up to the end of the payload (8-bit Fletcher).
struct UBXChecksum: Equatable {
    private(set) var first: UInt8 = 0
    private(set) var second: UInt8 = 0

    mutating func add(_ byte: UInt8) {
        first &+= byte
        second &+= first
    }
}

/// The layout of NAV-PVT: offsets of the fields in the payload, and what they mean. The receiver of generation 7 sends 84 bytes,
/// later ones 92.
enum NavigationSolution {
    static var leastByteCount: Int { 84 }

    private enum Offset {
        static var year: Int { 4 }
        static var month: Int { 6 }
        static var day: Int { 7 }
        static var hour: Int { 8 }
        static var minute: Int { 9 }
        static var second: Int { 10 }
        static var valid: Int { 11 }
        /// Signed nanoseconds to add to the second, −10⁹ … 10⁹.
        static var nanoseconds: Int { 16 }
        static var fixType: Int { 20 }
        static var flags: Int { 21 }
        static var longitude: Int { 24 }
        static var latitude: Int { 28 }
        /// Altitude above mean sea level; the altitude above the ellipsoid is before it.
        static var altitude: Int { 36 }
        static var horizontalAccuracy: Int { 40 }
        static var verticalAccuracy: Int { 44 }
        static var groundSpeed: Int { 60 }
        /// Course in degrees × 10⁵.
        static var course: Int { 64 }
        static var moreFlags: Int { 78 }
    }

    /// The date and the time of day are valid, and the leap seconds are known (`validDate`, `validTime`, `fullyResolved`).
    ///
    /// The flags that say whether a second source confirms the time (`flags2`) are not asked for: a receiver that hears one
    /// system of satellites alone never sets them.
    private static var resolvedTime: UInt8 { 0b111 }
    /// In `flags`: the fix is within the limits of the receiver (`gnssFixOK`).
    private static var fixIsGood: UInt8 { 1 }
    /// In `flags3`: longitude, latitude and altitude are not valid (`invalidLlh`).
    private static var positionIsInvalid: UInt8 { 1 }

    private enum FixType {
        static var flat: UInt8 { 2 }
        static var withDeadReckoning: UInt8 { 4 }
    }

    /// The reading of a payload of at least ``leastByteCount`` bytes; ``GNSSEvent/noFix`` if the receiver has no good position or
    /// no time in UTC.
    static func event(of payload: Span<UInt8>) -> GNSSEvent {
        let fixType = payload[Offset.fixType]
        guard fixType >= FixType.flat, fixType <= FixType.withDeadReckoning, payload[Offset.flags] & fixIsGood != 0,
            payload[Offset.moreFlags] & positionIsInvalid == 0,
            payload[Offset.valid] & resolvedTime == resolvedTime, let time = unixMilliseconds(payload)
        else { return .noFix }
        var reading = GNSSReading(
            unixMilliseconds: time, latitudeE7: signed(payload, Offset.latitude),
            longitudeE7: signed(payload, Offset.longitude))
        // A two-dimensional fix assumes an altitude.
        if fixType != FixType.flat {
            reading.altitudeMillimeters = signed(payload, Offset.altitude)
            reading.verticalAccuracyMillimeters = accuracy(payload, Offset.verticalAccuracy)
        }
        reading.horizontalAccuracyMillimeters = accuracy(payload, Offset.horizontalAccuracy)
        let speed = signed(payload, Offset.groundSpeed)
        if speed >= 0 { reading.speedMillimetersPerSecond = UInt32(bitPattern: speed) }
        let course = signed(payload, Offset.course)
        if course >= 0, course <= 36_000_000 { reading.courseCentidegrees = UInt16(truncatingIfNeeded: course / 1000) }
        return .reading(reading)
    }

    private static func signed(_ payload: Span<UInt8>, _ offset: Int) -> Int32 {
        Int32(bitPattern: payload.littleEndian32(at: offset))
    }

    /// 0 and the highest number mean that the receiver has no estimate.
    private static func accuracy(_ payload: Span<UInt8>, _ offset: Int) -> UInt32? {
        let millimeters = payload.littleEndian32(at: offset)
        return millimeters == 0 || millimeters == .max ? nil : millimeters
    }

    private static func unixMilliseconds(_ payload: Span<UInt8>) -> Int64? {
        let nanoseconds = signed(payload, Offset.nanoseconds)
        guard nanoseconds >= -1_000_000_000, nanoseconds <= 1_000_000_000,
            let time = UTCDate(
                year: UInt32(payload.littleEndian16(at: Offset.year)), month: payload[Offset.month],
                day: payload[Offset.day])?.unixMilliseconds(
                hour: payload[Offset.hour], minute: payload[Offset.minute], second: payload[Offset.second])
        else { return nil }
        // The sum is not negative, so that the division rounds to the nearest millisecond on both sides of the second.
        return time &- 1000 &+ Int64(widening: (nanoseconds &+ 1_000_500_000) / 1_000_000)
    }
}

extension Span<UInt8> {
    /// The two bytes from `start` on, the first one least significant.
    func littleEndian16(at start: Int) -> UInt16 { UInt16(self[start]) | UInt16(self[start &+ 1]) &<< 8 }

    /// The four bytes from `start` on, the first one least significant.
    func littleEndian32(at start: Int) -> UInt32 {
        UInt32(littleEndian16(at: start)) | UInt32(littleEndian16(at: start &+ 2)) &<< 16
    }
}
