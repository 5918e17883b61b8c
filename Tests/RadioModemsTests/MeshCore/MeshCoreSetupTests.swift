import CollarARQ
import Testing

@testable import RadioModems

/// What a MeshCore modem answers during its setup, and what follows from it.
@Suite struct MeshCoreSetupTests {
    private static let settings = StickBench.settings
    private static let held = held(frequency: settings.frequencyHertz)

    private static func held(
        frequency: UInt32, bandwidth: UInt32 = 125_000, spreadingFactor: UInt8 = 7, codingRate: UInt8 = 5
    ) -> [UInt8] {
        [UInt8].littleEndian(frequency) + .littleEndian(bandwidth) + [spreadingFactor, codingRate]
    }

    private static func answer(_ command: UInt8, _ data: [UInt8] = []) -> [UInt8] { [command | 0x80] + data }

    /// The answers up to a step.
    private func setup(upTo step: MeshCoreSetup.Step, settings: RadioSettings = settings, name: String = "Board") -> MeshCoreSetup {
        var setup = MeshCoreSetup(settings)
        let short = settings.profile(of: .kiss).airtimeMicroseconds(frameByteCount: 51) / 1000
        let long = settings.profile(of: .kiss).airtimeMicroseconds(frameByteCount: 250) / 1000
        let answers: [(MeshCoreSetup.Step, [UInt8])] = [
            (.ping, Self.answer(0x17)), (.name, Self.answer(0x16, Array(name.utf8))), (.version, Self.answer(0x11, [3])),
            (.previousSettings, Self.answer(0x0B, Self.held)), (.radio, [0xF0]),
            (.shortAirtime, Self.answer(0x0F, .littleEndian(UInt32(short)))), (.power, [0xF0]), (.readBack, Self.answer(0x0B, Self.held)),
            (.longAirtime, Self.answer(0x0F, .littleEndian(UInt32(long)))), (.signalReports, Self.answer(0x1A, [1])),
        ]
        for (answered, data) in answers where answered.rawValue < step.rawValue {
            #expect(setup.step == answered)
            #expect(setup.take(data) == .next)
        }
        return setup
    }

    @Test func theLastAnswerCompletesTheSetup() {
        for last in [Self.answer(0x1A, [1]), [0xF0], [0xF1, 1]] {
            var setup = setup(upTo: .signalReports)
            #expect(setup.take(last) == .complete)
            #expect(setup.version == "Board, version 3")
            #expect(setup.name == "Board")
            #expect(!setup.hasForgotten)
        }
    }

    /// An answer of one step is nothing in another one: a slow line repeats questions.
    @Test(arguments: MeshCoreSetup.Step.allCases) func theAnswerToAnotherQuestionIsUnrelated(step: MeshCoreSetup.Step) {
        let wanted: UInt8 =
            switch step {
            case .ping: 0x97
            case .name: 0x96
            case .version: 0x91
            case .previousSettings, .readBack: 0x8B
            case .radio, .power: 0xF0
            case .shortAirtime, .longAirtime: 0x8F
            case .signalReports: 0x9A
            }
        for other in [0x97, 0x96, 0x91, 0x8B, 0x8F, 0x9A, 0xF8] as [UInt8] where other != wanted {
            var setup = setup(upTo: step)
            #expect(setup.take([other, 1, 2, 3, 4]) == .unrelated)
            #expect(setup.step == step)
        }
        var setup = setup(upTo: step)
        #expect(setup.take([0xF1, 7]) == .unrelated, "busy")
        #expect(setup.take([]) == .unrelated)
    }

    @Test(arguments: [
        (held(frequency: 869_525_200), nil), (held(frequency: 869_524_800), nil), (held(frequency: 869_525_201), .frequency),
        (held(frequency: 869_524_799), .frequency), (held(frequency: 869_525_000, bandwidth: 125_201), .bandwidth),
        (held(frequency: 869_525_000, bandwidth: 124_800), nil), (held(frequency: 869_525_000, spreadingFactor: 8), .spreadingFactor),
        (held(frequency: 869_525_000, codingRate: 6), .codingRate), (Array(held.prefix(9)), .spreadingFactor), ([], .frequency),
    ] as [([UInt8], ModemSetting?)])
    func aSettingThatIsNotHeldIsNamed(answer: [UInt8], setting: ModemSetting?) {
        var setup = setup(upTo: .readBack)
        let result = setup.take(Self.answer(0x0B, answer))
        guard let setting else {
            #expect(result == .next)
            #expect(MeshCoreSetup.holds(Self.settings, answer: answer))
            return
        }
        #expect(!MeshCoreSetup.holds(Self.settings, answer: answer))
        if case .refused(setting, _, _) = result { return }
        Issue.record("\(result)")
    }

