import CollarFirmware
import CollarWire
import Testing

/// When a collar counts as stationary.
@Suite struct MotionDetectorTests {
    private func fix(_ seconds: Int64, latitudeE7: Int32 = 0, longitudeE7: Int32 = 0) -> Fix {
        Fix(
            sequence: 0, unixMilliseconds: 1_700_000_000_000 + seconds * 1000, positionStep: .e7, latitudeSteps: latitudeE7,
            longitudeSteps: longitudeE7)
    }

    private func isStationary(_ fixes: [Fix], centimeters: UInt32 = 500, seconds: UInt32 = 30) -> Bool {
        var detector = MotionDetector()
        for fix in fixes { detector.note(fix, distanceCentimeters: centimeters, seconds: seconds) }
        return detector.isStationary
    }

    @Test func itTakesTheWholeTime() {
        #expect(!isStationary([fix(0)]))
        #expect(!isStationary([fix(0), fix(29)]))
        #expect(isStationary([fix(0), fix(29), fix(30)]))
        #expect(isStationary([fix(0), fix(30)]))
        #expect(!isStationary([fix(0), fix(30)], seconds: 31))
        #expect(!isStationary([fix(100), fix(50), fix(79)]))
        #expect(isStationary([fix(100), fix(50), fix(80)]))
    }

    /// The length of a degree is 111.195 km on a sphere of 6371 km; along a parallel it is multiplied by the cosine of the
    /// latitude. The distances are 1 % below and above 5 m.
    @Test(arguments: [0, 45, 60, -60, 89] as [Double], [0, 30, 90, 200] as [Double])
    func theDistanceIsTheSameInEveryDirection(latitude: Double, bearing: Double) {
        let (north, east) = (DegreeMath.cosine(bearing), DegreeMath.cosine(bearing - 90))
        for (meters, isNear) in [(4.95, true), (5.05, false)] {
            let moved = fix(
                30, latitudeE7: Int32(latitude * 1e7) + Int32(meters * north / 0.011_119_5),
                longitudeE7: 100 + Int32(meters * east / 0.011_119_5 / DegreeMath.cosine(latitude)))
            let start = fix(0, latitudeE7: Int32(latitude * 1e7), longitudeE7: 100)
            #expect(isStationary([start, moved]) == isNear, "\(meters) m at \(latitude)° to \(bearing)°")
        }
    }

    @Test func theAntimeridianIsNoObstacle() {
        let west = fix(0, longitudeE7: 1_800_000_000 - 100)
        #expect(isStationary([west, fix(30, longitudeE7: -1_800_000_000 + 100)]))
        #expect(!isStationary([west, fix(30, longitudeE7: -1_800_000_000 + 1000)]))
        #expect(!isStationary([fix(0, latitudeE7: -900_000_000), fix(30, latitudeE7: 900_000_000)], centimeters: 100_000))
    }

    @Test func aSlowDriftIsAMovement() {
        let drift = (0..<100).map { fix($0, latitudeE7: Int32($0) * 20) }
        #expect(!isStationary(drift))
        // After the last movement the time begins again.
        #expect(isStationary(drift + [fix(129, latitudeE7: 99 * 20)]))
    }

    @Test func coarseStepsCountAsWell() {
        var here = fix(0)
        (here.positionStep, here.latitudeSteps) = (.e5, 4_730_000)
        var there = here
        there.unixMilliseconds += 30_000
        there.latitudeSteps += 4
        #expect(isStationary([here, there]))
        there.latitudeSteps += 1
        #expect(!isStationary([here, there]))
    }
}

/// The cosine, from its series: independent of the code under test.
enum DegreeMath {
    static func cosine(_ degrees: Double) -> Double {
        let x = degrees.truncatingRemainder(dividingBy: 360) * .pi / 180
        var (term, sum) = (1.0, 1.0)
        for n in 1...20 {
            term *= -x * x / Double(2 * n * (2 * n - 1))
            sum += term
        }
        return sum
    }
}
