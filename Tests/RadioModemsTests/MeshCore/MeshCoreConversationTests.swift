import CollarARQ
import Testing

@testable import RadioModems

/// Commands to a MeshCore modem, and their repetitions.
@Suite struct MeshCoreConversationTests {
    private static let settings = StickBench.settings
    private static let check = MeshCoreSetup.readBackQuestion
    private static let ping = MeshCoreCommand.frame(MeshCoreCommand.ping)
    private static let busy = MeshCoreCommand.frame(MeshCoreCommand.error, [7])

    @Test func theSetupAsksThis() {
        var script = ModemScript<MeshCoreModem>()
        var answers = MeshCoreAnswers()
        let asked = script.converse { answers.answer($0) }
        let radio = [UInt8].littleEndian(869_525_000) + .littleEndian(125_000) + [7, 5]
        #expect(asked == [
            KISSFrame(6, [0x17]), KISSFrame(6, [0x16]), KISSFrame(6, [0x11]), KISSFrame(6, [0x0B]), KISSFrame(5, [0]), KISSFrame(2, [0xFF]),
            KISSFrame(1, [0]), KISSFrame(6, [0x09] + radio), KISSFrame(6, [0x0F, 51]), KISSFrame(6, [0x0A, 14]), KISSFrame(6, [0x0B]),
            KISSFrame(6, [0x0F, 250]), KISSFrame(6, [0x19, 1]),
        ])
    }

    /// Three misses are a silence, and the pauses between the attempts then grow.
    @Test func aQuestionThatIsNotAnsweredIsRepeatedAndThenTheSetupBeginsAgain() {
        var script = ModemScript<MeshCoreModem>()
        var answers = MeshCoreAnswers()
        script.converse { $0.data.first == MeshCoreCommand.setPower ? [] : answers.answer($0) }
        let power = MeshCoreCommand.frame(MeshCoreCommand.setPower, [14])
        script.pass(milliseconds: 1499)
        #expect(script.takeFrames() == [power, power])
        #expect(script.takeNotices() == [])
        script.pass(milliseconds: 1)
        #expect(script.takeNotices() == [.notAnswering(.kiss)])
        #expect(script.takeFrames() == [Self.ping])
        var pauses: [Int64] = []
        for _ in 0..<7 {
            let pause = (script.deadlineMilliseconds ?? 0) - script.now.microseconds / 1000
            pauses.append(pause)
            script.pass(milliseconds: pause)
            #expect(script.takeFrames() == [Self.ping])
        }
        #expect(pauses == [500, 1000, 2000, 5000, 15_000, 30_000, 30_000])
    }

    @Test func aModemThatHasRefusedASettingIsLeftAloneForAMinute() {
        var script = ModemScript<MeshCoreModem>()
        var answers = MeshCoreAnswers()
        let other = MeshCoreCommand.frame(0x8B, .littleEndian(868_000_000) + .littleEndian(125_000) + [7, 5])
        script.converse { $0 == Self.check ? [other] : answers.answer($0) }
        #expect(script.takeNotices() == [.refused(.frequency, wanted: 869_525_000, actual: 868_000_000)])
        for answer in answers.answer(Self.check) { script.tell(answer) }
        script.send([1])
        script.pass(milliseconds: 59_999)
        #expect(script.takeFrames() == [])
        script.pass(milliseconds: 1)
        let asked = script.converse { answers.answer($0) }
        #expect(asked.first == Self.ping)
        #expect(script.takeNotices().last == .ready(.kiss, Self.settings, turnaroundMicroseconds: 100_000))
    }

    /// The first time the modem may have had no room; the second time its answer is a miss, and the packet is not sent.
    @Test func aModemThatIsBusyAtItsConfirmationIsAskedOnceMore() {
        var (script, held) = MeshCoreAnswers.ready()
        script.send([1])
        script.tell(Self.busy)
        script.pass(milliseconds: 19)
        #expect(script.takeFrames() == [Self.check])
        script.pass(milliseconds: 1)
        #expect(script.takeFrames() == [Self.check])
        script.tell(Self.busy)
        #expect(script.deadlineMilliseconds == 270)
        script.pass(milliseconds: 250)
        #expect(script.takeFrames() == [Self.check])
        script.tell(held)
        #expect(script.takeFrames() == [])
        #expect(script.takeNotices() == [])
    }

    @Test func aBusyAnswerToACheckOfAQuietModemChangesNothing() {
        var (script, _) = MeshCoreAnswers.ready()
        script.pass(milliseconds: 5000)
        script.tell(Self.busy)
        #expect(script.deadlineMilliseconds == 5250)
    }

    @Test func twoPacketsThatWereNotSentAreNoReasonToRestartAModem() {
        var (script, held) = MeshCoreAnswers.ready()
        var reboots: [Bool] = []
        for _ in 1...3 {
            script.send([1])
            script.tell(held)
            script.stall(microseconds: 2_000_000)
            script.callDeadline()
            reboots.append(script.takeFrames().last == MeshCoreCommand.frame(MeshCoreCommand.reboot))
            script.tell(held)
            script.stall(microseconds: 20_000_000)
        }
        #expect(reboots == [false, false, true])
    }

    @Test func threePacketsInLessThanFifteenSecondsAreNoneEither() {
        var (script, held) = MeshCoreAnswers.ready()
        var reboots: [Bool] = []
        for _ in 1...4 {
            script.send([1])
            script.tell(held)
            // The last one fails 15 s after the first was given.
            script.stall(microseconds: 3_750_000)
            script.callDeadline()
            reboots.append(script.takeFrames().last == MeshCoreCommand.frame(MeshCoreCommand.reboot))
            script.tell(held)
        }
        #expect(reboots == [false, false, false, true])
    }

    /// A firmware with a shorter preamble tells 24 ms less for each length.
    @Test func theAirtimeThatTheModemTellsIsThatOfItsPackets() {
        var script = ModemScript<MeshCoreModem>()
        var answers = MeshCoreAnswers()
        let profile = Self.settings.profile(of: .kiss)
        func milliseconds(_ byteCount: Int) -> Int64 { profile.airtimeMicroseconds(frameByteCount: byteCount) / 1000 - 24 }
        script.converse { question in
            guard question.data.first == MeshCoreCommand.getAirtime, let count = question.data.last else { return answers.answer(question) }
            return [MeshCoreCommand.frame(0x8F, .littleEndian(UInt32(clamping: milliseconds(Int(count)))))]
        }
        let told = script.takeEvents().compactMap { if case .ready(let profile) = $0 { profile } else { nil } }
        #expect(told.map { $0.airtimeMicroseconds(frameByteCount: 51) } == [milliseconds(51) * 1000])
        script.send([UInt8](repeating: 1, count: 51))
        #expect(script.takeEvents() == [.transmits(airtimeMicroseconds: milliseconds(51) * 1000)])
    }
}
