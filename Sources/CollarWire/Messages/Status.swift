/// The status of a collar. A receiver ignores bytes that follow the last field.
public struct Status: Equatable, Sendable {
    /// The state of the GNSS receiver; two bits.
    public enum GNSSState: UInt8, Equatable, Sendable {
        /// Switched off.
        case off = 0
        /// On, without a position.
        case searching = 1
        /// Making fixes.
        case fix = 2
        /// Not answering, or reporting a fault.
        case fault = 3
    }

    /// What limits the rate of sending; two bits.
    public enum ThrottleState: UInt8, Equatable, Sendable {
        /// Nothing limits the rate.
        case none = 0
        /// The battery is at 10 … 20 percent.
        case lowBattery = 1
        /// The battery is below 10 percent.
        case criticalBattery = 2
        /// The duty cycle of the radio is used up.
        case dutyCycle = 3
    }

    /// The time of day at the uptime of the status, with which a receiver converts uptime into the time of day.
    public struct Clock: Equatable, Sendable {
        /// Milliseconds since 1970, within ``Fix/timeRange``.
        public var unixMilliseconds: Int64
        /// The milliseconds of the uptime, 0 … 999. ``Status/uptimeSeconds`` has its seconds.
        public var uptimeMilliseconds: UInt16

        /// Creates the reading of a clock.
        public init(unixMilliseconds: Int64, uptimeMilliseconds: UInt16) {
            self.unixMilliseconds = unixMilliseconds
            self.uptimeMilliseconds = uptimeMilliseconds
        }
    }

    /// Whether positions are logged.
    public var isTracking = false
    /// The time since which ``isTracking`` has its value, in seconds since 1970; 0 if that time is not known.
    public var trackingSinceUnixSeconds: UInt32 = 0
    /// The state of the GNSS receiver. While ``isResting``, it is that of the last searches.
    public var gnssState = GNSSState.off
    /// What limits the rate of sending.
    public var throttleState = ThrottleState.none
    /// Whether the collar is stationary as its settings define it: by default, whether it has moved less than 5 m for 30 s.
    public var isStationary = false
    /// Whether the GNSS receiver is off until the next search of the schedule.
    public var isResting = false
    /// Charge of the battery, 0 … 100 percent; nil when unknown.
    public var batteryPercent: UInt8?
    /// Voltage of the battery in millivolts, 0 … 8190; nil when unknown.
    public var batteryMillivolts: UInt16?
    /// Temperature, −127 … 127 °C; nil when unknown.
    public var temperatureCelsius: Int8?
    /// Seconds since the boot.
    public var uptimeSeconds: UInt32 = 0
    /// The last error.
    public var lastError = CollarFault.none
    /// Fixes sent since the boot, modulo 2^32.
    public var fixesSent: UInt32 = 0
    /// Fixes that wait for delivery, 0 … 2^24 − 1, where the highest value means "this or more".
    public var queueDepth: UInt32 = 0
    /// Fixes that were overwritten, since the boot, before they were delivered; modulo 2^24.
    public var drops: UInt32 = 0
    /// Repeated requests received since the boot, modulo 2^24.
    public var duplicates: UInt32 = 0
    /// Frames sent again since the boot, modulo 2^24.
    public var retransmissions: UInt32 = 0
    /// Airtime since the boot, in milliseconds, modulo 2^32.
    public var airtimeMilliseconds: UInt32 = 0
    /// The time of day; nil if the collar does not know it.
    public var clock: Clock?

    /// A status in which nothing is known.
    public init() {}

