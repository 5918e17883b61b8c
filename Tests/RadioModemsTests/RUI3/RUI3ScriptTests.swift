import CollarARQ
import CollarWire
import Testing

@testable import RadioModems

/// A RUI3 stick whose every answer a test chooses: statuses that come late, and lines that are damaged.
@Suite struct RUI3ScriptTests {
    private static let busy = "AT_BUSY_ERROR"
    private static let check = "AT+PRECV=65533"

    /// A modem at the end of its first silence, whose questions are answered.
    private func script(_ answer: (String) -> [String] = { RUI3Answers.answers($0) }) -> (script: ModemScript<RUI3Modem>, asked: [String]) {
        var script = ModemScript<RUI3Modem>()
        script.pass(milliseconds: 200)
        let asked = script.converse(answer)
        return (script, asked)
    }

    private func ready() -> ModemScript<RUI3Modem> {
        var (script, _) = script()
        _ = script.takeEvents()
        return script
    }

    // MARK: Late answers

    /// OK of AT+PSEND comes after the check was written; then the check is answered.
    @Test func aLateStatusOfAPacketIsNotThatOfTheCheck() {
        var script = ready()
        for number in 0..<3 {
            script.send([1])
            #expect(script.takeLines() == ["AT+PSEND=01"], "\(number)")
            script.pass(milliseconds: 1000)
            #expect(script.takeLines() == [Self.check])
            script.pass(milliseconds: 200)
            script.tell("OK")
            #expect(script.takeLines() == [])
            script.tell(Self.busy)
            #expect(script.takeLines() == [])
            #expect(script.deadlineMilliseconds == script.now.microseconds / 1000 + 5000)
        }
        #expect(script.takeNotices() == [])
    }

    @Test func anAnswerThatWaitsMeanwhileGoesOutAfterTheCheck() {
        var script = ready()
        script.send([1])
        script.pass(milliseconds: 1000)
        script.send([2])
        script.tell("OK")
        #expect(script.takeLines() == ["AT+PSEND=01", Self.check])
        script.tell(Self.busy)
        #expect(script.takeLines() == ["AT+PSEND=02"])
    }

    /// Two checks have gone unanswered: three statuses are to come, and only the last is that of the newest check.
    @Test func theStatusesOfEarlierChecksAreSkipped() {
        var script = ready()
        script.pass(milliseconds: 7000)
        #expect(script.takeLines() == [Self.check, Self.check, Self.check])
        script.tell("OK", Self.busy)
        #expect(script.takeNotices() == [])
        #expect(script.takeLines() == [])
        script.tell(Self.busy)
        #expect(script.takeNotices() == [])
        #expect(script.deadlineMilliseconds == 12_200)
    }

    /// Of two statuses one is lost on the line: the one that came shows that the stick is there.
    @Test func aStatusThatIsLostIsNotAwaitedForEver() {
        var script = ready()
        script.pass(milliseconds: 6000)
        script.tell(Self.busy)
        script.send([1])
        #expect(script.takeLines() == [Self.check, Self.check])
        script.pass(milliseconds: 1000)
        #expect(script.takeNotices() == [])
        #expect(script.takeLines() == [], "the answer is too late")
        script.send([2])
        #expect(script.takeLines() == ["AT+PSEND=02"])
    }

