import CollarARQ
import CollarSimulator
import RadioModems
import Testing

/// What the transcripts of RUI3 do not have. It was not tried on hardware.
@Suite("RUI3") struct RUI3StickTests {
    private static let ok = "OK\r\n"
    private static let settings = RadioSettings(
        frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 5, powerDBm: 14)

    /// A module in point-to-point mode, with the sync word of collars.
    private func bench(_ release: StickRelease = .rui3ShortPackets) -> StickBench<RUI3Stick> {
        var bench = StickBench(RUI3Stick(release: release, after: ["NWM=0", "SYNCWORD=1424"], seed: 1))
        bench.run(milliseconds: 2000)
        _ = bench.takeBytes()
        return bench
    }

    @Test("AT+NWM restarts the module, also into the mode that it has")
    func mode() {
        var bench = StickBench(RUI3Stick(seed: 1))
        #expect(bench.answer(toLine: "AT+NWM=?") == "AT+NWM=1\r\nOK\r\n")
        #expect(bench.answer(toLine: "AT+PSF=7") == "AT_MODE_NO_SUPPORT\r\n")
        #expect(bench.answer(toLine: "AT+NWM=3") == "AT_PARAM_ERROR\r\n")
        for _ in 0..<2 {
            // What is written between the answer and the restart, and before the module has started, is lost.
            #expect(bench.answer(toLine: "AT+NWM=0") == "OK")
            #expect(bench.answer(toLine: "AT+NWM=?", milliseconds: 100) == "")
            #expect(bench.answer(toLine: "AT", milliseconds: 100) == "")
            bench.run(milliseconds: 2000)
            #expect(String(decoding: bench.takeBytes(), as: UTF8.self).hasSuffix("Current Work Mode: LoRa P2P.\r\n"))
            #expect(bench.answer(toLine: "AT+NWM=?") == "AT+NWM=0\r\nOK\r\n")
        }
    }

    @Test("each command has its answer", arguments: [
        ("AT", "OK\r\n"), ("at+precv=0", "OK\r\n"),
        ("AT+PFREQ=869525000", "OK\r\n"), ("AT+PFREQ=1", "AT_PARAM_ERROR\r\n"),
        ("AT+PSF=13", "AT_PARAM_ERROR\r\n"), ("AT+PBW=126", "AT_PARAM_ERROR\r\n"), ("AT+PBW=500", "OK\r\n"),
        ("AT+PCR=4", "AT_PARAM_ERROR\r\n"), ("AT+PPL=8", "OK\r\n"), ("AT+PTP=14", "OK\r\n"),
        ("AT+P2P=?", "AT+P2P=868000000:7:0:0:8:14\r\nOK\r\n"),
        ("AT+P2P=869525000:7:125:0:8", "AT_PARAM_ERROR\r\n"),
        ("AT+PSEND=ABC", "AT_PARAM_ERROR\r\n"), ("AT+PSEND=", "AT_PARAM_ERROR\r\n"),
        ("AT+NOTHING=1", "AT_COMMAND_NOT_FOUND\r\n"), ("AT+NOTHING", "AT_COMMAND_NOT_FOUND\r\n"),
        ("hello", "AT_COMMAND_NOT_FOUND\r\n"),
    ])
    func command(written: String, answered: String) {
        var bench = bench()
        #expect(bench.answer(toLine: written) == answered)
    }

    @Test("what an earlier owner left in flash makes the module deaf", arguments: [
        "ENCRY=1", "IQINVER=1", "FIXLENGTHPAYLOAD=1", "SYMBOLTIMEOUT=4", "SYNCWORD=3444", "NWM=2",
    ])
    func deafness(command: String) {
        var bench = StickBench(RUI3Stick(after: ["NWM=0", "SYNCWORD=1424", command], seed: 1))
        #expect(bench.answer(toLine: "AT+PRECV=65533") == Self.ok)
        #expect(bench.stick.radio == .off)
        bench.hear([1, 2])
        bench.run(milliseconds: 100)
        #expect(bench.takeBytes().isEmpty)
    }

