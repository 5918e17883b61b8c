import CollarARQ
import CollarWire
import Testing

@testable import RadioModems

/// The setup of a RUI3 stick that is busy, silent, too old or in another mode, and how it goes on.
@Suite struct RUI3SetupTests {
    private static let busy = "AT_BUSY_ERROR"
    private static let isReady = ModemNotice.ready(.rui3, StickBench.settings, turnaroundMicroseconds: 200_000)

    /// A modem at the end of its first silence, whose questions are answered.
    private func script(_ answer: (String) -> [String] = { RUI3Answers.answers($0) }) -> ModemScript<RUI3Modem> {
        var script = ModemScript<RUI3Modem>()
        script.pass(milliseconds: 200)
        script.converse(answer)
        return script
    }

    private func ready() -> ModemScript<RUI3Modem> {
        var script = script()
        _ = script.takeEvents()
        return script
    }

    /// When a line was written until a time, in milliseconds since the beginning.
    private func times(
        of line: String, in script: inout ModemScript<RUI3Modem>, untilMilliseconds end: Int64, _ answer: (String) -> [String] = { _ in [] }
    ) -> [Int64] {
        var times: [Int64] = []
        while script.now.microseconds < end * 1000 {
            script.pass(milliseconds: 100)
            let count = script.converse(answer).count { $0 == line }
            times += Array(repeating: script.now.microseconds / 1000, count: count)
        }
        return times
    }

    /// Each miss takes a second, and the pauses after it grow.
    @Test func aSilentStickIsGreetedAfterEverLongerPauses() {
        var script = ModemScript<RUI3Modem>()
        #expect(times(of: "AT", in: &script, untilMilliseconds: 4600) == [200, 1700, 3700])
        #expect(script.takeNotices() == [])
        #expect(times(of: "AT", in: &script, untilMilliseconds: 100_000) == [6700, 12_700, 28_700, 59_700, 90_700])
        #expect(script.takeNotices() == [.notAnswering(.rui3)])
    }

    /// A busy stick is asked 21 times, which takes as many seconds, before it counts as silent; so it is in each attempt.
    @Test func aStickThatStaysBusyIsAskedTwentyTimesMoreInEachAttempt() {
        var script = ModemScript<RUI3Modem>()
        let first = times(of: "AT", in: &script, untilMilliseconds: 21_600) { _ in [Self.busy] }
        #expect(first == (0...20).map { 200 + 1000 * $0 })
        let second = times(of: "AT", in: &script, untilMilliseconds: 43_600) { _ in [Self.busy] }
        #expect(second == (0...20).map { 21_700 + 1000 * $0 })
        _ = times(of: "AT", in: &script, untilMilliseconds: 64_600) { _ in [Self.busy] }
        #expect(script.takeNotices() == [])
        _ = times(of: "AT", in: &script, untilMilliseconds: 64_800) { _ in [Self.busy] }
        #expect(script.takeNotices() == [.notAnswering(.rui3)])
    }

    /// The setup begins again after each miss. The answers to the first questions do not hide that one is never answered.
    @Test func aStickThatNeverAnswersOneQuestionIsSilent() {
        var script = ModemScript<RUI3Modem>()
        let missed = times(of: "AT+PSF=7", in: &script, untilMilliseconds: 4700) { $0 == "AT+PSF=7" ? [] : RUI3Answers.answers($0) }
        #expect(missed == [200, 1700, 3700])
        #expect(script.takeNotices() == [.notAnswering(.rui3)])
        _ = times(of: "AT+PSF=7", in: &script, untilMilliseconds: 7000) { RUI3Answers.answers($0) }
        #expect(script.takeNotices().first == .answersAgain(.rui3))
    }

    /// It has answered once with being busy, and then is silent: the count of busy answers is that of the present question.
    @Test func aStickThatIsSilentAfterABusyAnswerHasMissedAQuestion() {
        var script = script { $0 == "AT+PSF=7" ? [Self.busy] : RUI3Answers.answers($0) }
        script.pass(milliseconds: 1000)
        #expect(script.takeLines() == ["AT+PSF=7"])
        script.pass(milliseconds: 1000)
        #expect(script.takeLines() == [])
        script.pass(milliseconds: 500)
        #expect(script.takeLines() == ["AT"])
    }

    @Test func aModuleThatStartsInItsNewModeIsSetUpAtOnce() {
        var script = script { RUI3Answers.answers($0, mode: 1) }
        #expect(script.deadlineMilliseconds == 3200)
        script.pass(milliseconds: 800)
        script.tell("Current Work Mode: LoRa P2P.")
        script.pass(milliseconds: 199)
        #expect(script.takeLines() == [])
        script.pass(milliseconds: 1)
        script.converse { RUI3Answers.answers($0) }
        #expect(script.takeNotices() == [.found(.rui3, version: "RUI_4.0.6_RAK3172-E"), Self.isReady])
    }

    @Test func theTextOfAStartDuringTheSetupChangesNothing() {
        var script = script { _ in [] }
        script.pass(milliseconds: 100)
        script.tell("RAKwireless RAK3172-E", "Current Work Mode: LoRa P2P.")
        #expect(script.takeLines() == [])
        #expect(script.deadlineMilliseconds == 1200)
        #expect(script.takeNotices() == [])
    }

