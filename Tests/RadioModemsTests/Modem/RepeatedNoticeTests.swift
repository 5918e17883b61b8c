import CollarARQ
import Testing

@testable import RadioModems

/// A notice that repeats is given once a minute, for each kind.
@Suite struct RepeatedNoticeTests {
    private func at(_ milliseconds: Int64) -> Instant { Instant(microseconds: milliseconds * 1000) }

    @Test func eachKindHasAMinuteOfItsOwn() {
        var output = ModemOutput()
        for milliseconds in [0, 30_000, 59_999, 60_000, 60_001, 119_999, 120_000] as [Int64] {
            output.report(.busy(.kiss), kind: "busy", at: at(milliseconds))
            output.report(.queueFull(.kiss), kind: "full", at: at(milliseconds + 10_000))
        }
        // The second kind is told at 10 s, 70 s and 130 s.
        #expect(output.events.count { $0 == .notice(.busy(.kiss)) } == 3)
        #expect(output.events.count { $0 == .notice(.queueFull(.kiss)) } == 3)
        #expect(output.events.count == 6)
    }

    @Test func aNoticeWithoutAKindIsAlwaysTold() {
        var output = ModemOutput()
        for _ in 0..<3 { output.report(.restarted(.kiss)) }
        output.report(.busy(.kiss), kind: "busy", at: at(0))
        output.report(.busy(.kiss))
        #expect(output.events.count == 5)
    }

    /// A minute begins with a notice that was given. Otherwise a notice that comes every 50 s would be given only once.
    @Test func aNoticeThatWasNotToldDoesNotDelayTheNextOne() {
        var output = ModemOutput()
        for second in [0, 50, 100, 150, 200] as [Int64] { output.report(.busy(.kiss), kind: "busy", at: at(second * 1000)) }
        #expect(output.events.count == 3)
    }

    @Test(arguments: [
        (14, 14, nil), (14, 10, .powerReduced(wantedDBm: 14, actualDBm: 10)), (14, 17, .powerRaised(wantedDBm: 14, actualDBm: 17)),
        (-9, -9, nil), (-10, -9, .powerRaised(wantedDBm: -10, actualDBm: -9)),
    ] as [(Int8, Int8, ModemNotice?)])
    func anotherPowerThanWantedIsTold(wanted: Int8, actual: Int8, notice: ModemNotice?) {
        var output = ModemOutput()
        output.reportPower(wanted: wanted, actual: actual, at: at(0))
        #expect(output.events == [notice].compactMap { $0 }.map(ModemEvent.notice))
    }

    @Test func thePausesBetweenAttemptsGrowToHalfAMinute() {
        let pauses = (0..<9).map { AnswerMonitor.nextAttempt(after: $0, at: at(1000)).microseconds / 1000 - 1000 }
        #expect(pauses == [500, 1000, 2000, 5000, 15_000, 30_000, 30_000, 30_000, 30_000])
    }

    @Test func aSilenceIsToldWithItsThirdMissAndAgainOnlyAfterAnAnswer() {
        var monitor = AnswerMonitor(of: .rnode)
        var output = ModemOutput()
        for (count, isSilent) in [(1, false), (2, false), (3, true), (4, true)] {
            monitor.noteMiss(reportingTo: &output)
            #expect(monitor.isSilent == isSilent, "\(count)")
            #expect(output.events.count == (count >= 3 ? 1 : 0), "\(count)")
        }
        monitor.noteAnswer(reportingTo: &output)
        #expect(!monitor.isSilent)
        monitor.noteAnswer(reportingTo: &output)
        for _ in 0..<3 { monitor.noteMiss(reportingTo: &output) }
        #expect(output.events == [.notice(.notAnswering(.rnode)), .notice(.answersAgain(.rnode)), .notice(.notAnswering(.rnode))])
    }

    @Test(arguments: [
        (.board, 700_000, 0, 700_000), (.remote, 700_000, 0, 700_000), (.network, 0, 1_500_000, 0), (.network, 750_000, 1_500_000, 750_000),
        (.network, 800_000, 1_600_000, 800_000), (.network, 60_000_000, 20_000_000, 10_000_000), (.network, -5, 1_500_000, 0),
    ] as [(RadioModem.PortKind, Int64, Int64, Int64)])
    func aNetworkDelaysAnswersByTwiceItsWayAndByASecondAndAHalfAtLeast(
        kind: RadioModem.PortKind, measured: Int64, answer: Int64, roundTrip: Int64
    ) {
        let delay = LineDelay(kind, roundTripMicroseconds: measured)
        #expect(delay.answerMicroseconds == answer)
        #expect(delay.roundTripMicroseconds == roundTrip)
    }
}
