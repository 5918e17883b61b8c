/// A position in the integers of a GNSS receiver, before a ``FixQuantizer`` rounds it to the codes of a ``Fix``.
///
/// Time and position are always known; every other value is nil when the receiver does not report it.
public struct GNSSReading: Equatable, Sendable {
    /// Time of the position in UTC, in milliseconds since 1970-01-01T00:00:00Z. Within ``Fix/timeRange``.
    public var unixMilliseconds: Int64
    /// Latitude in degrees × 10⁷, −900,000,000 … 900,000,000, north positive.
    public var latitudeE7: Int32
    /// Longitude in degrees × 10⁷, −1,800,000,000 … 1,800,000,000, east positive.
    public var longitudeE7: Int32
    /// Altitude above mean sea level in millimetres.
    public var altitudeMillimeters: Int32?
    /// Horizontal accuracy (a radius) in millimetres.
    public var horizontalAccuracyMillimeters: UInt32?
    /// Vertical accuracy in millimetres.
    public var verticalAccuracyMillimeters: UInt32?
    /// Speed over ground in mm/s.
    public var speedMillimetersPerSecond: UInt32?
    /// Course over ground from true north in hundredths of a degree, 0 … 36,000. A finer fraction is cut off, not rounded: the
    /// codes of a course change at whole degrees.
    public var courseCentidegrees: UInt16?

    /// Creates a reading without checking it; ``FixQuantizer/fix(from:batteryPercent:heading:)`` checks it.
    public init(
        unixMilliseconds: Int64, latitudeE7: Int32, longitudeE7: Int32, altitudeMillimeters: Int32? = nil,
        horizontalAccuracyMillimeters: UInt32? = nil, verticalAccuracyMillimeters: UInt32? = nil,
        speedMillimetersPerSecond: UInt32? = nil, courseCentidegrees: UInt16? = nil
    ) {
        self.unixMilliseconds = unixMilliseconds
        self.latitudeE7 = latitudeE7
        self.longitudeE7 = longitudeE7
        self.altitudeMillimeters = altitudeMillimeters
        self.horizontalAccuracyMillimeters = horizontalAccuracyMillimeters
        self.verticalAccuracyMillimeters = verticalAccuracyMillimeters
        self.speedMillimetersPerSecond = speedMillimetersPerSecond
        self.courseCentidegrees = courseCentidegrees
    }
}
