import CollarARQ
import CollarWire
@testable import RadioModems
import Testing

@Suite("Detection of what is at a port")
struct DetectionTests {
    private static let settings = ModemConfiguration(settings: StickBench.settings, limits: TransmitLimits())

    /// Detects with these bytes coming in at once, and returns the modem, everything that it wrote, and its events.
    private func detect(
        _ bytes: [UInt8], remembered: Dialect? = nil, kind: RadioModem.PortKind = .remote, seconds: Int64 = 10
    ) -> (modem: RadioModem, written: [UInt8], events: [ModemEvent]) {
        var modem = RadioModem(DetectionTests.settings, kind: kind, remembered: remembered, at: Instant(microseconds: 0))
        var written: [UInt8] = []
        var events: [ModemEvent] = []
        modem.receive(bytes.span, at: Instant(microseconds: 1000))
        let end = Instant(microseconds: seconds * 1_000_000)
        while let due = modem.nextDeadline, due < end { 
            modem.deadlineReached(at: due)
            written += modem.takeBytes()
            while let event = modem.nextEvent() { events.append(event) }
        }
        while let event = modem.nextEvent() { events.append(event) }
        return (modem, written, events)
    }

    private func strangers(_ events: [ModemEvent]) -> [Stranger] {
        events.compactMap { if case .notice(.stranger(let stranger)) = $0 { stranger } else { nil } }
    }

