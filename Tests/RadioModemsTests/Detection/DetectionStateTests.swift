import CollarARQ
import CollarSimulator
import Testing

@testable import RadioModems

/// The questions asked and the bytes heard so far decide the meaning of the next bytes.
@Suite struct DetectionStateTests {
    private static let rnodeStart: [UInt8] = [0xC0, 0x55, 0xF8, 0xC0]
    private static let kissAnswer: [UInt8] = [0xC0, 0x06, 0x97, 0xC0]

    private func sentence(_ text: String) -> String {
        let sum = text.utf8.reduce(0, ^)
        return "$\(text)*\(sum < 16 ? "0" : "")\(String(sum, radix: 16))\r\n"
    }

    private func port(at milliseconds: Int64, afterConsole: Bool) -> PortScript {
        var port = PortScript()
        if afterConsole { port.tell("barn login: ") }
        port.run(untilMilliseconds: milliseconds)
        return port
    }

    @Test(arguments: [(10, false), (300, false), (5000, false), (5000, true)] as [(Int64, Bool)])
    func aSignMayComeInByteByByteAtAnyTime(milliseconds: Int64, afterConsole: Bool) {
        for (sign, dialect) in [(Self.rnodeStart, .rnode), (Self.kissAnswer, .kiss)] as [([UInt8], Dialect)] {
            var port = port(at: milliseconds, afterConsole: afterConsole)
            for byte in sign.dropLast() { port.tell([byte]) }
            #expect(port.modem.dialect != dialect)
            port.tell([0xC0])
            #expect(port.modem.dialect == dialect)
        }
    }

    /// The questions of a round begin with the end of an unfinished frame. A stick that shows itself before them needs it yet.
    @Test(arguments: [(.remote, 10, true), (.remote, 200, false), (.remote, 5000, true), (.board, 10, true), (.board, 2000, false)]
        as [(RadioModem.PortKind, Int64, Bool)])
    func anUnfinishedFrameIsEndedOnce(kind: RadioModem.PortKind, milliseconds: Int64, isEnded: Bool) throws {
        for sign in [Self.rnodeStart, Self.kissAnswer] {
            var port = PortScript(kind: kind)
            port.run(untilMilliseconds: milliseconds)
            let count = port.written.count
            port.tell(sign)
            let first = try #require(port.written.dropFirst(count).first)
            #expect(first.bytes.starts(with: KISSFrame.abandonment) == isEnded)
            #expect(first.bytes.count < 700)
        }
    }

    @Test(arguments: [(.kiss, 600), (.rnode, 600), (.rui3, 0)] as [(Dialect, Int)])
    func atANamedStickAnUnfinishedFrameIsEnded(dialect: Dialect, count: Int) throws {
        let port = PortScript(dialect: dialect)
        #expect(try #require(port.written.first).bytes.count { $0 == 0xFF } == count)
    }

    /// After the last byte of a question, the zero of a frame of the serial line would be taken for the type of data.
    @Test func theQuestionsToAnAssumedSerialLineAreClosed() {
        var port = PortScript()
        port.run(untilMilliseconds: 31_500)
        let ends = port.written.map { Array($0.bytes.suffix(5)) }
        #expect(ends.count == 6)
        #expect(ends[3...4] == [[0xC0, 0x08, 0x73, 0xC0, 0xFF], [0xC0, 0x06, 0x17, 0xC0, 0xFF]])
        #expect(port.written[4].bytes.count == 5)
    }

    @Test func aSilentStickIsNamedAsSuchAlsoAfterAnotherDeviceWasThere() {
        var port = PortScript(remembered: .kiss)
        port.tell("barn login: ")
        port.run(untilMilliseconds: 5000)
        port.run(untilMilliseconds: 40_000)
        #expect(port.strangers == [.console, .silent(.kiss)])
    }

    @Test(arguments: [(nil, .silentKISS), (.rnode, .silent(.rnode)), (.rui3, .silent(.rui3))] as [(Dialect?, Stranger)])
    func framesWithoutAnAnswerAreThoseOfTheStickThatWasThere(remembered: Dialect?, stranger: Stranger) {
        var port = PortScript(remembered: remembered)
        port.tell([0xC0, 0x00, 0x41, 0x42, 0xC0])
        port.run(untilMilliseconds: 2000)
        #expect(port.strangers == [stranger])
    }

    /// The board has 2.5 s to start, and the second round listens first, also if the program was held up.
    @Test(arguments: [(1500, 2500), (2200, 2500), (2201, 2501), (4000, 4300)] as [(Int64, Int64)])
    func theSecondRoundOfABoardBeginsAfterItsStart(end: Int64, start: Int64) {
        var detection = StickDetection(remembered: nil, after: nil, timing: .of(.board), at: Instant(microseconds: 0))
        for milliseconds in [300, 700, 1100, end] {
            #expect(detection.deadlineReached(at: Instant(microseconds: milliseconds * 1000)) == nil)
        }
        #expect(detection.deadline == Instant(microseconds: start * 1000))
        #expect(detection.hasAsked)
    }

    @Test func aGNSSReceiverAtAnAssumedSerialLineIsNamedAtOnce() {
        var port = PortScript()
        port.run(untilMilliseconds: 5000)
        port.tell(sentence("GPGGA,1"))
        #expect(port.modem.isSerialLine)
        port.tell(sentence("GPRMC,1"))
        #expect(port.strangers == [.nmea])
        #expect(port.modem.condition == .stranger)
        #expect(port.modem.dialect == nil)
        #expect(port.modem.nextDeadline == Instant(microseconds: 35_000_000))
    }

    @Test(arguments: ["OK", "ERROR", "+CME ERROR: 100", "AT_BUSY_ERROR"]) func anyStatusIsTheAnswerOfAModemOfCommands(status: String) {
        var port = PortScript()
        port.run(untilMilliseconds: 700)
        port.tell("\(status)\r\n")
        #expect(port.modem.dialect == .rui3)
        // In the pause between two rounds nothing was asked.
        var later = PortScript()
        later.run(untilMilliseconds: 5000)
        later.tell("\(status)\r\n")
        #expect(later.modem.isSerialLine)
    }

    @Test(arguments: [Dialect.kiss, .rnode, .rui3]) func anAnswerToNobodyIsNotSentWithTheNextOne(dialect: Dialect) {
        var bench = StickBench(dialect.makeStick(modem: .serial(bitsPerSecond: 115_200), seed: 7))
        bench.answer([1])
        bench.run(milliseconds: 8000)
        #expect(bench.isReady)
        bench.answer([2, 2])
        bench.run(milliseconds: 3000)
        #expect(bench.sent.map { $0.packet.suffix(2) } == [[2, 2]])
    }
}