    @Test func othersSettingsBeforeAreToldAsForgotten() {
        let zeros = [UInt8](repeating: 0, count: 10)
        for (answer, isForgotten) in [(Self.held, false), (zeros, true), (Self.held(frequency: 868_000_000), true)] {
            var setup = setup(upTo: .previousSettings)
            #expect(setup.take(Self.answer(0x0B, answer)) == .next)
            #expect(setup.hasForgotten == isForgotten)
        }
    }

    @Test func errorsOfTheRadioAndOfThePowerAreRefusals() {
        var radio = setup(upTo: .radio)
        #expect(radio.take([0xF1, 1]) == .refused(.frequency, wanted: 869_525_000, actual: nil))
        var power = setup(upTo: .power)
        #expect(power.take([0xF1, 1]) == .refused(.power, wanted: 14, actual: nil))
        var name = setup(upTo: .name)
        #expect(name.take([0xF1, 1]) == .next)
        var version = setup(upTo: .version)
        #expect(version.take([0xF1, 1]) == .next)
        #expect(version.version == nil)
    }

    /// The difference between 250 and 51 bytes at SF7 is 292 ms, of which 1 % and 2 ms may be missing.
    @Test(arguments: [(0, true), (4, true), (-4, true), (5, false), (-5, false)] as [(Int64, Bool)])
    func theAirtimeShowsTheSettingsThatTheRadioHolds(difference: Int64, isTaken: Bool) {
        var setup = setup(upTo: .longAirtime)
        let profile = Self.settings.profile(of: .kiss)
        let short = profile.airtimeMicroseconds(frameByteCount: 51)
        let wanted = (profile.airtimeMicroseconds(frameByteCount: 250) - short) / 1000
        let result = setup.take(Self.answer(0x0F, .littleEndian(UInt32(short / 1000 + wanted + difference))))
        #expect(result == (isTaken ? .next : .refused(.airtime, wanted: wanted, actual: wanted + difference)))
    }

    /// A firmware with a shorter preamble of 24 symbols less tells 24 ms less for each length.
    @Test func anotherPreambleChangesTheOverheadAndNothingElse() {
        var setup = setup(upTo: .shortAirtime)
        let profile = Self.settings.profile(of: .kiss)
        let short = profile.airtimeMicroseconds(frameByteCount: 51) / 1000 - 24
        let long = profile.airtimeMicroseconds(frameByteCount: 250) / 1000 - 24
        _ = setup.take(Self.answer(0x0F, .littleEndian(UInt32(short))))
        _ = setup.take([0xF0])
        _ = setup.take(Self.answer(0x0B, Self.held))
        #expect(setup.take(Self.answer(0x0F, .littleEndian(UInt32(long)))) == .next)
        #expect(setup.profile.airtimeMicroseconds(frameByteCount: 51) == short * 1000)
        #expect(setup.profile.airtimeMicroseconds(frameByteCount: 250) / 1000 - long <= 1)
        #expect(setup.profile.turnaroundMicroseconds == profile.turnaroundMicroseconds)
    }

    @Test(arguments: MeshCoreSetup.Step.allCases) func aQuestionWhoseAnswerIsNotNeededIsAskedThreeTimes(step: MeshCoreSetup.Step) {
        var setup = setup(upTo: step)
        switch step {
        case .name, .version, .previousSettings, .signalReports:
            for _ in 0..<2 {
                #expect(setup.skip() == .next)
                #expect(setup.step == step)
            }
            #expect(setup.skip() == (step == .signalReports ? .complete : .next))
            if step == .name {
                #expect(setup.step == .version)
                // The next question has its own count.
                for _ in 0..<2 { _ = setup.skip() }
                #expect(setup.step == .version)
            }
        default: #expect(setup.skip() == nil)
        }
    }

