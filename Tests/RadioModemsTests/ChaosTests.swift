import CollarARQ
import CollarSimulator
import CollarWire
import Testing

@testable import RadioModems

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
