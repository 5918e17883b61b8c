import CollarARQ
import CollarSimulator
import RadioModems
import Testing

/// The lines of RUI3, written from its AT command manual. They were not tried on hardware.
@Suite("RUI3") struct RUI3StickTests {
    private static let ok = "\r\nOK\r\n"
    private static let settings = RadioSettings(
        frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 5, powerDBm: 14)

    /// A module in point-to-point mode.
    private func bench() -> StickBench<RUI3Stick> {
        var bench = StickBench(RUI3Stick(seed: 1))
        #expect(bench.answer(toLine: "AT+NWM=0") == Self.ok)
        bench.run(milliseconds: 2000)
        _ = bench.takeBytes()
        return bench
    }

    @Test("the first AT+NWM=0 restarts the module, the second does not")
    func mode() {
        var bench = StickBench(RUI3Stick(seed: 1))
        #expect(bench.answer(toLine: "AT+NWM=?") == "AT+NWM=1\r\n\r\nOK\r\n")
        #expect(bench.answer(toLine: "AT+PSF=7") == "\r\nAT_ERROR\r\n")
        // What is written between the answer and the restart, and before the module has started, is lost.
        #expect(bench.answer(toLine: "AT+NWM=0") == Self.ok)
        #expect(bench.answer(toLine: "AT+NWM=?", milliseconds: 100) == "")
        #expect(bench.answer(toLine: "AT", milliseconds: 100) == "")
        bench.run(milliseconds: 2000)
        #expect(!bench.takeBytes().isEmpty)
        #expect(bench.answer(toLine: "AT+NWM=?") == "AT+NWM=0\r\n\r\nOK\r\n")
        #expect(bench.answer(toLine: "AT+NWM=0") == Self.ok)
        bench.run(milliseconds: 2000)
        #expect(bench.takeBytes().isEmpty)
    }

    @Test("each command has its answer", arguments: [
        ("AT", "\r\nOK\r\n"), ("at+precv=0", "\r\nOK\r\n"),
        ("AT+PFREQ=869525000", "\r\nOK\r\n"), ("AT+PFREQ=1", "\r\nAT_PARAM_ERROR\r\n"),
        ("AT+PSF=13", "\r\nAT_PARAM_ERROR\r\n"), ("AT+PBW=126", "\r\nAT_PARAM_ERROR\r\n"), ("AT+PBW=500", "\r\nOK\r\n"),
        ("AT+PCR=4", "\r\nAT_PARAM_ERROR\r\n"), ("AT+PPL=8", "\r\nOK\r\n"), ("AT+PTP=14", "\r\nOK\r\n"),
        ("AT+P2P=?", "AT+P2P=868000000:7:125:0:8:14\r\n\r\nOK\r\n"),
        ("AT+P2P=869525000:7:125:0:8", "\r\nAT_PARAM_ERROR\r\n"),
        ("AT+PSEND=ABC", "\r\nAT_PARAM_ERROR\r\n"), ("AT+PSEND=", "\r\nAT_PARAM_ERROR\r\n"),
        ("AT+NOTHING=1", "\r\nAT_COMMAND_NOT_FOUND\r\n"), ("AT+NOTHING", "\r\nAT_COMMAND_NOT_FOUND\r\n"),
        ("hello", "\r\nAT_ERROR\r\n"),
    ])
    func command(written: String, answered: String) {
        var bench = bench()
        #expect(bench.answer(toLine: written) == answered)
    }

    @Test("six settings in one line, or in six")
    func settings() {
        var bench = bench()
        #expect(bench.answer(toLine: "AT+P2P=869525000:7:125:0:8:14") == Self.ok)
        #expect(bench.stick.radio == .off)
        #expect(bench.answer(toLine: "AT+PRECV=65534") == Self.ok)
        #expect(bench.stick.radio == .on(Self.settings))
        var other = self.bench()
        for line in ["PFREQ=869525000", "PSF=7", "PBW=125", "PCR=0", "PPL=8", "PTP=14", "PRECV=65533"] {
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
        #expect(bench.answer(toLine: "AT+PSEND=0102ff") == "\r\nAT_BUSY_ERROR\r\n")
        #expect(bench.answer(toLine: "AT+PRECV=0") == Self.ok)
        #expect(bench.answer(toLine: "AT+PRECV=65533") == Self.ok)
        #expect(bench.answer(toLine: "AT+PSEND=0102ff", milliseconds: 3) == Self.ok)
        #expect(bench.answer(toLine: "AT+PSEND=03", milliseconds: 10) == "\r\nAT_BUSY_ERROR\r\n")
        bench.run(milliseconds: 100)
        #expect(String(decoding: bench.takeBytes(), as: UTF8.self) == "+EVT:TXP2P DONE\r\n")
        let sent = try #require(bench.transmissions.first?.transmission)
        #expect(sent.packet == [1, 2, 255])
        // 3 bytes at SF7: 12.25 symbols of preamble and sync word, 8 symbols, and 10 that carry the rest.
        #expect(sent.airtimeMicroseconds == 30_976)
        bench.hear([5])
        bench.run(milliseconds: 20)
        #expect(String(decoding: bench.takeBytes(), as: UTF8.self).hasPrefix("+EVT:RXP2P:"))
        #expect(bench.answer(toLine: "AT+PRECV=?") == "AT+PRECV=65533\r\n\r\nOK\r\n")
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

    @Test("faults: refused settings, a busy module, a restart with the factory's settings")
    func faults() {
        var bench = bench()
        bench.cause(.refuse)
        #expect(bench.answer(toLine: "AT+PSF=9") == "\r\nAT_PARAM_ERROR\r\n")
        bench.cause(.full)
        #expect(bench.answer(toLine: "AT+PSEND=01") == "\r\nAT_BUSY_ERROR\r\n")
        bench.cause(.reset)
        bench.run(milliseconds: 2000)
        _ = bench.takeBytes()
        #expect(bench.answer(toLine: "AT+NWM=?") == "AT+NWM=1\r\n\r\nOK\r\n")
    }
}
