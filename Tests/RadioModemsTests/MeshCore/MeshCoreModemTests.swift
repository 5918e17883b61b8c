import CollarARQ
import CollarSimulator
import CollarWire
@testable import RadioModems
import Testing

@Suite("MeshCore's modem, when something is wrong")
struct MeshCoreModemTests {
    private static let packet: [UInt8] = [0x51, 0xC0, 0x00, 0xFF]

    private func settings(powerDBm: Int8) -> RadioSettings {
        var settings = StickBench.settings
        settings.powerDBm = powerDBm
        return settings
    }

    @Test("a modem that sends nothing is reported within a minute and restarted, and goes on", arguments: StickRelease.all(of: .kiss))
    func stuck(release: StickRelease) {
        var bench = StickBench(KISSModemStick(release: release))
        bench.run(milliseconds: 4000)
        bench.cause(.stuck)
        for _ in 0..<30 {
            bench.answer(MeshCoreModemTests.packet)
            bench.run(milliseconds: 2000)
        }
        #expect(bench.notices.filter { $0 == .notSending(.kiss) }.count == 1)
        #expect(!bench.notices.contains(.restarted(.kiss)))
        #expect(bench.notices.last == .ready(.kiss, StickBench.settings, turnaroundMicroseconds: 100_000))
        #expect(bench.sent.count > 3)
        bench.hear(MeshCoreModemTests.packet)
        bench.run(milliseconds: 100)
        #expect(bench.packets == [MeshCoreModemTests.packet])
    }

    @Test("packets that are sent between those that are not end their count")
    func unsentNowAndThen() {
        var bench = StickBench(KISSModemStick(release: .kissReportsBusy))
        bench.run(milliseconds: 4000)
        for _ in 0..<5 {
            bench.cause(.full)
            bench.answer(MeshCoreModemTests.packet)
            bench.run(milliseconds: 6000)
            bench.answer(MeshCoreModemTests.packet)
            bench.run(milliseconds: 2000)
        }
        #expect(bench.sent.count == 5)
        #expect(!bench.notices.contains(.notSending(.kiss)))
    }

    /// A simulation found this (seed 7000009594): the packet went out with the settings of a stick that has just started.
    @Test("a packet that was refused is not offered to a modem that has restarted meanwhile")
    func restartedWhileBusy() {
        var bench = StickBench(KISSModemStick(release: .kissReportsBusy))
        bench.run(milliseconds: 4000)
        bench.cause(.full)
        bench.answer(MeshCoreModemTests.packet)
        bench.run(milliseconds: 15)
        #expect(bench.notices.contains(.busy(.kiss)))
        bench.stall(milliseconds: 6000)
        bench.stick.cause(.reset, now: bench.now)
        bench.run(milliseconds: 9000)
        #expect(bench.notices.contains(.restarted(.kiss)))
        #expect(bench.sent.isEmpty)
    }

    /// A simulation found this (seed 10300003318): the host waited for its disk while the answer lay in the line.
    @Test("an answer that is read late does not confirm the settings of a modem that has restarted meanwhile")
    func restartedBeforeAnswerIsRead() {
        var bench = StickBench(KISSModemStick(), delayMilliseconds: 20)
        bench.run(milliseconds: 4000)
        bench.answer(MeshCoreModemTests.packet)
        bench.run(milliseconds: 15)
        bench.cause(.reset)
        bench.stall(milliseconds: 6000)
        bench.write([])
        bench.run(milliseconds: 70_000)
        #expect(bench.notices.contains(.restarted(.kiss)))
        #expect(bench.sent.isEmpty)
        bench.answer(MeshCoreModemTests.packet)
        bench.run(milliseconds: 1000)
        #expect(bench.settingsOfSent == [.on(StickBench.settings)])
    }

