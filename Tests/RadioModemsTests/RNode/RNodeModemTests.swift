import CollarARQ
import CollarSimulator
import CollarWire
@testable import RadioModems
import Testing

/// The modem of an RNode at a stick that answers each question at once.
@Suite("RNode modem") struct RNodeModemTests {
    /// Sets up a stick that tells its timing and its window when its radio goes on, and returns what the modem reports.
    private func setUp(
        _ settings: RadioSettings = StickBench.settings, timing: [UInt8] = [], window: [UInt8] = [],
        answer: (KISSFrame) -> KISSFrame? = { _ in nil }
    ) -> (modem: RNodeModem, events: [ModemEvent], asked: [KISSFrame]) {
        let start = Instant(microseconds: 0)
        var modem = RNodeModem(settings, limits: TransmitLimits(), isRested: true, delay: LineDelay(.board, roundTripMicroseconds: 0), at: start)
        modem.start(at: start)
        let asked = exchange(&modem, timing: timing, window: window, answer: answer, at: start)
        return (modem, modem.output.events, asked)
    }

    /// Answers the questions of a modem until it asks no more, and returns what it has written.
    @discardableResult private func exchange(
        _ modem: inout RNodeModem, timing: [UInt8] = [], window: [UInt8] = [], answer: (KISSFrame) -> KISSFrame? = { _ in nil },
        at now: Instant
    ) -> [KISSFrame] {
        var decoder = KISSFrame.Decoder()
        var asked: [KISSFrame] = []
        var held: [UInt8: [UInt8]] = [:]
        while !modem.output.bytes.isEmpty {
            let bytes = modem.output.bytes
            modem.output.bytes = []
            for question in bytes.compactMap({ decoder.take($0) }) {
                asked.append(question)
                if question.type == RNodeCommand.data { continue }
                let isReading = question.data.allSatisfy { $0 == 0 } && question.type <= 2 || question == KISSFrame(3, [0xFF])
                if !isReading { held[question.type] = question.data }
                var frames = [answer(question) ?? KISSFrame(question.type, held[question.type] ?? question.data)]
                if question == RNodeCommand.detection { frames = [KISSFrame(8, [0x46])] }
                if question == KISSFrame(6, [1]) {
                    if !timing.isEmpty { frames.insert(KISSFrame(0x26, timing), at: 0) }
                    if !window.isEmpty { frames.insert(KISSFrame(0x28, window), at: 0) }
                }
                for frame in frames { tell(&modem, frame, at: now) }
            }
        }
        return asked
    }

    private func tell(_ modem: inout RNodeModem, _ frame: KISSFrame, at now: Instant) {
        var line: [UInt8] = []
        frame.append(to: &line)
        modem.receive(line.span, at: now)
    }

    private func profile(_ events: [ModemEvent]) -> ModemProfile? {
        events.compactMap { if case .ready(let profile) = $0 { profile } else { nil } }.first
    }

    @Test("the radio is off while it gets its settings, and is asked afterwards for those that it may not hold")
    func order() {
        let asked = setUp().asked
        #expect(asked.map(\.type) == [0x08, 0x50, 0x06, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x01, 0x02, 0x03])
        #expect(asked[2].data == [0] && asked[8].data == [1])
        #expect(asked[9].data == [0, 0, 0, 0] && asked[10].data == [0, 0, 0, 0] && asked.last?.data == [0xFF])
    }

    @Test("another frequency or bandwidth that the radio holds is refused", arguments: [
        (1, 433_000_000, .frequency), (2, 250_000, .bandwidth),
    ] as [(UInt8, UInt32, ModemSetting)])
    func held(type: UInt8, value: UInt32, setting: ModemSetting) {
        let (_, events, _) = setUp { question in
            question.type == type && question.data == [0, 0, 0, 0] ? KISSFrame(type, .bigEndian(value)) : nil
        }
        #expect(profile(events) == nil)
        #expect(events.contains { if case .notice(.refused(setting, _, Int64(value))) = $0 { true } else { false } })
    }

