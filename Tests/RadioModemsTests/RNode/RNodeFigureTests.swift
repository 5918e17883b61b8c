import CollarARQ
import Testing

@testable import RadioModems

/// The figures that an RNode tells, and those that follow from its settings.
@Suite struct RNodeFigureTests {
    private static let isOn = KISSFrame(RNodeCommand.radioState, [RNodeCommand.radioOn])

    private func script(
        settings: RadioSettings = StickBench.settings, _ changed: @escaping (KISSFrame) -> KISSFrame? = { _ in nil }
    ) -> ModemScript<RNodeModem> {
        var script = ModemScript<RNodeModem>(settings: settings)
        var answers = RNodeAnswers(changed: changed)
        script.converse { answers.answer($0) }
        return script
    }

    private func ready() -> ModemScript<RNodeModem> {
        var script = script()
        _ = script.takeEvents()
        return script
    }

    private func settings(bandwidthHertz: UInt32 = 125_000, spreadingFactor: UInt8 = 7, powerDBm: Int8 = 14) -> RadioSettings {
        RadioSettings(
            frequencyHertz: 869_525_000, bandwidthHertz: bandwidthHertz, spreadingFactor: spreadingFactor, codingRateDenominator: 5,
            powerDBm: powerDBm)
    }

    /// The preamble in symbols, a slot and the fixed wait in milliseconds.
    @Test(arguments: [
        (5, 30, 60, false), (6, 30, 60, true), (1000, 30, 60, true), (1001, 30, 60, false), (40, 0, 60, false), (40, 1, 60, true),
        (40, 1000, 60, true), (40, 1001, 60, false), (40, 30, 0, true), (40, 30, 2000, true), (40, 30, 2001, false),
    ] as [(UInt32, UInt32, UInt32, Bool)])
    func figuresWithinTheRangesOfTheFirmwareAreBelieved(preamble: UInt32, slot: UInt32, fixed: UInt32, isBelieved: Bool) {
        var script = ready()
        let data = [4 << 24 | 0x3D0, preamble << 16 | 41, slot << 16 | fixed].flatMap { [UInt8].bigEndian($0) }
        script.tell(KISSFrame(RNodeCommand.physicalParameters, data))
        let told = script.takeEvents().compactMap { if case .timing(let profile) = $0 { profile } else { nil } }
        // 28 slots, the fixed wait, 50 ms for the line, and two symbols of 1.024 ms, rounded up to 100 ms.
        let turnaround = (Int64(28 * slot + fixed) * 1000 + 52_048 + 99_999) / 100_000 * 100_000
        #expect(told.map(\.turnaroundMicroseconds) == (isBelieved ? [turnaround] : []))
        let profile = StickBench.settings.profile(of: .rnode)
        let overhead = profile.frameOverheadMicroseconds + (Int64(preamble) - 24) * 1024
        #expect(told.map(\.frameOverheadMicroseconds) == (isBelieved ? [overhead] : []))
    }

    /// With slots of 24 ms the turnaround for 28 slots is 800 ms: a window of 30 fits into it, too.
    @Test(arguments: [(30, []), (31, [900_000]), (60, [1_600_000]), (61, [])] as [(UInt8, [Int64])])
    func aWindowOfUpToSixtySlotsIsBelieved(most: UInt8, turnarounds: [Int64]) {
        var script = ready()
        script.tell(KISSFrame(RNodeCommand.contention, [4, 0, most]))
        let told = script.takeEvents().compactMap { if case .timing(let profile) = $0 { profile } else { nil } }
        #expect(told.map(\.turnaroundMicroseconds) == turnarounds)
    }

    /// Bandwidth, spreading factor, and a slot in microseconds: twelve symbols in whole milliseconds, 100 ms at most, and 24 ms at
    /// least; 6 ms above 30,000 bit/s.
    @Test(arguments: [
        (125_000, 7, 24_000), (125_000, 8, 24_000), (125_000, 9, 49_000), (125_000, 10, 98_000), (125_000, 11, 100_000),
        (125_000, 12, 100_000),
        (500_000, 7, 24_000), (500_000, 6, 6000), (500_000, 5, 6000), (250_000, 9, 24_000), (250_000, 10, 49_000),
    ] as [(UInt32, UInt8, Int64)])
    func aSlotFollowsFromTheSymbol(bandwidth: UInt32, spreadingFactor: UInt8, slot: Int64) {
        let timing = RNodeTiming(settings(bandwidthHertz: bandwidth, spreadingFactor: spreadingFactor))
        #expect([timing.slotMicroseconds, timing.fixedMicroseconds] == [slot, 2 * slot])
        #expect(timing.longestWait(slots: 28) == 30 * slot)
    }

    @Test func theWindowGrowsWithTheAirtime() {
        let airtimes: [UInt16] = [0, 799, 800, 3899, 3900, 7799, 7800, 65_535]
        #expect(airtimes.map { RNodeTiming.window(afterHundredthsOfPercent: $0) } == [1, 1, 2, 2, 3, 3, 4, 4])
    }

    /// A stick whose radio goes up to 22 dBm echoes these in place of more, also before the radio is on.
    @Test func aPowerAboveThatOfTheRadioIsReducedAndTold() {
        var script = script(settings: settings(powerDBm: 27)) { $0.type == RNodeCommand.power ? KISSFrame($0.type, [22]) : nil }
        #expect(script.takeNotices() == [
            .found(.rnode, version: "version 1.86"), .ready(.rnode, settings(powerDBm: 22), turnaroundMicroseconds: 800_000),
            .powerReduced(wantedDBm: 27, actualDBm: 22),
        ])
    }

    @Test(arguments: [
        (6, .radioState, 0), (1, .frequency, 869_525_000), (2, .bandwidth, 125_000), (3, .power, 14), (4, .spreadingFactor, 7),
        (5, .codingRate, 5),
    ] as [(UInt8, ModemSetting, Int64)])
    func anAnswerWithoutAValueIsARefusal(type: UInt8, setting: ModemSetting, wanted: Int64) {
        var script = script { $0.type == type ? KISSFrame(type) : nil }
        #expect(script.takeNotices() == [.refused(setting, wanted: wanted, actual: nil)])
    }

    @Test func theHeldPowerWithoutAValueIsARefusal() {
        var script = script { $0 == KISSFrame(RNodeCommand.power, [0xFF]) ? KISSFrame($0.type) : nil }
        #expect(script.takeNotices() == [.refused(.power, wanted: 14, actual: nil)])
    }

    /// A stick that was never set up has no packet of ours on the air, so its questions do not wait for one.
    @Test func onlyAStickThatWasSetUpMayBeSendingASlowPacket() {
        let slow = settings(spreadingFactor: 12)
        #expect(ModemScript<RNodeModem>(settings: slow).deadlineMilliseconds == 500)
        var script = script(settings: slow)
        script.tell(KISSFrame(RNodeCommand.reset, [RNodeCommand.hasStarted]))
        #expect(script.deadlineMilliseconds == slow.profile(of: .rnode).airtimeMicroseconds(frameByteCount: 255) / 1000)
    }

    @Test func aStickThatTellsItsStateUnaskedConfirmsIt() {
        var script = ready()
        for _ in 0..<2 {
            script.stall(microseconds: 9_000_000)
            script.tell(Self.isOn)
        }
        script.stall(microseconds: 9_000_000)
        script.send([1])
        #expect(script.takeFrames() == [KISSFrame(RNodeCommand.data, [1])])
    }
}
