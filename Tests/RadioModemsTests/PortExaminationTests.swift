import CollarARQ
import CollarWire
import Testing

@testable import RadioModems

/// A port is examined more than once: after a stranger every half minute, and as an assumed serial line in a few rounds.
@Suite struct PortExaminationTests {
    private static let console = "\r\nWelcome to the barn\r\nbarn login: "

    /// The answer of MeshCore's modem to the question whether it is one.
    private static func pong(_ bytes: [UInt8]) -> [UInt8] {
        var decoder = KISSFrame.Decoder()
        let isAsked = bytes.contains { decoder.take($0) == MeshCoreCommand.frame(MeshCoreCommand.ping) }
        return isAsked ? [0xC0, 0x06, 0x97, 0xC0] : []
    }

    /// A port at which a console has spoken, and is silent afterwards.
    private func stranger(remembered: Dialect? = nil) -> PortScript {
        var port = PortScript(remembered: remembered)
        port.tell(Self.console)
        port.run(untilMilliseconds: 5000)
        return port
    }

    @Test(arguments: [nil, .serial] as [Dialect?]) func aStrangerThatFallsSilentStaysOne(remembered: Dialect?) {
        var port = stranger(remembered: remembered)
        #expect(port.strangers == [.console])
        port.run(untilMilliseconds: 200_000)
        #expect(port.modem.condition == .stranger)
        #expect(!port.modem.isSerialLine)
        #expect(port.modem.dialect == nil)
        #expect(port.strangers == [.console])
        #expect(!port.events.contains { if case .serialLine = $0 { true } else { false } })
    }

    /// 150 ms of listening and three questions with 250 ms each are a second less 100 ms.
    @Test func aStrangerIsExaminedEveryHalfMinute() {
        var port = stranger()
        port.run(untilMilliseconds: 100_000)
        #expect(port.rounds == [150, 31_050, 61_950, 92_850])
        #expect(port.modem.nextDeadline == Instant(microseconds: 123_600_000))
    }

    @Test func anotherStrangerIsToldAndTheFirstOneAgainAfterIt() {
        var port = stranger()
        port.run(untilMilliseconds: 31_000)
        port.tell("Press any key\r\n")
        port.run(untilMilliseconds: 62_000)
        port.tell(Self.console)
        port.run(untilMilliseconds: 93_000)
        #expect(port.strangers == [.console, .text("Press any key"), .console])
    }

    @Test func aStickThatTakesThePlaceOfAStrangerIsFoundAtTheNextExamination() {
        var port = stranger()
        var answers = MeshCoreAnswers()
        var decoder = KISSFrame.Decoder()
        port.answer = { bytes in
            bytes.compactMap { decoder.take($0) }.flatMap { answers.answer($0) }.reduce(into: []) { $1.append(to: &$0) }
        }
        port.run(untilMilliseconds: 30_000)
        #expect(port.modem.dialect == nil)
        port.run(untilMilliseconds: 32_000)
        #expect(port.modem.dialect == .kiss)
        #expect(port.modem.condition == .carries)
        #expect(port.notices.contains { if case .ready = $0 { true } else { false } }, "\(port.notices)")
    }

    @Test(arguments: [([0xC0, 0x55, 0xF8, 0xC0], .rnode), ([0xC0, 0x08, 0x46, 0xC0], .rnode), ([0xC0, 0x06, 0x97, 0xC0], .kiss)]
        as [([UInt8], Dialect)])
    func aStickThatShowsItselfBetweenTheExaminationsIsFoundAtOnce(sign: [UInt8], dialect: Dialect) {
        var port = stranger()
        port.tell(sign)
        #expect(port.modem.dialect == dialect)
        #expect(port.modem.condition == .carries)
        // Nothing was asked since the port had another device, so an unfinished frame is ended first.
        #expect(port.written.last?.bytes.prefix(600) == KISSFrame.abandonment[...])
    }

