import CollarARQ
import CollarWire
import Testing

@testable import RadioModems

/// Answers through a MeshCore modem: each is preceded by a question for its settings, and the next packet waits until the last one is
/// sent.
@Suite struct MeshCoreTransmissionTests {
    private static let check = MeshCoreSetup.readBackQuestion
    private static let sent = MeshCoreCommand.frame(MeshCoreCommand.sent, [1])
    private static let busy = MeshCoreCommand.frame(MeshCoreCommand.error, [7])

    @Test func thePacketsOfAnAnswerGoOutOneAfterTheOther() {
        var (script, held) = MeshCoreAnswers.ready()
        script.send([1], [2], [3])
        #expect(script.takeFrames() == [Self.check])
        script.tell(held)
        for number in 1...3 as ClosedRange<UInt8> {
            #expect(script.takeFrames() == [KISSFrame(0, [number])])
            script.pass(milliseconds: 50)
            script.tell(Self.sent)
        }
        #expect(script.takeFrames() == [])
        #expect(script.deadlineMilliseconds == 5150)
    }

    @Test func theNextAnswerWaitsAndIsConfirmedByItself() {
        var (script, held) = MeshCoreAnswers.ready()
        script.send([1])
        script.send([2])
        script.tell(held)
        #expect(script.takeFrames() == [Self.check, KISSFrame(0, [1])])
        script.tell(Self.sent)
        #expect(script.takeFrames() == [Self.check])
        script.tell(held)
        #expect(script.takeFrames() == [KISSFrame(0, [2])])
        #expect(script.takeEvents().count { if case .transmits = $0 { true } else { false } } == 2)
    }

    @Test func aFailureThatTheModemReportsIsToldAndTheNextPacketFollows() {
        var (script, held) = MeshCoreAnswers.ready()
        script.send([1], [2])
        script.tell(held)
        script.tell(MeshCoreCommand.frame(MeshCoreCommand.sent, [0]))
        #expect(script.takeNotices() == [.fault(.kiss, code: 0)])
        #expect(script.takeFrames().last == KISSFrame(0, [2]))
    }

    @Test func aSuccessIsNoFault() {
        var (script, held) = MeshCoreAnswers.ready()
        script.send([1])
        script.tell(held)
        script.tell(Self.sent)
        script.tell(MeshCoreCommand.frame(MeshCoreCommand.sent))
        #expect(script.takeNotices() == [])
    }

    /// Every 20 ms, until the collar does not wait any more; the collar waits for 100 ms.
    @Test func aPacketIsOfferedAgainToABusyModemUntilItIsTooLate() {
        var (script, held) = MeshCoreAnswers.ready()
        script.send([1], [2])
        script.tell(held)
        _ = script.takeFrames()
        var offers = 0
        for _ in 0..<20 {
            script.tell(Self.busy)
            script.pass(milliseconds: 20)
            guard script.takeFrames() == [Self.check] else { break }
            script.tell(held)
            guard script.takeFrames() == [KISSFrame(0, [1])] else { break }
            offers += 1
        }
        #expect(offers == 4)
        #expect(script.takeNotices() == [.busy(.kiss)])
        script.send([3])
        #expect(script.takeFrames() == [Self.check], "the next answer is not held up")
        script.tell(held)
        #expect(script.takeFrames() == [KISSFrame(0, [3])])
    }

    @Test func aPacketThatIsTakenAtTheSecondOfferIsFollowedByTheNextOfItsAnswer() {
        var (script, held) = MeshCoreAnswers.ready()
        script.send([1], [2])
        script.tell(held)
        script.tell(Self.busy)
        script.pass(milliseconds: 20)
        script.tell(held)
        _ = script.takeFrames()
        script.tell(Self.sent)
        #expect(script.takeFrames() == [KISSFrame(0, [2])])
        // The second packet has its own time: it is offered as long as the first one was.
        script.pass(milliseconds: 90)
        script.tell(Self.busy)
        script.pass(milliseconds: 9)
        script.tell(Self.busy)
        #expect(script.deadlineMilliseconds == 130)
    }

