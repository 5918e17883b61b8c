import CollarARQ
import CollarWire
import Testing

@testable import RadioModems

/// An RNode whose every answer a test chooses: packets with their signal, confirmations and refusals.
@Suite struct RNodeScriptTests {
    private static let isOn = KISSFrame(RNodeCommand.radioState, [1])

    private func script(_ change: (inout RNodeAnswers) -> Void = { _ in }) -> (script: ModemScript<RNodeModem>, answers: RNodeAnswers) {
        var script = ModemScript<RNodeModem>()
        var answers = RNodeAnswers()
        change(&answers)
        script.converse { answers.answer($0) }
        return (script, answers)
    }

    private func ready() -> ModemScript<RNodeModem> {
        var (script, _) = script()
        _ = script.takeEvents()
        return script
    }

    /// A stick is deaf while it sends, and at a slow setting it sends for seconds.
    @Test func aStickThatSendsASlowPacketHasTimeToAnswer() {
        let slow = RadioSettings(
            frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: 12, codingRateDenominator: 5, powerDBm: 14)
        for (settings, notices) in [(StickBench.settings, [ModemNotice.notAnswering(.rnode)]), (slow, [])] {
            var script = ModemScript<RNodeModem>(settings: settings)
            var answers = RNodeAnswers()
            script.converse { answers.answer($0) }
            _ = script.takeEvents()
            script.pass(milliseconds: 5000)
            #expect(script.takeFrames().isEmpty == false)
            script.pass(milliseconds: 8000)
            #expect(script.takeNotices().prefix(1) == notices[...], "spreading factor \(settings.spreadingFactor)")
        }
    }

    // MARK: Packets

