import CollarARQ
import CollarSimulator
import CollarWire
import Testing

@testable import RadioModems

/// A stick fails, recovers, and fails again: what was noted of the first failure is forgotten, and what is known of the stick is kept.
@Suite("The second failure of a stick") struct SecondFailureTests {
    private static let packet: [UInt8] = [0x51, 0xC0, 0x00, 0xFF]
    private static let dialects: [Dialect] = [.kiss, .rnode, .rui3]

    private func bench(_ dialect: Dialect) -> StickBench {
        var bench = StickBench(dialect.makeStick(modem: .serial(bitsPerSecond: 115_200), seed: 7))
        bench.run(milliseconds: 10_000)
        return bench
    }

    @Test("each silence is told, and each end of one", arguments: dialects)
    func silence(dialect: Dialect) {
        var bench = bench(dialect)
        for _ in 0..<2 {
            bench.cause(.stall)
            bench.run(milliseconds: 60_000)
        }
        let told = bench.notices.filter { $0 == .notAnswering(dialect) || $0 == .answersAgain(dialect) }
        #expect(told == [.notAnswering(dialect), .answersAgain(dialect), .notAnswering(dialect), .answersAgain(dialect)])
        bench.answer(Self.packet)
        bench.run(milliseconds: 3000)
        #expect(bench.sent.count == 1)
    }

    @Test("each restart is told, and the stick is found once", arguments: dialects)
    func restart(dialect: Dialect) {
        var bench = bench(dialect)
        for _ in 0..<2 {
            bench.cause(.reset)
            bench.run(milliseconds: 60_000)
            #expect(bench.stick.radio == .on(StickBench.settings))
        }
        #expect(bench.notices.count { $0 == .restarted(dialect) } == 2)
        #expect(bench.notices.count { if case .found = $0 { true } else { false } } == 1)
        #expect(bench.events.count { if case .ready = $0 { true } else { false } } == 1)
    }

    @Test("one damaged answer in each setup is excused", arguments: [
        (.kiss, [0x8F, 0x9D, 0x01], [0x8F, 0x1D, 0x01]), (.rnode, [0xC0, 0x04, 0x07], [0xC0, 0x04, 0x0B]),
    ] as [(Dialect, [UInt8], [UInt8])])
    func damagedAnswer(dialect: Dialect, of original: [UInt8], into damaged: [UInt8]) {
        var bench = StickBench(dialect.makeStick(modem: .serial(bitsPerSecond: 115_200), seed: 7), dialect: dialect)
        for _ in 0..<3 {
            bench.damage = (of: original, into: damaged)
            bench.run(milliseconds: 30_000)
            #expect(bench.damage == nil)
            bench.cause(.reset)
        }
        #expect(!bench.notices.contains { if case .refused = $0 { true } else { false } }, "\(bench.notices)")
    }

    @Test("after a refusal, one damaged answer is excused again", arguments: [
        (.kiss, [0x8F, 0x9D, 0x01], [0x8F, 0x1D, 0x01]), (.rnode, [0xC0, 0x04, 0x07], [0xC0, 0x04, 0x0B]),
    ] as [(Dialect, [UInt8], [UInt8])])
    func afterRefusal(dialect: Dialect, of original: [UInt8], into damaged: [UInt8]) {
        var bench = StickBench(dialect.makeStick(modem: .serial(bitsPerSecond: 115_200), seed: 7), dialect: dialect)
        bench.damage = (of: original, into: damaged)
        bench.damageCount = 2
        bench.run(milliseconds: 20_000)
        #expect(bench.damage == nil)
        #expect(!bench.isReady)
        bench.damage = (of: original, into: damaged)
        bench.run(milliseconds: 60_000)
        #expect(bench.damage == nil)
        #expect(bench.isReady)
        #expect(bench.notices.count { if case .refused = $0 { true } else { false } } == 1)
    }

    /// The modem is stuck when it has not sent three packets in 15 s. The first time says nothing about the second.
    @Test("a modem that was stuck is given as much time again")
    func stuck() {
        var bench = bench(.kiss)
        var counts: [Int] = []
        for _ in 0..<2 {
            bench.run(milliseconds: 120_000)
            bench.cause(.stuck)
            let former = bench.notices.count { $0 == .notSending(.kiss) }
            var count = 0
            while bench.notices.count(where: { $0 == .notSending(.kiss) }) == former, count < 30 {
                bench.answer(Self.packet)
                bench.run(milliseconds: 2000)
                count += 1
            }
            counts.append(count)
        }
        #expect(counts[0] > 3 && counts[0] == counts[1], "\(counts)")
        #expect(!bench.notices.contains(.restarted(.kiss)), "the modem was told to restart")
        bench.run(milliseconds: 30_000)
        bench.cause(.reset)
        bench.run(milliseconds: 30_000)
        #expect(bench.notices.contains(.restarted(.kiss)), "the next restart is its own")
    }

    @Test("two unanswered questions before and after an answer are no silence")
    func misses() {
        var monitor = AnswerMonitor(of: .kiss)
        var output = ModemOutput()
        for _ in 0..<3 {
            for _ in 0..<2 { monitor.noteMiss(reportingTo: &output) }
            #expect(!monitor.isSilent)
            monitor.noteAnswer(reportingTo: &output)
        }
        #expect(output.events.isEmpty)
        for _ in 0..<5 { monitor.noteMiss(reportingTo: &output) }
        #expect(monitor.isSilent)
        #expect(output.events == [.notice(.notAnswering(.kiss))])
    }

    /// A stick that is silent for long is asked every 30 s. One that has answered meanwhile is asked again soon.
    @Test("the pauses between attempts start from the beginning after a recovery", arguments: dialects)
    func pauses(dialect: Dialect) {
        var bench = bench(dialect)
        bench.losesOutput = true
        bench.run(milliseconds: 300_000)
        bench.losesOutput = false
        bench.run(milliseconds: 60_000)
        #expect(bench.notices.last.map { if case .ready = $0 { true } else { false } } == true, "\(bench.notices)")
        bench.losesOutput = true
        bench.run(milliseconds: 24_000)
        bench.losesOutput = false
        bench.run(milliseconds: 12_000)
        #expect(bench.notices.last.map { if case .ready = $0 { true } else { false } } == true, "\(bench.notices)")
        #expect(bench.notices.count { $0 == .notAnswering(dialect) } == 2)
    }
}
