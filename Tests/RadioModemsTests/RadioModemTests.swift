import CollarARQ
import CollarSimulator
import CollarWire
@testable import RadioModems
import Testing

@Suite("What a modem can do, for the status of its port")
struct RadioModemTests {
    private let start = Instant(microseconds: 0)

    private func modem(dialect: Dialect? = nil, settings: RadioSettings? = StickBench.settings) -> RadioModem {
        RadioModem(
            ModemConfiguration(dialect: dialect, settings: settings, limits: TransmitLimits()), kind: .remote, at: start)
    }

    /// The modem after everything that it does by itself within 20 s.
    private func settled(_ modem: RadioModem, hearing bytes: [UInt8] = []) -> RadioModem {
        var modem = modem
        modem.receive(bytes.span, at: start.advanced(byMicroseconds: 1000))
        let end = start.advanced(byMicroseconds: 20_000_000)
        while let due = modem.nextDeadline, due < end { modem.deadlineReached(at: due) }
        return modem
    }

    @Test("a port that was just opened is being detected")
    func detecting() {
        #expect(modem().condition == .detecting)
    }

    @Test("a serial line that was named carries packets at once")
    func namedSerialLine() {
        #expect(modem(dialect: .serial).condition == .carries)
    }

    @Test("a stick that was named carries packets while it is set up")
    func namedStick() {
        #expect(modem(dialect: .rnode).condition == .carries)
    }

    @Test("a port at which nothing answers carries packets, as a serial line")
    func silence() {
        #expect(settled(modem()).condition == .carries)
    }

    @Test("a stick without settings is unused", arguments: [Dialect.kiss, .rnode, .rui3])
    func noSettings(dialect: Dialect) {
        #expect(modem(dialect: dialect, settings: nil).condition == .unused)
    }

    @Test("a serial line needs no settings")
    func serialLineWithoutSettings() {
        #expect(modem(dialect: .serial, settings: nil).condition == .carries)
    }

    @Test("a GNSS receiver at the port is a stranger")
    func stranger() {
        let sentence = "$GPGGA,092750.000,5321.6802,N,00630.3372,W,1,8,1.03,61.7,M,55.2,M,,*76\r\n"
        #expect(settled(modem(), hearing: Array((sentence + sentence + sentence).utf8)).condition == .stranger)
    }
}

/// Sticks that fail at random while packets pass both ways.
@Suite("Sticks that fail at random")
struct ChaosTests {
    private static let kinds: [Dialect] = [.kiss, .rnode, .rui3]

    /// A packet that no other packet equals, and whose bytes need escapes.
    private func packet(_ number: Int) -> [UInt8] {
        [0xC0, UInt8(truncatingIfNeeded: number >> 8), 0xDB, UInt8(truncatingIfNeeded: number), 0x0D, 0x5A]
    }

    private func onAir(_ packet: [UInt8], _ dialect: Dialect) -> [UInt8] { dialect == .rnode ? [0x50] + packet : packet }

