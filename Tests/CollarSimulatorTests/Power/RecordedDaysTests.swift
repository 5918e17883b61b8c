import CollarARQ
import Testing

@testable import CollarSimulator

/// What stored fixes tell of the surroundings.
@Suite struct RecordedDaysTests {
    private static let minute: Int64 = 60_000

    /// A fix a minute for six hours: from the second hour on an hour without fixes, in the fourth hour none is received before its end,
    /// in the last hour the animal rests, and every tenth fix needs a repeat.
    private var fixes: [RecordedFix] {
        (0..<360).compactMap { minute in
            guard !(60..<120).contains(minute) else { return nil }
            let made = Int64(minute) * Self.minute
            var received = made + 1000
            if (180..<240).contains(minute) { received = 240 * Self.minute }
            if minute % 10 == 5, !(180..<240).contains(minute) { received += 8000 }
            return RecordedFix(
                madeUnixMilliseconds: made, receivedUnixMilliseconds: received, metersFromLast: minute >= 300 ? 3 : 50,
                signalToNoiseTenthsDB: minute < 30 ? -90 : 20)
        }
    }

    private func surroundings(_ minute: Int64, _ days: RecordedDays) -> Surroundings {
        days.plan.surroundings(at: Instant(microseconds: minute * Self.minute * 1000 + 1_000_000))
    }

    @Test func pausesDelaysAndStepsBecomeSpells() throws {
        let days = try #require(RecordedDays(fixes, spreadingFactor: 9))
        #expect(surroundings(20, days) == Surroundings())
        #expect(surroundings(90, days) == Surroundings(sky: .roof))
        #expect(surroundings(130, days) == Surroundings())
        #expect(surroundings(200, days) == Surroundings(isInReach: false))
        #expect(surroundings(250, days) == Surroundings())
        #expect(surroundings(320, days) == Surroundings(isMoving: false))
        // Of the 245 fixes that came within five minutes, 24 needed a repeat, and 5 came when the collar was in reach again.
        #expect(abs(days.lossProbability - (1 - (1 - 29.0 / 245).squareRoot())) < 1e-9)
        #expect(days.microseconds == 359 * Self.minute * 1000)
    }

    @Test func aWeakSignalIsOutOfReachOfALowerSpreadingFactor() throws {
        // −9 dB: spreading factor 8 hears down to −10 dB, 7 down to −7.5 dB.
        #expect(surroundings(20, try #require(RecordedDays(fixes, spreadingFactor: 8))).isInReach)
        #expect(!surroundings(20, try #require(RecordedDays(fixes, spreadingFactor: 7))).isInReach)
        #expect(surroundings(40, try #require(RecordedDays(fixes, spreadingFactor: 7))).isInReach)
    }

    @Test func tooLittleTellsNothing() {
        #expect(RecordedDays([], spreadingFactor: 9) == nil)
        #expect(RecordedDays(Array(fixes.prefix(30)), spreadingFactor: 9) == nil)
    }
}
