/// One setting of a collar: a key and its value.
public struct Setting: Equatable, Sendable {
    /// The key; see ``SettingKey``. A collar ignores keys that it does not know.
    public var key: UInt8
    /// The value, in the unit of the key.
    public var value: UInt32

    /// Creates a setting.
    public init(key: UInt8, value: UInt32) {
        self.key = key
        self.value = value
    }
}

/// Keys of settings, with their units.
public enum SettingKey: UInt8, Equatable, Sendable {
    /// Shortest time between two sent fixes while the battery is above 20 percent, in milliseconds.
    case intervalMilliseconds = 1
    /// Shortest time between two sent fixes at 10 … 20 percent of battery while the collar moves, in milliseconds.
    case lowBatteryMovingIntervalMilliseconds = 2
    /// Shortest time between two sent fixes at 10 … 20 percent of battery while the collar is stationary, in milliseconds.
    case lowBatteryStationaryIntervalMilliseconds = 3
    /// Shortest time between two sent fixes below 10 percent of battery, in milliseconds.
    case criticalBatteryIntervalMilliseconds = 4
    /// Change of the horizontal accuracy, in centimetres, at which a fix is always sent.
    case accuracyChangeCentimeters = 5
    /// Distance in centimetres: a collar is stationary if it moves less than this for ``stationarySeconds``.
    case stationaryDistanceCentimeters = 6
    /// Time in seconds: a collar is stationary if it moves less than ``stationaryDistanceCentimeters`` for this long.
    case stationarySeconds = 7
    /// Longest silence of the collar, in seconds.
    case heartbeatSeconds = 8
    /// Decimal places of a degree: 5, 6 or 7.
    case positionDigits = 9
    /// Decimal places of a metre of altitude: 0 or 1.
    case altitudeDigits = 10
    /// Shortest time between two sent fixes above 20 percent of battery while the collar is stationary, in milliseconds.
    case stationaryIntervalMilliseconds = 11
    /// Shortest time between two fixes that are made at 20 percent of battery or less, in milliseconds.
    case lowBatteryCaptureIntervalMilliseconds = 12
    /// Spreading factor of the LoRa modem from the next boot on, 5 … 12; 0 as built.
    case spreadingFactor = 13
    /// The longest time, in milliseconds, from the end of a poll to the start of its answer, from the next boot on; 0 as built.
    case turnaroundMilliseconds = 14
    /// Bytes that the modems add to each frame on the air, from the next boot on: 1 for sticks with RNode firmware.
    case modemHeaderBytes = 15
    /// Time between two fixes that are made while the collar moves, in milliseconds; 0: every reading of a GNSS receiver that is
    /// always on.
    case fixIntervalMilliseconds = 16
    /// The same while the collar is stationary; 0: as ``fixIntervalMilliseconds``.
    case restFixIntervalMilliseconds = 17
    /// Time in seconds after which a search without a position ends.
    case searchTimeoutSeconds = 18
    /// Horizontal accuracy in centimetres that is enough for a fix; 0: any.
    case enoughAccuracyCentimeters = 19
    /// Longest silence of a stationary collar, in seconds; 0: as ``heartbeatSeconds``.
    case restHeartbeatSeconds = 20
    /// Longest time between two polls while no receiver answers, in seconds; 0 as built.
    case outOfReachSeconds = 21
    /// Longest time from the beginning of a search without a position to the next search, in seconds.
    case searchWaitSeconds = 22
    /// Time in seconds, from the first position of a search, in which the collar waits for ``enoughAccuracyCentimeters``.
    case settlingSeconds = 23

    /// The number of keys. They are numbered from 1 on.
    public static var count: UInt8 { 23 }

    /// The values that a collar accepts besides 0 where ``isZeroAccepted``.
    public var range: ClosedRange<UInt32> {
        switch self {
        case .intervalMilliseconds, .lowBatteryMovingIntervalMilliseconds, .lowBatteryStationaryIntervalMilliseconds,
            .criticalBatteryIntervalMilliseconds, .stationaryIntervalMilliseconds, .lowBatteryCaptureIntervalMilliseconds:
            100...86_400_000
        case .accuracyChangeCentimeters, .stationaryDistanceCentimeters: 1...100_000
        case .stationarySeconds: 1...86_400
        case .heartbeatSeconds: 5...65_535
        case .positionDigits: 5...7
        case .altitudeDigits, .modemHeaderBytes: 0...1
        case .spreadingFactor: 5...12
        case .turnaroundMilliseconds: 1...65_535
        case .fixIntervalMilliseconds, .restFixIntervalMilliseconds: 1000...86_400_000
        case .searchTimeoutSeconds: 10...600
        case .enoughAccuracyCentimeters: 1...100_000
        case .restHeartbeatSeconds: 5...65_535
        case .outOfReachSeconds: 30...65_535
        case .searchWaitSeconds: 0...65_535
        case .settlingSeconds: 0...120
        }
    }

