import CollarARQ
import CollarSimulator
import RadioModems
import Testing

/// The bytes and times of RNode firmware, written from what was read and measured and not from the emulation.
@Suite("RNode firmware") struct RNodeStickTests {
    /// 869,525,000 Hz, 125,000 Hz, 14 dBm, SF7, 4/5; each is echoed.
    private static let set =
        "C0 01 33 D3 E6 08 C0 C0 02 00 01 E8 48 C0 C0 03 0E C0 C0 04 07 C0 C0 05 05 C0"
    /// The radio goes on; three times: a symbol of 1,024 µs, 976 symbols a second, a preamble of 24 symbols or 25 ms, slots of 24 ms, 48 ms before
    /// them; and twice that it is on.
    private static let goesOn =
        String(repeating: "C0 26 04 00 03 D0 00 18 00 19 00 18 00 30 C0 ", count: 3) + "C0 06 01 C0 C0 06 01 C0"

    private func bench(setUp: Bool = true, spreadingFactor: String = "07", seed: UInt64 = 1) -> StickBench<RNodeStick> {
        var bench = StickBench(RNodeStick(seed: seed))
        bench.run(milliseconds: 100)
        #expect(digits(bench.takeBytes()) == "C0 55 F8 C0")
        if setUp {
            let set = Self.set.replacing("C0 04 07 C0", with: "C0 04 \(spreadingFactor) C0")
            #expect(bench.answer(to: set) == set)
            let answer = bench.answer(to: "C0 06 01 C0")
            #expect(spreadingFactor == "07" ? answer == Self.goesOn : answer.hasSuffix("C0 06 01 C0 C0 06 01 C0"))
        }
        return bench
    }

    @Test("each command has its answer", arguments: [
        ("C0 08 73 C0", "C0 08 46 C0"), ("C0 50 00 C0", "C0 50 01 56 C0"), ("C0 48 00 C0", "C0 48 80 C0"),
        ("C0 08 73 C0 50 00 C0 48 00 C0", "C0 08 46 C0 C0 50 01 56 C0 C0 48 80 C0"),
        // Without parameters the radio does not go on.
        ("C0 06 01 C0", "C0 06 00 C0 C0 06 00 C0"),
        // Values out of range are clamped.
        ("C0 04 0D C0", "C0 04 0C C0"), ("C0 04 02 C0", "C0 04 05 C0"), ("C0 05 09 C0", "C0 05 08 C0"),
        ("C0 03 7F C0", "C0 03 16 C0"),
        ("C0 0B 00 64 C0", "C0 0B 00 64 C0"), ("C0 0C 03 E8 C0", "C0 0C 03 E8 C0"),
        // The question whether it is MeshCore's modem is a state of the radio that there is not.
        ("C0 06 17 C0", ""),
    ])
    func command(written: String, answered: String) {
        var bench = bench(setUp: false)
        #expect(bench.answer(to: written) == answered)
        #expect(bench.stick.dangerousCommandCount == 0)
    }

    @Test("after power-up everything is zero")
    func powerUp() {
        var bench = bench(setUp: false)
        #expect(bench.stick.radio == .off)
        #expect(bench.answer(to: "C0 01 00 00 00 00 C0") == "C0 01 00 00 00 00 C0")
        #expect(bench.answer(to: "C0 06 FF C0") == "C0 06 00 C0")
    }

    @Test("a packet comes after its signal, without its first byte", arguments: [
        (-100 as Int16, 50 as Int16, "39", "14"), (-157, -75, "00", "E2"), (-20, 100, "89", "28"),
    ])
    func hearing(dBm: Int16, tenthsDB: Int16, strength: String, noise: String) {
        var bench = bench()
        bench.hear([0xA0, 1, 0xC0, 2], dBm: dBm, tenthsDB: tenthsDB)
        bench.run(milliseconds: 20)
        #expect(digits(bench.takeBytes()) == "C0 23 \(strength) C0 C0 24 \(noise) C0 C0 00 01 DB DC 02 C0")
    }

    @Test("an odd first byte of a packet swallows it, or joins it with the next")
    func oddFirstByte() {
        var bench = bench()
        bench.hear([0xA1, 1, 2])
        bench.run(milliseconds: 20)
        #expect(bench.takeBytes().isEmpty)
        bench.hear([0xA1, 3])
        bench.run(milliseconds: 20)
        #expect(digits(bench.takeBytes()).hasSuffix("C0 00 01 02 03 C0"))
    }

    @Test("a radio that is off hears nothing")
    func deafness() {
        var bench = bench()
        #expect(bench.answer(to: "C0 06 00 C0") == "C0 06 00 C0")
        bench.hear([0xA0, 1])
        bench.run(milliseconds: 3000)
        #expect(bench.takeBytes().isEmpty)
    }

