import CollarWire
import Testing

/// Directions in steps of 2°.
@Suite struct AngleCodeTests {
    @Test func thereAre180Codes() {
        for steps in 0..<180 as Range<UInt8> { #expect(AngleCode(steps: steps)?.degrees == 2 * Int(steps)) }
        for steps in 180...255 as ClosedRange<UInt8> { #expect(AngleCode(steps: steps) == nil) }
    }

    @Test func everyAngleGetsTheNearestCodeAndHalvesGoUp() {
        for angle in 0...36_000 {
            // `reversed` selects the higher of two equally near codes, because a half is rounded up. 180 steps are a full turn.
            let nearest = (0...180).reversed().min { abs($0 * 200 - angle) < abs($1 * 200 - angle) }
            #expect(AngleCode(nearestToCentidegrees: angle).map { Int($0.steps) } == nearest.map { $0 % 180 })
        }
    }

    @Test func halvesGoUpAndAFullTurnIsNorth() {
        #expect(AngleCode(nearestToCentidegrees: 99)?.degrees == 0)
        #expect(AngleCode(nearestToCentidegrees: 100)?.degrees == 2)
        #expect(AngleCode(nearestToCentidegrees: 35_899)?.degrees == 358)
        #expect(AngleCode(nearestToCentidegrees: 35_900)?.degrees == 0)
        #expect(AngleCode(nearestToCentidegrees: 36_000)?.degrees == 0)
    }

    @Test func outsideATurnThereIsNoCode() {
        #expect(AngleCode(nearestToCentidegrees: -1) == nil)
        #expect(AngleCode(nearestToCentidegrees: 36_001) == nil)
        #expect(AngleCode(nearestToCentidegrees: .min) == nil)
        #expect(AngleCode(nearestToCentidegrees: .max) == nil)
    }
}
