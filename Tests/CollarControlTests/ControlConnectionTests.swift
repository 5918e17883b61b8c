import CollarFormats
import CollarWire
import Glibc
import Testing

@testable import CollarControl

/// The connection of a program: lines that come together, in pieces or not at all. All lines are there before they are awaited.
@Suite struct ControlConnectionTests {
    private let bench: ControlSocketBench
    private let connection: ControlConnection
    private let receiver: Int32

    init() throws {
        bench = try ControlSocketBench()
        (connection, receiver) = try bench.connected()
    }

    private func line(_ end: Int64 = ControlSocketBench.farAway) -> String? {
        guard case .line(let bytes) = connection.nextLine(untilMicroseconds: end) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func result(_ outcome: ResultLine.Outcome, request: UInt16 = 1) -> ResultLine {
        ResultLine(outcome: outcome, unixMilliseconds: 1, deviceID: 7, requestID: request, verb: "locate")
    }

    @Test func linesThatComeTogetherAreTakenOneByOne() throws {
        try bench.write("one\ntwo\n\nfour\n", to: receiver)
        #expect(line() == "one")
        // The others were read already, so that they need no time.
        #expect(line(0) == "two")
        #expect(line(0) == "")
        #expect(line(0) == "four")
        #expect(connection.nextLine(untilMicroseconds: 0) == .timeout)
        try bench.write("five\n", to: receiver)
        #expect(line() == "five")
    }

    @Test func aRequestThatEndsAtOnceHasBothOfItsResults() throws {
        try bench.write(result(.queued).bytes + result(.ok).bytes, to: receiver)
        #expect(connection.next(untilMicroseconds: ControlSocketBench.farAway) == .line(result(.queued)))
        #expect(connection.next(untilMicroseconds: 0) == .line(result(.ok)))
        #expect(connection.next(untilMicroseconds: 0) == .timeout)
    }

    @Test func theBeginningOfALineWaitsForItsEnd() throws {
        try bench.write("one\ntw", to: receiver)
        #expect(line() == "one")
        #expect(connection.nextLine(untilMicroseconds: 0) == .timeout)
        try bench.write("o\nthr", to: receiver)
        #expect(line() == "two")
        try bench.write("ee\n", to: receiver)
        #expect(line() == "three")
    }

    @Test func aLineMayBeLongerThanOneRead() throws {
        let long = String(repeating: "x", count: 50_000)
        try bench.write("\(long)\nshort\n", to: receiver)
        #expect(line() == long)
        #expect(line() == "short")
    }

    @Test func aLineWithoutAnEndIsNoReceivers() throws {
        try bench.write(String(repeating: "x", count: 80_000), to: receiver)
        #expect(connection.nextLine(untilMicroseconds: ControlSocketBench.farAway) == .closed)
    }

    @Test func linesBeforeTheEndAreTakenAndThenTheEndIsTold() throws {
        try bench.write("one\ntwo\nrest", to: receiver)
        bench.closeNow(receiver)
        #expect(line() == "one")
        #expect(line() == "two")
        #expect(connection.nextLine(untilMicroseconds: ControlSocketBench.farAway) == .closed)
        #expect(connection.nextLine(untilMicroseconds: ControlSocketBench.farAway) == .closed)
    }

    @Test func aLineThatIsNoResultCountsAsTheEnd() throws {
        try bench.write("{\"type\":\"fix\"}\n", to: receiver)
        #expect(connection.next(untilMicroseconds: ControlSocketBench.farAway) == .closed)
    }

    @Test func nothingComesInTime() {
        #expect(connection.nextLine(untilMicroseconds: 0) == .timeout)
        #expect(connection.next(untilMicroseconds: 0) == .timeout)
    }

    @Test func requestsAreSentAsLines() {
        let locate = ControlRequest(.command(.command(.locateNow)), deviceID: 7)
        let wait = ControlRequest(.await(requestID: 9), deviceID: 7)
        connection.send(locate)
        connection.send(wait)
        connection.send(FiguresRequest.line)
        #expect(bench.read(receiver) == String(decoding: locate.line + wait.line + FiguresRequest.line, as: UTF8.self))
    }

    @Test func aReceiverThatIsGoneIsFoundWhenItsLineIsAwaited() {
        bench.closeNow(receiver)
        connection.send(ControlRequest(.command(.settingsRequest)))
        connection.send(ControlRequest(.command(.settingsRequest)))
        #expect(connection.next(untilMicroseconds: ControlSocketBench.farAway) == .closed)
    }

    // MARK: Figures

    @Test func figuresAreAskedForAndRead() throws {
        var figures = ReceiverFigures()
        figures.values[.fixes] = 5
        figures.radios = [RadioFigures(port: "/dev/a", state: .open, dialect: "kiss")]
        try bench.write(figures.line(unixMilliseconds: 3) + result(.ok).bytes, to: receiver)
        #expect(connection.figures(untilMicroseconds: ControlSocketBench.farAway) == .figures(figures))
        #expect(bench.read(receiver) == "{\"type\":\"request\",\"do\":\"figures\"}\n")
        // The next line is still there.
        #expect(connection.next(untilMicroseconds: 0) == .line(result(.ok)))
    }

    @Test func aRefusalOfFiguresHasItsReason() throws {
        try bench.write(ResultLine(rejectedAt: 1, code: "not_permitted", reason: "Not you.").bytes, to: receiver)
        #expect(connection.figures(untilMicroseconds: ControlSocketBench.farAway) == .refused(reason: "Not you."))
    }

    @Test func anotherAnswerOrNoneIsNoFigures() throws {
        try bench.write(result(.ok).bytes + Array("nonsense\n".utf8), to: receiver)
        #expect(connection.figures(untilMicroseconds: ControlSocketBench.farAway) == .none)
        #expect(connection.figures(untilMicroseconds: ControlSocketBench.farAway) == .none)
        #expect(connection.figures(untilMicroseconds: 0) == .none)
        bench.closeNow(receiver)
        #expect(connection.figures(untilMicroseconds: ControlSocketBench.farAway) == .none)
    }
}
