import CollarWire

/// A fix before it is rounded to codes, in the units of its JSON, except that the battery charge is a fraction instead of
/// a percentage. An unknown altitude or heading is nil; every other unknown value is negative.
package struct FixValues: Equatable, Sendable {
    /// The fix's UUID; nil where it has none.
    package var identifier: UUIDHalves?
    /// Milliseconds since 1970, with all their digits.
    package var unixMilliseconds: DecimalNumber
    package var source: FixSource
    /// Degrees north of the equator, −90 … 90.
    package var latitude: Double
    /// Degrees east of Greenwich, −180 … 180.
    package var longitude: Double
    package var altitudeMeters: Double?
    package var horizontalAccuracyMeters: Double
    package var verticalAccuracyMeters: Double
    package var speedMetersPerSecond: Double
    package var courseDegrees: Double
    package var headingDegrees: Double?
    /// 0 … 1.
    package var batteryFraction: Double
    package var sequence: Int

    /// The value of an unknown accuracy, speed, course or battery charge.
    package static let unknown: Double = -1

    package init(
        identifier: UUIDHalves?, unixMilliseconds: DecimalNumber, source: FixSource, latitude: Double, longitude: Double,
        altitudeMeters: Double?, horizontalAccuracyMeters: Double, verticalAccuracyMeters: Double,
        speedMetersPerSecond: Double, courseDegrees: Double, headingDegrees: Double?, batteryFraction: Double, sequence: Int
    ) {
        self.identifier = identifier
        self.unixMilliseconds = unixMilliseconds
        self.source = source
        self.latitude = latitude
        self.longitude = longitude
        self.altitudeMeters = altitudeMeters
        self.horizontalAccuracyMeters = horizontalAccuracyMeters
        self.verticalAccuracyMeters = verticalAccuracyMeters
        self.speedMetersPerSecond = speedMetersPerSecond
        self.courseDegrees = courseDegrees
        self.headingDegrees = headingDegrees
        self.batteryFraction = batteryFraction
        self.sequence = sequence
    }
}

extension FixSource {
    /// All sources with their names.
    package static let names: [(source: FixSource, name: String)] = [.watchOS, .iOS, .collar].map { ($0, "\($0.name)") }

    /// The name in JSON and CSV.
    var name: StaticString {
        switch self {
        case .watchOS: "watchOS"
        case .iOS: "iOS"
        case .collar: "collar"
        }
    }
}
