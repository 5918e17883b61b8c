import CollarARQ
import CollarSimulator
import CollarWire
@testable import RadioModems
import Testing

/// The dialects of sticks whose radios are set up.
private let dialects: [Dialect] = [.kiss, .rnode, .rui3]

private func stick(_ dialect: Dialect) -> any BaseStick { dialect.makeStick(modem: .serial(bitsPerSecond: 115_200), seed: 7) }

@Suite("Dialects of base sticks")
struct DialectTests {
    private static let packet: [UInt8] = [0x51, 0xC0, 0xDB, 0x00, 0xFF, 0xDC, 0xDD, 0x0A, 0x0D]

    /// What the stick puts on the air: an RNode adds a byte of its own.
    private func payload(_ packet: [UInt8], _ dialect: Dialect) -> [UInt8] {
        dialect == .rnode ? Array(packet.dropFirst()) : packet
    }

    private func onAir(_ packet: [UInt8], _ dialect: Dialect) -> [UInt8] { dialect == .rnode ? [0xA0] + packet : packet }

    @Test("a stick is found and set up", arguments: dialects, [RadioModem.PortKind.board, .remote, .network])
    func found(dialect: Dialect, kind: RadioModem.PortKind) {
        var bench = StickBench(stick(dialect), kind: kind)
        bench.run(milliseconds: 8000)
        #expect(bench.modem.dialect == dialect)
        #expect(bench.isReady)
        #expect(bench.stick.radio == .on(StickBench.settings))
        let turnaround = StickBench.settings.turnaroundMicroseconds(of: dialect)
        #expect(bench.notices.contains(.ready(dialect, StickBench.settings, turnaroundMicroseconds: turnaround)))
        #expect(bench.sent.isEmpty, "detection and settings transmit nothing")
    }

    @Test("a named dialect is set up without detection", arguments: dialects)
    func named(dialect: Dialect) {
        var bench = StickBench(stick(dialect), dialect: dialect)
        bench.run(milliseconds: 6000)
        #expect(bench.isReady)
        #expect(bench.stick.radio == .on(StickBench.settings))
    }

    @Test("a stick in a network that delays bytes by up to a second is found and used", arguments: dialects, [600, 1000] as [Int64])
    func slowNetwork(dialect: Dialect, delay: Int64) {
        for named in [nil, dialect] {
            var bench = StickBench(stick(dialect), dialect: named, kind: .network, delayMilliseconds: delay)
            bench.run(milliseconds: 40_000)
            #expect(bench.modem.dialect == dialect)
            #expect(bench.isReady)
            bench.answer(DialectTests.packet)
            bench.run(milliseconds: 5000)
            bench.answer(DialectTests.packet)
            bench.run(milliseconds: 30_000)
            #expect(bench.sent.count == 2)
            for notice in bench.notices {
                switch notice {
                case .found, .ready: break
                default: Issue.record("\(notice)")
                }
            }
        }
    }

    /// The kind of the port does not tell that it is slow, so questions are repeated, and come back twice.
    @Test("an answer to a repeated question does not count for the next one", arguments: [520, 600, 900] as [Int64])
    func repeatedQuestion(delay: Int64) {
        var bench = StickBench(stick(.kiss), dialect: .kiss, delayMilliseconds: delay)
        bench.run(milliseconds: 40_000)
        #expect(bench.isReady)
        #expect(!bench.notices.contains { if case .refused = $0 { true } else { false } })
    }

    @Test("packets of 1 to 253 bytes pass with their signal", arguments: dialects)
    func packets(dialect: Dialect) {
        var bench = StickBench(stick(dialect))
        bench.run(milliseconds: 8000)
        let sizes = [1, 9, 51, 128, 252, 253]
        for size in sizes {
            bench.hear(onAir([UInt8](repeating: 0xC0, count: size - 1) + [UInt8(size)], dialect))
            bench.run(milliseconds: 500)
        }
        #expect(bench.packets.map(\.count) == sizes)
        #expect(bench.packets.allSatisfy { $0.last == UInt8($0.count) })
        for signal in bench.signals {
            #expect(signal == RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: 70))
        }
    }