    @Test("a stick that still boots when its port opens is found, and what is written meanwhile is not transmitted", arguments: [
        Dialect.kiss, .rui3,
    ])
    func booting(dialect: Dialect) {
        var stick = dialect.makeStick(modem: .serial(bitsPerSecond: 115_200), seed: 1)
        stick.cause(.reset, now: Instant(microseconds: 0))
        var bench = StickBench(stick)
        bench.losesOutput = dialect == .rui3
        bench.run(milliseconds: 2000)
        bench.losesOutput = false
        #expect(bench.modem.isSerialLine)
        // The host asks who is there, as on a serial line.
        while bench.modem.isSerialLine, bench.now < Instant(microseconds: 40_000_000) {
            bench.write([0, 3, 7, 9, 2, 1, 0])
            bench.run(milliseconds: 70)
        }
        #expect(bench.modem.dialect == dialect)
        bench.run(milliseconds: 8000)
        #expect(bench.isReady)
        #expect(bench.sent.isEmpty)
    }

    @Test("a serial line that has been heard is asked nothing any more")
    func heardLine() {
        var modem = RadioModem(
            ModemConfiguration(settings: StickBench.settings, limits: TransmitLimits()), kind: .remote, at: Instant(microseconds: 0))
        while !modem.isSerialLine, let due = modem.nextDeadline { modem.deadlineReached(at: due) }
        _ = modem.takeBytes()
        let request = [UInt8](capacity: 64) { output in
            do throws(EncodeError) { try IdentityRequest(receiverID: 7).encode(address: 255, into: &output) } catch {}
        }
        let line = [UInt8](capacity: StreamEncoder.encodedByteCount(for: request.count)) { output in
            StreamEncoder.encode(request.span, into: &output)
        }
        modem.receive(line.span, at: Instant(microseconds: 2_000_000))
        #expect(modem.isTransparent)
        #expect(modem.nextDeadline == nil)
    }

    @Test("a power that the chip does not take is not claimed")
    func power() {
        var bench = StickBench(KISSModemStick(), settings: settings(powerDBm: 27))
        bench.run(milliseconds: 5000)
        #expect(bench.stick.radio == .on(settings(powerDBm: 22)))
        #expect(bench.notices.contains(.ready(.kiss, settings(powerDBm: 22), turnaroundMicroseconds: 100_000)))
        #expect(bench.notices.contains(.powerReduced(wantedDBm: 27, actualDBm: 22)))
    }

    @Test("a board with an amplifier sends no more than wanted, and no more than its amplifier bears", arguments: [
        ("Heltec V4 OLED", 14, 1, 14), ("Heltec V4 TFT", 13, 0, 13), ("Station G2", 27, 7, 27), ("Station G2", 14, -6, 14),
        ("Meshnology W12", 30, 4, 30), ("Meshnology W12", 20, -6, 20), ("Heltec Tracker V2", 30, 17, 30), ("RAK 3401", 14, 5, 14),
        ("Heltec T096", 10, -3, 10), ("Heltec Tower V2", 4, -9, 4), ("LilyGo T-Beam 1W", 21, 11, 21), ("Heltec V3", 14, 14, 14),
    ] as [(String, Int8, Int8, Int8)])
    func amplifier(name: String, wanted: Int8, chip: Int8, output: Int8) {
        var bench = StickBench(KISSModemStick(boardName: name), settings: settings(powerDBm: wanted))
        bench.run(milliseconds: 5000)
        #expect(bench.stick.radio == .on(settings(powerDBm: chip)))
        #expect(bench.notices.contains(.ready(.kiss, settings(powerDBm: output), turnaroundMicroseconds: 100_000)))
        let isNamed = bench.notices.contains { notice in
            guard case .amplified(let board, Int64(chip), Int64(output)) = notice else { return false }
            return name.hasPrefix(board)
        }
        #expect(isNamed == (chip != output))
    }

    @Test("a board whose amplifier always sends more than wanted is not used")
    func tooStrong() {
        var bench = StickBench(KISSModemStick(boardName: "Meshnology W12"), settings: settings(powerDBm: 14))
        bench.run(milliseconds: 5000)
        bench.answer(MeshCoreModemTests.packet)
        bench.run(milliseconds: 2000)
        #expect(bench.notices.contains(.refused(.power, wanted: 14, actual: 17)))
        #expect(!bench.isReady)
        #expect(bench.sent.isEmpty)
    }