    private func line(_ frame: [UInt8]) -> [UInt8] {
        [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
    }

    private var identityRequest: [UInt8] {
        [UInt8](capacity: 64) { output in
            do throws(EncodeError) { try IdentityRequest(receiverID: 7).encode(address: 255, into: &output) } catch {}
        }
    }

    @Test("silence means the serial line, after an RNode, a KISS modem and AT commands were asked for in this order")
    func silence() throws {
        let (modem, written, events) = detect([])
        #expect(modem.isSerialLine)
        #expect(events == [.serialLine([])])
        let bytes = Array(written.drop { $0 == 0xFF })
        #expect(written.count - bytes.count > 512, "an unfinished frame is not pushed out of the stick's buffer")
        #expect(bytes == [0xC0, 0x08, 0x73, 0xC0, 0xC0, 0x06, 0x17, 0xC0] + Array("\r\nAT\r\n".utf8) + [0x3C, 2, 0, 22, 1])
    }

    /// A bridge sends what it is asked on the air.
    @Test("an assumed serial line is asked in four more rounds, and one that was found before in none", arguments: [
        (nil, 5), (.serial, 1),
    ] as [(Dialect?, Int)])
    func rounds(remembered: Dialect?, count: Int) {
        let (modem, written, _) = detect([], remembered: remembered, seconds: 7200)
        #expect(modem.isSerialLine)
        #expect(modem.nextDeadline == nil)
        #expect(written.filter { $0 == 0x17 }.count == count)
        #expect(written.count < 650 * count)
    }

    @Test("what shows itself at an assumed serial line is named")
    func lateStranger() {
        var (modem, _, _) = detect([])
        let text = Array("\r\nWelcome\r\nhost login: ".utf8)
        modem.receive(text.span, at: Instant(microseconds: 11_000_000))
        let end = Instant(microseconds: 40_000_000)
        while let due = modem.nextDeadline, due < end, modem.isSerialLine { modem.deadlineReached(at: due) }
        #expect(modem.condition == .stranger)
        #expect(modem.dialect == nil)
        var events: [ModemEvent] = []
        while let event = modem.nextEvent() { events.append(event) }
        #expect(strangers(events) == [.console])
    }

    @Test("a frame of the serial line ends the detection at once, nothing is written, and no byte of it is lost")
    func serialLine() {
        let bytes = line(identityRequest)
        let (modem, written, events) = detect(bytes)
        #expect(modem.isSerialLine)
        #expect(written.isEmpty)
        #expect(events == [.serialLine(bytes)])
    }

    @Test("a board gets time to start before the serial line is assumed", arguments: [nil, Dialect.serial])
    func boardStarts(remembered: Dialect?) {
        var modem = RadioModem(
            DetectionTests.settings, kind: .board, remembered: remembered, at: Instant(microseconds: 0))
        var end = Instant(microseconds: 0)
        while !modem.isSerialLine, let due = modem.nextDeadline {
            end = due
            modem.deadlineReached(at: due)
        }
        #expect(modem.isSerialLine)
        #expect(remembered == .serial ? end.microseconds < 2_000_000 : end.microseconds > 2_500_000)
    }

    @Test("a stick that was an RNode and is silent now gets no frame of the serial line", arguments: [Dialect.rnode, .kiss, .rui3])
    func silentStick(dialect: Dialect) {
        let (modem, written, events) = detect([], remembered: dialect)
        #expect(!modem.isSerialLine)
        #expect(strangers(events) == [.silent(dialect)])
        #expect(!hasFrame(written))
    }

    /// Whether bytes hold a frame of the serial line.
    private func hasFrame(_ bytes: [UInt8]) -> Bool {
        var stream = StreamDecoder()
        var index = 0
        while let event = stream.next(in: bytes.span, at: &index) { if case .frame = event { return true } }
        return false
    }

    /// What Meshtastic's firmware writes: a colour and a zero before each line.
    private static let colouredLog = (0..<5).map { "\u{1B}[34m\0DEBUG | ??:??:?? \($0) [RadioIf] Packet history\u{1B}[0m\r\n" }.joined()
    /// The answer of MeshCore's companion firmware: its code, versions and numbers, date, board and version.
    private static let companionAnswer: [UInt8] =
        [0x3E, 80, 0, 13, 8, 50, 8, 0, 0, 0, 0] + Array("15 Nov 2026\0".utf8) + Array("Heltec V3".utf8) + [UInt8](repeating: 0, count: 31)
        + Array("v1.17.1".utf8) + [UInt8](repeating: 0, count: 13)

    @Test("what else speaks at a port is named, and gets no frame of the serial line")
    func others() {
        let samples: [([UInt8], Stranger)] = [
            (Array("$GPGGA,1*4B\r\n$GPRMC,1*56\r\n".utf8), .nmea),
            (Array("ets Jul 29 2019 12:21:46\r\n\r\nrst:0x1 (POWERON_RESET),boot:0x13\r\n".utf8), .bootloader),
            ([0x94, 0xC3, 0x00, 0x04, 0x0D, 0x11, 0x22, 0x33], .meshtastic),
            (Array("INFO | Meshtastic 2.5 booting\r\n".utf8), .meshtastic),
            ([0xC0, 0x00, 0x41, 0x42, 0xC0], .silentKISS),
            (Array("Press any key\r\n".utf8), .text("Press any key")),
            (Array(DetectionTests.colouredLog.utf8), .meshtastic),
            (DetectionTests.companionAnswer, .companion),
            (Array("\r\nDebian GNU/Linux 12 pi ttyS0\r\n\r\npi login: ".utf8), .console),
            (Array("\r\n-sh: AT: not found\r\n# ".utf8), .console),
            ([UInt8](repeating: 0x86, count: 301), .bytesWithoutFrames),
        ]
        for (bytes, stranger) in samples {
            let (modem, written, events) = detect(bytes)
            #expect(!modem.isSerialLine, "\(stranger)")
            #expect(strangers(events) == [stranger])
            #expect(!hasFrame(written), "\(stranger)")
        }
    }

    /// Detects at a line that gives back what is written to it, after bytes of its own.
    private func detectEcho(_ first: [UInt8] = [], remembered: Dialect? = nil) -> (modem: RadioModem, events: [ModemEvent]) {
        var modem = RadioModem(DetectionTests.settings, kind: .remote, remembered: remembered, at: Instant(microseconds: 0))
        modem.receive(first.span, at: Instant(microseconds: 1000))
        var events: [ModemEvent] = []
        while let due = modem.nextDeadline, due < Instant(microseconds: 10_000_000) {
            modem.deadlineReached(at: due)
            let echo = modem.takeBytes()
            if !echo.isEmpty { modem.receive(echo.span, at: due.advanced(byMicroseconds: 1000)) }
            while let event = modem.nextEvent() { events.append(event) }
        }
        return (modem, events)
    }

    @Test("an echo is named; text before it counts more")
    func echo() {
        #expect(strangers(detectEcho().events) == [.echo])
        #expect(strangers(detectEcho(Array("pi login: ".utf8)).events) == [.console])
        #expect(strangers(detectEcho(Array("Press any key\r\n".utf8)).events) == [.text("Press any key")])
        #expect(strangers(detectEcho([0xC0, 0x00, 0x41, 0x42, 0xC0]).events) == [.silentKISS])
        #expect(detectEcho(remembered: .serial).modem.isSerialLine, "a line with two wires can echo")
    }

    @Test("a modem with AT commands that is not RUI3 is named, and nothing else is written to it")
    func otherModem() {
        var modem = RadioModem(DetectionTests.settings, kind: .remote, at: Instant(microseconds: 0))
        var written: [UInt8] = []
        var events: [ModemEvent] = []
        while let due = modem.nextDeadline, due < Instant(microseconds: 20_000_000) {
            modem.deadlineReached(at: due)
            var bytes = modem.takeBytes()
            while !bytes.isEmpty {
                written += bytes
                if bytes.suffix(5) == HeardBytes.companionQuestion[...] { bytes.removeLast(5) }
                let isGreeting = bytes.suffix(6) == Array("\r\nAT\r\n".utf8)[...] || bytes == Array("AT\r\n".utf8)
                let isCommand = bytes.suffix(2) == [13, 10] && bytes.count > 2
                if isCommand { modem.receive(Array(isGreeting ? "\r\nOK\r\n".utf8 : "\r\nAT_ERROR\r\n".utf8).span, at: due) }
                bytes = modem.takeBytes()
            }
            while let event = modem.nextEvent() { events.append(event) }
        }
        #expect(strangers(events) == [.otherModem])
        #expect(!String(decoding: written, as: UTF8.self).contains("PFREQ"))
    }

    /// A frame whose CRC only the collar's log proves, with the bytes as its content.
    private func unproven(_ content: [UInt8]) -> [UInt8] { line([0x21, 0, 7, 1] + content + [1, 2, 3]) }

    @Test("bytes in frames of the serial line that look like KISS or Meshtastic by chance are not taken for a stranger")
    func chance() {
        let cases: [[UInt8]] = [[0xC0, 0x41, 0x42, 0xC0], [0x94, 0xC3, 0x41]]
        for content in cases {
            // It is joined in the middle of a frame.
            let (modem, _, events) = detect([0x41, 0x42, 0] + unproven(content))
            #expect(modem.isSerialLine)
            #expect(strangers(events).isEmpty)
            let two = detect([0x41, 0x42, 0] + unproven(content) + unproven(content))
            #expect(two.modem.isTransparent)
            #expect(two.written.isEmpty, "the second frame ends the detection")
        }
    }

    @Test("a KISS frame in the rest of a frame is no sign where the serial line was used before")
    func chanceInRest() {
        let rest: [UInt8] = [0x41, 0xC0, 0x42, 0xC0, 0x43]
        #expect(strangers(detect(rest).events) == [.silentKISS])
        let known = detect(rest, remembered: .serial)
        #expect(known.modem.isSerialLine)
        #expect(strangers(known.events).isEmpty)
    }

    @Test("frames of a KISS modem with zeros in them are not taken for the serial line")
    func kissWithZeros() {
        let frame: [UInt8] = [0xC0, 0x00, 0x41, 0x00, 0x42, 0x43, 0x00, 0x00, 0x44, 0xC0]
        let (modem, written, events) = detect(Array((0..<20).map { _ in frame }.joined()))
        #expect(!modem.isSerialLine)
        #expect(strangers(events) == [.silentKISS])
        #expect(!hasFrame(written))
    }

    @Test("the rest of a long frame of the serial line is not taken for a stranger")
    func restOfFrame() {
        let (modem, _, events) = detect([UInt8](repeating: 0x86, count: 255) + [0])
        #expect(modem.isSerialLine)
        #expect(strangers(events).isEmpty)
    }

    @Test("frames of the serial line end the examination of a stranger at once, and no byte of them is lost")
    func strangerBecomesSerial() {
        var (modem, _, _) = detect(Array("login: \r\n".utf8), seconds: 2)
        #expect(!modem.isSerialLine)
        let bytes = line(identityRequest)
        modem.receive(bytes.span, at: Instant(microseconds: 3_000_000))
        #expect(modem.isSerialLine)
        #expect(modem.nextEvent() == .serialLine(bytes))
    }

    @Test("a port is examined again, and the same finding is not reported twice")
    func again() {
        let (_, _, events) = detect(Array("login: \r\n".utf8), seconds: 300)
        #expect(strangers(events).count == 1)
    }

    @Test("text with a checksum that fails is not NMEA")
    func wrongChecksum() {
        let (_, _, events) = detect(Array("$GPGGA,1*4C\r\n$GPRMC,1*57\r\n".utf8))
        #expect(strangers(events) == [.text("$GPGGA,1*4C")])
    }
}