    @Test("a strength below -128 dBm does not wrap in a KISS modem's byte")
    func weakSignal() {
        var bench = StickBench(stick(.kiss))
        bench.run(milliseconds: 3000)
        bench.hear(DialectTests.packet, strengthDBm: -131, signalToNoiseTenthsDB: -125)
        bench.run(milliseconds: 100)
        #expect(bench.signals == [RadioSignal(strengthDBm: -131, signalToNoiseTenthsDB: -125)])
    }

    @Test("the frames of an answer go out one after the other, unchanged", arguments: dialects)
    func answer(dialect: Dialect) {
        var bench = StickBench(stick(dialect))
        bench.run(milliseconds: 8000)
        // RUI3 takes no more than 239 bytes.
        let large = [UInt8](repeating: 0xDB, count: dialect == .rui3 ? 239 : 253)
        bench.answer(DialectTests.packet, large)
        bench.run(milliseconds: 5000)
        #expect(bench.sent.map { payload($0.packet, dialect) } == [DialectTests.packet, large])
        guard bench.sent.count == 2 else { return }
        // The second one follows at once: an RNode contends for the channel only once.
        let airtime = StickBench.settings.profile(of: dialect).airtimeMicroseconds(frameByteCount: DialectTests.packet.count)
        #expect(bench.sent[1].start.microseconds(since: bench.sent[0].start) < airtime + 120_000)
    }

    @Test("without a region nothing is transmitted, and that is said once", arguments: dialects)
    func noRegion(dialect: Dialect) {
        var bench = StickBench(stick(dialect), limits: nil)
        bench.run(milliseconds: 8000)
        #expect(bench.isReady, "the radio listens")
        for _ in 0..<5 {
            bench.answer(DialectTests.packet)
            bench.run(milliseconds: 1000)
        }
        #expect(bench.sent.isEmpty)
        #expect(bench.notices.filter { $0 == .regionMissing(dialect) }.count == 1)
    }

    @Test("without settings the stick is not used", arguments: dialects)
    func noSettings(dialect: Dialect) {
        var bench = StickBench(stick(dialect), settings: nil)
        bench.run(milliseconds: 8000)
        #expect(!bench.isReady)
        #expect(bench.notices.contains(.settingsMissing(dialect)))
    }

    @Test("a stick that restarts and forgets its settings is set up again, and nothing goes out in between", arguments: dialects)
    func reset(dialect: Dialect) {
        var bench = StickBench(stick(dialect))
        bench.run(milliseconds: 8000)
        bench.cause(.reset)
        bench.answer(DialectTests.packet)
        bench.run(milliseconds: 60_000)
        #expect(bench.notices.contains(.restarted(dialect)))
        #expect(bench.stick.radio == .on(StickBench.settings))
        #expect(bench.sent.isEmpty, "a stick with other settings sent something")
        bench.answer(DialectTests.packet)
        bench.run(milliseconds: 3000)
        #expect(bench.sent.count == 1)
    }

    @Test("a stall of 10 s is reported, and so is its end; a late answer is dropped", arguments: dialects)
    func stall(dialect: Dialect) {
        var bench = StickBench(stick(dialect))
        bench.run(milliseconds: 8000)
        bench.cause(.stall)
        for _ in 0..<12 {
            bench.answer(DialectTests.packet)
            bench.run(milliseconds: 800)
        }
        bench.run(milliseconds: 40_000)
        #expect(bench.notices.contains(.notAnswering(dialect)))
        #expect(bench.notices.contains(.answersAgain(dialect)))
        let late = bench.sent.count
        #expect(late <= 12)
        bench.answer(DialectTests.packet)
        bench.run(milliseconds: 3000)
        #expect(bench.sent.count == late + 1, "\(bench.notices)")
    }