    /// Whether the setting is a time between two fixes, in milliseconds.
    public var isInterval: Bool {
        switch self {
        case .intervalMilliseconds, .lowBatteryMovingIntervalMilliseconds, .lowBatteryStationaryIntervalMilliseconds,
            .criticalBatteryIntervalMilliseconds, .stationaryIntervalMilliseconds, .lowBatteryCaptureIntervalMilliseconds,
            .fixIntervalMilliseconds, .restFixIntervalMilliseconds:
            true
        default: false
        }
    }

    /// Whether 0 is accepted outside ``range``. It means that the setting has no value of its own.
    public var isZeroAccepted: Bool {
        switch self {
        case .spreadingFactor, .turnaroundMilliseconds, .fixIntervalMilliseconds, .restFixIntervalMilliseconds,
            .enoughAccuracyCentimeters, .restHeartbeatSeconds, .outOfReachSeconds:
            true
        default: false
        }
    }

    /// Whether a collar accepts the value.
    public func accepts(_ value: UInt32) -> Bool { range.contains(value) || value == 0 && isZeroAccepted }
}

/// Up to six settings: as many as a frame of 51 bytes holds.
public struct SettingList: Equatable, Sendable {
    /// The most settings that the list can hold.
    public static var capacity: Int { 6 }

    private var keys = InlineArray<6, UInt8>(repeating: 0)
    private var values = InlineArray<6, UInt32>(repeating: 0)
    /// Number of settings in the list.
    public private(set) var count = 0

    /// An empty list.
    public init() {}

    /// The setting at `index`, 0 … `count` − 1.
    public subscript(index: Int) -> Setting {
        precondition(index >= 0 && index < count, "the index lies in the list")
        // Without the spans a collar would copy both arrays for each element.
        return Setting(key: keys.span[index], value: values.span[index])
    }

    /// Adds a setting at the end.
    /// - Returns: false, with the list unchanged, if it is full.
    @discardableResult
    public mutating func append(_ setting: Setting) -> Bool {
        guard count < SettingList.capacity else { return false }
        keys[count] = setting.key
        values[count] = setting.value
        count &+= 1
        return true
    }

    /// Same settings in the same order.
    public static func == (left: SettingList, right: SettingList) -> Bool {
        guard left.count == right.count else { return false }
        for index in 0..<left.count where left[index] != right[index] { return false }
        return true
    }
}

/// A collar's settings: reported by the collar, or set by the host. An update takes effect only if its version is above that of
/// the settings in force.
public struct Settings: Equatable, Sendable {
    /// Whether this is a report of the collar or an update of the host.
    public enum Direction: Equatable, Sendable {
        /// The collar reports the settings that it uses.
        case report
        /// The host sets the settings to use.
        case update
    }

    /// Report or update.
    public var direction: Direction
    /// In an update the update's own id; in a report the id of the update or request that the report answers, or 0 if it answers
    /// none.
    public var requestID: UInt16
    /// Version of the settings. It grows with every change.
    public var version: SettingsVersion
    /// The settings.
    public var entries: SettingList

    /// Creates settings.
    public init(direction: Direction, requestID: UInt16, version: SettingsVersion, entries: SettingList) {
        self.direction = direction
        self.requestID = requestID
        self.version = version
        self.entries = entries
    }

    private var type: MessageType { direction == .report ? .settingsReport : .settingsUpdate }

    /// Appends the bare frame.
    /// - Throws: ``EncodeError/frameTooSmall(neededByteCount:)`` if the output is too small for all entries. The entries
    ///   then need several reports of the same version, or several updates of growing versions.
    public func encode(
        address: UInt8, flags: FrameFlags, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        var payload = BitWriter()
        payload.write(UInt32(requestID), 16)
        payload.write(wide: version.rawValue)
        payload.write(UInt32(entries.count), 8)
        var index = 0
        while index < entries.count {
            let entry = entries[index]
            payload.write(UInt32(entry.key), 8)
            payload.write(entry.value, 32)
            index &+= 1
        }
        try payload.encode(as: type, flags: flags, address: address, crc: log.boundCRC, into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>, direction: Direction) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        self.direction = direction
        requestID = UInt16(truncatingIfNeeded: reader.read(16))
        version = SettingsVersion(rawValue: UInt64(widening: reader.read(32)) &<< 32 | UInt64(widening: reader.read(32)))
        var rest = reader.read(8)
        reader.require(rest <= UInt32(SettingList.capacity), .entryCount, rest)
        entries = SettingList()
        while rest > 0 {
            let key = UInt8(truncatingIfNeeded: reader.read(8))
            entries.append(Setting(key: key, value: reader.read(32)))
            rest &-= 1
        }
        try reader.checkEnd()
    }
}

