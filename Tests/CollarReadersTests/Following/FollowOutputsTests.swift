import CollarARQ
import CollarFormats
import CollarWire
import LinuxSystem
import Testing

@testable import CollarJournal
@testable import CollarReaders

/// The outputs of the machine, and their order.
@Suite("Outputs of a follower's machine") struct FollowOutputsTests {
    private typealias Output = FollowMachine.Output

    /// How it ends: with the fixes that were left out, what was read at last, and a position with the present time.
    private static let end: [FollowMachine.Output] = [.reportLeftOut, .findRead(isLast: true), .storePosition(isSeen: true)]

    private func machine(isNamed: Bool = true, isAcknowledged: Bool = false, endsAt: Int64? = nil) -> FollowMachine {
        var machine = FollowMachine(
            isNamed: isNamed, isAcknowledged: isAcknowledged, endsAt: endsAt.map { Instant(microseconds: $0) })
        machine.turn()
        _ = outputs(&machine)
        return machine
    }

    private func outputs(_ machine: inout FollowMachine) -> [Output] {
        var all: [Output] = []
        while let output = machine.nextOutput() { all.append(output) }
        return all
    }

    private func turn(_ machine: inout FollowMachine) -> [Output] {
        machine.turn()
        return outputs(&machine)
    }

    private let zero = Instant(microseconds: 0)

    private func item(isWanted: Bool = true) -> StoredItem {
        let fix = Fix(sequence: 1, unixMilliseconds: 0, latitudeSteps: 1, longitudeSteps: 2)
        let content = EmittedEntry.Content.fix(JournaledFix(logID: 1, receivedUnixMilliseconds: 0, fix: fix))
        return .entry(EmittedEntry(content: content, deviceID: 7, receipt: FollowBench.receipt(1)), isWanted: isWanted)
    }

    private let event = StoredItem.event(EventLogReader.Line(bytes: [0x0A], end: EventPosition(file: 1, offset: 1)))

    @Test(arguments: [LineProgress.drained, .blocked, .closed])
    func theEndStoresThePositionHoweverTheDocumentEnded(progress: LineProgress) {
        var machine = machine()
        machine.wrote(.drained, at: zero)
        machine.end()
        #expect(turn(&machine) == [.endDocument])
        machine.documentEnded(progress)
        #expect(outputs(&machine) == FollowOutputsTests.end)
        #expect(machine.isFinished && turn(&machine) == [])
    }

    @Test func aConsumerThatIsGoneGetsNoEndOfTheDocument() {
        var machine = machine()
        machine.wrote(.closed, at: zero)
        #expect(outputs(&machine) == FollowOutputsTests.end)
        #expect(machine.isFinished)
    }

    @Test func theLimitEndsAtOnceOrAwaitsAcknowledgements() {
        var reading = machine()
        reading.wrote(.limitReached, at: zero)
        #expect(outputs(&reading) == [.endDocument])
        var acknowledging = machine(isAcknowledged: true)
        _ = acknowledging.queued(item(), at: zero)
        acknowledging.wrote(.limitReached, at: zero)
        #expect(outputs(&acknowledging) == [.findRead(isLast: false)])
        #expect(acknowledging.read(1) == [] && outputs(&acknowledging) == [])
        #expect(turn(&acknowledging) == [.writeLines])
    }

    @Test func aDeadlineStoresThePositionWithoutTheTime() {
        var machine = machine()
        _ = machine.queued(item(), at: zero)
        machine.wrote(.drained, at: zero)
        machine.deadlineReached(at: Instant(microseconds: 999_999))
        #expect(outputs(&machine) == [])
        machine.deadlineReached(at: Instant(microseconds: 1_000_000))
        #expect(outputs(&machine) == [.findRead(isLast: false), .storePosition(isSeen: false)])
    }

    @Test func everyItemMovesThePositionOfANamedReader() {
        for item in [item(), item(isWanted: false), event] {
            var named = machine()
            _ = named.queued(item, at: Instant(microseconds: 5))
            #expect(named.nextDeadline == Instant(microseconds: 1_000_005))
            var other = machine(isNamed: false, isAcknowledged: true)
            _ = other.queued(item, at: Instant(microseconds: 5))
            #expect(other.nextDeadline == nil)
        }
    }

    @Test func theEarliestOfThreeDeadlinesIsNext() {
        var machine = machine(endsAt: 1_500_000)
        #expect(machine.nextDeadline == Instant(microseconds: 1_500_000))
        _ = machine.queued(item(), at: Instant(microseconds: 100_000))
        #expect(machine.nextDeadline == Instant(microseconds: 1_100_000))
        machine.wrote(.heldUp, at: Instant(microseconds: 300_000))
        #expect(machine.nextDeadline == Instant(microseconds: 320_000))
        _ = turn(&machine)
        machine.wrote(.drained, at: Instant(microseconds: 320_000))
        #expect(machine.nextDeadline == Instant(microseconds: 1_100_000))
    }