    @Test("a stick that stalls during its detection is found when it answers", arguments: [Dialect.kiss, .rnode])
    func stallDuringDetection(dialect: Dialect) {
        var stalled = stick(dialect)
        if dialect == .rnode { _ = stalled.takeOutput(now: Instant(microseconds: 100_000)) }
        stalled.cause(.stall, now: Instant(microseconds: 0))
        var bench = StickBench(stalled)
        bench.run(milliseconds: 12_000)
        #expect(bench.modem.isSerialLine, "nothing has answered")
        bench.run(milliseconds: 12_000)
        #expect(bench.modem.dialect == dialect)
        #expect(bench.isReady)
        #expect(bench.sent.isEmpty)
    }

    @Test("garbage does no harm", arguments: dialects)
    func garbage(dialect: Dialect) {
        var bench = StickBench(stick(dialect))
        bench.run(milliseconds: 8000)
        for _ in 0..<20 {
            bench.cause(.garbage)
            bench.run(milliseconds: 200)
        }
        bench.run(milliseconds: 60_000)
        bench.hear(onAir(DialectTests.packet, dialect))
        bench.run(milliseconds: 1000)
        bench.hear(onAir(DialectTests.packet, dialect))
        bench.run(milliseconds: 1000)
        #expect(bench.packets.contains(DialectTests.packet))
        bench.answer(DialectTests.packet)
        bench.run(milliseconds: 3000)
        #expect(bench.sent.count == 1)
    }

    @Test("a radio that refuses its settings is not used, and the setting is named", arguments: dialects)
    func refusal(dialect: Dialect) {
        var refusing = stick(dialect)
        refusing.cause(.refuse, now: Instant(microseconds: 0))
        var bench = StickBench(refusing)
        bench.run(milliseconds: 20_000)
        #expect(!bench.isReady)
        #expect(bench.notices.contains { if case .refused = $0 { true } else { false } })
        bench.answer(DialectTests.packet)
        bench.run(milliseconds: 3000)
        #expect(bench.sent.isEmpty)
    }

    @Test("a busy channel is waited for, and a full queue is reported", arguments: dialects, [StickFault.busy, .full])
    func busy(dialect: Dialect, fault: StickFault) {
        var bench = StickBench(stick(dialect))
        bench.run(milliseconds: 8000)
        bench.cause(fault)
        for _ in 0..<4 {
            bench.answer(DialectTests.packet)
            bench.run(milliseconds: 1000)
        }
        bench.run(milliseconds: 20_000)
        if fault == .full {
            #expect(bench.notices.contains(.busy(dialect)) || bench.notices.contains(.queueFull(dialect)))
        }
        let count = bench.sent.count
        bench.answer(DialectTests.packet)
        bench.run(milliseconds: 5000)
        #expect(bench.sent.count == count + 1)
    }

    @Test("a half-written frame of an earlier program is not transmitted", arguments: [Dialect.kiss, .rnode])
    func halfFrame(dialect: Dialect) {
        var used = stick(dialect)
        used.receive([0xC0, 0x00, 1, 2, 3, 4, 5], now: Instant(microseconds: 0))
        var bench = StickBench(used)
        bench.run(milliseconds: 8000)
        #expect(bench.isReady)
        #expect(bench.sent.isEmpty)
    }

    @Test("the duty cycle of the region is kept, and its end is announced")
    func dutyCycle() {
        var bench = StickBench(stick(.kiss), limits: TransmitLimits(dutyCyclePartsPerMillion: 10_000))
        bench.run(milliseconds: 8000)
        for _ in 0..<3600 {
            bench.answer([UInt8](repeating: 1, count: 51))
            bench.run(milliseconds: 1000)
        }
        let airtime = StickBench.settings.profile(of: .kiss).airtimeMicroseconds(frameByteCount: 51)
        #expect(Int64(bench.sent.count) * airtime <= 36_000_000)
        #expect(Int64(bench.sent.count) * airtime > 20_000_000)
        #expect(bench.notices.contains { if case .dutyCycleReached = $0 { true } else { false } })
    }