    @Test("a window that the stick tells later changes the timing")
    func laterWindow() throws {
        var (modem, events, _) = setUp(timing: Self.timing)
        let first = try #require(profile(events))
        #expect(!events.contains { if case .timing = $0 { true } else { false } })
        modem.output.events = []
        for _ in 0..<2 {
            tell(&modem, KISSFrame(0x28, [4, 45, 60]), at: Instant(microseconds: 1_000_000))
        }
        events = modem.output.events
        var later = first
        // 60 ms and 59 slots of 30 ms, and the stick's own time.
        later.turnaroundMicroseconds = 1_900_000
        #expect(events == [.timing(later)])
    }

    /// A symbol of 1.024 ms, 976 symbols a second, a preamble of 40 symbols or 41 ms, slots of 30 ms, and 60 ms before them.
    private static let timing: [UInt8] = [4, 0, 3, 0xD0, 0, 40, 0, 41, 0, 30, 0, 60]

    @Test("what the stick tells of its timing corrects what is computed")
    func correction() throws {
        let computed = try #require(profile(setUp().events))
        #expect(computed == StickBench.settings.profile(of: .rnode))
        let (_, events, _) = setUp(timing: Self.timing)
        let told = try #require(profile(events))
        // 60 ms and 28 slots, the line and two symbols: 952 ms.
        #expect(told.turnaroundMicroseconds == 1_000_000)
        #expect(told.frameOverheadMicroseconds - computed.frameOverheadMicroseconds == 16 * 1024)
        #expect(events.contains(.notice(.ready(.rnode, StickBench.settings, turnaroundMicroseconds: 1_000_000))))
    }

    @Test("a later window makes the turnaround longer, and the first one does not make it shorter", arguments: [
        ([1, 0, 15], 800_000), ([2, 15, 29], 800_000), ([3, 30, 44], 1_200_000), ([4, 45, 59], 1_500_000),
    ] as [([UInt8], Int64)])
    func window(data: [UInt8], turnaround: Int64) throws {
        #expect(try #require(profile(setUp(window: data).events)).turnaroundMicroseconds == turnaround)
    }

    @Test("figures that the firmware cannot compute are not believed", arguments: [
        ([4, 0, 3, 0xD0, 0xFF, 0xFF, 0, 41, 0, 30, 0, 60], []), ([4, 0, 3, 0xD0, 0, 40, 0, 41, 0xFF, 0, 0, 60], []),
        ([4, 0, 3, 0xD0, 0, 40, 0, 41, 0, 0, 0, 60], []), ([4, 0, 3, 0xD0, 0, 40, 0, 41, 0, 30, 0xFF, 0xFF], []),
        ([4, 0, 3, 0xD0, 0, 40, 0, 41, 0, 30, 0], []), ([], [9, 240, 255]), ([], [3, 30]),
    ] as [([UInt8], [UInt8])])
    func wrongFigures(timing: [UInt8], window: [UInt8]) throws {
        #expect(try #require(profile(setUp(timing: timing, window: window).events)) == StickBench.settings.profile(of: .rnode))
    }

    /// EU433 allows 10 dBm. A board with an amplifier tells 13 dBm while its radio is on.
    @Test("a board with an amplifier takes less power than its lowest step at the second start, too")
    func amplifier() {
        var settings = StickBench.settings
        settings.powerDBm = 10
        var stick: any BaseStick = RNodeStick(seed: 3)
        stick.cause(.amplifier, now: Instant(microseconds: 0))
        for _ in 0..<3 {
            var bench = StickBench(stick, settings: settings, dialect: .rnode)
            bench.run(milliseconds: 4000)
            #expect(bench.isReady, "\(bench.notices)")
            #expect(bench.stick.radio == .on(settings))
            stick = bench.stick
        }
    }

    /// With an amplifier the stick tells its lowest step, and sends with up to 9 dB less.
    @Test("a power that the radio does not have is told", arguments: [(14, 14, 14), (10, 13, 10), (0, 13, 4), (14, 9, 9)] as [(Int8, UInt8, Int8)])
    func heldPower(wanted: Int8, told: UInt8, actual: Int8) {
        var settings = StickBench.settings
        settings.powerDBm = wanted
        let (_, events, _) = setUp(settings) { $0 == KISSFrame(3, [0xFF]) ? KISSFrame(3, [told]) : nil }
        settings.powerDBm = actual
        #expect(events.contains(.notice(.ready(.rnode, settings, turnaroundMicroseconds: 800_000))))
        let powers = events.filter {
            switch $0 {
            case .notice(.powerRaised(Int64(wanted), Int64(actual))), .notice(.powerReduced(Int64(wanted), Int64(actual))): true
            default: false
            }
        }
        #expect(powers.count == (wanted == actual ? 0 : 1))
    }

