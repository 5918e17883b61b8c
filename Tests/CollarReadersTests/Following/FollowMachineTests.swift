import CollarARQ
import CollarFormats
import CollarWire
import LinuxSystem
import Testing

@testable import CollarJournal
@testable import CollarReaders

@Suite("A follower's lines") struct FollowedLinesTests {
    @Test func areWrittenAndThenNothingWakesUp() {
        var bench = FollowBench(isNamed: false)
        bench.store(1...3)
        bench.run(seconds: 1)
        #expect(bench.writtenCount == 3)
        #expect(bench.machine.nextDeadline == nil)
        #expect(bench.stored.isEmpty)
        #expect(!bench.machine.hasMoreLines)
    }

    @Test func waitForAConsumerThatDoesNotRead() {
        var bench = FollowBench()
        bench.capacity = 25
        bench.store(1...2)
        bench.turn()
        bench.store(3...5)
        for _ in 0..<3 { bench.turn() }
        #expect(bench.writtenCount == 2)
        bench.readLines()
        #expect(bench.writtenCount == 2, "three lines are one write, for which there is no room")
        bench.capacity = 30
        bench.readLines()
        #expect(bench.writtenCount == 5)
    }

    @Test func stopForOtherWork() {
        var bench = FollowBench()
        bench.store(1...20_000)
        bench.turn()
        #expect(bench.machine.hasMoreLines)
        #expect(bench.writtenCount == 4 * LineQueue.entryLimit)
        bench.turn()
        #expect(bench.writtenCount == 20_000)
        #expect(!bench.machine.hasMoreLines)
    }

    @Test func endAtTheLimit() {
        var bench = FollowBench(lineLimit: 2)
        bench.store(1...3)
        bench.turn()
        #expect(bench.machine.isFinished)
        #expect(bench.writtenCount == 2)
        #expect(bench.endCount == 1)
        #expect(bench.confirmedOffsets == [1, 2])
        #expect(bench.storedCount == 2)
    }

    @Test func anEntryWithoutALineDoesNotCountForTheLimit() {
        var bench = FollowBench(lineLimit: 1)
        bench.store(1...2, isWanted: false)
        bench.turn()
        #expect(!bench.machine.isFinished)
        bench.store(3...3)
        bench.turn()
        #expect(bench.machine.isFinished)
        #expect(bench.confirmedOffsets == [1, 2, 3])
    }

    @Test func endWhenTheTerminalHasTakenThem() {
        var bench = FollowBench(isNamed: false, lineLimit: 2)
        bench.isTerminal = true
        bench.store(1...2)
        bench.turn()
        #expect(!bench.machine.isFinished)
        #expect(bench.machine.nextDeadline == Instant(microseconds: LineOutput.heldUpInterval))
        bench.run(seconds: 5)
        #expect(!bench.machine.isFinished)
        bench.readLines()
        #expect(bench.machine.isFinished)
        #expect(bench.confirmedOffsets == [1, 2])
    }

    @Test func anErrorOfTheOutputEndsWithNothingStored() {
        var bench = FollowBench()
        bench.writeError = 28
        bench.store(1...2)
        bench.turn()
        #expect(bench.failure == .output(errorNumber: 28))
        #expect(bench.stored.isEmpty)
    }
}

@Suite("The end of a follower") struct FollowEndTests {
    @Test func aSignalEndsTheDocumentAndStoresThePosition() {
        var bench = FollowBench()
        bench.store(1...2)
        bench.turn()
        bench.signal()
        #expect(bench.machine.isFinished)
        #expect(bench.endCount == 1)
        #expect(bench.storedCount == 2, "what is in the pipe of a living reader counts as read")
    }

    @Test func nothingIsWrittenAfterASignal() {
        var bench = FollowBench()
        bench.turn()
        bench.store(1...2)
        bench.signal()
        #expect(bench.writtenCount == 0)
    }

    @Test func anOutputWithoutRoomGetsNoEndOfTheDocument() {
        var bench = FollowBench()
        bench.capacity = 15
        bench.store(1...1)
        bench.turn()
        bench.store(2...2)
        bench.turn()
        bench.signal()
        #expect(bench.machine.isFinished)
        #expect(bench.endCount == 0)
        #expect(bench.confirmedOffsets == [1])
    }

    @Test func anOutputWithRoomAgainGetsTheEndOfTheDocument() {
        var bench = FollowBench()
        bench.capacity = 5
        bench.store(1...1)
        bench.turn()
        bench.signalAndRead()
        #expect(bench.endCount == 1)
    }

    @Test func aDepartedReaderHasNoLineThatWasInThePipe() {
        var bench = FollowBench()
        bench.store(1...3)
        bench.turn()
        bench.readLines(2)
        bench.isClosed = true
        bench.store(4...4)
        bench.turn()
        #expect(bench.machine.isFinished)
        #expect(bench.endCount == 0)
        #expect(bench.confirmedOffsets == [1, 2])
        #expect(bench.storedCount == 2)
    }