    /// Appends the bare frame.
    /// - Throws: ``EncodeError/field(_:value:)`` for a field out of range.
    public func encode(
        address: UInt8, flags: FrameFlags, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        var payload = BitWriter()
        var states = UInt32(gnssState.rawValue) &<< 5 | UInt32(throttleState.rawValue) &<< 3
        if isTracking { states |= 0x80 }
        if isStationary { states |= 4 }
        if clock != nil { states |= 2 }
        if isResting { states |= 1 }
        payload.write(states, 8)
        payload.write(trackingSinceUnixSeconds, 32)
        let percent = UInt32(batteryPercent ?? 127)
        payload.require(percent <= 100 || batteryPercent == nil, .battery, percent)
        payload.write(percent, 7)
        let millivolts = UInt32(batteryMillivolts ?? 8191)
        payload.require(millivolts <= 8190 || batteryMillivolts == nil, .voltage, millivolts)
        payload.write(millivolts, 13)
        payload.require(temperatureCelsius != -128, .temperature, 128)
        payload.writeSigned(Int32(temperatureCelsius ?? -128), 8)
        payload.write(uptimeSeconds, 32)
        payload.write(UInt32(lastError.rawValue), 8)
        payload.write(fixesSent, 32)
        payload.writeCounter(queueDepth)
        payload.writeCounter(drops)
        payload.writeCounter(duplicates)
        payload.writeCounter(retransmissions)
        payload.write(airtimeMilliseconds, 32)
        if let clock {
            payload.require(Fix.timeRange.contains(clock.unixMilliseconds), .time, 0)
            payload.write(UInt32(truncatingIfNeeded: clock.unixMilliseconds &>> 16), 32)
            payload.write(UInt32(truncatingIfNeeded: clock.unixMilliseconds), 16)
            payload.require(clock.uptimeMilliseconds < 1000, .uptime, UInt32(clock.uptimeMilliseconds))
            payload.write(UInt32(clock.uptimeMilliseconds), 10)
        }
        try payload.encode(as: .status, flags: flags, address: address, crc: log.boundCRC, into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        isTracking = reader.read(1) == 1
        gnssState = GNSSState(rawValue: UInt8(truncatingIfNeeded: reader.read(2))) ?? .off
        throttleState = ThrottleState(rawValue: UInt8(truncatingIfNeeded: reader.read(2))) ?? .none
        isStationary = reader.read(1) == 1
        let hasClock = reader.read(1) == 1
        isResting = reader.read(1) == 1
        trackingSinceUnixSeconds = reader.read(32)
        let percent = reader.read(7)
        reader.require(percent <= 100 || percent == 127, .battery, percent)
        batteryPercent = percent == 127 ? nil : UInt8(truncatingIfNeeded: percent)
        let millivolts = reader.read(13)
        batteryMillivolts = millivolts == 8191 ? nil : UInt16(millivolts)
        let celsius = reader.readSigned(8)
        temperatureCelsius = celsius == -128 ? nil : Int8(celsius)
        uptimeSeconds = reader.read(32)
        lastError = CollarFault(rawValue: UInt8(truncatingIfNeeded: reader.read(8)))
        fixesSent = reader.read(32)
        queueDepth = reader.read(24)
        drops = reader.read(24)
        duplicates = reader.read(24)
        retransmissions = reader.read(24)
        airtimeMilliseconds = reader.read(32)
        if hasClock {
            let high = Int64(widening: reader.readSigned(16))
            let milliseconds = high &<< 32 | Int64(widening: reader.read(32))
            let uptime = reader.read(10)
            reader.require(uptime < 1000, .uptime, uptime)
            clock = Clock(unixMilliseconds: milliseconds, uptimeMilliseconds: UInt16(truncatingIfNeeded: uptime))
        }
        try reader.checkNotPastEnd()
    }
}

extension BitWriter {
    @inline(never)
    fileprivate mutating func writeCounter(_ value: UInt32) {
        require(value < 1 &<< 24, .counter, value)
        write(value, 24)
    }
}

/// The last error that a collar met, as its status reports it. Section 13 of PROTOCOL.md has the table of the codes. Codes
/// from 128 on are the firmware's own.
public struct CollarFault: RawRepresentable, Hashable, Sendable {
    /// The code on the wire, 0 … 255; 0 for none.
    public var rawValue: UInt8

    /// Creates an error from its code.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// No error since the boot.
    public static var none: CollarFault { CollarFault(rawValue: 0) }
    /// The GNSS receiver does not answer.
    public static var gnssSilent: CollarFault { CollarFault(rawValue: 1) }
    /// The GNSS receiver reports a fault, or that its antenna is short-circuited or open.
    public static var gnssFault: CollarFault { CollarFault(rawValue: 2) }
    /// The flash memory fails: fixes may not be logged.
    public static var flashFailed: CollarFault { CollarFault(rawValue: 3) }
    /// The radio did not answer or did not send.
    public static var radioFailed: CollarFault { CollarFault(rawValue: 4) }
    /// The last boot came after the supply voltage was too low.
    public static var lowVoltageReset: CollarFault { CollarFault(rawValue: 5) }
    /// The last boot came after the firmware hung.
    public static var watchdogReset: CollarFault { CollarFault(rawValue: 6) }
    /// The last boot came after a fault of the firmware.
    public static var firmwareReset: CollarFault { CollarFault(rawValue: 7) }
    /// Settings were lost: older ones or the defaults are in force, and none have been set since.
    public static var settingsLost: CollarFault { CollarFault(rawValue: 8) }
    /// The GNSS receiver works although its supply is off.
    public static var gnssNotSwitched: CollarFault { CollarFault(rawValue: 9) }
}