/// The host asks for a collar's settings; the answer is a ``Settings`` report.
public struct SettingsRequest: Equatable, Sendable {
    /// The id that the report repeats.
    public var requestID: UInt16

    /// Creates a request.
    public init(requestID: UInt16) { self.requestID = requestID }

    /// Appends the bare frame.
    public func encode(address: UInt8, log: LogIdentity, into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        var payload = BitWriter()
        payload.write(UInt32(requestID), 16)
        try payload.encode(as: .settingsRequest, address: address, crc: log.boundCRC, into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        requestID = UInt16(truncatingIfNeeded: reader.read(16))
        try reader.checkEnd()
    }
}

/// The version of a collar's settings. The highest version wins.
///
/// A version has 64 bits: a number (44 bits), which is also a time, and the origin (20 bits), which tells apart two versions
/// that two receivers gave in the same millisecond.
public struct SettingsVersion: RawRepresentable, Comparable, Hashable, Sendable {
    /// The number in the upper 44 bits, the origin in the lower 20.
    public var rawValue: UInt64

    /// Creates a version from its 64 bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Creates a version from its parts.
    /// - Returns: nil if the number needs more than 44 bits, or the origin more than 20.
    public init?(number: UInt64, origin: UInt32) {
        guard number < 1 &<< 44, origin < 1 &<< 20 else { return nil }
        rawValue = number &<< 20 | UInt64(widening: origin)
    }

    /// The version of the default settings.
    public static var defaults: SettingsVersion { SettingsVersion(rawValue: 0) }

    /// The version that a receiver gives to a change of settings.
    /// - Parameters:
    ///   - previous: the highest version that the receiver knows.
    ///   - unixMilliseconds: the time of the change, in milliseconds since 1970. It becomes the number if it is above the
    ///     previous one; otherwise the number is the previous one + 1.
    ///   - receiverID: the receiver. Its lower 20 bits are the origin.
    /// - Returns: nil if there is no higher number, or if a collar with the previous version would find the new one invalid.
    public init?(after previous: SettingsVersion, unixMilliseconds: Int64, receiverID: UInt32) {
        let time = UInt64(bitPattern: max(unixMilliseconds, 0))
        let number = max(previous.number &+ 1, min(time, SettingsVersion.timeLimit))
        self.init(number: number, origin: receiverID & 0xF_FFFF)
    }

    /// The number: milliseconds since 1970, but higher than that where the clock of the origin was not above the version before.
    public var number: UInt64 { rawValue &>> 20 }

    /// The lower 20 bits of the id of the receiver that gave the version; 0 for the defaults.
    public var origin: UInt32 { UInt32(truncatingIfNeeded: rawValue) & 0xF_FFFF }

    /// Whether a collar or a receiver that knows `current` believes this version. A number above max(current number, 2⁴²) + 2²⁰
    /// is invalid: it would leave no higher one.
    public func isPlausible(after current: SettingsVersion) -> Bool {
        number <= max(current.number, SettingsVersion.timeLimit) &+ 1 &<< 20
    }

    /// 2⁴² ms since 1970, in the year 2109: no clock is trusted above it.
    private static var timeLimit: UInt64 { 1 &<< 42 }

    /// Whether the left version loses.
    public static func < (left: SettingsVersion, right: SettingsVersion) -> Bool { left.rawValue < right.rawValue }
}

/// The heartbeat that is in force while setting 8 has its default (PROTOCOL.md, section 18): a collar whose fixes are far apart must
/// not send a probe between them only to be heard.
public enum DefaultHeartbeat {
    /// The shortest, in seconds, and the value of setting 8 that stands for the default.
    public static var leastSeconds: UInt16 { 60 }

    /// The heartbeat in seconds: one and a half times the longest interval between fixes that the settings give, rounded up, within
    /// `leastSeconds` … 65,535.
    /// - Parameters:
    ///   - longestIntervalMilliseconds: the longest interval between fixes.
    ///   - leastSeconds: the default of setting 8 as built.
    public static func seconds(longestIntervalMilliseconds: UInt32, leastSeconds: UInt32 = UInt32(leastSeconds)) -> UInt16 {
        // No setting is longer than a day.
        let longest = min(longestIntervalMilliseconds, 86_400_000)
        return UInt16(truncatingIfNeeded: min(max(leastSeconds, (longest &* 3 &+ 1999) / 2000), 65_535))
    }
}
