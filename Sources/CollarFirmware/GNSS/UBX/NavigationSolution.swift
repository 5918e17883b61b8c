import CollarWire

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
