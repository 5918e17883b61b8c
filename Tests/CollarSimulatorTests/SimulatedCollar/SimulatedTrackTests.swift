import CollarARQ
import CollarSimulator
import CollarWire
import Testing

/// When the fixes of a track are made.
@Suite struct SimulatedTrackTests {
    private func due(_ times: [Int64], _ pace: SimulatedTrack.Pace, start: Int = 0) -> [Int64] {
        let fixes = times.map { Fix(sequence: 0, unixMilliseconds: $0, latitudeSteps: 0, longitudeSteps: 0) }
        let track = SimulatedTrack(fixes: fixes, pace: pace)
        let origin = Instant(microseconds: 100)
        return (start..<times.count).map {
            track.due(at: $0, startingWith: start, at: origin).microseconds(since: origin)
        }
    }

    @Test func theTracksIntervalsAreKept() {
        #expect(due([5000, 6000, 6000, 9500], .speed(1)) == [0, 1_000_000, 1_000_000, 4_500_000])
    }

    @Test func aSpeedDividesTheIntervals() {
        #expect(due([5000, 6000, 9000], .speed(4)) == [0, 250_000, 1_000_000])
        #expect(due([5000, 6000], .speed(0.5)) == [0, 2_000_000])
    }

    @Test func aClockThatJumpsBackMakesItsFixAtOnce() {
        #expect(due([9000, 1000, 3000], .speed(1)) == [0, 0, 2_000_000])
    }

    @Test func aFixedIntervalIgnoresTheTracksTimes() {
        #expect(due([9000, 1000, 1000], .interval(microseconds: 7)) == [0, 7, 14])
    }

    @Test func aClockThatDriftsMakesAllIntervalsLongerOrShorter() {
        #expect(due([0, 1000, 3000], .speed(1).stretched(by: 1.25)) == [0, 1_250_000, 3_750_000])
        #expect(due([0, 1000, 3000], .speed(1).stretched(by: 1)) == due([0, 1000, 3000], .speed(1)))
        #expect(due([0, 1, 1], .interval(microseconds: 60_000_000).stretched(by: 0.999)) == [0, 59_940_000, 119_880_000])
    }

    @Test func aTrackThatGoesOnStartsAtOnce() {
        #expect(due([0, 1000, 5000, 6000], .speed(1), start: 2) == [0, 1_000_000])
    }
}
