import CollarARQ
import CollarFormats
import Glibc
import Testing

@testable import CollarControl

@Suite("Connections to the control socket") struct ControlPlaceTests {
    @Test func aProgramOfTheOwnerIsAdmitted() {
        var bench = ControlBench()
        let program = bench.connect()
        #expect(bench.programs[program].isWatchedForReading)
        #expect(!bench.programs[program].isWatchedForWriting)
    }

    @Test func aProgramOfRootIsAdmitted() {
        var bench = ControlBench()
        let program = bench.connect(as: 0)
        bench.send(ControlBench.locate, from: program)
        #expect(bench.programs[program].outcomes == [.queued])
    }

    @Test(arguments: [1001, .max]) func aProgramOfAnotherUserIsTurnedAway(user: UInt32) {
        var bench = ControlBench()
        let program = bench.connect(as: user)
        #expect(bench.programs[program].codes == ["not_permitted"])
        #expect(bench.programs[program].isClosed)
        #expect(bench.programs[program].id == nil)
    }

    /// The permissions of the socket decide.
    @Test func aSharedSocketAdmitsEveryProgramThatCanConnect() {
        var bench = ControlBench()
        bench.machine = ControlMachine(owner: ControlBench.owner, isShared: true)
        let program = bench.connect(as: 1001)
        bench.send(ControlBench.locate, from: program)
        #expect(bench.programs[program].outcomes == [.queued])
    }

    @Test func aProgramOfAnotherUserEvictsNobody() {
        var bench = ControlBench()
        for _ in 0..<16 { _ = bench.connect() }
        _ = bench.connect(as: 1001)
        #expect(bench.programs[..<16].allSatisfy { !$0.isClosed })
    }

    @Test func aSeventeenthProgramEvictsTheOneThatWasSilentLongest() {
        var bench = ControlBench()
        for _ in 0..<16 {
            _ = bench.connect()
            bench.now = bench.now.advanced(byMicroseconds: 1000)
        }
        // The first two speak again; the third is now the one that was silent longest.
        bench.send("nonsense", from: 0)
        bench.send("nonsense", from: 1)
        let last = bench.connect()
        #expect(bench.programs.indices.filter { bench.programs[$0].isClosed } == [2])
        bench.send(ControlBench.locate, from: last)
        #expect(bench.programs[last].outcomes == [.queued])
    }

    @Test func aProgramThatWaitsForAResultIsNotEvicted() {
        var bench = ControlBench()
        let waiting = bench.connectWaiting(15)
        bench.now = bench.now.advanced(byMicroseconds: 1000)
        let quiet = bench.connect()
        _ = bench.connect()
        #expect(bench.programs.indices.filter { bench.programs[$0].isClosed } == [quiet])
        #expect(waiting.allSatisfy { !bench.programs[$0].isClosed })
    }

    @Test func aSeventeenthProgramIsTurnedAwayIfAllWait() {
        var bench = ControlBench()
        _ = bench.connectWaiting(16)
        let last = bench.connect()
        #expect(bench.programs[last].codes == ["too_many_clients"])
        #expect(bench.programs.indices.filter { bench.programs[$0].isClosed } == [last])
    }

    @Test func aProgramWhoseResultCameCanBeEvicted() {
        var bench = ControlBench()
        _ = bench.connectWaiting(16)
        bench.end(request: 5)
        let last = bench.connect()
        #expect(bench.programs.indices.filter { bench.programs[$0].isClosed } == [4])
        #expect(bench.programs[last].codes == [])
    }

    @Test func aPlaceIsFreeAfterItsProgramIsGone() {
        var bench = ControlBench()
        _ = bench.connectWaiting(16)
        bench.programs[3].isBroken = true
        bench.settle()
        #expect(bench.programs[3].isClosed)
        let last = bench.connect()
        #expect(bench.programs[last].codes == [])
    }