    @Test func anotherErrorIsNotTakenForBusy() {
        var (script, held) = MeshCoreAnswers.ready()
        script.send([1])
        script.tell(held)
        _ = script.takeFrames()
        script.tell(MeshCoreCommand.frame(MeshCoreCommand.error, [3]))
        script.tell(MeshCoreCommand.frame(MeshCoreCommand.error))
        #expect(script.takeNotices() == [])
        script.pass(milliseconds: 30)
        #expect(script.takeFrames() == [])
        script.tell(Self.sent)
        #expect(script.deadlineMilliseconds == 5030)
    }

    @Test func aConfirmationOfOtherSettingsSendsNothingAndSetsTheModemUp() {
        var (script, _) = MeshCoreAnswers.ready()
        script.send([1])
        script.send([2])
        var answers = MeshCoreAnswers()
        let asked = script.converse { answers.answer($0) }
        #expect(asked.prefix(2) == [Self.check, MeshCoreCommand.frame(MeshCoreCommand.ping)])
        #expect(!asked.contains { $0.type == 0 })
        let notices = script.takeNotices()
        #expect(notices.count == 2 && notices.first == .restarted(.kiss), "\(notices)")
        script.send([3])
        script.converse { answers.answer($0) }
        #expect(script.takeEvents().count { if case .transmits = $0 { true } else { false } } == 1)
    }

    /// The answer is read 1 µs after its time; the program was held up.
    @Test func aConfirmationThatIsReadInTimeSendsAndALateOneDropsThePackets() {
        for (wait, frames) in [(250_000, [KISSFrame(0, [1])]), (250_001, [])] as [(Int64, [KISSFrame])] {
            var (script, held) = MeshCoreAnswers.ready()
            script.send([1])
            _ = script.takeFrames()
            script.stall(microseconds: wait)
            script.tell(held)
            #expect(script.takeFrames() == frames)
        }
    }

    @Test func threeUnansweredChecksAreASilenceAndTheModemIsSetUpAgain() {
        var (script, _) = MeshCoreAnswers.ready()
        script.pass(milliseconds: 5499)
        #expect(script.takeFrames() == [Self.check, Self.check])
        #expect(script.takeNotices() == [])
        script.pass(milliseconds: 251)
        #expect(script.takeNotices() == [.notAnswering(.kiss)])
        #expect(script.takeFrames() == [Self.check, MeshCoreCommand.frame(MeshCoreCommand.ping)])
        var answers = MeshCoreAnswers()
        script.pass(milliseconds: 500)
        script.converse { answers.answer($0) }
        #expect(script.takeNotices().first == .answersAgain(.kiss))
    }

    @Test func twoUnansweredChecksAndAnAnswerAreNoSilence() {
        var (script, held) = MeshCoreAnswers.ready()
        for _ in 0..<4 {
            script.pass(milliseconds: 5300)
            script.tell(held)
            #expect(script.deadlineMilliseconds == script.now.microseconds / 1000 + 5000, "the check is armed again")
        }
        #expect(script.takeNotices() == [])
    }

    @Test func aModemThatWasToldToRestartGetsThreeSeconds() {
        var (script, held) = MeshCoreAnswers.ready()
        var restartedAt: Int64?
        for _ in 0..<10 where restartedAt == nil {
            script.send([1])
            _ = script.takeFrames()
            script.tell(held)
            // No report says that the packet was sent, and the check after it is answered.
            script.pass(milliseconds: (script.deadlineMilliseconds ?? 0) - script.now.microseconds / 1000 + 1)
            if script.takeFrames().contains(MeshCoreCommand.frame(MeshCoreCommand.reboot)) {
                restartedAt = script.now.microseconds
                script.send([2])
                script.tell(held)
                #expect(script.takeFrames() == [], "nothing is written to a modem that restarts")
            } else {
                script.tell(held)
                script.pass(milliseconds: 4000)
            }
        }
        #expect((restartedAt ?? 0) > 15_000_000)
        #expect(script.takeNotices() == [.notSending(.kiss)])
        script.pass(milliseconds: 2990)
        #expect(script.takeFrames() == [])
        script.pass(milliseconds: 10)
        #expect(script.takeFrames().first == MeshCoreCommand.frame(MeshCoreCommand.ping))
    }
}
