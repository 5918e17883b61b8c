import CollarARQ
import CollarHost
import Testing

private let second: Int64 = 1_000_000

private func at(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * second) }

/// A link with a heartbeat of 60 s. All times are in seconds.
private final class Link {
    var health = LinkHealth()

    func heard(_ time: Int64) -> [LinkHealth.Event] { health.noteFrame(at: at(time)) }
    func advance(_ time: Int64) -> [LinkHealth.Event] { health.advance(to: at(time)) }
    func asked(_ time: Int64, within: Int64) {
        health.asked(at: at(time), answerWithinMicroseconds: within * second)
    }
    var deadline: Int64? { health.nextDeadline.map { $0.microseconds / second } }
}

@Suite("Health of a link")
struct LinkHealthTests {
    private let link = Link()

    @Test func nothingIsExpectedOfACollarThatWasNotHeard() {
        #expect(link.deadline == nil)
        #expect(link.advance(1_000_000) == [])
        #expect(link.health.reachability == .unknown)
        #expect(link.health.condition == .healthy)
    }

    @Test func theFirstFrameMakesItReachable() {
        #expect(link.heard(5) == [.reachable(silentMicroseconds: nil)])
        #expect(link.heard(6) == [])
        #expect(link.health.reachability == .reachable)
        #expect(link.health.silentSince == at(6))
    }

    @Test func aHeartbeatAndAQuarterLaterItIsLate() {
        _ = link.heard(0)
        #expect(link.deadline == 75)
        #expect(link.health.advance(to: at(75).advanced(byMicroseconds: -1)) == [])
        #expect(link.advance(75) == [.late(silentMicroseconds: 75 * second)])
        #expect(link.health.reachability == .late)
        #expect(link.health.condition == .healthy)
        #expect(link.advance(75) == [])
        #expect(link.deadline == 135)
    }

    @Test func threeHeartbeatsLaterItIsUnreachableAndTheLinkDegraded() {
        _ = link.heard(0)
        _ = link.advance(75)
        #expect(link.advance(135) == [])
        #expect(link.health.failureCount == 2)
        #expect(link.advance(195) == [.unreachable(silentMicroseconds: 195 * second), .condition(.degraded)])
        #expect(link.health.reachability == .unreachable)
        #expect(link.health.condition == .degraded)
    }

    @Test func tenHeartbeatsLaterTheLinkIsUnhealthyAndNothingMoreIsExpected() {
        _ = link.heard(0)
        #expect(link.advance(614).count == 3)
        #expect(link.health.condition == .degraded)
        #expect(link.deadline == 615)
        #expect(link.advance(615) == [.condition(.unhealthy)])
        #expect(link.deadline == nil)
        #expect(link.advance(1_000_000) == [])
        #expect(link.health.failureCount == 10)
    }

    @Test func whatWasSleptThroughComesInOrder() {
        _ = link.heard(0)
        #expect(
            link.advance(1_000_000) == [
                .late(silentMicroseconds: 75 * second), .unreachable(silentMicroseconds: 195 * second),
                .condition(.degraded), .condition(.unhealthy),
            ])
    }

    @Test func oneFrameMakesALateCollarReachable() {
        _ = link.heard(0)
        _ = link.advance(80)
        #expect(link.heard(100) == [.reachable(silentMicroseconds: 100 * second)])
        #expect(link.deadline == 175)
        #expect(link.health.failureCount == 0)
    }

    @Test(arguments: [200, 700])
    func oneFrameMakesTheLinkHealthy(time: Int64) {
        _ = link.heard(0)
        _ = link.advance(time)
        #expect(link.heard(time + 1) == [.reachable(silentMicroseconds: (time + 1) * second), .condition(.healthy)])
        #expect(link.health.condition == .healthy)
        #expect(link.deadline == time + 76)
    }

    @Test func framesInTimeKeepItReachable() {
        for time in stride(from: Int64(0), to: 10_000, by: 74) {
            #expect(link.advance(time) == [])
            #expect(link.heard(time).count == (time == 0 ? 1 : 0))
        }
    }

    @Test func anAnswerThatMissesItsTimeIsAFailure() {
        for poll in Int64(0)..<3 {
            link.asked(poll, within: 1)
            #expect(link.deadline == poll + 1)
            #expect(link.advance(poll + 1) == (poll == 2 ? [.condition(.degraded)] : []))
        }
        for poll in Int64(3)..<10 {
            link.asked(poll, within: 1)
            #expect(link.advance(poll + 1) == (poll == 9 ? [.condition(.unhealthy)] : []))
        }
        // Silence did not count, because the collar was not heard before.
        #expect(link.health.reachability == .unknown)
        #expect(link.heard(20) == [.reachable(silentMicroseconds: nil), .condition(.healthy)])
    }

    @Test func anAnswerInTimeEndsTheRow() {
        link.asked(0, within: 1)
        _ = link.advance(1)
        link.asked(1, within: 1)
        _ = link.advance(2)
        #expect(link.health.failureCount == 2)
        link.asked(2, within: 5)
        _ = link.heard(3)
        #expect(link.health.failureCount == 0)
        #expect(link.deadline == 78)
    }

    @Test func theFirstOfSeveralPollsCounts() {
        link.asked(0, within: 10)
        link.asked(5, within: 10)
        #expect(link.deadline == 10)
        _ = link.advance(10)
        #expect(link.health.failureCount == 1)
        #expect(link.deadline == nil)
    }

    @Test func missedAnswersAndHeartbeatsAreOneRow() {
        _ = link.heard(0)
        link.asked(70, within: 5)
        // The heartbeat and the answer are overdue at the same time. These are two failures.
        #expect(link.advance(75) == [.late(silentMicroseconds: 75 * second)])
        #expect(link.health.failureCount == 2)
        #expect(link.advance(135) == [.condition(.degraded)])
    }

    @Test func nothingIsExpectedWhileSuspended() {
        _ = link.heard(0)
        _ = link.advance(80)
        link.asked(80, within: 1)
        link.health.suspend()
        #expect(link.deadline == nil)
        #expect(link.health.reachability == .unknown)
        #expect(link.advance(10_000) == [])
        link.health.resume(at: at(10_000))
        #expect(link.deadline == 10_075)
        #expect(link.advance(10_075) == [.late(silentMicroseconds: 75 * second)])
        #expect(link.heard(10_080) == [.reachable(silentMicroseconds: nil)])
    }

    @Test func resumingDoesNotForgetSilence() {
        _ = link.heard(0)
        link.health.resume(at: at(50))
        #expect(link.deadline == 75)
    }

    @Test(arguments: [(UInt16(0), Int64(75)), (1, 5), (4, 5), (5, 6), (600, 750), (65_535, 81_918)])
    func theHeartbeatIsTheCollars(seconds: UInt16, late: Int64) {
        link.health.setHeartbeat(seconds: seconds)
        _ = link.heard(0)
        #expect(link.deadline == late)
    }
}
