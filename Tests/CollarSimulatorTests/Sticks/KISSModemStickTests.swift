import CollarARQ
import CollarSimulator
import RadioModems
import Testing

/// The bytes and times of MeshCore's KISS modem, written from measurements of its firmware and not from the emulation.
@Suite("MeshCore's KISS modem") struct KISSModemStickTests {
    /// 868,100,000 Hz, 125,000 Hz, SF7, 4/5.
    private static let set = "C0 06 09 A0 27 BE 33 48 E8 01 00 07 05 C0"
    /// Sends at once, but waits for a packet in reception to end.
    private static let sendAtOnce = "C0 05 00 C0 C0 02 FF C0 C0 01 00 C0"

    private func bench(setUp: Bool = true) -> StickBench<KISSModemStick> {
        var bench = StickBench(KISSModemStick(seed: 1))
        if setUp {
            #expect(bench.answer(to: Self.set) == "C0 06 F0 C0")
            #expect(bench.answer(to: Self.sendAtOnce) == "")
        }
        return bench
    }

    @Test("each command has its answer", arguments: [
        ("C0 06 17 C0", "C0 06 97 C0"),
        // The question whether it is an RNode.
        ("C0 08 73 C0", ""),
        ("C0 06 11 C0", "C0 06 91 01 00 C0"),
        // Zeros before the first setting.
        ("C0 06 0B C0", "C0 06 8B 00 00 00 00 00 00 00 00 00 00 C0"),
        ("C0 06 0A 0E C0", "C0 06 F0 C0"),
        ("C0 06 12 C0", "C0 06 92 00 00 00 00 00 00 00 00 00 00 00 00 C0"),
        ("C0 06 19 01 C0", "C0 06 9A 01 C0"),
        // Too short, and unknown.
        ("C0 06 09 00 C0", "C0 06 F1 01 C0"), ("C0 06 0F C0", "C0 06 F1 01 C0"), ("C0 06 7E C0", "C0 06 F1 05 C0"),
        // Not one of the usual KISS commands is answered; a frame of the type FF, of another port or of no type at all neither.
        ("C0 01 00 C0", ""), ("C0 FF C0", ""), ("C0 16 17 C0", ""), ("C0 06 C0", ""), ("C0 C0 C0", ""),
        // Several delimiters in a row are one; bytes before the first do not count.
        ("06 17 C0 C0 C0 06 17 C0 C0 06 17 C0", "C0 06 97 C0 C0 06 97 C0"),
        // An invalid escape takes the byte behind it away.
        ("C0 06 DB 55 17 C0", "C0 06 97 C0"),
    ])
    func command(written: String, answered: String) {
        var bench = bench(setUp: false)
        #expect(bench.answer(to: written) == answered)
    }