    @Test("an amplifier that has no less than a power is named")
    func leastPower() {
        var settings = StickBench.settings
        settings.powerDBm = 2
        var stick: any BaseStick = RNodeStick(seed: 3)
        stick.cause(.amplifier, now: Instant(microseconds: 0))
        var bench = StickBench(stick, settings: settings, dialect: .rnode)
        bench.run(milliseconds: 4000)
        settings.powerDBm = 4
        #expect(bench.stick.radio == .on(settings))
        #expect(bench.notices.contains(.powerRaised(wantedDBm: 2, actualDBm: 4)))
    }

    /// By hand: at SF7 24 + 4.25 + 8 + ⌈(8·19 − 28 + 44) / 28⌉ · 5 = 66.25 symbols of 1.024 ms.
    @Test("the budget of airtime is spent as the firmware sends")
    func airtime() {
        var bench = StickBench(RNodeStick(seed: 3), dialect: .rnode)
        bench.run(milliseconds: 4000)
        bench.answer([UInt8](repeating: 7, count: 18))
        bench.run(milliseconds: 1000)
        #expect(bench.sent.count == 1)
        #expect(bench.events.contains(.transmits(airtimeMicroseconds: 67_840)))
    }

    /// A modem that was ready 11 s ago: it asks whether the radio is still on, before it sends the first of two answers.
    private func confirming() -> (modem: RNodeModem, now: Instant) {
        var (modem, _, _) = setUp()
        let now = Instant(microseconds: 11_000_000)
        modem.output.events = []
        modem.send([[1]], at: now)
        return (modem, now)
    }

    private static let started = KISSFrame(RNodeCommand.reset, [RNodeCommand.hasStarted])

    @Test("what was to be sent after a confirmation is dropped with a restart, and the next answer goes out without another one")
    func restartDuringConfirmation() {
        var (modem, now) = confirming()
        #expect(modem.output.bytes == [0xC0, RNodeCommand.radioState, RNodeCommand.radioOn, 0xC0])
        modem.output.bytes = []
        tell(&modem, Self.started, at: now)
        let asked = exchange(&modem, at: now)
        #expect(asked.map(\.type) == [0x08, 0x50, 0x06, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x01, 0x02, 0x03], "only the setup")
        modem.send([[2]], at: now)
        #expect(exchange(&modem, at: now) == [KISSFrame(RNodeCommand.data, [2])])
        #expect(modem.output.events.contains(.notice(.restarted(.rnode))))
    }

    @Test("a restart instead of a confirmation is no miss")
    func restartIsNoMiss() {
        var (modem, now) = confirming()
        for _ in 0..<4 {
            modem.output.bytes = []
            tell(&modem, Self.started, at: now)
            exchange(&modem, at: now)
            // The check; its answer is the start of the stick.
            now = modem.nextDeadline ?? now
            modem.deadlineReached(at: now)
        }
        #expect(!modem.output.events.contains(.notice(.notAnswering(.rnode))))
        #expect(modem.output.events.count { $0 == .notice(.restarted(.rnode)) } == 4)
        #expect(exchange(&modem, at: now) == [KISSFrame(RNodeCommand.radioState, [RNodeCommand.radioOn])])
    }

    @Test("a radio that is off when it is asked gets its settings before anything is sent")
    func offDuringConfirmation() {
        var (modem, now) = confirming()
        let asked = exchange(&modem, answer: { $0.type == RNodeCommand.radioState ? KISSFrame(6, [0]) : nil }, at: now)
        #expect(asked.prefix(2).map(\.type) == [RNodeCommand.radioState, RNodeCommand.detect])
        #expect(!asked.contains { $0.type == RNodeCommand.data })
    }
}