    @Test func anErrorAtTheEndOfTheDocumentIsTold() {
        var bench = FollowBench()
        bench.turn()
        bench.writeError = 5
        bench.signal()
        #expect(bench.failure == .output(errorNumber: 5))
        #expect(bench.stored.isEmpty)
    }

    @Test func theTimeIsOver() {
        var bench = FollowBench(endsAfter: 10)
        bench.run(seconds: 9.9)
        #expect(!bench.machine.isFinished)
        bench.run(seconds: 0.1)
        #expect(bench.machine.isFinished)
        #expect(bench.endCount == 1)
        #expect(bench.stored == [10], "the time at which the reader was seen is stored")
    }
}

@Suite("The position of a follower") struct FollowedPositionTests {
    @Test func isStoredASecondAfterTheFirstLine() {
        var bench = FollowBench()
        bench.store(1...1)
        bench.run(seconds: 0.5)
        bench.store(2...2)
        bench.readLines()
        #expect(bench.stored.isEmpty)
        bench.run(seconds: 0.2)
        bench.readLines()
        bench.run(seconds: 10)
        #expect(bench.stored == [1])
        #expect(bench.storedCount == 2)
        #expect(bench.machine.nextDeadline == nil)
    }

    @Test func isPastTheLinesThatWereRead() {
        var bench = FollowBench()
        bench.store(1...3)
        bench.turn()
        bench.readLines(2)
        bench.run(seconds: 1)
        #expect(bench.storedCount == 2)
        bench.readLines()
        bench.run(seconds: 2)
        #expect(bench.storedCount == 3)
        #expect(bench.stored == [1, 3])
    }

    @Test func isStoredMoreAndMoreRarelyWhileNobodyReads() {
        var bench = FollowBench()
        bench.store(1...1)
        bench.run(seconds: 1000)
        #expect(bench.stored == [1, 3, 7, 15, 31, 63, 127])
        #expect(bench.storedCount == 0)
        #expect(bench.machine.nextDeadline == nil, "nothing wakes up for a consumer that has stopped")
        bench.store(2...2)
        bench.turn()
        bench.readLines()
        bench.run(seconds: 10)
        #expect(bench.stored.last == 1001)
        #expect(bench.storedCount == 2)
    }

    @Test func anotherLineBringsBackTheShortTime() {
        var bench = FollowBench()
        bench.store(1...1)
        bench.run(seconds: 10)
        #expect(bench.stored == [1, 3, 7])
        bench.store(2...2)
        bench.run(seconds: 10)
        #expect(bench.stored == [1, 3, 7, 15, 17], "the time that was set stays, and the next one is the second after the first")
    }

    @Test func isTriedAgainIfItCannotBeStored() {
        var bench = FollowBench()
        bench.canStore = false
        bench.store(1...1)
        bench.turn()
        bench.readLines()
        bench.run(seconds: 4)
        #expect(bench.stored == [1, 3])
        #expect(bench.storedCount == 0)
        bench.canStore = true
        bench.run(seconds: 20)
        #expect(bench.stored == [1, 3, 7])
        #expect(bench.storedCount == 1)
    }

    @Test func manyLinesAreConfirmedBeforeItIsStored() {
        var bench = FollowBench()
        bench.store(1...255)
        bench.turn()
        bench.readLines()
        #expect(bench.confirmed.isEmpty)
        bench.store(256...256)
        bench.turn()
        bench.readLines()
        #expect(bench.confirmed.count == 256)
    }
}

@Suite("A consumer that acknowledges") struct AcknowledgingConsumerTests {
    private func bench(lineLimit: Int? = nil) -> FollowBench { FollowBench(isAcknowledged: true, lineLimit: lineLimit) }

    @Test func hasALineWhenThoseBeforeItAreAcknowledged() {
        var bench = bench()
        bench.store(1...5)
        bench.turn()
        bench.readLines()
        bench.acknowledge(3, 2, 5)
        #expect(bench.confirmed.isEmpty)
        bench.acknowledge(1)
        #expect(bench.confirmedOffsets == [1, 2, 3])
        bench.acknowledge(4)
        #expect(bench.confirmedOffsets == [1, 2, 3, 4, 5])
    }

    @Test func collarsDoNotWaitForOneAnother() {
        var bench = bench()
        bench.store(1...1)
        bench.store(11...11, collar: 8, session: 1)
        bench.turn()
        bench.acknowledge(11, collar: 8)
        #expect(bench.confirmedOffsets == [11])
    }

    @Test func anAcknowledgementIsStoredASecondLater() {
        var bench = bench()
        bench.store(1...1)
        bench.turn()
        bench.readLines()
        bench.run(seconds: 5)
        #expect(bench.stored == [1])
        bench.acknowledge(1)
        bench.run(seconds: 5)
        #expect(bench.stored == [1, 6])
        #expect(bench.storedCount == 1)
    }