    @Test("a packet on the air has one byte in front, and no report but statistics")
    func sending() throws {
        var bench = bench()
        bench.write("C0 00 01 02 03 C0")
        bench.run(milliseconds: 500)
        let sent = try #require(bench.transmissions.first?.transmission)
        #expect(sent.packet.count == 4)
        #expect(sent.packet[0] & 0x0F == 0)
        #expect(Array(sent.packet.dropFirst()) == [1, 2, 3])
        // Preamble of 24 symbols: 4 bytes with their CRC take 10 symbols after the first 8.
        #expect(sent.airtimeMicroseconds == 47_360)
        let answer = bench.takeBytes()
        #expect(answer.prefix(2) == [0xC0, 0x25])
    }

    /// From the terminal to the air at SF7: median 194 ms, 95 % 361 ms. By count up to 0.8 s at SF9 and 1.6 s at SF12.
    @Test("it listens before it talks: two slots, and up to fourteen", arguments: [
        ("07", 48.0, 390.0), ("09", 98.0, 800.0), ("0C", 200.0, 1620.0),
    ])
    func contention(spreadingFactor: String, shortest: Double, longest: Double) throws {
        var waits: [Double] = []
        for seed in 0..<UInt64(200) {
            var bench = bench(spreadingFactor: spreadingFactor, seed: seed)
            let start = bench.now
            bench.write("C0 00 01 02 03 C0")
            bench.run(milliseconds: 2500)
            let sent = try #require(bench.transmissions.first)
            waits.append(Double(sent.start.microseconds(since: start)) / 1000)
        }
        waits.sort()
        #expect(waits[0] >= shortest && waits[0] < shortest + 10)
        #expect(waits[199] <= longest && waits[199] > longest * 0.95)
        if spreadingFactor == "07" {
            #expect(abs(waits[100] - 194) < 40)
            #expect(abs(waits[190] - 361) < 40)
        }
    }

