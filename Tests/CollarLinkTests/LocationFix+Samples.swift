import CollarLink
import CollarWire
import FoundationEssentials

extension LocationFix {
    /// A good fix for tests. Calls with the same `sequence` return equal fixes.
    static func sample(sequence: Int = 1) -> LocationFix {
        sample(sequence: sequence, horizontalAccuracyMeters: 5, verticalAccuracyMeters: 10)
    }

    /// The same fix with an accuracy in the "poor" range (over 50 m).
    static func samplePoorAccuracy(sequence: Int = 1) -> LocationFix {
        sample(sequence: sequence, horizontalAccuracyMeters: 75, verticalAccuracyMeters: 100)
    }

    private static func sample(
        sequence: Int, horizontalAccuracyMeters: Double, verticalAccuracyMeters: Double
    ) -> LocationFix {
        let identifier = FixIdentifier(
            deviceID: 0x0123_4567_89AB_CDEF, logID: 12_345_678, sequence: UInt32(truncatingIfNeeded: sequence))
        return LocationFix(
            id: identifier.uuid, timestamp: Date(unixMilliseconds: 1_699_401_234_567), source: .watchOS,
            coordinate: Coordinate(latitude: 37.7749, longitude: -122.4194), altitudeMeters: 10,
            horizontalAccuracyMeters: horizontalAccuracyMeters, verticalAccuracyMeters: verticalAccuracyMeters,
            speedMetersPerSecond: 0.5, courseDegrees: 180, headingDegrees: nil, batteryFraction: 0.85,
            sequence: sequence)
    }
}