    /// The stick may have got other firmware meanwhile.
    @Test func aFormOfTheBandwidthThatWasRefusedIsTriedAgainInTheNextSetup() {
        var script = script { $0 == "AT+PBW=0" ? ["AT_PARAM_ERROR"] : RUI3Answers.answers($0) }
        script.tell("RAKwireless RAK3172-E")
        script.pass(milliseconds: 200)
        let asked = script.converse { $0 == "AT+PBW=125" ? ["AT_PARAM_ERROR"] : RUI3Answers.answers($0) }
        #expect(asked.filter { $0.hasPrefix("AT+PBW") } == ["AT+PBW=0"])
        #expect(script.takeNotices().suffix(2) == [.restarted(.rui3), Self.isReady])
    }

    @Test(arguments: ["AT+PRECV=0", "AT+NWM=?"]) func silenceAfterTheGreetingIsAnotherModem(command: String) {
        var script = script { $0 == command ? [] : RUI3Answers.answers($0) }
        script.pass(milliseconds: 1200)
        script.converse { $0 == command ? [] : RUI3Answers.answers($0) }
        #expect(script.takeNotices() == [], "it is asked once more")
        script.pass(milliseconds: 1000)
        #expect(script.takeNotices() == [.stranger(.otherModem)])
        _ = script.takeLines()
        script.pass(milliseconds: 60_000)
        script.pass(milliseconds: 200)
        script.converse { RUI3Answers.answers($0) }
        #expect(script.takeNotices() == [.found(.rui3, version: "RUI_4.0.6_RAK3172-E"), Self.isReady])
    }

    /// It was a RUI3 stick before, so it is one that does not answer.
    @Test(arguments: ["AT+PRECV=0", "AT+NWM=?"]) func silenceAfterTheGreetingOfAKnownStickIsAMiss(command: String) {
        var script = ready()
        script.tell("RAKwireless RAK3172-E")
        _ = times(of: "AT", in: &script, untilMilliseconds: 20_000) { $0 == command ? [] : RUI3Answers.answers($0) }
        #expect(script.takeNotices() == [.restarted(.rui3), .notAnswering(.rui3)])
    }

    @Test func aReleaseThatWasTooOldIsAskedAgainAfterAMinute() {
        var script = script { RUI3Answers.answers($0, version: "RUI_3.3.9") }
        #expect(script.takeNotices() == [.firmwareTooOld(.rui3, version: "RUI_3.3.9")])
        script.send([1])
        script.pass(milliseconds: 59_999)
        #expect(script.takeLines() == [])
        script.pass(milliseconds: 201)
        script.converse { RUI3Answers.answers($0) }
        #expect(script.takeNotices() == [.found(.rui3, version: "RUI_4.0.6_RAK3172-E"), Self.isReady])
    }

    @Test(arguments: ["AT", "AT+PRECV=0"]) func anErrorBeforeTheModeIsKnownIsNone(command: String) {
        let status = command == "AT" ? ["AT_COMMAND_NOT_FOUND", "OK"] : ["AT_ERROR"]
        var script = script { $0 == command ? status : RUI3Answers.answers($0) }
        #expect(script.takeNotices().last == Self.isReady)
    }

    @Test(arguments: ["869525000:7:125:0:8:14", "869525000:7:0:0:8:14:0:1"]) func otherFormsOfWhatIsHeldAreTaken(held: String) {
        var script = script { $0 == "AT+P2P=?" ? ["AT+P2P=\(held)", "OK"] : RUI3Answers.answers($0) }
        #expect(script.takeNotices().last == Self.isReady)
    }

    @Test func aStatusWithoutTheValueIsThatOfAnEarlierCommand() {
        var script = script { $0 == "AT+P2P=?" ? ["OK"] : RUI3Answers.answers($0) }
        #expect(script.takeNotices() == [])
        script.tell("AT+VER=9", "OK")
        #expect(script.takeNotices() == [], "the value of another command")
        script.tell("AT+P2P=869525000:7:0:0:8:14", "OK")
        script.converse { RUI3Answers.answers($0) }
        #expect(script.takeNotices().last == Self.isReady)
    }

    @Test func packetsBeforeTheFirstSetupAreDroppedAndLaterOnesAreTaken() {
        var script = ModemScript<RUI3Modem>()
        script.tell("+EVT:RXP2P:-97:7:01")
        script.pass(milliseconds: 200)
        script.tell("+EVT:RXP2P:-97:7:02")
        script.converse { RUI3Answers.answers($0) }
        #expect(!script.takeEvents().contains { if case .packet = $0 { true } else { false } })
        script.tell("RAKwireless RAK3172-E", "+EVT:RXP2P:-97:7:03")
        script.pass(milliseconds: 200)
        script.tell("+EVT:RXP2P:-97:7:04")
        let signal = RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: 70)
        #expect(script.takeEvents() == [.notice(.restarted(.rui3)), .packet([3], signal), .packet([4], signal)])
    }

    @Test func anAnswerDuringTheSetupIsNotSentAfterIt() {
        var script = ModemScript<RUI3Modem>()
        script.send([1])
        script.pass(milliseconds: 200)
        script.send([2])
        let asked = script.converse { RUI3Answers.answers($0) }
        #expect(asked.last == "AT+PRECV=65533")
        #expect(asked.count == 18)
    }
}
