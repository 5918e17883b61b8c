import CollarWire
import Glibc

/// The fixes, one a second, of an animal that walks and rests by turns.
package enum SimulatedOuting {
    private static let metersPerE7 = 0.011_119_5

    /// Makes the fixes. Equal seeds give equal fixes.
    /// - Parameters:
    ///   - walkSeconds: how long the animal walks each time, at 1.4 m/s, in a direction that changes slowly.
    ///   - restSeconds: how long it rests each time.
    ///   - seconds: the whole time.
    package static func fixes(walkSeconds: Int, restSeconds: Int, seconds: Int, seed: UInt64) -> [Fix] {
        var random = SeededRandom(seed: seed)
        var (latitude, longitude, course) = (473_769_000.0, 85_417_000.0, 40.0)
        return (0..<seconds).map { second in
            let isWalking = second % max(1, walkSeconds + restSeconds) < walkSeconds
            if isWalking {
                course += Double(random.next() % 21) - 10
                latitude += 1.4 * cos(course * .pi / 180) / metersPerE7
                longitude += 1.4 * sin(course * .pi / 180) / (metersPerE7 * cos(latitude / 1e7 * .pi / 180))
            }
            let degrees = Int((course.truncatingRemainder(dividingBy: 360) + 360).rounded()) % 360
            return Fix(
                sequence: UInt32(second), unixMilliseconds: 1_700_000_000_000 + Int64(second) * 1000, positionStep: .e5,
                latitudeSteps: Int32((latitude / 100).rounded()), longitudeSteps: Int32((longitude / 100).rounded()),
                altitudeSteps: 408, horizontalAccuracy: AccuracyCode(nearestToMillimeters: 2900),
                verticalAccuracy: AccuracyCode(nearestToMillimeters: 4800),
                speedDecimetersPerSecond: isWalking ? 14 : 0,
                course: isWalking ? AngleCode(nearestToCentidegrees: degrees * 100) : nil)
        }
    }
}
