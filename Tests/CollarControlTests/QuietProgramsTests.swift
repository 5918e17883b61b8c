import CollarARQ
import CollarFormats
import Testing

@testable import CollarControl

/// Programs that stay silent, and programs at their limits.
@Suite("Programs at their limits") struct QuietProgramsTests {
    private func wait(_ bench: inout ControlBench, _ microseconds: Int64 = 1000) {
        bench.now = bench.now.advanced(byMicroseconds: microseconds)
    }

    private func closed(_ bench: ControlBench) -> [Int] { bench.programs.indices.filter { bench.programs[$0].isClosed } }

    private func outputs(_ machine: inout ControlMachine) -> [ControlMachine.Output] {
        var outputs: [ControlMachine.Output] = []
        while let output = machine.nextOutput() { outputs.append(output) }
        return outputs
    }

    /// A program that only reads has not spoken.
    @Test func takingAResultIsNoNewsOfAProgram() {
        var bench = ControlBench()
        let first = bench.connect()
        bench.programs[first].capacity = 0
        bench.send("nonsense", from: first)
        wait(&bench)
        for _ in 0..<15 { _ = bench.connect() }
        wait(&bench)
        bench.programs[first].capacity = .max
        bench.settle()
        #expect(bench.programs[first].codes == ["bad_request"])
        _ = bench.connect()
        #expect(closed(bench) == [first])
    }

    @Test func partOfALineIsNewsOfAProgram() {
        var bench = ControlBench()
        for _ in 0..<16 { _ = bench.connect() }
        wait(&bench)
        bench.programs[0].unread = Array("{".utf8)
        bench.settle()
        _ = bench.connect()
        #expect(closed(bench) == [1])
    }

    /// The system may say that a connection can be read when nothing waits.
    @Test func nothingThatWaitsIsNotTheEnd() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.makeReady(program)
        #expect(!bench.programs[program].isClosed && bench.programs[program].isWatchedForReading)
        bench.send(ControlBench.locate, from: program)
        #expect(bench.programs[program].outcomes == [.queued])
    }

    @Test func aProgramThatIsGoneCausesNothing() throws {
        var bench = ControlBench()
        let program = bench.connect()
        let id = try #require(bench.programs[program].id)
        bench.machine.broke(id)
        #expect(outputs(&bench.machine) == [.close(id)])
        bench.machine.broke(id)
        bench.machine.ready(id, isReadable: true, at: bench.time)
        bench.machine.ready(id, isReadable: false, at: bench.time)
        bench.machine.received(ControlBench.lines(ControlBench.locate, count: 1), from: id, at: bench.time)
        bench.machine.sent(5, to: id)
        bench.machine.answered(id, with: bench.result(ofRequest: 1, .queued))
        bench.machine.ended(bench.result(ofRequest: 1))
        bench.machine.deadlineReached(at: bench.time)
        #expect(outputs(&bench.machine) == [])
        #expect(bench.machine.nextDeadline(at: bench.now) == nil)
    }

    @Test func theLongestLineMayComeInParts() {
        var bench = ControlBench()
        let program = bench.connect()
        let line = Array((ControlBench.locate + String(repeating: " ", count: 4095 - ControlBench.locate.utf8.count)).utf8)
        bench.programs[program].unread = line
        bench.settle()
        #expect(bench.programs[program].received == [])
        bench.send("", from: program)
        #expect(bench.programs[program].outcomes == [.queued])
    }

    /// The part of a line that was read counts, too.
    @Test func noMoreIsReadThanOneLineNeeds() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.programs[program].unread = [UInt8](repeating: UInt8(ascii: " "), count: 100)
        bench.settle()
        bench.programs[program].unread = [UInt8](repeating: UInt8(ascii: " "), count: 5000)
        bench.makeReady(program)
        #expect(bench.programs[program].unread.count == 5000 - 3996)
        #expect(bench.programs[program].codes == ["bad_request"] && bench.programs[program].isClosed)
    }

    @Test func aProgramThatWaitsAndSendsALineThatIsTooLongGetsNoMore() {
        var bench = ControlBench()
        let program = bench.connectWaiting(1)[0]
        bench.programs[program].unread = [UInt8](repeating: UInt8(ascii: "x"), count: 4096)
        bench.settle()
        #expect(bench.programs[program].isClosed)
        #expect(bench.programs[program].outcomes == [.queued, .rejected])
    }

    @Test func figuresAndFaultsAreAnsweredBesideSixteenAwaitedResults() {
        var bench = ControlBench()
        let program = bench.connect()
        for _ in 0..<16 { bench.send(ControlBench.locate, from: program) }
        bench.programs[program].received = []
        bench.send(#"{"do":"figures"}"#, from: program)
        #expect(bench.programs[program].received == ControlBench.figures)
        bench.send("nonsense", #"{"do":"await","request":1}"#, from: program)
        #expect(bench.programs[program].codes == ["bad_request", "too_many_requests"])
        #expect(bench.submitted.count == 16)
    }

    /// Another program waits for 16 results.
    @Test func eachProgramHasItsOwnSixteenResults() {
        var bench = ControlBench()
        let programs = [bench.connect(), bench.connect()]
        for _ in 0..<16 { bench.send(ControlBench.locate, from: programs[0]) }
        bench.send(ControlBench.locate, from: programs[1])
        #expect(bench.programs[programs[1]].outcomes == [.queued])
    }

    /// All that the program has sent waits here, and its connection takes nothing.
    @Test func allLinesOfAProgramThatReadsLateAreAnswered() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.programs[program].capacity = 0
        bench.programs[program].unread = ControlBench.lines("nonsense", count: 400)
        bench.programs[program].isShut = true
        bench.settle()
        #expect(!bench.programs[program].isClosed)
        while bench.programs[program].codes.count < 400, !bench.programs[program].isClosed {
            bench.programs[program].capacity = 1000
            bench.settle()
        }
        #expect(bench.programs[program].codes.count == 400)
        bench.settle()
        #expect(bench.programs[program].isClosed)
    }

    @Test func aResultComesAfterWhatWaitsToBeSent() {
        var bench = ControlBench()
        let program = bench.connectWaiting(1)[0]
        bench.programs[program].capacity = 20
        bench.send("nonsense", from: program)
        bench.end(request: 1)
        bench.programs[program].capacity = .max
        bench.settle()
        #expect(bench.programs[program].outcomes == [.queued, .rejected, .ok])
    }

    /// A later failure postpones it, and nothing else is postponed.
    @Test func acceptingGoesOnASecondAfterTheLastFailure() {
        var bench = ControlBench()
        bench.machine.acceptFailed(errorNumber: 24, at: bench.now)
        wait(&bench, 600_000)
        bench.machine.acceptFailed(errorNumber: 24, at: bench.now)
        bench.settle()
        wait(&bench, 999_999)
        bench.settle()
        #expect(!bench.isListening)
        wait(&bench, 1)
        bench.settle()
        #expect(bench.isListening)
    }

    @Test func aResultIsDueAtOnceWhileAcceptingPauses() {
        var bench = ControlBench()
        _ = bench.connectWaiting(1)
        bench.machine.acceptFailed(errorNumber: 24, at: bench.now)
        bench.settle()
        bench.machine.ended(bench.result(ofRequest: 1))
        #expect(bench.machine.nextDeadline(at: bench.now) == bench.now)
    }
}
