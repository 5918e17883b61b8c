/// How a collar spends its battery: what its schedule does now, and for how long its parts were on. A receiver ignores bytes that
/// follow the last field.
///
/// The time of sending is ``Status/airtimeMilliseconds``.
public struct PowerReport: Equatable, Sendable {
    /// Why fixes are made as they are; four bits.
    public enum Mode: UInt8, Equatable, Sendable {
        /// No positions are logged.
        case stopped = 0
        /// The GNSS receiver is always on, because no interval between fixes is set.
        case continuous = 1
        /// The interval between fixes is that of a moving collar.
        case moving = 2
        /// The interval between fixes is that of a collar at rest.
        case resting = 3
        /// Searches fail, and the waits between them grow.
        case noSky = 4
        /// The command *find* is in force.
        case find = 5
    }

    /// The supply of the GNSS receiver, and what the receiver does with it; three bits.
    public enum Supply: UInt8, Equatable, Sendable {
        /// No supply.
        case off = 0
        /// Only the supply that keeps the clock and the orbits.
        case backup = 1
        /// On, without a position since it was switched on.
        case searching = 2
        /// On, with a position that is not accurate enough.
        case settling = 3
        /// On after the fix, to receive the orbits of the satellites.
        case collecting = 4
        /// On without an end.
        case tracking = 5
    }

    /// Why fixes are made as they are.
    public var mode = Mode.stopped
    /// The supply of the GNSS receiver, and its use.
    public var supply = Supply.off
    /// Seconds since the boot.
    public var uptimeSeconds: UInt32 = 0
    /// Seconds until the next search begins, 0 … 2^24 − 2; nil if none is planned. 0 while the receiver is on.
    public var secondsToSearch: UInt32?
    /// Searches without a fix in a row, 0 … 255, where the highest value means "this or more".
    public var failuresInRow: UInt8 = 0
    /// The time from the last switching on to a position, in tenths of a second, 0 … 65,534, where the highest value means "this or
    /// more"; nil if there was none since the boot.
    public var timeToFixTenths: UInt16?
    /// Time since the boot in which the GNSS receiver was on, in seconds, modulo 2^32.
    public var gnssSeconds: UInt32 = 0
    /// Time since the boot in which the radio listened, in milliseconds, modulo 2^32.
    public var listeningMilliseconds: UInt32 = 0
    /// Time since the boot in which the processor was awake, in milliseconds, modulo 2^32.
    public var awakeMilliseconds: UInt32 = 0
    /// Searches since the boot, modulo 2^24.
    public var searches: UInt32 = 0
    /// Searches without a fix since the boot, modulo 2^24.
    public var failures: UInt32 = 0

    private static var noSearch: UInt32 { 0xFF_FFFF }
    private static var noTime: UInt16 { 0xFFFF }

    /// A report in which nothing has happened.
    public init() {}

    /// Appends the bare frame.
    /// - Throws: ``EncodeError/field(_:value:)`` for a field out of range.
    public func encode(
        address: UInt8, flags: FrameFlags, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        var payload = BitWriter()
        payload.write(UInt32(mode.rawValue) &<< 4 | UInt32(supply.rawValue) &<< 1, 8)
        payload.write(uptimeSeconds, 32)
        let seconds = secondsToSearch ?? PowerReport.noSearch
        payload.require(secondsToSearch == nil || seconds < PowerReport.noSearch, .counter, seconds)
        payload.write(seconds, 24)
        payload.write(UInt32(failuresInRow), 8)
        payload.write(UInt32(timeToFixTenths.map { min($0, PowerReport.noTime &- 1) } ?? PowerReport.noTime), 16)
        payload.write(gnssSeconds, 32)
        payload.write(listeningMilliseconds, 32)
        payload.write(awakeMilliseconds, 32)
        payload.require(searches < 1 &<< 24, .counter, searches)
        payload.write(searches, 24)
        payload.require(failures < 1 &<< 24, .counter, failures)
        payload.write(failures, 24)
        try payload.encode(as: .powerReport, flags: flags, address: address, crc: log.boundCRC, into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        var code = reader.read(4)
        let mode = Mode(rawValue: UInt8(truncatingIfNeeded: code))
        reader.require(mode != nil, .mode, code)
        self.mode = mode ?? .stopped
        code = reader.read(3)
        let supply = Supply(rawValue: UInt8(truncatingIfNeeded: code))
        reader.require(supply != nil, .supply, code)
        self.supply = supply ?? .off
        _ = reader.read(1)
        uptimeSeconds = reader.read(32)
        let seconds = reader.read(24)
        secondsToSearch = seconds == PowerReport.noSearch ? nil : seconds
        failuresInRow = UInt8(truncatingIfNeeded: reader.read(8))
        let tenths = UInt16(truncatingIfNeeded: reader.read(16))
        timeToFixTenths = tenths == PowerReport.noTime ? nil : tenths
        gnssSeconds = reader.read(32)
        listeningMilliseconds = reader.read(32)
        awakeMilliseconds = reader.read(32)
        searches = reader.read(24)
        failures = reader.read(24)
        try reader.checkNotPastEnd()
    }
}