    @Test func sentencesAndStatusesBetweenTheExaminationsChangeNothing() {
        var port = stranger()
        port.tell("$GPGGA,1*4B\r\n$GPRMC,1*56\r\n$GPRMC,1*56\r\nOK\r\n")
        #expect(port.modem.condition == .stranger)
        #expect(port.modem.nextDeadline == Instant(microseconds: 30_900_000))
    }

    @Test func anAssumedSerialLineIsAskedAfterEverLongerPausesAndThenNoMore() {
        var port = PortScript()
        port.run(untilMilliseconds: 3_600_000)
        // The first round begins after 150 ms, and each takes 750 ms from its first question on.
        #expect(port.rounds == [150, 30_900, 91_650, 212_400, 453_150])
        #expect(port.modem.isSerialLine)
        #expect(port.modem.nextDeadline == nil)
        #expect(port.events == [.serialLine([])], "the line is told once")
    }

    @Test(arguments: 1...4) func aStickThatAnswersInAnyRoundIsFound(round: Int) {
        var port = PortScript()
        let starts: [Int64] = [30_000, 90_000, 211_000, 452_000]
        port.run(untilMilliseconds: starts[round - 1])
        #expect(port.modem.isSerialLine)
        port.answer = Self.pong
        port.run(untilMilliseconds: starts[round - 1] + 3000)
        #expect(port.modem.dialect == .kiss)
        #expect(!port.modem.isSerialLine)
    }

    @Test func aLineThatWasAssumedCarriesBytesAndIsCertainWithItsFirstFrame() throws {
        var port = PortScript()
        port.run(untilMilliseconds: 5000)
        port.tell([0x41, 0x42])
        port.tell([0x43])
        #expect(port.events == [.serialLine([]), .serialBytes([0x41, 0x42]), .serialBytes([0x43])])
        #expect(!port.modem.isTransparent)
        let request = [UInt8](capacity: 64) { output in
            do throws(EncodeError) { try IdentityRequest(receiverID: 7).encode(address: 255, into: &output) } catch {}
        }
        let frame = [UInt8](capacity: 80) { StreamEncoder.encode(request.span, into: &$0) }
        port.tell([0] + frame)
        #expect(port.events.last == .serialBytes([0] + frame))
        #expect(port.modem.isTransparent)
        #expect(port.modem.nextDeadline == nil)
        port.run(untilMilliseconds: 600_000)
        #expect(port.rounds.count == 1)
    }

    /// The bytes of the serial line that came in during the questions belong to the line.
    @Test func whatCameInBeforeTheLineWasAssumedIsHandedOn() {
        var port = PortScript()
        port.tell([0x81, 0x82])
        port.run(untilMilliseconds: 500)
        port.tell([0x83])
        port.run(untilMilliseconds: 2000)
        #expect(port.events == [.serialLine([0x81, 0x82, 0x83])])
    }

    @Test func aSilentStickIsToldOnceAndFoundWhenItAnswers() {
        var port = PortScript(remembered: .kiss)
        port.run(untilMilliseconds: 100_000)
        #expect(port.strangers == [.silent(.kiss)])
        #expect(port.rounds.count == 4)
        port.answer = Self.pong
        port.run(untilMilliseconds: 130_000)
        #expect(port.modem.dialect == .kiss)
    }

    @Test func aStickWithoutSettingsIsAskedNothingAndStaysUnused() {
        for dialect in [Dialect.kiss, .rnode, .rui3] {
            var port = PortScript(dialect: dialect, settings: nil)
            port.tell([0xC0, 0x06, 0x97, 0xC0])
            port.run(untilMilliseconds: 100_000)
            #expect(port.notices == [.found(dialect, version: nil), .settingsMissing(dialect)])
            #expect(port.written.isEmpty)
            #expect(port.modem.nextDeadline == nil)
            #expect(port.modem.condition == .unused)
        }
    }
}
