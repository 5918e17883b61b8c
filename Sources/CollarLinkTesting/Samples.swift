import CollarLink
import CollarWire
import FoundationEssentials

extension LocationFix {
    /// A fix for tests, with every field known but the heading: a cat in San Francisco. Calls with the same `sequence` return equal fixes.
    /// - Parameter sequence: the number of the fix, 0 … 4,294,967,294. The fix with number 1 was made at 2023-11-07T23:53:54.567Z, and each
    ///   later one a second later.
    public static func sample(sequence: Int = 1) -> LocationFix { sample(sequence: sequence, accuracyMeters: 5) }

    /// The same with a poor accuracy: 75 m.
    public static func samplePoorAccuracy(sequence: Int = 1) -> LocationFix { sample(sequence: sequence, accuracyMeters: 75) }

    private static func sample(sequence: Int, accuracyMeters: Double) -> LocationFix {
        let id = FixIdentifier(deviceID: MockDriver.deviceID, logID: MockDriver.logID, sequence: UInt32(clamping: sequence))
        return LocationFix(
            id: id.uuid, timestamp: Date(unixMilliseconds: 1_699_401_234_567 + Int64(sequence - 1) * 1000), source: .collar,
            coordinate: Coordinate(latitude: 37.7749, longitude: -122.4194), altitudeMeters: 10, horizontalAccuracyMeters: accuracyMeters,
            verticalAccuracyMeters: 10, speedMetersPerSecond: 0.5, courseDegrees: 180, headingDegrees: nil, batteryFraction: 0.85,
            sequence: sequence)
    }
}