    @Test("what waits goes out back to back after one contention; the host is not heard meanwhile")
    func flush() throws {
        var bench = bench()
        bench.write("C0 00 01 C0 C0 00 02 C0 C0 00 03 C0")
        bench.run(milliseconds: 5)
        while bench.transmissions.isEmpty { bench.run(milliseconds: 1) }
        let begin = bench.now
        _ = bench.takeBytes()
        bench.write("C0 08 73 C0")
        bench.run(milliseconds: 900)
        #expect(bench.transmissions.map { Array($0.transmission.packet.dropFirst()) } == [[1], [2], [3]])
        for index in 1..<3 {
            let before = bench.transmissions[index - 1]
            #expect(
                bench.transmissions[index].start
                    == before.start.advanced(byMicroseconds: before.transmission.airtimeMicroseconds))
        }
        let last = bench.transmissions[2]
        let end = last.start.advanced(byMicroseconds: last.transmission.airtimeMicroseconds)
        let answers = bench.pieces.filter { $0.bytes == bytes("C0 08 46 C0") }
        #expect(answers.count == 1)
        #expect(answers.allSatisfy { $0.time > end })
        #expect(begin < end)
        #expect(bench.pieces.contains { $0.bytes.prefix(2) == [0xC0, 0x25] && $0.time > end })
    }

    @Test("a busy channel delays the packet")
    func busyChannel() {
        var bench = bench()
        bench.noteChannel(isBusy: true)
        bench.write("C0 00 01 C0")
        bench.run(milliseconds: 2000)
        #expect(bench.transmissions.isEmpty)
        bench.noteChannel(isBusy: false)
        bench.run(milliseconds: 47)
        #expect(bench.transmissions.isEmpty)
        bench.run(milliseconds: 400)
        #expect(bench.transmissions.count == 1)
    }

    /// With two slots before them, 17 … 30 slots of 24 ms.
    @Test("above 7 % of airtime 15 to 28 slots are drawn, and that is told")
    func crowdedChannel() throws {
        var longest = 0.0
        var shortest = 1000.0
        for seed in 0..<UInt64(60) {
            var bench = bench(seed: seed)
            for _ in 0..<5 {
                bench.write([0xC0, 0x00] + [UInt8](repeating: 7, count: 200) + [0xC0])
                bench.run(milliseconds: 1500)
            }
            let start = bench.now
            bench.write("C0 00 01 C0")
            bench.run(milliseconds: 1500)
            let sent = try #require(bench.transmissions.last)
            let wait = Double(sent.start.microseconds(since: start)) / 1000
            (shortest, longest) = (min(shortest, wait), max(longest, wait))
            #expect(bench.pieces.contains { $0.bytes == bytes("C0 28 02 0F 1D C0") })
        }
        #expect(longest > 680 && longest < 725)
        #expect(shortest >= 408 && shortest < 440)
    }

    @Test("data sent while the radio is off is queued without a word, and transmitted later")
    func queueWhileOff() {
        var bench = bench(setUp: false)
        #expect(bench.answer(to: "C0 00 01 02 C0", milliseconds: 3000) == "")
        #expect(bench.transmissions.isEmpty)
        _ = bench.answer(to: Self.set + " C0 06 01 C0")
        bench.run(milliseconds: 500)
        #expect(bench.transmissions.count == 1)
    }

    /// At SF5 the firmware sends 15,625 bit/s.
    @Test("above 14,000 bit/s each packet waits for a free channel")
    func packetByPacket() throws {
        var bench = bench(spreadingFactor: "05")
        bench.write("C0 00 01 C0 C0 00 02 C0 C0 00 03 C0")
        bench.run(milliseconds: 2000)
        try #require(bench.transmissions.count == 3)
        for index in 1..<3 {
            let before = bench.transmissions[index - 1]
            let end = before.start.advanced(byMicroseconds: before.transmission.airtimeMicroseconds)
            #expect(bench.transmissions[index].start.microseconds(since: end) >= 48_000)
        }
    }

    @Test("with an amplifier the radio tells at least 13 dBm while it is on")
    func amplifier() {
        var bench = bench()
        bench.cause(.amplifier)
        #expect(bench.answer(to: "C0 03 0A C0") == "C0 03 0D C0")
        #expect(bench.answer(to: "C0 06 00 C0") == "C0 06 00 C0")
        #expect(bench.answer(to: "C0 03 0A C0") == "C0 03 0A C0")
    }

    @Test("the radio has the nearest bandwidth once it is on")
    func nearestBandwidth() {
        var bench = bench(setUp: false)
        #expect(bench.answer(to: Self.set.replacing("00 01 E8 48", with: "00 01 86 A0")).contains("C0 02 00 01 86 A0 C0"))
        _ = bench.answer(to: "C0 06 01 C0")
        #expect(bench.answer(to: "C0 02 00 00 00 00 C0") == "C0 02 00 01 E8 48 C0")
    }

    @Test("a queue holds 200 packets or 6144 bytes", arguments: [(1, 200), (64, 96), (254, 24)])
    func fullQueue(count: Int, capacity: Int) {
        var bench = bench(setUp: false)
        let frame = [0xC0, 0x00] + [UInt8](repeating: 7, count: count) + [0xC0]
        for _ in 0..<capacity { bench.write(frame) }
        bench.run(milliseconds: 10_000)
        #expect(bench.takeBytes().isEmpty)
        bench.write(frame)
        bench.run(milliseconds: 100)
        #expect(digits(bench.takeBytes()) == "C0 90 04 C0")
    }

    @Test("statistics come about once a second")
    func statistics() {
        var bench = bench()
        bench.run(milliseconds: 5500)
        #expect(bench.pieces.count == 5)
        for piece in bench.pieces {
            #expect(piece.bytes.count == 14)
            #expect(piece.bytes.prefix(2) == [0xC0, 0x25])
        }
    }

    @Test("an airtime limit holds the queue without notice")
    func airtimeLimit() {
        var bench = bench()
        bench.write([0xC0, 0x00] + [UInt8](repeating: 7, count: 200) + [0xC0])
        bench.run(milliseconds: 1500)
        #expect(bench.transmissions.count == 1)
        // One per cent of the last 15 s.
        _ = bench.answer(to: "C0 0B 00 64 C0")
        bench.write("C0 00 01 C0")
        bench.run(milliseconds: 10_000)
        #expect(bench.transmissions.count == 1)
        bench.run(milliseconds: 10_000)
        #expect(bench.transmissions.count == 2)
    }

    @Test("faults: other values, no room, a busy channel, a restart")
    func faults() {
        var bench = bench()
        bench.cause(.refuse)
        #expect(bench.answer(to: "C0 04 09 C0") == "C0 04 07 C0")
        #expect(bench.answer(to: "C0 04 FF C0") == "C0 04 07 C0")
        bench.cause(.full)
        #expect(bench.answer(to: "C0 00 01 C0") == "C0 90 04 C0")
        bench.run(milliseconds: 5000)
        bench.cause(.busy)
        bench.write("C0 00 01 C0")
        bench.run(milliseconds: 4900)
        #expect(bench.transmissions.isEmpty)
        bench.run(milliseconds: 600)
        #expect(bench.transmissions.count == 1)
        _ = bench.takeBytes()
        bench.cause(.reset)
        bench.run(milliseconds: 2000)
        #expect(digits(bench.takeBytes()) == "C0 55 F8 C0")
        #expect(bench.stick.radio == .off)
        #expect(bench.answer(to: "C0 04 FF C0") == "C0 04 00 C0")
    }

    @Test("bytes that a host must not write are counted")
    func dangerousBytes() {
        var bench = bench(setUp: false)
        _ = bench.answer(to: "C0 52 00 01 C0")
        #expect(bench.stick.dangerousCommandCount == 1)
    }
}
