import CollarTracking
import FoundationEssentials

/// One position of the pet, with all values that the collar, watch or phone measured there. Immutable.
///
/// The property names and the JSON are those of the phone-and-watch tracker that CollarLink works with. Unknown values
/// are nil for altitude and heading, and −1 (``unknown``) for accuracies, speed, course and battery.
public struct LocationFix: Equatable, Sendable, Identifiable {
    /// Identifier of the fix. A fix received over the link has its `FixIdentifier`, which never changes.
    public let id: UUID
    /// When the position was measured.
    public let timestamp: Date
    /// The kind of device that measured the position.
    public let source: Source
    /// Where the pet was, in degrees.
    public let coordinate: Coordinate
    /// Metres above mean sea level; nil when unknown.
    public let altitudeMeters: Double?
    /// Radius of the horizontal uncertainty in metres, ≥ 0; −1 when unknown.
    public let horizontalAccuracyMeters: Double
    /// Vertical uncertainty in metres, ≥ 0; −1 when unknown.
    public let verticalAccuracyMeters: Double
    /// Speed over ground in metres a second, ≥ 0; −1 when unknown.
    public let speedMetersPerSecond: Double
    /// Direction of movement in degrees from true north, 0 … 360; −1 when unknown.
    public let courseDegrees: Double
    /// Heading of the device by its compass, in degrees from true north, 0 … 360; nil when unknown or without a compass.
    public let headingDegrees: Double?
    /// Charge of the battery, 0 … 1; −1 when unknown. An unknown charge never counts as low.
    public let batteryFraction: Double
    /// Number of the fix, ≥ 0; a later fix of the same log has a higher number.
    public let sequence: Int

    /// The value of an unknown accuracy, speed, course or battery charge.
    public static let unknown: Double = -1

    /// The kind of device that measured a fix.
    public enum Source: String, Codable, CaseIterable, Sendable {
        /// A watch worn by the pet.
        case watchOS
        /// A phone.
        case iOS
        /// A collar of this project's protocol.
        case collar
    }

    /// Creates a fix. Ranges are not checked here, but any negative accuracy, speed, course or battery charge
    /// becomes ``unknown`` and any negative heading nil.
    public init(
        id: UUID = UUID(), timestamp: Date, source: Source, coordinate: Coordinate, altitudeMeters: Double? = nil,
        horizontalAccuracyMeters: Double, verticalAccuracyMeters: Double, speedMetersPerSecond: Double,
        courseDegrees: Double, headingDegrees: Double? = nil, batteryFraction: Double, sequence: Int
    ) {
        func known(_ value: Double) -> Double { value < 0 ? LocationFix.unknown : value }
        self.id = id
        self.timestamp = timestamp
        self.source = source
        self.coordinate = coordinate
        self.altitudeMeters = altitudeMeters
        self.horizontalAccuracyMeters = known(horizontalAccuracyMeters)
        self.verticalAccuracyMeters = known(verticalAccuracyMeters)
        self.speedMetersPerSecond = known(speedMetersPerSecond)
        self.courseDegrees = known(courseDegrees)
        self.headingDegrees = headingDegrees.flatMap { $0 < 0 ? nil : $0 }
        self.batteryFraction = known(batteryFraction)
        self.sequence = sequence
    }

    /// Charge of the battery in whole percent, 0 … 100; −1 when unknown.
    public var batteryPercentage: Int {
        guard batteryFraction >= 0, batteryFraction.isFinite else { return -1 }
        return Int(min(batteryFraction, 1) * 100 + 0.5)
    }

    /// Seconds since the fix was measured; negative when the clock of the fix is ahead of this machine's.
    public var age: TimeInterval { -timestamp.timeIntervalSinceNow }

    /// Whether the horizontal accuracy is known.
    public var hasValidAccuracy: Bool { horizontalAccuracyMeters >= 0 }

    /// Whether the altitude and its accuracy are known.
    public var hasValidAltitude: Bool { altitudeMeters != nil && verticalAccuracyMeters >= 0 }

    /// Whether the speed is known.
    public var hasValidSpeed: Bool { speedMetersPerSecond >= 0 }

    /// Whether the course is known.
    public var hasValidCourse: Bool { courseDegrees >= 0 }

    /// A position on the WGS 84 ellipsoid, in degrees.
    public struct Coordinate: Codable, Equatable, Hashable, Sendable {
        /// Degrees north of the equator, −90 … 90.
        public let latitude: Double
        /// Degrees east of Greenwich, −180 … 180; −180 and 180 are different values.
        public let longitude: Double

        /// Creates a coordinate. Nothing is checked here; see ``isValid``.
        public init(latitude: Double, longitude: Double) {
            self.latitude = latitude
            self.longitude = longitude
        }

        /// Whether both angles are within their ranges; false for NaN.
        public var isValid: Bool {
            // A comparison with NaN is false, so NaN is refused too.
            latitude.magnitude <= 90 && longitude.magnitude <= 180
        }

        /// The distance to another coordinate in metres, on the shortest way; nil if one of them is not valid.
        public func distance(to other: Coordinate) -> Double? { Geodesic(from: self, to: other)?.lengthMeters }

        /// The direction in which the shortest way to another coordinate begins, in degrees from true north, 0 … 360; nil at the same place,
        /// and if one of them is not valid.
        public func bearing(to other: Coordinate) -> Double? { Geodesic(from: self, to: other)?.bearingDegrees }
    }
}