    @Test func aResultDoesNotReachTheNextProgramAtAPlace() {
        var bench = ControlBench()
        _ = bench.connectWaiting(16)
        bench.programs[3].isBroken = true
        bench.settle()
        let last = bench.connect()
        bench.end(request: 4)
        #expect(bench.programs[last].received == [])
    }

    @Test(arguments: [EMFILE, ENFILE, ENOMEM, ENOBUFS]) func acceptingPausesForASecond(errorNumber: Int32) {
        var bench = ControlBench()
        bench.machine.acceptFailed(errorNumber: errorNumber, at: bench.now)
        bench.settle()
        #expect(!bench.isListening)
        let due = bench.now.advanced(byMicroseconds: 1_000_000)
        #expect(bench.machine.nextDeadline(at: bench.now) == due)
        bench.now = due.advanced(byMicroseconds: -1)
        bench.settle()
        #expect(!bench.isListening)
        bench.now = due
        bench.settle()
        #expect(bench.isListening)
        #expect(bench.machine.nextDeadline(at: bench.now) == nil)
    }

    @Test(arguments: [EAGAIN, ECONNABORTED]) func acceptingGoesOnAfterOtherFailures(errorNumber: Int32) {
        var bench = ControlBench()
        bench.machine.acceptFailed(errorNumber: errorNumber, at: bench.now)
        bench.settle()
        #expect(bench.isListening)
        #expect(bench.machine.nextDeadline(at: bench.now) == nil)
    }
}

@Suite("Lines at the control socket") struct ControlLineTests {
    @Test func aLineInManyPartsIsOneRequest() {
        var bench = ControlBench()
        let program = bench.connect()
        for byte in "\(ControlBench.locate)\n".utf8 {
            bench.programs[program].unread = [byte]
            bench.settle()
        }
        #expect(bench.submitted == [ControlRequest(.command(.command(.locateNow)))])
        #expect(bench.programs[program].outcomes == [.queued])
    }