    @Test func aNameIsPrintableAndHasFortyCharactersAtMost() {
        var setup = MeshCoreSetup(Self.settings)
        _ = setup.take(Self.answer(0x17))
        _ = setup.take(Self.answer(0x16, [0x1B] + [UInt8](repeating: 0x41, count: 50) + [0]))
        #expect(setup.name == String(repeating: "A", count: 40))
        var again = MeshCoreSetup(Self.settings, name: "Station G2")
        _ = again.take(Self.answer(0x17))
        _ = again.take(Self.answer(0x16, [0]))
        #expect(again.name == "Station G2")
        #expect(again.board?.gainDecibels == 20)
    }

    @Test(arguments: [
        ("Heltec V4", 13, 22), ("heltec v4.2", 13, 22), ("Heltec Tracker V2", 13, 22), ("Heltec T096", 13, 22), ("Heltec Tower V2", 13, 22),
        ("Station G2", 20, 19), ("Meshnology W12", 26, 4), ("LilyGo T-Beam 1W", 10, 22), ("RAK 3401", 9, 22), ("GAT562 30S", 9, 22),
    ] as [(String, Int8, Int8)])
    func everyBoardWithAnAmplifierHasItsGainAndItsLimit(name: String, gain: Int8, limit: Int8) throws {
        let board = try #require(MeshCoreBoard.named(name))
        #expect((board.gainDecibels, board.maximumInputDBm) == (gain, limit))
        let most = MeshCoreBoard.power(of: board, wanted: 127)
        #expect(most == (limit, limit + gain))
        let least = MeshCoreBoard.power(of: board, wanted: -128)
        #expect(least == (-9, -9 + gain))
        #expect(MeshCoreBoard.named("My \(name)") == nil)
    }

    @Test(arguments: [
        (held(frequency: 868_000_000), .frequency, 869_525_000, 868_000_000), ([1, 2], .frequency, 869_525_000, nil),
        (held(frequency: 869_525_000, bandwidth: 250_000), .bandwidth, 125_000, 250_000),
        (held(frequency: 869_525_000, spreadingFactor: 8), .spreadingFactor, 7, 8), (Array(held.prefix(8)), .spreadingFactor, 7, nil),
        (held(frequency: 869_525_000, codingRate: 6), .codingRate, 5, 6),
        (held(frequency: 868_000_000, bandwidth: 250_000, spreadingFactor: 8, codingRate: 6), .frequency, 869_525_000, 868_000_000),
    ] as [([UInt8], ModemSetting, Int64, Int64?)])
    func whatIsHeldInsteadIsTold(answer: [UInt8], setting: ModemSetting, wanted: Int64, actual: Int64?) {
        var setup = setup(upTo: .readBack)
        #expect(setup.take(Self.answer(0x0B, answer)) == .refused(setting, wanted: wanted, actual: actual))
    }

    /// The slowest radio needs minutes for a frame; an hour is the most that is believed.
    @Test(arguments: [(3_600_000, .next), (3_600_001, .refused(.airtime, wanted: 127, actual: 3_600_001))]
        as [(UInt32, MeshCoreSetup.Result)])
    func anAirtimeOfMoreThanAnHourIsNotBelieved(milliseconds: UInt32, result: MeshCoreSetup.Result) {
        var setup = setup(upTo: .shortAirtime)
        #expect(setup.take(Self.answer(0x0F, .littleEndian(milliseconds))) == result)
    }

    @Test(arguments: [("Board", [3], "Board, version 3"), ("", [3], "version 3"), ("Board", [], "Board")] as [(String, [UInt8], String)])
    func theVersionHasWhatTheModemTells(name: String, number: [UInt8], version: String) {
        var setup = setup(upTo: .version, name: name)
        _ = setup.take(Self.answer(0x11, number))
        #expect(setup.version == version)
    }

    /// A modem that tells no airtime for the short frame, and the right difference.
    @Test func aFrameHasNoNegativeOverhead() {
        var setup = setup(upTo: .shortAirtime)
        let profile = Self.settings.profile(of: .kiss)
        let difference =
            (profile.airtimeMicroseconds(frameByteCount: 250) - profile.airtimeMicroseconds(frameByteCount: 51)) / 1000
        let answers = [
            Self.answer(0x0F, .littleEndian(0)), [0xF0], Self.answer(0x0B, Self.held),
            Self.answer(0x0F, .littleEndian(UInt32(clamping: difference))),
        ]
        #expect(answers.map { setup.take($0) } == [.next, .next, .next, .next])
        #expect(setup.profile.frameOverheadMicroseconds == 0)
    }
}
