import CollarWire
import Testing

@testable import RadioModems

/// A listener that finds the packets of a line in each dialect.
@Suite struct PacketTapTests {
    /// The packets and the faults of bytes that come in two parts.
    private func findings(_ dialect: Dialect, _ bytes: [UInt8], cutAt cut: Int) -> (packets: [[UInt8]], faultCount: Int) {
        var tap = PacketTap(dialect)
        let found = tap.take(Array(bytes.prefix(cut)).span) + tap.take(Array(bytes.dropFirst(cut)).span)
        let packets = found.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
        return (packets, found.count - packets.count)
    }

    private func check(_ dialect: Dialect, _ bytes: [UInt8], _ packets: [[UInt8]]) {
        for cut in 0...bytes.count {
            let found = findings(dialect, bytes, cutAt: cut)
            #expect(found.packets == packets, "\(dialect), cut at \(cut)")
            #expect(found.faultCount == 0)
        }
    }

    @Test(arguments: [Dialect.kiss, .rnode]) func dataFramesArePacketsAndOtherFramesAreNot(dialect: Dialect) {
        var line: [UInt8] = []
        for frame in [KISSFrame(0, [1, 0xC0]), KISSFrame(6, [0xF9, 1, 2]), KISSFrame(0, [0xDB]), KISSFrame(0x23, [3]), KISSFrame(0, [4])] {
            frame.append(to: &line)
        }
        check(dialect, line, [[1, 0xC0], [0xDB], [4]])
    }

    @Test func eventsAndCommandsOfTextArePackets() {
        let text = "AT+PSEND=01ab\r\n\r\nOK\r\n+EVT:RXP2P:-97:7:00FF\r\nAT+PSEND=0\r\nAT+PRECV=65533\r\n"
            + "+EVT:TXP2P DONE\r\n+EVT:RXP2P:-97:7:02\r\n"
        check(.rui3, Array(text.utf8), [[1, 0xAB], [0, 0xFF], [2]])
    }

    @Test func framesOfTheSerialLineAreFound() {
        let request = [UInt8](capacity: 64) { output in
            do throws(EncodeError) { try IdentityRequest(receiverID: 7).encode(address: 255, into: &output) } catch {}
        }
        let frame = [UInt8](capacity: 80) { StreamEncoder.encode(request.span, into: &$0) }
        check(.serial, [0] + frame + frame, [request, request])
        #expect(findings(.serial, [0, 5, 1, 0] + frame, cutAt: 2).faultCount == 1)
        #expect(findings(.serial, [0, 5, 1, 0] + frame, cutAt: 2).packets == [request])
    }

    @Test func aCommandThatSendsHasTwoDigitsForEachByte() {
        #expect(RUI3Line.sending([0, 9, 0x10, 0xAB, 0xFF]) == "AT+PSEND=000910ABFF")
        #expect(RUI3Line.bytes(hexadecimal: "000910abFF") == [0, 9, 0x10, 0xAB, 0xFF])
        #expect(RUI3Line.bytes(hexadecimal: "") == [])
        for text in ["0", "0g", "-1", "+1", " 1"] { #expect(RUI3Line.bytes(hexadecimal: text[...]) == nil, "\(text)") }
        #expect(RUI3Line.bytes(hexadecimal: String(repeating: "0", count: 510)[...])?.count == 255)
        #expect(RUI3Line.bytes(hexadecimal: String(repeating: "0", count: 512)[...]) == nil)
    }

    @Test(arguments: [
        ("OK", .ok), ("AT_BUSY_ERROR", .failed("AT_BUSY_ERROR")), ("ERROR", .failed("ERROR")), ("+CME ERROR: 3", .failed("+CME ERROR: 3")),
        ("+EVT:TXP2P DONE", .sent), ("AT+NWM=0", .value(name: "NWM", "0")), ("AT+VER=a=b", .value(name: "VER", "a=b")), ("OKAY", .other),
        ("RAKwireless RAK3172", .started), ("Current Work Mode: LoRaWAN.", .started), ("+EVT:RXP2P RECEIVE TIMEOUT", .other),
        ("+EVT:RXP2P:-1:2:0A", .packet([10], strengthDBm: -1, signalToNoiseTenthsDB: 20)), ("+EVT:RXP2P:-1001:2:0A", .other),
        ("+EVT:RXP2P:-1:401:0A", .other), ("+EVT:RXP3P:-1:2:0A", .other), ("AT", .other),
    ] as [(String, RUI3Line)])
    func aLineIsReadByItsForm(text: String, line: RUI3Line) { #expect(RUI3Line(text) == line) }

    @Test func linesEndWithEitherByteAndAreNotTooLong() {
        var decoder = RUI3Line.Decoder()
        func lines(_ bytes: [UInt8]) -> [String] { bytes.compactMap { decoder.take($0) } }
        #expect(lines(Array("one\rtwo\n\r\n\0thr\0ee\r\n".utf8)) == ["one", "two", "three"])
        let longest = [UInt8](repeating: 0x41, count: 600)
        #expect(lines(longest + [10]).map(\.count) == [600])
        #expect(lines(longest + [0x41, 10]) == [])
        #expect(lines(longest + longest + [10] + Array("next\n".utf8)) == ["next"])
    }

    @Test(arguments: [
        (125_000, [0, 125]), (250_000, [1, 250]), (500_000, [2, 500]), (62_500, [9]), (7800, [3]), (41_700, [8]), (203_125, [203]),
        (100_000, []),
    ] as [(UInt32, [UInt32])])
    func aBandwidthHasItsForms(hertz: UInt32, forms: [UInt32]) {
        #expect(RUI3Bandwidth.forms(of: hertz) == forms)
        guard hertz != 203_125 else { return }
        for form in forms { #expect(RUI3Bandwidth.hertz(Int64(form)) == Int64(hertz)) }
    }
}