    @Test func severalLinesInOneReadAreHandledOneATurn() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.programs[program].unread = ControlBench.lines(ControlBench.locate, count: 5)
        bench.makeReady(program)
        #expect(bench.programs[program].unread == [])
        #expect(bench.submitted.count == 1)
        for count in 2...5 {
            #expect(bench.machine.nextDeadline(at: bench.now) == bench.now)
            bench.turn()
            #expect(bench.submitted.count == count)
        }
        #expect(bench.machine.nextDeadline(at: bench.now) == nil)
        #expect(bench.programs[program].outcomes.count == 5)
    }

    @Test func everyProgramGetsOneLineATurn() {
        var bench = ControlBench()
        let programs = [bench.connect(), bench.connect()]
        for program in programs { bench.programs[program].unread = ControlBench.lines(ControlBench.locate, count: 3) }
        for program in programs { bench.makeReady(program) }
        bench.turn()
        #expect(programs.map { bench.programs[$0].lines.count } == [2, 2])
    }

    @Test func whatIsNoRequestIsAnsweredAndTheProgramStays() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.send("nonsense", "", #"{"do":"figures","ms":1}"#, from: program)
        #expect(bench.programs[program].codes == ["bad_request", "bad_request", "bad_request"])
        #expect(bench.submitted == [])
        bench.send(ControlBench.locate, from: program)
        #expect(bench.programs[program].outcomes.last == .queued)
    }

    @Test func theFiguresAreNoRequest() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.send(#"{"do":"figures"}"#, from: program)
        #expect(bench.programs[program].received == ControlBench.figures)
        #expect(bench.submitted == [])
    }

    @Test func aLineThatIsTooLongEndsTheConnection() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.programs[program].unread = [UInt8](repeating: UInt8(ascii: "x"), count: 4096)
        bench.settle()
        #expect(bench.programs[program].codes == ["bad_request"])
        #expect(bench.programs[program].lines.last?.reason == "A line has more than 4096 bytes.")
        #expect(bench.programs[program].isClosed)
    }

    @Test func theLongestLineIsTaken() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.send(ControlBench.locate + String(repeating: " ", count: 4095 - ControlBench.locate.utf8.count), from: program)
        #expect(bench.programs[program].outcomes == [.queued])
    }

    @Test func theReasonIsSentInFullBeforeTheEnd() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.programs[program].capacity = 10
        bench.programs[program].unread = [UInt8](repeating: UInt8(ascii: "x"), count: 5000)
        bench.settle()
        #expect(!bench.programs[program].isClosed)
        #expect(!bench.programs[program].isWatchedForReading)
        #expect(bench.programs[program].isWatchedForWriting)
        bench.programs[program].capacity = .max
        bench.settle()
        #expect(bench.programs[program].codes == ["bad_request"])
        #expect(bench.programs[program].isClosed)
    }

    @Test func noLineIsReadFurtherThanTheLongestOne() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.programs[program].unread = Array(repeatElement(UInt8(ascii: "\n"), count: 10_000))
        bench.makeReady(program)
        #expect(bench.programs[program].unread.count == 10_000 - 4096)
    }

    @Test func allLinesBeforeTheEndAreAnswered() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.programs[program].isShut = true
        bench.send("1", "2", "3", "4", "5", from: program)
        #expect(bench.programs[program].codes.count == 5)
        #expect(bench.programs[program].isClosed)
    }

    @Test func aFullOutboxPausesReading() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.programs[program].capacity = 0
        var count = 0
        while bench.programs[program].isWatchedForReading, count < 1000 {
            bench.send("nonsense", from: program)
            count += 1
        }
        #expect(!bench.programs[program].isWatchedForReading)
        #expect(bench.programs[program].isWatchedForWriting)
        #expect(bench.machine.nextDeadline(at: bench.now) == nil)
        bench.programs[program].capacity = .max
        bench.settle()
        #expect(bench.programs[program].codes.count == count)
        let byteCount = bench.programs[program].received.count
        #expect(byteCount >= 16_384)
        #expect(byteCount - byteCount / count < 16_384)
        #expect(bench.programs[program].isWatchedForReading)
    }

    @Test func aFullOutboxPausesTheHandlingOfLines() {
        var bench = ControlBench()
        bench.outcome = .expired
        let program = bench.connect()
        bench.programs[program].capacity = 0
        bench.programs[program].unread = ControlBench.lines(ControlBench.locate, count: 2000)
        bench.settle()
        let sizes = bench.submitted.indices.map { bench.result(ofRequest: $0 + 1, .expired).bytes.count }
        #expect(sizes.reduce(0, +) >= 16_384)
        #expect(sizes.dropLast().reduce(0, +) < 16_384)
        #expect(bench.machine.nextDeadline(at: bench.now) == nil)
        bench.programs[program].capacity = .max
        bench.settle()
        #expect(bench.programs[program].outcomes.count == 2000)
    }

    @Test func aProgramThatDoesNotReadDelaysNoOther() {
        var bench = ControlBench()
        let deaf = bench.connect()
        bench.programs[deaf].capacity = 0
        bench.programs[deaf].unread = ControlBench.lines("nonsense", count: 2000)
        bench.settle()
        let program = bench.connect()
        bench.send(ControlBench.locate, from: program)
        #expect(bench.programs[program].outcomes == [.queued])
    }
}

@Suite("Results at the control socket") struct ControlResultTests {
    @Test func aResultReachesOnlyTheProgramsThatWaitForIt() {
        var bench = ControlBench()
        let programs = bench.connectWaiting(3)
        bench.end(request: 2)
        #expect(programs.map { bench.programs[$0].outcomes } == [[.queued], [.queued, .ok], [.queued]])
        #expect(bench.programs.allSatisfy { !$0.isClosed })
    }

    @Test func aResultComesOnce() {
        var bench = ControlBench()
        let program = bench.connectWaiting(1)[0]
        bench.end(request: 1)
        bench.end(request: 1)
        #expect(bench.programs[program].outcomes == [.queued, .ok])
    }

