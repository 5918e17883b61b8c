import CollarARQ
import Testing

@testable import RadioModems

/// A stick at another machine has more time to answer, and its collars are told the delay.
@Suite struct DelayedLineTests {
    private static let roundTrip: Int64 = 900_000

    private func deadlines<Modem: StickModem>(_ type: Modem.Type) -> (near: Int64?, far: Int64?) {
        let near = ModemScript<Modem>()
        let far = ModemScript<Modem>(kind: .network, roundTripMicroseconds: Self.roundTrip)
        return (near.deadlineMilliseconds, far.deadlineMilliseconds)
    }

    /// Two round trips: 1.8 s.
    @Test func everyAnswerHasTwoRoundTripsMore() {
        #expect(deadlines(MeshCoreModem.self) == (500, 2300))
        #expect(deadlines(RNodeModem.self) == (500, 2300))
        #expect(deadlines(RUI3Modem.self) == (200, 2000))
    }

    @Test func aReadyModemWaitsAsLongForItsChecksAndItsPackets() {
        var script = ModemScript<MeshCoreModem>(kind: .network, roundTripMicroseconds: Self.roundTrip)
        var answers = MeshCoreAnswers()
        script.converse { answers.answer($0) }
        script.send([1])
        #expect(script.deadlineMilliseconds == 2050)
        script.converse { answers.answer($0) }
        let profile = StickBench.settings.profile(of: .kiss)
        let airtime = profile.airtimeMicroseconds(frameByteCount: 255) + profile.airtimeMicroseconds(frameByteCount: 1)
        #expect(script.deadlineMilliseconds == (airtime + 2_300_000) / 1000)
    }

    @Test func theWayIsAPartOfTheTurnaround() {
        var kiss = ModemScript<MeshCoreModem>(kind: .network, roundTripMicroseconds: Self.roundTrip)
        var answers = MeshCoreAnswers()
        kiss.converse { answers.answer($0) }
        let events = kiss.takeEvents()
        #expect(events.contains(.notice(.ready(.kiss, StickBench.settings, turnaroundMicroseconds: 1_000_000))))
        let profiles = events.compactMap { if case .ready(let profile) = $0 { profile } else { nil } }
        #expect(profiles.map(\.turnaroundMicroseconds) == [1_000_000])
    }

    /// The answer waits for its confirmation as long as the collar does, and no longer.
    @Test(arguments: [(999_000, true), (1_000_000, false)] as [(Int64, Bool)])
    func anAnswerMayWaitForTheWholeTurnaround(wait: Int64, isSent: Bool) {
        var script = ModemScript<MeshCoreModem>(kind: .network, roundTripMicroseconds: Self.roundTrip)
        var answers = MeshCoreAnswers()
        script.converse { answers.answer($0) }
        script.send([1])
        script.send([2])
        script.stall(microseconds: wait)
        var written = script.converse { answers.answer($0) }
        script.tell(MeshCoreCommand.frame(MeshCoreCommand.sent, [1]))
        written += script.converse { answers.answer($0) }
        #expect(written.filter { $0.type == 0 }.map(\.data) == (isSent ? [[1], [2]] : [[1]]))
    }
}