    @Test func aGapCountsWhenItIsRead() throws {
        var bench = bench()
        bench.store(1...1)
        try bench.storeGap(2)
        bench.store(3...3)
        bench.turn()
        bench.acknowledge(1, 3)
        #expect(bench.confirmedOffsets == [1])
        bench.readLines()
        bench.run(seconds: 1)
        #expect(bench.confirmedOffsets == [1, 2, 3])
    }

    @Test func anEntryWithoutALineCountsAtOnce() {
        var bench = bench()
        bench.store(1...2, isWanted: false)
        bench.store(3...3)
        bench.turn()
        #expect(bench.confirmedOffsets == [1, 2])
    }

    @Test func anEventCountsWhenItIsRead() {
        var bench = bench()
        bench.storeEvent(50)
        bench.run(seconds: 1)
        #expect(bench.confirmed.isEmpty)
        bench.readLines()
        bench.run(seconds: 2)
        #expect(bench.confirmed == [.event(EventPosition(file: 1, offset: 50))])
    }

    @Test func whatIsNoIDOfAWaitingLineIsReported() {
        var bench = bench()
        bench.store(1...1)
        bench.turn()
        bench.write("rubbish\n\n")
        bench.acknowledge(1, 1, 2)
        #expect(bench.notices == [.notAnID("rubbish"), .notAnID(FollowBench.id(1).text), .notAnID(FollowBench.id(2).text)])
        #expect(bench.confirmedOffsets == [1])
    }

    @Test func idsMayComeInPiecesAndQuoted() {
        var bench = bench()
        bench.store(1...2)
        bench.turn()
        let text = "\"\(FollowBench.id(1).text)\"\r\n  \(FollowBench.id(2).text)"
        bench.write(String(text.prefix(20)))
        bench.write(String(text.dropFirst(20)))
        #expect(bench.confirmedOffsets == [1])
        bench.write("\n")
        #expect(bench.confirmedOffsets == [1, 2])
        #expect(bench.notices.isEmpty)
    }

    @Test func aLineWithoutEndIsForgotten() {
        var bench = bench()
        bench.store(1...1)
        bench.turn()
        for _ in 0..<5 { bench.write(String(repeating: "x", count: 1000)) }
        bench.acknowledge(1)
        #expect(bench.confirmedOffsets == [1])
        #expect(bench.notices.isEmpty)
    }

    @Test func endsWithItsInput() {
        var bench = bench()
        bench.store(1...2)
        bench.turn()
        bench.acknowledge(1)
        bench.closeInput()
        #expect(bench.machine.isFinished)
        #expect(bench.isInputForgotten)
        #expect(bench.endCount == 1)
        #expect(bench.storedCount == 1, "the second line is not acknowledged")
    }

    @Test func endsAtTheLimitWhenAllIsAcknowledged() {
        var bench = bench(lineLimit: 2)
        bench.store(1...3)
        bench.run(seconds: 5)
        #expect(bench.writtenCount == 2)
        bench.acknowledge(2)
        bench.run(seconds: 5)
        #expect(!bench.machine.isFinished)
        bench.acknowledge(1)
        #expect(bench.machine.isFinished)
        #expect(bench.endCount == 1)
        #expect(bench.storedCount == 2)
    }

    @Test func endsAtTheLimitWhenTheLastGapIsRead() throws {
        var bench = bench(lineLimit: 2)
        bench.store(1...1)
        try bench.storeGap(2)
        bench.turn()
        bench.acknowledge(1)
        #expect(!bench.machine.isFinished)
        bench.readLines()
        bench.run(seconds: 5)
        #expect(bench.machine.isFinished)
        #expect(bench.storedCount == 2)
    }

    /// There are enough unread lines that they are looked at while lines are written, and again at the limit.
    @Test func endsOnceAfterManyGaps() throws {
        var bench = bench(lineLimit: 300)
        for number in 1...300 { try bench.storeGap(UInt32(number)) }
        bench.turn()
        #expect(!bench.machine.isFinished)
        bench.readLines()
        #expect(bench.machine.isFinished)
        #expect(bench.endCount == 1)
        #expect(bench.storedCount == 300)
    }

    @Test func getsNoMoreLinesThanItCanAcknowledge() {
        var bench = bench()
        bench.store(1...UInt32(Confirmations.limit) + 2)
        for _ in 0..<20 { bench.turn() }
        #expect(bench.writtenCount == Confirmations.limit)
        #expect(!bench.machine.hasMoreLines)
        bench.acknowledge(1)
        #expect(bench.writtenCount == Confirmations.limit + 1)
    }

    @Test func aRestoredJournalBeginsItsQueueAgain() {
        var bench = bench()
        bench.store(1...3)
        bench.turn()
        bench.store(2...3, session: 1)
        bench.turn()
        bench.acknowledge(2, 3)
        #expect(bench.confirmed == [2, 3].map { .entry(FollowBench.receipt($0, session: 1), hasID: true) })
    }
}