    @Test("a radio that has rested may answer at once")
    func restedRadio() {
        let limits = TransmitLimits(dutyCyclePartsPerMillion: 10_000)
        for (isRested, count) in [(true, 5), (false, 0)] {
            var bench = StickBench(stick(.kiss), limits: limits, isRested: isRested)
            bench.run(milliseconds: 2000)
            for _ in 0..<5 {
                bench.answer([UInt8](repeating: 1, count: 51))
                bench.run(milliseconds: 200)
            }
            #expect(bench.sent.count == count)
            #expect(!bench.notices.contains { if case .dutyCycleReached = $0 { true } else { false } }, "nothing was used up")
        }
    }

    /// 0.1 % of an hour is little at SF12: the first answer must wait for minutes.
    @Test("a long wait for the first airtime is announced as what it is")
    func unknownAirtime() {
        var settings = StickBench.settings
        settings.spreadingFactor = 12
        var bench = StickBench(stick(.kiss), settings: settings, limits: TransmitLimits(dutyCyclePartsPerMillion: 1000))
        bench.run(milliseconds: 3000)
        bench.answer([UInt8](repeating: 1, count: 51))
        let waits = bench.notices.compactMap { if case .dutyCycleReached(let wait, isStart: true) = $0 { wait } else { nil } }
        #expect(waits.count == 1 && waits.allSatisfy { $0 > 60_000_000 })
    }

    @Test("a frame longer than the region's dwell time is not sent, and that is said")
    func dwellTime() {
        var bench = StickBench(stick(.kiss), limits: TransmitLimits(dwellMicroseconds: 100_000))
        bench.run(milliseconds: 8000)
        bench.answer([UInt8](repeating: 1, count: 51))
        bench.answer([UInt8](repeating: 1, count: 10))
        bench.run(milliseconds: 3000)
        #expect(bench.sent.map(\.packet.count) == [10])
        #expect(bench.notices.contains(.dwellTimeExceeded(airtimeMicroseconds: 127_000, limitMicroseconds: 100_000)))
    }
}

/// What comes in place of the answer to a question.
enum Mishap: CaseIterable, Sendable {
    /// Nothing that the modem knows.
    case nothing
    /// The stick is busy, or has no room for the answer.
    case busy
}

/// A stick answers one question of its setup with nothing, or with being busy.
@Suite("Questions of the setup whose answer is lost")
struct SetupQuestionTests {
    private static let packet: [UInt8] = [0x51, 0xC0, 0x00, 0xFF]

    /// Whether the setup has told a person nothing but what it is meant to.
    private func isQuiet(_ bench: StickBench) -> Bool {
        bench.notices.allSatisfy {
            switch $0 {
            case .found, .ready, .amplified: true
            default: false
            }
        }
    }

    /// The answers that begin so, and how many of them come before.
    private static let meshCoreAnswers: [(code: UInt8, skips: Int)] = [
        (0x97, 0), (0x96, 0), (0x91, 0), (0x8B, 0), (0xF0, 0), (0x8F, 0), (0xF0, 1), (0x8B, 1), (0x8F, 1), (0x9A, 0),
    ]

    @Test("MeshCore's modem", arguments: meshCoreAnswers.indices, Mishap.allCases)
    func meshCore(index: Int, mishap: Mishap) {
        let (code, skips) = SetupQuestionTests.meshCoreAnswers[index]
        var bench = StickBench(KISSModemStick(boardName: "Station G2"), dialect: .kiss)
        bench.damage = (
            of: [0xC0, 0x06, code], into: mishap == .nothing ? [0xC0, 0x0E, code] : [0xC0, 0x06, 0xF1, 0x07, 0xC0, 0xC0, 0xFF]
        )
        bench.damageSkips = skips
        bench.run(milliseconds: 6000)
        #expect(bench.damage == nil)
        #expect(bench.isReady)
        #expect(isQuiet(bench), "\(bench.notices)")
        var settings = StickBench.settings
        settings.powerDBm = -6
        #expect(bench.stick.radio == .on(settings), "the gain of the board is not subtracted")
        bench.hear(SetupQuestionTests.packet)
        bench.run(milliseconds: 100)
        #expect(bench.signals.count == 1 && bench.signals.allSatisfy { $0 != nil })
    }