    @Test func aBlockedOutputIsWatchedUntilItHasRoom() {
        var machine = machine()
        machine.wrote(.blocked, at: zero)
        #expect(outputs(&machine) == [.watchOutput])
        #expect(turn(&machine) == [] && !machine.hasMoreLines)
        machine.outputHasRoom()
        #expect(outputs(&machine) == [.forgetOutput])
        machine.outputHasRoom()
        #expect(outputs(&machine) == [] && turn(&machine) == [.writeLines])
    }

    @Test func theTimeThatIsOverEndsABlockedFollowerWithoutADocument() {
        var machine = machine(endsAt: 10)
        machine.wrote(.blocked, at: zero)
        machine.deadlineReached(at: Instant(microseconds: 9))
        #expect(outputs(&machine) == [.watchOutput] && turn(&machine) == [])
        machine.deadlineReached(at: Instant(microseconds: 10))
        #expect(turn(&machine) == FollowOutputsTests.end)
    }

    @Test func anInputThatEndedIsForgottenOnce() {
        var machine = machine(isAcknowledged: true)
        machine.wrote(.drained, at: zero)
        machine.inputEnded()
        #expect(outputs(&machine) == [.forgetInput])
        #expect(turn(&machine) == [.endDocument])
    }

    @Test func anUnknownIDMovesNothing() {
        var machine = machine(isAcknowledged: true)
        machine.wrote(.drained, at: zero)
        #expect(machine.inputCame(Array("x\n\(FollowBench.id(3).text)\n".utf8), at: zero) == [])
        #expect(outputs(&machine) == [.notice(.notAnID("x")), .notice(.notAnID(FollowBench.id(3).text))])
        #expect(machine.nextDeadline == nil)
    }
}

/// Entries of other kinds than fixes, for a consumer that acknowledges lines.
@Suite("Acknowledged entries of each kind") struct AcknowledgedKindsTests {
    @Test func aMessageIsAcknowledgedByItsID() throws {
        var bench = FollowBench(isAcknowledged: true, lineLimit: 2)
        try bench.storeMessage(4)
        bench.store(5...5)
        bench.turn()
        bench.readLines()
        bench.run(seconds: 1)
        #expect(bench.confirmed == [])
        bench.acknowledge(5, 4)
        #expect(bench.confirmedOffsets == [4, 5])
        #expect(bench.notices == [] && bench.machine.isFinished)
    }

    /// It has no line, so that the line after it is still to be read.
    @Test func aGapOfAnotherAnimalIsNotReadInThePlaceOfTheNextOne() throws {
        var bench = FollowBench(isAcknowledged: true)
        bench.store(1...1)
        try bench.storeGap(2, isWanted: false)
        try bench.storeGap(3)
        bench.store(4...4)
        bench.turn()
        bench.acknowledge(1)
        #expect(bench.confirmedOffsets == [1, 2])
        bench.readLines(1)
        bench.run(seconds: 1)
        #expect(bench.confirmedOffsets == [1, 2], "line 3 is not read")
        bench.readLines(1)
        bench.run(seconds: 2)
        #expect(bench.confirmedOffsets == [1, 2, 3])
    }

    @Test(arguments: [(4096, true), (4097, false)]) func aLineMayHave4096BytesBeforeItsEnd(count: Int, isTold: Bool) {
        var ids = AcknowledgedIDs()
        let text = String(repeating: "x", count: count)
        #expect(ids.lines(endingIn: Array(text.utf8)) == [])
        #expect(ids.lines(endingIn: [0x0A]) == (isTold ? [.other(text)] : []))
        #expect(ids.lines(endingIn: Array((FollowBench.id(1).text + "\n").utf8)) == [.id(FollowBench.id(1))])
    }

    @Test func anIDIsThatOfAFixAndOfNothingElse() {
        let text = FollowBench.id(0xABCDEF).text
        let others = [
            "01234567-89ab-4cde-bcbc-614e0000002a", "01234567-89ab-8cde-fcbc-614e0000002a", String(text.dropLast()), text + "0",
            text + " x", String(text.filter { $0 != "-" }),
        ]
        var ids = AcknowledgedIDs()
        for other in others { #expect(ids.lines(endingIn: Array("\(other)\n".utf8)) == [.other(other)]) }
        #expect(ids.lines(endingIn: Array("\t\(text.uppercased()) \n".utf8)) == [.id(FollowBench.id(0xABCDEF))])
    }
}