    @Test func aSignalIsThatOfOnePacket() {
        var script = ready()
        script.tell(KISSFrame(0x23, [60]))
        script.tell(KISSFrame(0x24, [28]))
        for number in 1...2 as ClosedRange<UInt8> { script.tell(KISSFrame(0, [number])) }
        script.tell(KISSFrame(0x23, [26]))
        script.tell(KISSFrame(0x24, [0xCE]))
        script.tell(KISSFrame(0, [3]))
        script.tell(KISSFrame(0x23, [157]))
        script.tell(KISSFrame(0, [4]))
        script.tell(KISSFrame(0x24, [4]))
        script.tell(KISSFrame(0, [5]))
        script.tell(KISSFrame(0x23, [57]))
        script.tell(KISSFrame(0, [6]))
        #expect(script.takeEvents() == [
            .packet([1], RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: 70)), .packet([2], nil),
            .packet([3], RadioSignal(strengthDBm: -131, signalToNoiseTenthsDB: -125)), .packet([4], RadioSignal(strengthDBm: 0)),
            .packet([5], nil), .packet([6], RadioSignal(strengthDBm: -100)),
        ])
    }

    @Test func packetsBeforeTheFirstSetupAreDroppedAndLaterOnesAreTaken() {
        var script = ModemScript<RNodeModem>()
        script.tell(KISSFrame(0, [1]))
        var answers = RNodeAnswers()
        script.converse { answers.answer($0) }
        #expect(!script.takeEvents().contains { if case .packet = $0 { true } else { false } })
        script.tell(KISSFrame(0x55, [0xF8]))
        script.tell(KISSFrame(0, [2]))
        #expect(script.takeEvents() == [.notice(.restarted(.rnode)), .packet([2], nil)])
    }

    // MARK: Faults

    @Test func eachCodeOfAFaultIsToldOnceAMinute() {
        var script = ready()
        for _ in 0..<3 {
            for code in [1, 2, 4] as [UInt8] { script.tell(KISSFrame(0x90, [code])) }
            script.pass(milliseconds: 1000)
        }
        #expect(script.takeNotices() == [.fault(.rnode, code: 1), .fault(.rnode, code: 2), .queueFull(.rnode)])
        script.stall(microseconds: 60_000_000)
        script.tell(KISSFrame(0x90, [2]))
        #expect(script.takeNotices() == [.fault(.rnode, code: 2)])
    }

    @Test func aStartBeforeTheFirstSetupIsNoRestart() {
        var script = ModemScript<RNodeModem>()
        _ = script.takeFrames()
        script.tell(KISSFrame(0x55, [0xF8]))
        #expect(script.takeNotices() == [])
        #expect(script.takeFrames() == [RNodeCommand.detection])
        script.tell(KISSFrame(0x55, [0x01]))
        #expect(script.takeFrames() == [], "another reset frame is no start")
    }

    // MARK: Confirmations

    @Test func aConfirmationHoldsForTenSeconds() {
        for (wait, isAsked) in [(9_999_999, false), (10_000_000, true)] as [(Int64, Bool)] {
            var script = ready()
            script.stall(microseconds: wait)
            script.send([1], [2])
            #expect(script.takeFrames() == (isAsked ? [Self.isOn] : [KISSFrame(0, [1]), KISSFrame(0, [2])]))
            guard isAsked else { continue }
            script.send([3])
            #expect(script.takeFrames() == [], "one question is enough")
            script.tell(Self.isOn)
            #expect(script.takeFrames().map(\.data) == [[1], [2], [3]])
        }
    }

    @Test func eachCheckConfirmsAndArmsTheNextOne() {
        var script = ready()
        for number in 1...4 as ClosedRange<Int64> {
            #expect(script.deadlineMilliseconds == number * 5000)
            script.pass(milliseconds: 5000)
            #expect(script.takeFrames() == [Self.isOn])
            script.tell(Self.isOn)
        }
        script.send([1])
        #expect(script.takeFrames() == [KISSFrame(0, [1])])
        #expect(script.takeNotices() == [])
    }

    /// A packet of 255 bytes may be on the air, so an answer has its airtime at least.
    @Test func unansweredChecksAreCountedAndTheThirdIsASilence() {
        var script = ready()
        let airtime = StickBench.settings.profile(of: .rnode).airtimeMicroseconds(frameByteCount: 255)
        let time = max(500_000, airtime)
        script.pass(milliseconds: 5000)
        script.send([1])
        for count in 1...3 {
            #expect(script.takeNotices() == [], "\(count)")
            script.pass(microseconds: time - 1)
            #expect(script.takeFrames() == [Self.isOn], "\(count)")
            script.pass(microseconds: 1)
        }
        #expect(script.takeNotices() == [.notAnswering(.rnode)])
        #expect(script.takeFrames() == [RNodeCommand.detection])
        var answers = RNodeAnswers()
        for answer in answers.answer(RNodeCommand.detection) { script.tell(answer) }
        let asked = script.converse { answers.answer($0) }
        #expect(!asked.contains { $0.type == 0 }, "the answer is too old")
        #expect(script.takeNotices().first == .answersAgain(.rnode))
    }

    @Test func aRadioThatIsOffAtACheckIsARestart() {
        var script = ready()
        script.pass(milliseconds: 5000)
        _ = script.takeFrames()
        script.tell(KISSFrame(RNodeCommand.radioState, [0]))
        #expect(script.takeNotices() == [.restarted(.rnode)])
        #expect(script.takeFrames() == [RNodeCommand.detection])
    }

    // MARK: Settings

    /// Each setting with another value; the setup is repeated once before it counts.
    @Test(arguments: [
        (KISSFrame(6, [0]), [1], .radioState, 0, 1),
        (KISSFrame(1, .bigEndian(869_525_000)), .bigEndian(869_525_201), .frequency, 869_525_000, 869_525_201),
        (KISSFrame(1, .bigEndian(869_525_000)), .bigEndian(869_524_799), .frequency, 869_525_000, 869_524_799),
        (KISSFrame(2, .bigEndian(125_000)), .bigEndian(125_001), .bandwidth, 125_000, 125_001), (KISSFrame(3, [14]), [15], .power, 14, 15),
        (KISSFrame(4, [7]), [8], .spreadingFactor, 7, 8), (KISSFrame(5, [5]), [6], .codingRate, 5, 6),
        (KISSFrame(6, [1]), [0], .radioState, 1, 0),
        (KISSFrame(1, [0, 0, 0, 0]), .bigEndian(869_525_201), .frequency, 869_525_000, 869_525_201),
        (KISSFrame(2, [0, 0, 0, 0]), .bigEndian(250_000), .bandwidth, 125_000, 250_000),
    ] as [(KISSFrame, [UInt8], ModemSetting, Int64, Int64)])
    func aSettingThatIsNotHeldIsNamed(question: KISSFrame, answer: [UInt8], setting: ModemSetting, wanted: Int64, actual: Int64) {
        var (script, answers) = script { $0.changed = { $0 == question ? KISSFrame(question.type, answer) : nil } }
        #expect(script.takeEvents() == [.notice(.refused(setting, wanted: wanted, actual: actual))])
        #expect(script.deadlineMilliseconds == 60_000)
        script.send([1])
        script.pass(milliseconds: 59_999)
        #expect(script.takeFrames() == [])
        answers.changed = { _ in nil }
        script.pass(milliseconds: 1)
        script.converse { answers.answer($0) }
        #expect(script.takeNotices().last.map { if case .ready = $0 { true } else { false } } == true)
    }

    @Test func frequenciesNearTheWantedOneAreTaken() {
        for hertz in [869_524_800, 869_525_200] as [UInt32] {
            var (script, _) = script { $0.changed = { $0.type == 1 ? KISSFrame(1, .bigEndian(hertz)) : nil } }
            #expect(script.takeEvents().contains { if case .ready = $0 { true } else { false } })
        }
    }

    @Test(arguments: [([1, 86], "version 1.86"), ([2, 0], "version 2.0"), ([1], nil)] as [([UInt8], String?)])
    func theVersionIsTold(bytes: [UInt8], version: String?) {
        var (script, _) = script { $0.version = bytes }
        #expect(script.takeNotices().first == .found(.rnode, version: version))
    }

    /// After three misses the attempts have pauses; each begins with the question whether it is an RNode.
    @Test func aQuestionThatIsNotAnsweredIsRepeatedAndThenTheSetupBeginsAgain() {
        var (script, _) = script { $0.changed = { $0.type == RNodeCommand.frequency ? KISSFrame(0x7F) : nil } }
        #expect(script.takeNotices() == [])
        let frequency = KISSFrame(1, .bigEndian(869_525_000))
        script.pass(milliseconds: 1499)
        #expect(script.takeFrames() == [frequency, frequency])
        script.pass(milliseconds: 1)
        #expect(script.takeFrames() == [RNodeCommand.detection])
        #expect(script.takeNotices() == [.notAnswering(.rnode)])
        var attempts: [Int64] = []
        for _ in 0..<4 {
            guard let due = script.deadlineMilliseconds else { break }
            attempts.append(due - script.now.microseconds / 1000)
            script.pass(milliseconds: due - script.now.microseconds / 1000)
            #expect(script.takeFrames() == [RNodeCommand.detection])
        }
        #expect(attempts == [500, 1000, 2000, 5000])
    }
}