    @Test func threeUnansweredChecksAreASilence() {
        var script = ready()
        script.pass(milliseconds: 7999)
        #expect(script.takeNotices() == [])
        script.pass(milliseconds: 1)
        #expect(script.takeNotices() == [.notAnswering(.rui3)])
        #expect(script.takeLines() == [Self.check, Self.check, Self.check])
        script.tell("OK")
        script.pass(milliseconds: 200)
        script.converse { RUI3Answers.answers($0) }
        #expect(script.takeNotices() == [
            .answersAgain(.rui3), .ready(.rui3, StickBench.settings, turnaroundMicroseconds: 200_000),
        ])
    }

    @Test(arguments: ["OK", "AT_PARAM_ERROR", "AT_ERROR"]) func aCheckThatIsNotRefusedAsBusyIsARestart(status: String) {
        var script = ready()
        script.pass(milliseconds: 5000)
        script.tell(status)
        #expect(script.takeNotices() == [.restarted(.rui3)])
        script.send([1])
        #expect(script.takeLines() == [Self.check], "nothing is sent before the setup")
    }

    // MARK: Sending

    @Test func whereTheStickReportsThatAPacketWasSentTheNextOneFollowsTheReport() {
        var script = ready()
        script.send([1], [0xAB, 0x0F])
        script.tell("OK")
        script.pass(milliseconds: 20)
        #expect(script.takeLines() == ["AT+PSEND=01"])
        script.tell("+EVT:TXP2P DONE")
        #expect(script.takeLines() == ["AT+PSEND=AB0F"])
        script.tell("OK")
        script.tell("+EVT:TXP2P DONE")
        #expect(script.takeLines() == [])
        #expect(script.takeNotices() == [])
    }

    /// A firmware that does not report it has sent the packet 150 ms after its airtime.
    @Test func whereItDoesNotTheNextOneFollowsAfterTheAirtime() {
        var script = ready()
        let airtime = StickBench.settings.profile(of: .rui3).airtimeMicroseconds(frameByteCount: 1)
        script.send([1], [2])
        script.tell("OK")
        _ = script.takeLines()
        script.pass(microseconds: airtime + 149_999)
        #expect(script.takeLines() == [])
        script.pass(microseconds: 1)
        #expect(script.takeLines() == ["AT+PSEND=02"])
    }

    /// The stick has reported packets before, so a report that does not come is a miss. It has taken the packet: no status is to come.
    @Test func aReportThatDoesNotComeIsAMissAndTheCheckHasOneStatus() {
        var script = ready()
        script.send([1])
        script.tell("OK", "+EVT:TXP2P DONE")
        script.send([2], [3])
        script.tell("OK")
        _ = script.takeLines()
        let airtime = StickBench.settings.profile(of: .rui3).airtimeMicroseconds(frameByteCount: 1)
        script.pass(microseconds: airtime + 999_999)
        #expect(script.takeLines() == [])
        script.pass(microseconds: 1)
        #expect(script.takeLines() == [Self.check])
        script.tell(Self.busy)
        #expect(script.deadlineMilliseconds == script.now.microseconds / 1000 + 5000)
        #expect(script.takeNotices() == [])
    }

    /// The collar waits for 200 ms.
    @Test func aBusyStickIsOfferedThePacketEvery50MillisecondsUntilItIsTooLate() {
        var script = ready()
        script.send([1], [2])
        var offers = 0
        for _ in 0..<20 {
            guard script.takeLines() == ["AT+PSEND=01"] else { break }
            offers += 1
            script.tell(Self.busy)
            script.pass(milliseconds: 50)
        }
        #expect(offers == 5)
        #expect(script.takeNotices() == [.busy(.rui3)])
        script.send([3])
        #expect(script.takeLines() == ["AT+PSEND=03"])
    }

    @Test func aPacketThatIsRefusedIsToldAndTheNextAnswerFollows() {
        var script = ready()
        script.send([1, 1], [2])
        script.send([3])
        script.tell("AT_PARAM_ERROR")
        #expect(script.takeNotices() == [.packetRefused(.rui3, byteCount: 2, status: "AT_PARAM_ERROR")])
        #expect(script.takeLines() == ["AT+PSEND=0101", "AT+PSEND=03"])
    }

    // MARK: Lines

    @Test func packetsHaveTheirSignalAndDamagedLinesAreDropped() {
        var script = ready()
        script.tell("+EVT:RXP2P:-97:7:00FF", "+EVT:RXP2P:-97:7:00F", "+EVT:RXP2P:-97:00FF", "+EVT:RXP2P:-9a:7:00FF")
        script.tell("+EVT:RXP2P:-131:-13:0a")
        #expect(script.takeEvents() == [
            .packet([0, 0xFF], RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: 70)),
            .packet([0x0A], RadioSignal(strengthDBm: -131, signalToNoiseTenthsDB: -130)),
        ])
    }

    @Test(arguments: ["RAKwireless RAK3172", "Current Work Mode: LoRa P2P."]) func theTextOfAStartIsARestart(text: String) {
        var script = ready()
        script.send([1])
        script.tell(text)
        #expect(script.takeNotices() == [.restarted(.rui3)])
        script.tell(text)
        #expect(script.takeNotices() == [], "one start is one restart")
        script.pass(milliseconds: 200)
        script.converse { RUI3Answers.answers($0) }
        #expect(script.takeNotices() == [.ready(.rui3, StickBench.settings, turnaroundMicroseconds: 200_000)])
    }

    // MARK: Setup

    @Test func theSettingsAreGivenInTheirOrderAndReadBack() {
        let (_, asked) = script()
        #expect(asked == [
            "AT", "AT+PRECV=0", "AT+NWM=?", "AT+VER=?", "AT+ENCRY=0", "AT+SYNCWORD=1424", "AT+IQINVER=0", "AT+FIXLENGTHPAYLOAD=0",
            "AT+SYMBOLTIMEOUT=0", "AT+CAD=0", "AT+PFREQ=869525000", "AT+PSF=7", "AT+PBW=0", "AT+PCR=0", "AT+PPL=8", "AT+PTP=14", "AT+P2P=?",
            Self.check,
        ])
    }

    @Test(arguments: [
        ("869525001:7:0:0:8:14", .frequency, 869_525_000, 869_525_001), ("869525000:8:0:0:8:14", .spreadingFactor, 7, 8),
        ("869525000:7:1:0:8:14", .bandwidth, 125_000, 250_000), ("869525000:7:0:1:8:14", .codingRate, 5, 6),
        ("869525000:7:0:0:9:14", .preamble, 8, 9), ("869525000:7:0:0:8:13", .power, 14, 13), ("869525000:7:0:0:8", .power, 14, nil),
    ] as [(String, ModemSetting, Int64, Int64?)])
    func aSettingThatIsNotHeldIsNamed(held: String, setting: ModemSetting, wanted: Int64, actual: Int64?) {
        var (script, _) = script { $0 == "AT+P2P=?" ? ["AT+P2P=\(held)", "OK"] : RUI3Answers.answers($0) }
        #expect(script.takeNotices() == [], "the setup is repeated once")
        script.pass(milliseconds: 200)
        script.converse { (line: String) in line == "AT+P2P=?" ? ["AT+P2P=\(held)", "OK"] : RUI3Answers.answers(line) }
        #expect(script.takeNotices() == [.refused(setting, wanted: wanted, actual: actual)])
        #expect(script.deadlineMilliseconds == 60_400)
        script.pass(milliseconds: 60_200)
        script.converse { RUI3Answers.answers($0) }
        #expect(script.takeNotices().last == .ready(.rui3, StickBench.settings, turnaroundMicroseconds: 200_000))
    }

    @Test(arguments: [
        ("AT+PFREQ", .frequency, 869_525_000), ("AT+PSF", .spreadingFactor, 7), ("AT+PBW", .bandwidth, 125_000), ("AT+PCR", .codingRate, 5),
        ("AT+PPL", .preamble, 8), ("AT+PTP", .power, 14), ("AT+P2P", .mode, 0), ("AT+PRECV=65533", .mode, 0),
    ] as [(String, ModemSetting, Int64)])
    func aCommandThatFailsIsARefusalOfItsSetting(command: String, setting: ModemSetting, wanted: Int64) {
        let answer: (String) -> [String] = { $0.hasPrefix(command) ? ["AT_PARAM_ERROR"] : RUI3Answers.answers($0) }
        var (script, _) = script(answer)
        script.pass(milliseconds: 200)
        script.converse(answer)
        #expect(script.takeNotices() == [.refused(setting, wanted: wanted, actual: nil)])
    }

    @Test(arguments: ["AT+ENCRY", "AT+SYNCWORD", "AT+IQINVER", "AT+FIXLENGTH", "AT+SYMBOL", "AT+CAD", "AT+VER"])
    func aReleaseThatLacksACommandIsUsedWithoutIt(command: String) {
        var (script, asked) = script { $0.hasPrefix(command) ? ["AT_COMMAND_NOT_FOUND"] : RUI3Answers.answers($0) }
        #expect(script.takeNotices().last == .ready(.rui3, StickBench.settings, turnaroundMicroseconds: 200_000))
        #expect(asked.count { $0.hasPrefix(command) } == 1)
    }

    @Test func aBandwidthIsWrittenInItsOtherFormOnceTheFirstIsRefused() {
        var (script, asked) = script { $0 == "AT+PBW=0" ? ["AT_PARAM_ERROR"] : RUI3Answers.answers($0) }
        #expect(asked.filter { $0.hasPrefix("AT+PBW") } == ["AT+PBW=0", "AT+PBW=125"])
        #expect(script.takeNotices().last == .ready(.rui3, StickBench.settings, turnaroundMicroseconds: 200_000))
    }

    @Test(arguments: [
        ("RUI_3.3.9_RAK3172", true), ("3.2.0-p2_22q1", true), ("2.9", true), ("RUI_3.4.0_RAK3172", false), ("4.0", false), ("3.10", false),
        ("unknown", false),
    ])
    func releasesBefore3Point4CannotReceiveAndSend(version: String, isOld: Bool) {
        var (script, _) = script { RUI3Answers.answers($0, version: version) }
        let notices = script.takeNotices()
        #expect(notices.contains(.firmwareTooOld(.rui3, version: version)) == isOld)
        #expect(notices.contains(.found(.rui3, version: version)) != isOld)
    }

    /// Twice the stick is told to change its mode, with 3 s to restart each time.
    @Test func aModeIsChangedTwiceBeforeItCountsAsRefused() {
        var (script, asked) = script { RUI3Answers.answers($0, mode: 1) }
        #expect(asked.last == "AT+NWM=0")
        var changes = asked.count { $0 == "AT+NWM=0" }
        for _ in 0..<60 {
            script.pass(milliseconds: 200)
            changes += script.converse { RUI3Answers.answers($0, mode: 1) }.count { $0 == "AT+NWM=0" }
        }
        #expect(changes == 2)
        #expect(script.takeNotices() == [.refused(.mode, wanted: 0, actual: 1)])
    }

    @Test func theSetupWaitsForSilenceAndFiveSecondsAtMost() {
        var script = ModemScript<RUI3Modem>()
        for _ in 0..<49 {
            script.pass(milliseconds: 100)
            script.tell("+EVT:RXP2P:-97:7:00FF")
        }
        #expect(script.takeLines() == [])
        #expect(script.deadlineMilliseconds == 5000)
        script.pass(milliseconds: 100)
        #expect(script.takeLines() == ["AT"])
        var quiet = ModemScript<RUI3Modem>()
        quiet.pass(milliseconds: 150)
        quiet.tell("OK")
        #expect(quiet.deadlineMilliseconds == 350)
    }
}