    @Test("a modem that does not tell its board may have an amplifier")
    func unknownBoard() {
        var bench = StickBench(KISSModemStick(boardName: ""))
        bench.run(milliseconds: 5000)
        #expect(bench.notices.contains(.boardUnknown(.kiss)))
    }

    @Test("the gain of a board holds in a later setup, also if the modem does not tell its name again")
    func keptName() {
        var bench = StickBench(KISSModemStick(boardName: "Station G2"), dialect: .kiss)
        bench.run(milliseconds: 4000)
        bench.damage = (of: [0xC0, 0x06, 0x96], into: [0xC0, 0x0E, 0x96])
        bench.damageCount = 3
        bench.cause(.reset)
        bench.run(milliseconds: 30_000)
        #expect(bench.damage == nil)
        #expect(bench.stick.radio == .on(settings(powerDBm: -6)))
        #expect(!bench.notices.contains(.boardUnknown(.kiss)))
    }

    @Test("a modem that never has room for an answer is not asked without end")
    func noRoom() {
        var bench = StickBench(KISSModemStick(), dialect: .kiss)
        bench.run(milliseconds: 4000)
        bench.damage = (of: [0xC0, 0x06, 0x8B], into: [0xC0, 0x06, 0xF1, 0x07, 0xC0, 0xC0, 0xFF])
        bench.damageCount = 10_000
        bench.answer(MeshCoreModemTests.packet)
        bench.run(milliseconds: 10_000)
        #expect((4...24).contains(10_000 - bench.damageCount), "questions")
        bench.damage = nil
        bench.run(milliseconds: 20_000)
        bench.answer(MeshCoreModemTests.packet)
        bench.run(milliseconds: 1000)
        #expect(bench.sent.count == 1)
    }

    @Test("one damaged answer does not make the stick useless", arguments: [
        // The spreading factor of the answer to "get radio", and the airtime of 250 bytes.
        ([0x48, 0xE8, 0x01, 0x00, 0x07, 0x05], [0x48, 0xE8, 0x01, 0x00, 0x0D, 0x05]), ([0x8F, 0x9D, 0x01], [0x8F, 0x1D, 0x01]),
    ] as [([UInt8], [UInt8])])
    func damagedAnswer(of original: [UInt8], into damaged: [UInt8]) {
        var bench = StickBench(KISSModemStick())
        bench.damage = (of: original, into: damaged)
        bench.run(milliseconds: 5000)
        #expect(bench.damage == nil)
        #expect(bench.isReady)
        #expect(!bench.notices.contains { if case .refused = $0 { true } else { false } })
    }

    @Test("an answer for which the modem had no room is asked for again", arguments: [0x96, 0x8B, 0xF0, 0x8F, 0x9A] as [UInt8])
    func lostAnswer(answer: UInt8) {
        var bench = StickBench(KISSModemStick())
        bench.damage = (of: [0xC0, 0x06, answer], into: [0xC0, 0x06, 0xF1, 0x07, 0xC0, 0xC0, 0xFF])
        bench.run(milliseconds: 5000)
        #expect(bench.damage == nil)
        #expect(bench.notices.map { if case .refused = $0 { true } else { false } }.allSatisfy { !$0 })
        #expect(bench.isReady)
        #expect(bench.stick.radio == .on(StickBench.settings))
        // Also while it is asked before a transmission: the answer is not late because of that.
        bench.damage = (of: [0xC0, 0x06, 0x8B], into: [0xC0, 0x06, 0xF1, 0x07, 0xC0, 0xC0, 0xFF])
        let start = bench.now
        bench.answer(MeshCoreModemTests.packet)
        bench.run(milliseconds: 1000)
        #expect(bench.damage == nil)
        #expect(bench.sent.count == 1)
        if let sent = bench.sent.first { #expect(sent.start.microseconds(since: start) < 60_000) }
    }
}