    @Test("six settings in one line, or in six")
    func settings() {
        var bench = bench()
        #expect(bench.answer(toLine: "AT+P2P=869525000:7:125:0:8:14") == Self.ok)
        #expect(bench.stick.radio == .off)
        #expect(bench.answer(toLine: "AT+PRECV=65534") == Self.ok)
        #expect(bench.stick.radio == .on(Self.settings))
        var other = self.bench()
        for line in ["PFREQ=869525000", "PSF=7", "PBW=0", "PCR=0", "PPL=8", "PTP=14", "PRECV=65533"] {
            #expect(other.answer(toLine: "AT+\(line)") == Self.ok)
        }
        #expect(other.stick.radio == .on(Self.settings))
    }

    @Test("a packet comes with its signal")
    func hearing() {
        var bench = bench()
        bench.hear([1])
        #expect(bench.answer(toLine: "AT+PRECV=65534") == Self.ok)
        bench.hear([0x00, 0xAB, 0xFF], dBm: -107, tenthsDB: -25)
        bench.run(milliseconds: 20)
        #expect(String(decoding: bench.takeBytes(), as: UTF8.self) == "+EVT:RXP2P:-107:-3:00ABFF\r\n")
    }

    @Test("sending is refused while everything is received, and allowed with 65533")
    func sending() throws {
        var bench = bench()
        _ = bench.answer(toLine: "AT+PRECV=65534")
        #expect(bench.answer(toLine: "AT+PSEND=0102ff") == "AT_BUSY_ERROR\r\n")
        #expect(bench.answer(toLine: "AT+PRECV=0") == Self.ok)
        #expect(bench.answer(toLine: "AT+PRECV=65533") == Self.ok)
        #expect(bench.answer(toLine: "AT+PSEND=0102ff", milliseconds: 3) == Self.ok)
        #expect(bench.answer(toLine: "AT+PSEND=03", milliseconds: 10) == "AT_BUSY_ERROR\r\n")
        bench.run(milliseconds: 100)
        #expect(String(decoding: bench.takeBytes(), as: UTF8.self) == "+EVT:TXP2P DONE\r\n")
        let sent = try #require(bench.transmissions.first?.transmission)
        #expect(sent.packet == [1, 2, 255])
        // 3 bytes at SF7: 12.25 symbols of preamble and sync word, 8 symbols, and 10 that carry the rest.
        #expect(sent.airtimeMicroseconds == 30_976)
        bench.hear([5])
        bench.run(milliseconds: 20)
        #expect(String(decoding: bench.takeBytes(), as: UTF8.self).hasPrefix("+EVT:RXP2P:"))
        #expect(bench.answer(toLine: "AT+PRECV=?") == "P2P_RX_ON\r\nOK\r\n")
    }

    @Test("one packet within a time")
    func onePacket() {
        var bench = bench()
        #expect(bench.answer(toLine: "AT+PRECV=1000") == Self.ok)
        bench.run(milliseconds: 1000)
        #expect(String(decoding: bench.takeBytes(), as: UTF8.self) == "+EVT:RXP2P RECEIVE TIMEOUT\r\n")
        #expect(bench.answer(toLine: "AT+PRECV=65535") == Self.ok)
        bench.hear([5])
        bench.hear([6])
        bench.run(milliseconds: 100_000)
        #expect(String(decoding: bench.takeBytes(), as: UTF8.self) == "+EVT:RXP2P:-100:5:05\r\n")
    }

    @Test("faults: refused settings, a busy module, a restart that keeps the settings and ends reception")
    func faults() {
        var bench = bench()
        bench.cause(.refuse)
        #expect(bench.answer(toLine: "AT+PSF=9") == "AT_PARAM_ERROR\r\n")
        bench.cause(.full)
        #expect(bench.answer(toLine: "AT+PSEND=01") == "AT_BUSY_ERROR\r\n")
        #expect(bench.answer(toLine: "AT+PRECV=65533") == Self.ok)
        bench.cause(.reset)
        bench.run(milliseconds: 2000)
        _ = bench.takeBytes()
        #expect(bench.answer(toLine: "AT+NWM=?") == "AT+NWM=0\r\nOK\r\n")
        #expect(bench.answer(toLine: "AT+PRECV=?") == "P2P_RX_OFF\r\nOK\r\n")
    }
}