    @Test("the frequency comes back as a float")
    func repeatedSettings() {
        var bench = bench()
        #expect(bench.answer(to: "C0 06 0B C0") == "C0 06 8B 88 27 BE 33 48 E8 01 00 07 05 C0")
        #expect(bench.stick.radio == .on(RadioSettings(
            frequencyHertz: 868_100_000, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 5, powerDBm: 22)))
    }

    @Test("only the airtime tells that the radio refused")
    func refusedSettings() {
        var bench = bench()
        // 51 bytes take 127 ms.
        #expect(bench.answer(to: "C0 06 0F 33 C0") == "C0 06 8F 7F 00 00 00 C0")
        #expect(bench.answer(to: "C0 06 09 A0 27 BE 33 48 E8 01 00 0D 05 C0") == "C0 06 F0 C0")
        #expect(bench.answer(to: "C0 06 0B C0") == "C0 06 8B 88 27 BE 33 48 E8 01 00 0D 05 C0")
        #expect(bench.answer(to: "C0 06 0F 33 C0") == "C0 06 8F 7F 00 00 00 C0")
        bench.cause(.refuse)
        #expect(bench.answer(to: "C0 06 09 A0 27 BE 33 48 E8 01 00 09 05 C0") == "C0 06 F0 C0")
        #expect(bench.answer(to: "C0 06 0B C0") == "C0 06 8B 88 27 BE 33 48 E8 01 00 09 05 C0")
        #expect(bench.answer(to: "C0 06 0F 33 C0") == "C0 06 8F 7F 00 00 00 C0")
    }

    @Test("after power-up the radio is that of MeshCore's network, and sends")
    func powerUp() throws {
        var bench = bench(setUp: false)
        guard case .on(let settings) = bench.stick.radio else {
            Issue.record("the radio is off")
            return
        }
        #expect(settings.frequencyHertz == 869_618_000)
        #expect(settings.bandwidthHertz == 62_500)
        #expect(settings.spreadingFactor == 8)
        // A transmit delay of 500 ms, after draws with a probability of 64 in 256, 100 ms apart.
        bench.write("C0 00 01 02 C0")
        bench.run(milliseconds: 20_000)
        let sent = try #require(bench.transmissions.first)
        let wait = sent.start.microseconds % 100_000
        #expect(sent.start.microseconds >= 500_000)
        #expect(wait < 1000)
    }

    @Test("a packet is reported 0.6 to 1 ms after it ended, and a second one meanwhile is dropped")
    func sending() throws {
        var bench = bench()
        bench.write("C0 00 01 02 DB DC DB DD C0 C0 00 05 C0")
        bench.run(milliseconds: 10)
        #expect(digits(bench.takeBytes()) == "C0 06 F1 07 C0")
        bench.run(milliseconds: 500)
        #expect(bench.transmissions.count == 1)
        let sent = try #require(bench.transmissions.first)
        #expect(sent.transmission.packet == [1, 2, 0xC0, 0xDB])
        let report = try #require(bench.pieces.first)
        #expect(digits(bench.takeBytes()) == "C0 06 F8 01 C0")
        let end = sent.start.advanced(byMicroseconds: sent.transmission.airtimeMicroseconds)
        #expect((600...1000).contains(report.time.microseconds(since: end)))
        #expect(bench.answer(to: "C0 06 12 C0") == "C0 06 92 00 00 00 00 01 00 00 00 00 00 00 00 C0")
    }

    @Test("the airtime on the air has a preamble of 32 symbols")
    func airtime() throws {
        var bench = bench()
        bench.write([0xC0, 0x00] + [UInt8](repeating: 7, count: 51) + [0xC0])
        bench.run(milliseconds: 50)
        let sent = try #require(bench.transmissions.first)
        #expect(sent.transmission.airtimeMicroseconds / 1000 == 127)
    }

    @Test("packets above 255 bytes are dropped without a word")
    func longPackets() {
        var bench = bench()
        bench.write([0xC0, 0x00] + [UInt8](repeating: 7, count: 256) + [0xC0])
        bench.run(milliseconds: 1000)
        #expect(bench.transmissions.isEmpty)
        bench.write([0xC0, 0x00] + [UInt8](repeating: 7, count: 255) + [0xC0])
        bench.run(milliseconds: 1000)
        #expect(bench.transmissions.count == 1)
        #expect(digits(bench.takeBytes()) == "C0 06 F8 01 C0")
    }

    @Test("512 bytes without a delimiter make the modem deaf up to the next one", arguments: [(511, 1), (512, 0), (700, 0)])
    func fullBuffer(count: Int, answers: Int) {
        var bench = bench()
        // The sub-command of the last bytes would be answered as unknown.
        bench.write([0xC0, 0x06] + [UInt8](repeating: 0x7E, count: count))
        bench.run(milliseconds: 100)
        #expect(bench.answer(to: "C0 06 17 C0") == (answers == 1 ? "C0 06 F1 05 C0 " : "") + "C0 06 97 C0")
    }

    @Test("a half-written frame is kept, and the next delimiter transmits it")
    func halfFrame() {
        var bench = bench()
        bench.write("C0 00 01 02 03")
        bench.run(milliseconds: 60_000)
        #expect(bench.transmissions.isEmpty)
        #expect(bench.answer(to: "C0 06 17 C0") == "C0 06 97 C0")
        #expect(bench.transmissions.map(\.transmission.packet) == [[1, 2, 3]])
    }

    @Test("the signal comes after its packet, and wraps", arguments: [
        (-100 as Int16, 50 as Int16, "14 9C"), (-128, -75, "E2 80"), (-130, 0, "00 7E"),
    ])
    func signal(dBm: Int16, tenthsDB: Int16, report: String) {
        var bench = bench()
        bench.hear([1, 0xC0, 2], dBm: dBm, tenthsDB: tenthsDB)
        bench.run(milliseconds: 20)
        #expect(bench.pieces.count == 2)
        #expect(digits(bench.takeBytes()) == "C0 00 01 DB DC 02 C0 C0 06 F9 \(report) C0")
        #expect(bench.answer(to: "C0 06 19 00 C0") == "C0 06 9A 00 C0")
        bench.hear([1])
        bench.run(milliseconds: 20)
        #expect(digits(bench.takeBytes()) == "C0 00 01 C0")
    }

    @Test("bytes take their time over a UART", arguments: [(27, 2.8, 3.8), (250, 22.0, 24.0)])
    func delays(count: Int, toAir: Double, toHost: Double) throws {
        var bench = bench()
        let packet = [UInt8](repeating: 7, count: count)
        let start = bench.now
        bench.write([0xC0, 0x00] + packet + [0xC0])
        bench.run(milliseconds: 1000)
        let sent = try #require(bench.transmissions.first)
        #expect(abs(Double(sent.start.microseconds(since: start)) / 1000 - toAir) < 0.3)
        _ = bench.takeBytes()
        let end = bench.now
        bench.hear(packet)
        bench.run(milliseconds: 100)
        let heard = try #require(bench.pieces.first)
        #expect(abs(Double(heard.time.microseconds(since: end)) / 1000 - toHost) < 0.9)
        // The signal follows half a millisecond later.
        try #require(bench.pieces.count == 2)
        #expect((400...600).contains(bench.pieces[1].time.microseconds(since: heard.time)))
    }

    @Test("USB is faster")
    func usb() throws {
        var bench = StickBench(KISSModemStick(timing: .usb, seed: 1))
        _ = bench.answer(to: Self.set)
        _ = bench.answer(to: Self.sendAtOnce)
        let start = bench.now
        bench.write([0xC0, 0x00] + [UInt8](repeating: 7, count: 27) + [0xC0])
        bench.run(milliseconds: 100)
        let sent = try #require(bench.transmissions.first)
        #expect((100...300).contains(sent.start.microseconds(since: start)))
        _ = bench.takeBytes()
        let end = bench.now
        bench.hear([1, 2, 3])
        bench.run(milliseconds: 100)
        let heard = try #require(bench.pieces.first)
        #expect((1000...2000).contains(heard.time.microseconds(since: end)))
    }

    @Test("half duplex waits for the end of a packet; full duplex does not", arguments: [false, true])
    func duplex(isFull: Bool) {
        var bench = bench()
        if isFull { bench.write("C0 05 01 C0") }
        bench.noteChannel(isBusy: true)
        bench.write("C0 00 01 C0")
        bench.run(milliseconds: 100)
        #expect(bench.transmissions.count == (isFull ? 1 : 0))
        bench.noteChannel(isBusy: false)
        bench.run(milliseconds: 1)
        #expect(bench.transmissions.count == 1)
    }

    @Test("a restart forgets the settings without a word", arguments: [false, true])
    func restart(byCommand: Bool) {
        var bench = bench()
        if byCommand {
            #expect(bench.answer(to: "C0 06 18 C0") == "C0 06 F0 C0")
        } else {
            bench.cause(.reset)
        }
        bench.run(milliseconds: 3000)
        #expect(bench.takeBytes().isEmpty)
        #expect(bench.answer(to: "C0 06 0B C0") == "C0 06 8B 00 00 00 00 00 00 00 00 00 00 C0")
        #expect(bench.stick.radio == .on(KISSModemStick.powerUpSettings))
    }

    @Test("a stick that has no room, a busy channel, a stall")
    func faults() {
        var bench = bench()
        bench.cause(.full)
        #expect(bench.answer(to: "C0 00 01 C0") == "C0 06 F1 07 C0")
        bench.run(milliseconds: 5000)
        bench.cause(.busy)
        #expect(bench.answer(to: "C0 00 02 C0") == "")
        #expect(bench.answer(to: "C0 00 03 C0") == "C0 06 F1 07 C0")
        #expect(bench.transmissions.isEmpty)
        bench.run(milliseconds: 5200)
        #expect(digits(bench.takeBytes()) == "C0 06 F8 01 C0")
        #expect(bench.transmissions.map(\.transmission.packet) == [[2]])
        bench.cause(.stall)
        #expect(!bench.stick.isTakingInput)
        bench.hear([9])
        #expect(bench.answer(to: "C0 06 17 C0", milliseconds: 9900) == "")
        bench.run(milliseconds: 200)
        #expect(bench.stick.isTakingInput)
        #expect(digits(bench.takeBytes()) == "C0 06 97 C0")
        bench.cause(.garbage)
        bench.run(milliseconds: 100)
        #expect(bench.takeBytes().count >= 16)
        #expect(bench.answer(to: "C0 06 17 C0") == "C0 06 97 C0")
    }
}