    @Test("an RNode", arguments: [
        (0x08, 0), (0x50, 0), (0x06, 0), (0x01, 0), (0x02, 0), (0x03, 0), (0x04, 0), (0x05, 0), (0x06, 1), (0x01, 1), (0x02, 1), (0x03, 1),
    ] as [(UInt8, Int)])
    func rnode(type: UInt8, skips: Int) {
        var bench = StickBench(RNodeStick(seed: 3), dialect: .rnode)
        bench.damage = (of: [0xC0, type], into: [0xC0, 0x7F])
        bench.damageSkips = skips
        bench.run(milliseconds: 6000)
        #expect(bench.damage == nil)
        #expect(bench.isReady)
        #expect(isQuiet(bench), "\(bench.notices)")
        #expect(bench.stick.radio == .on(StickBench.settings))
    }

    @Test("one damaged answer does not make an RNode useless", arguments: [
        [0x06, 0x00], [0x01, 0x33], [0x02, 0x00], [0x04, 0x07], [0x05, 0x05],
    ] as [[UInt8]])
    func damagedAnswer(start: [UInt8]) {
        var bench = StickBench(RNodeStick(seed: 3), dialect: .rnode)
        bench.damage = (of: [0xC0] + start, into: [0xC0, start[0], 0x0B])
        bench.run(milliseconds: 6000)
        #expect(bench.damage == nil)
        #expect(bench.isReady)
        #expect(isQuiet(bench), "\(bench.notices)")
    }

    /// A module is busy until it has sent an answer of an earlier program, at SF12 for seconds.
    @Test("RUI3", arguments: 0..<16, Mishap.allCases)
    func rui3(skips: Int, mishap: Mishap) {
        var bench = StickBench(RUI3Stick(), dialect: .rui3)
        bench.damage = (of: Array("OK".utf8), into: Array((mishap == .nothing ? "-" : "AT_BUSY_ERROR").utf8))
        bench.damageSkips = skips
        bench.damageCount = mishap == .nothing ? 1 : 8
        bench.run(milliseconds: 30_000)
        #expect(bench.damage == nil)
        #expect(bench.isReady)
        #expect(isQuiet(bench), "\(bench.notices)")
        #expect(bench.stick.radio == .on(StickBench.settings))
    }

    @Test("packets come in during the setup", arguments: [Dialect.kiss, .rnode, .rui3])
    func traffic(dialect: Dialect) {
        let stick: any BaseStick =
            dialect == .rui3 ? RUI3Stick(after: ["NWM=0", "SYNCWORD=1424", "PRECV=65533"]) : dialect.makeStick(modem: .serial(bitsPerSecond: 115_200), seed: 7)
        var bench = StickBench(stick, dialect: dialect)
        for _ in 0..<100 {
            bench.hear(SetupQuestionTests.packet)
            bench.run(milliseconds: 100)
        }
        #expect(bench.isReady)
        #expect(isQuiet(bench), "\(bench.notices)")
    }

    /// The collar's owner is told 100 ms and the measured way, which is not known here. The second answer could go out after 0.8 s.
    @Test("an answer that waits for longer than the collar does is not sent, also over a network")
    func lateAnswer() {
        var bench = StickBench(KISSModemStick(), dialect: .kiss, kind: .network, delayMilliseconds: 400)
        bench.run(milliseconds: 14_000)
        #expect(bench.isReady)
        bench.answer(SetupQuestionTests.packet)
        bench.answer(SetupQuestionTests.packet)
        bench.run(milliseconds: 3000)
        #expect(bench.sent.count == 1)
    }
}