    @Test("nothing is invented or doubled, and nothing is sent with other settings", arguments: kinds, 0..<30)
    func chaos(dialect: Dialect, seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var bench = StickBench(dialect.makeStick(modem: .serial(bitsPerSecond: 115_200), seed: UInt64(seed)))
        bench.run(milliseconds: 8000)
        var heard: [[UInt8]] = []
        var answers: [[UInt8]] = []
        for step in 0..<150 {
            switch random.next() % 12 {
            case 0: bench.cause(.garbage)
            case 1 where step < 120:
                let faults: [StickFault] = [.reset, .stall, .busy, .full]
                bench.cause(faults[Int(random.next() % 4)])
            case 2...6:
                heard.append(packet(2 * step))
                bench.hear(onAir(packet(2 * step), dialect))
            default:
                answers += [packet(2 * step + 1), packet(2 * step + 30_001)]
                bench.answer(packet(2 * step + 1), packet(2 * step + 30_001))
            }
            bench.run(milliseconds: Int64(random.next() % 1500))
        }
        bench.run(milliseconds: 120_000)
        // Garbage on the line may look like a packet; the host checks each packet's CRC.
        let known = bench.packets.filter { $0.count == 6 && $0[0] == 0xC0 && $0[4] == 0x0D && $0[5] == 0x5A }
        for packet in known { #expect(heard.contains(packet)) }
        for packet in heard { #expect(known.filter { $0 == packet }.count <= 1) }
        // Garbage joins the line that follows it, so RUI3's answers are lost more often.
        #expect(known.count > heard.count / (dialect == .rui3 ? 6 : 4), "many packets pass")
        let sent = bench.sent.map { dialect == .rnode ? Array($0.packet.dropFirst()) : $0.packet }
        for packet in sent { #expect(answers.contains(packet), "the stick sends what nobody gave it") }
        for packet in answers { #expect(sent.filter { $0 == packet }.count <= 1) }
        #expect(!sent.isEmpty)
        #expect(bench.settingsOfSent.allSatisfy { $0 == .on(StickBench.settings) })
        bench.answer(packet(60_000))
        bench.run(milliseconds: 5000)
        #expect(bench.sent.count == sent.count + 1, "the stick works again")
    }

    @Test("random bytes at every moment of the setup do no harm", arguments: kinds, 0..<50)
    func randomBytes(dialect: Dialect, seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var modem = RadioModem(
            ModemConfiguration(dialect: seed.isMultiple(of: 2) ? dialect : nil, settings: StickBench.settings, limits: TransmitLimits()),
            kind: .remote, at: Instant(microseconds: 0))
        let words: [[UInt8]] = [
            [0xC0, 0x06, 0x97, 0xC0], [0xC0, 0x06, 0xF0, 0xC0], [0xC0, 0x08, 0x46, 0xC0], [0xC0, 0x06, 0x01, 0xC0],
            [0xC0, 0x55, 0xF8, 0xC0], Array("OK\r\n".utf8), Array("AT+NWM=0\r\n".utf8), Array("+EVT:RXP2P:-1:".utf8), [0xC0], [0xDB],
            Array("AT_BUSY_ERROR\r\n".utf8), [0xC0, 0x06, 0xF9, 0x80, 0x80, 0xC0], [0xC0, 0x00, 0xC0], [0xC0, 0x24, 0x80, 0xC0],
        ]
        var now = Instant(microseconds: 0)
        for _ in 0..<400 {
            let bytes =
                random.chance(0.5)
                ? words[Int(random.next() % UInt64(words.count))]
                : (0..<Int(random.next() % 20)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            modem.receive(bytes.span, at: now)
            if random.chance(0.2) {
                modem.send([1, 2, 3])
                modem.flush(at: now)
            }
            now = now.advanced(byMicroseconds: Int64(random.next() % 300_000))
            if let due = modem.nextDeadline, now >= due { modem.deadlineReached(at: now) }
            _ = modem.takeBytes()
            while let event = modem.nextEvent() {
                if case .packet(let packet, _) = event { #expect(packet.count <= 600) }
            }
            if modem.isSerialLine { return }
        }
    }
}

/// Answers of sticks with numbers that are too large for arithmetic.
@Suite struct ExtremeAnswerTests {
    private static let settings = RadioSettings(
        frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 5, powerDBm: 14)

    private static func answer(_ command: UInt8, _ data: [UInt8] = []) -> [UInt8] { [command | MeshCoreCommand.answerBit] + data }

    /// Airtimes with the right difference, so that only their size is wrong: they would be airtime that the region's budget counts.
    @Test func airtimesOfDays() {
        var setup = MeshCoreSetup(Self.settings)
        let held = [UInt8].littleEndian(Self.settings.frequencyHertz) + .littleEndian(Self.settings.bandwidthHertz) + [7, 5]
        let answers = [
            Self.answer(MeshCoreCommand.ping), Self.answer(MeshCoreCommand.getName), Self.answer(MeshCoreCommand.getVersion),
            Self.answer(MeshCoreCommand.getRadio, held), [MeshCoreCommand.ok],
        ]
        for answer in answers { #expect(setup.take(answer) == .next) }
        #expect(setup.step == .shortAirtime)
        let result = setup.take(Self.answer(MeshCoreCommand.getAirtime, .littleEndian(4_000_000_000)))
        guard case .refused(.airtime, _, 4_000_000_000) = result else {
            Issue.record("\(result)")
            return
        }
    }
}
