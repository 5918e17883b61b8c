import CollarARQ
import CollarSimulator
import CollarWire
import Testing

@testable import RadioModems

/// What comes in place of the answer to a question.
enum Mishap: CaseIterable, Sendable {
    /// Nothing that the modem knows.
    case nothing
    /// The stick is busy, or has no room for the answer.
    case busy
}

/// A stick answers one question of its setup with nothing, or with being busy.
@Suite("Questions of the setup whose answer is lost")
struct SetupQuestionTests {
    private static let packet: [UInt8] = [0x51, 0xC0, 0x00, 0xFF]

    /// Whether the setup has told a person nothing but what it is meant to.
    private func isQuiet(_ bench: StickBench) -> Bool {
        bench.notices.allSatisfy {
            switch $0 {
            case .found, .ready, .amplified: true
            default: false
            }
        }
    }

    /// The answers that begin so, and how many of them come before.
    private static let meshCoreAnswers: [(code: UInt8, skips: Int)] = [
        (0x97, 0), (0x96, 0), (0x91, 0), (0x8B, 0), (0xF0, 0), (0x8F, 0), (0xF0, 1), (0x8B, 1), (0x8F, 1), (0x9A, 0),
    ]

    @Test("MeshCore's modem", arguments: meshCoreAnswers.indices, Mishap.allCases)
    func meshCore(index: Int, mishap: Mishap) {
        let (code, skips) = SetupQuestionTests.meshCoreAnswers[index]
        var bench = StickBench(KISSModemStick(boardName: "Station G2"), dialect: .kiss)
        bench.damage = (
            of: [0xC0, 0x06, code], into: mishap == .nothing ? [0xC0, 0x0E, code] : [0xC0, 0x06, 0xF1, 0x07, 0xC0, 0xC0, 0xFF]
        )
        bench.damageSkips = skips
        bench.run(milliseconds: 6000)
        #expect(bench.damage == nil)
        #expect(bench.isReady)
        #expect(isQuiet(bench), "\(bench.notices)")
        var settings = StickBench.settings
        settings.powerDBm = -6
        #expect(bench.stick.radio == .on(settings), "the gain of the board is not subtracted")
        bench.hear(SetupQuestionTests.packet)
        bench.run(milliseconds: 100)
        #expect(bench.signals.count == 1 && bench.signals.allSatisfy { $0 != nil })
    }

    @Test("an RNode", arguments: [
        (0x08, 0), (0x50, 0), (0x06, 0), (0x01, 0), (0x02, 0), (0x03, 0), (0x04, 0), (0x05, 0), (0x06, 1), (0x01, 1), (0x02, 1), (0x03, 1),
    ] as [(UInt8, Int)])
    func rnode(type: UInt8, skips: Int) {
        var bench = StickBench(RNodeStick(seed: 3), dialect: .rnode)
        bench.damage = (of: [0xC0, type], into: [0xC0, 0x7F])
        bench.damageSkips = skips
        bench.run(milliseconds: 6000)
        #expect(bench.damage == nil)
        #expect(bench.isReady)
        #expect(isQuiet(bench), "\(bench.notices)")
        #expect(bench.stick.radio == .on(StickBench.settings))
    }

    @Test("one damaged answer does not make an RNode useless", arguments: [
        [0x06, 0x00], [0x01, 0x33], [0x02, 0x00], [0x04, 0x07], [0x05, 0x05],
    ] as [[UInt8]])
    func damagedAnswer(start: [UInt8]) {
        var bench = StickBench(RNodeStick(seed: 3), dialect: .rnode)
        bench.damage = (of: [0xC0] + start, into: [0xC0, start[0], 0x0B])
        bench.run(milliseconds: 6000)
        #expect(bench.damage == nil)
        #expect(bench.isReady)
        #expect(isQuiet(bench), "\(bench.notices)")
    }

    /// A module is busy until it has sent an answer of an earlier program, at SF12 for seconds.
    @Test("RUI3", arguments: 0..<16, Mishap.allCases)
    func rui3(skips: Int, mishap: Mishap) {
        var bench = StickBench(RUI3Stick(), dialect: .rui3)
        bench.damage = (of: Array("OK".utf8), into: Array((mishap == .nothing ? "-" : "AT_BUSY_ERROR").utf8))
        bench.damageSkips = skips
        bench.damageCount = mishap == .nothing ? 1 : 8
        bench.run(milliseconds: 30_000)
        #expect(bench.damage == nil)
        #expect(bench.isReady)
        #expect(isQuiet(bench), "\(bench.notices)")
        #expect(bench.stick.radio == .on(StickBench.settings))
    }

    @Test("packets come in during the setup", arguments: [Dialect.kiss, .rnode, .rui3])
    func traffic(dialect: Dialect) {
        let stick: any BaseStick =
            dialect == .rui3 ? RUI3Stick(after: ["NWM=0", "SYNCWORD=1424", "PRECV=65533"]) : dialect.makeStick(modem: .serial(bitsPerSecond: 115_200), seed: 7)
        var bench = StickBench(stick, dialect: dialect)
        for _ in 0..<100 {
            bench.hear(SetupQuestionTests.packet)
            bench.run(milliseconds: 100)
        }
        #expect(bench.isReady)
        #expect(isQuiet(bench), "\(bench.notices)")
    }

    /// The collar's owner is told 100 ms and the measured way, which is not known here. The second answer could go out after 0.8 s.
    @Test("an answer that waits for longer than the collar does is not sent, also over a network")
    func lateAnswer() {
        var bench = StickBench(KISSModemStick(), dialect: .kiss, kind: .network, delayMilliseconds: 400)
        bench.run(milliseconds: 14_000)
        #expect(bench.isReady)
        bench.answer(SetupQuestionTests.packet)
        bench.answer(SetupQuestionTests.packet)
        bench.run(milliseconds: 3000)
        #expect(bench.sent.count == 1)
    }
}