    @Test func aRequestThatHasEndedIsNotWaitedFor() {
        var bench = ControlBench()
        bench.outcome = .expired
        let program = bench.connectWaiting(1)[0]
        bench.end(request: 1)
        #expect(bench.programs[program].outcomes == [.expired])
    }

    @Test func aNewResultIsSentAtOnce() {
        var bench = ControlBench()
        let program = bench.connectWaiting(1)[0]
        #expect(bench.machine.nextDeadline(at: bench.now) == nil)
        bench.machine.ended(bench.result(ofRequest: 1))
        #expect(bench.machine.nextDeadline(at: bench.now) == bench.now)
        bench.turn()
        #expect(bench.programs[program].outcomes == [.queued, .ok])
        #expect(bench.machine.nextDeadline(at: bench.now) == nil)
    }

    @Test func aResultGoesToEveryProgramThatWaitsForIt() throws {
        var bench = ControlBench()
        let programs = [bench.connectWaiting(1)[0], bench.connect(), bench.connect()]
        // The second one asks for the result of the same request; the third one waits for nothing.
        bench.machine.answered(try #require(bench.programs[programs[1]].id), with: bench.result(ofRequest: 1, .queued))
        bench.obey()
        bench.end(request: 1)
        #expect(programs.map { bench.programs[$0].outcomes } == [[.queued, .ok], [.queued, .ok], []])
    }

    @Test func aResultThatIsNotTakenKeepsNothingAwake() {
        var bench = ControlBench()
        let program = bench.connectWaiting(1)[0]
        bench.programs[program].capacity = 0
        bench.end(request: 1)
        #expect(bench.machine.nextDeadline(at: bench.now) == nil)
        bench.programs[program].capacity = .max
        bench.settle()
        #expect(bench.programs[program].outcomes == [.queued, .ok])
        #expect(!bench.programs[program].isWatchedForWriting)
    }

    @Test func sixteenResultsAreAwaitedAndNoMore() {
        var bench = ControlBench()
        let program = bench.connect()
        for _ in 0..<17 { bench.send(ControlBench.locate, from: program) }
        #expect(bench.submitted.count == 16)
        #expect(bench.programs[program].codes == ["too_many_requests"])
        bench.end(request: 1)
        bench.send(ControlBench.locate, from: program)
        #expect(bench.submitted.count == 17)
        #expect(bench.programs[program].outcomes.suffix(2) == [.ok, .queued])
    }

    @Test func aProgramThatClosedItsSendingDirectionStillGetsItsResults() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.programs[program].isShut = true
        bench.send(ControlBench.locate, ControlBench.locate, from: program)
        #expect(bench.programs[program].outcomes == [.queued, .queued])
        bench.end(request: 1)
        #expect(!bench.programs[program].isClosed)
        bench.end(request: 2)
        #expect(bench.programs[program].outcomes == [.queued, .queued, .ok, .ok])
        #expect(bench.programs[program].isClosed)
    }

    @Test func aProgramThatEndsWithoutWaitingIsClosed() {
        var bench = ControlBench()
        let program = bench.connect()
        bench.programs[program].isShut = true
        bench.settle()
        #expect(bench.programs[program].isClosed)
    }

    @Test func aProgramThatWaitsAndIsGoneIsClosed() {
        var bench = ControlBench()
        let program = bench.connectWaiting(1)[0]
        bench.programs[program].isShut = true
        bench.settle()
        #expect(!bench.programs[program].isClosed)
        #expect(!bench.programs[program].isWatchedForReading)
        // The other end is gone: the connection is ready, although it is not watched for reading.
        bench.makeReady(program)
        #expect(bench.programs[program].isClosed)
    }

    @Test func aProgramThatBreaksWhileItIsSentToIsClosed() {
        var bench = ControlBench()
        let program = bench.connectWaiting(1)[0]
        bench.programs[program].isBroken = true
        bench.programs[program].isWatchedForReading = false
        bench.end(request: 1)
        #expect(bench.programs[program].isClosed)
    }
}
