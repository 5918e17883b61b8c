import CollarARQ
import Testing

@testable import RadioModems

/// Opening the port of a board may restart it: it writes text, and answers nothing for two seconds.
@Suite struct BoardStartTests {
    private static let bootText = ["ets Jul 29 2019 12:21:46\r\n", "rst:0x1 (POWERON_RESET),boot:0x13\r\n", "ESP-ROM:esp32s3-20210327\r\n"]

    /// A board that answers the question to a KISS modem from a time on; never if it is nil.
    private func board(
        kind: RadioModem.PortKind = .board, remembered: Dialect?, bootText: String?, answersFromMilliseconds start: Int64?,
        untilMilliseconds end: Int64
    ) -> PortScript {
        var port = PortScript(kind: kind, remembered: remembered)
        port.run(untilMilliseconds: 10)
        if let bootText { port.tell(bootText) }
        let silence = start ?? end
        port.run(untilMilliseconds: min(silence, end))
        if start != nil {
            port.answer = { bytes in
                var decoder = KISSFrame.Decoder()
                let isAsked = bytes.contains { decoder.take($0) == MeshCoreCommand.frame(MeshCoreCommand.ping) }
                return isAsked ? [0xC0, 0x06, 0x97, 0xC0] : []
            }
        }
        port.run(untilMilliseconds: end)
        return port
    }

    /// On such a board the serial line was used before, and it got other firmware since.
    @Test(arguments: bootText) func aBoardThatWritesTheTextOfItsStartIsAskedAgain(text: String) {
        let port = board(remembered: .serial, bootText: text, answersFromMilliseconds: 2000, untilMilliseconds: 4000)
        #expect(port.modem.dialect == .kiss)
        #expect(port.strangers.isEmpty)
        #expect(port.rounds == [300, 2500])
    }

    @Test(arguments: [nil, .serial, .kiss] as [Dialect?]) func aBoardThatStaysInItsBootloaderIsNamedAfterTwoRounds(remembered: Dialect?) {
        let text = Self.bootText[0]
        let early = board(remembered: remembered, bootText: text, answersFromMilliseconds: nil, untilMilliseconds: 3699)
        #expect(early.modem.condition == .detecting)
        let port = board(remembered: remembered, bootText: text, answersFromMilliseconds: nil, untilMilliseconds: 3700)
        #expect(port.strangers == [.bootloader])
        #expect(port.rounds == [300, 2500])
    }

    @Test(arguments: [(nil, 2), (.serial, 1), (.kiss, 2), (.rnode, 2), (.rui3, 2)] as [(Dialect?, Int)])
    func aSilentBoardIsAskedTwiceUnlessItHadTheSerialLine(remembered: Dialect?, count: Int) {
        let port = board(remembered: remembered, bootText: nil, answersFromMilliseconds: nil, untilMilliseconds: 20_000)
        #expect(port.rounds == [300, 2500].prefix(count).map { Int64($0) })
        #expect(port.modem.condition == (remembered == nil || remembered == .serial ? .carries : .stranger))
    }

    @Test(arguments: [.remote, .network] as [RadioModem.PortKind], [nil, .serial, .kiss] as [Dialect?])
    func whereOpeningRestartsNothingOneRoundIsEnough(kind: RadioModem.PortKind, remembered: Dialect?) {
        let port = board(
            kind: kind, remembered: remembered, bootText: Self.bootText[0], answersFromMilliseconds: nil, untilMilliseconds: 20_000)
        #expect(port.rounds == [150])
        #expect(port.strangers == [.bootloader])
    }

    /// On a network the last answer has a second and a half, so that a stick far away is not taken for silence.
    @Test(arguments: [(.remote, 900), (.network, 2150)] as [(RadioModem.PortKind, Int64)])
    func silenceIsCertainAfterTheTimeOfTheLastAnswer(kind: RadioModem.PortKind, milliseconds: Int64) {
        var port = PortScript(kind: kind)
        port.run(untilMilliseconds: milliseconds - 1)
        #expect(port.modem.condition == .detecting)
        port.run(untilMilliseconds: milliseconds)
        #expect(port.modem.isSerialLine)
    }

    @Test(arguments: [(.board, [300, 700, 1100]), (.remote, [150, 400, 650]), (.network, [150, 400, 650])]
        as [(RadioModem.PortKind, [Int64])])
    func theQuestionsFollowEachOtherInTheirOrder(kind: RadioModem.PortKind, times: [Int64]) {
        var port = PortScript(kind: kind)
        port.run(untilMilliseconds: 1200)
        #expect(port.written.map(\.milliseconds) == times)
        #expect(port.written.map { $0.bytes.count } == [604, 4, 11])
    }

    /// An OK before AT was asked is the answer to somebody else.
    @Test func aStatusCountsOnlyAfterTheQuestionToAModemOfCommands() {
        var port = PortScript()
        port.run(untilMilliseconds: 500)
        port.tell("OK\r\n")
        #expect(port.modem.condition == .detecting)
        port.run(untilMilliseconds: 700)
        port.tell("OK\r\n")
        #expect(port.modem.dialect == .rui3)
    }
}
