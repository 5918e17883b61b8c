import CollarARQ
import CollarFormats
import Glibc
import Testing

@testable import CollarControl

/// The second failure, result or eviction after the first.
@Suite("Programs over some time") struct ControlSeriesTests {
    private func wait(_ bench: inout ControlBench, _ microseconds: Int64) { bench.now = bench.now.advanced(byMicroseconds: microseconds) }

    private func closed(_ bench: ControlBench) -> [Int] { bench.programs.indices.filter { bench.programs[$0].isClosed } }

    @Test func acceptingPausesAgainAfterASecondFailure() {
        var bench = ControlBench()
        for _ in 0..<3 {
            bench.machine.acceptFailed(errorNumber: EMFILE, at: bench.now)
            bench.settle()
            #expect(!bench.isListening)
            wait(&bench, 999_999)
            bench.settle()
            #expect(!bench.isListening)
            wait(&bench, 1)
            bench.settle()
            #expect(bench.isListening)
            wait(&bench, 5_000_000)
        }
    }

    @Test func programsAreServedWhileAcceptingPauses() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.machine.acceptFailed(errorNumber: ENOMEM, at: bench.now)
        bench.send(ControlBench.locate, from: program)
        bench.end(request: 1)
        #expect(bench.programs[program].outcomes == [.queued, .ok])
        #expect(!bench.isListening)
    }

    @Test func theNextProgramEvictsTheNextSilentOne() {
        var bench = ControlBench()
        for _ in 0..<16 {
            _ = bench.connect()
            wait(&bench, 1000)
        }
        for expected in [[0], [0, 1], [0, 1, 2]] {
            _ = bench.connect()
            wait(&bench, 1000)
            #expect(closed(bench) == expected)
        }
        // The fourth has spoken, so the fifth goes next.
        bench.send("nonsense", from: 3)
        _ = bench.connect()
        #expect(closed(bench) == [0, 1, 2, 4])
    }

    @Test func aProgramThatWaitsForTwoResultsIsKeptUntilBothCame() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.send(ControlBench.locate, ControlBench.locate, from: program)
        wait(&bench, 1000)
        let others = bench.connectWaiting(15)
        bench.end(request: 1)
        let turnedAway = bench.connect()
        #expect(bench.programs[turnedAway].codes == ["too_many_clients"])
        bench.end(request: 2)
        #expect(bench.programs[program].outcomes == [.queued, .queued, .ok, .ok])
        _ = bench.connect()
        #expect(closed(bench) == [program, turnedAway])
        #expect(others.allSatisfy { !bench.programs[$0].isClosed })
    }

    @Test func aProgramThatClosedItsSendingDirectionWaitsForAllItsResults() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.send(ControlBench.locate, ControlBench.locate, ControlBench.locate, from: program)
        bench.programs[program].isShut = true
        bench.settle()
        for request in [2, 1] {
            bench.end(request: request)
            #expect(!bench.programs[program].isClosed)
        }
        bench.end(request: 3)
        #expect(bench.programs[program].isClosed)
        #expect(bench.programs[program].lines.suffix(3).map(\.requestID) == [2, 1, 3])
    }

    @Test func aResultOfAnotherCollarOrRequestIsNotTheirs() {
        var bench = ControlBench()
        let program = bench.connectWaiting(1)[0]
        bench.machine.ended(
            ResultLine(outcome: .ok, unixMilliseconds: 1, deviceID: 8, requestID: 1, verb: "locate"))
        bench.end(request: 2)
        bench.machine.ended(ResultLine(rejectedAt: 1, code: "bad_request", reason: "x"))
        bench.settle()
        #expect(bench.programs[program].outcomes == [.queued])
        bench.end(request: 1)
        #expect(bench.programs[program].outcomes == [.queued, .ok])
    }

    @Test func resultsOfManyRequestsReachTheirProgramsInAnyOrder() {
        var bench = ControlBench()
        let programs = bench.connectWaiting(8)
        for request in [3, 8, 1, 5, 2, 7, 6, 4] { bench.end(request: request) }
        for (index, program) in programs.enumerated() {
            #expect(bench.programs[program].lines.map(\.requestID) == [UInt16(index + 1), UInt16(index + 1)])
            #expect(!bench.programs[program].isWatchedForWriting)
        }
    }

    @Test func aNewProgramAtAPlaceBeginsWithNothing() {
        var bench = ControlBench()
        let first = bench.connect()
        bench.programs[first].unread += Array(#"{"do":"loc"#.utf8)
        bench.settle()
        bench.programs[first].capacity = 0
        bench.send("nonsense", from: first)
        bench.programs[first].isBroken = true
        bench.settle()
        #expect(bench.programs[first].isClosed)
        let second = bench.connect()
        #expect(bench.programs[second].received == [])
        bench.send(ControlBench.locate, from: second)
        #expect(bench.programs[second].outcomes == [.queued])
    }
}
