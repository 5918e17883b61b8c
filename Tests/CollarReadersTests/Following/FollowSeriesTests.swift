import CollarJournal
import CollarWire
import Testing

@testable import CollarReaders

/// The second line, storing, blocking or limit after the first.
@Suite("A follower over some time") struct FollowSeriesTests {
    @Test func everyLineAfterAStoringIsStoredASecondLater() {
        var bench = FollowBench()
        for round in 1...4 as ClosedRange<UInt32> {
            bench.store(round...round)
            bench.turn()
            bench.readLines()
            bench.run(seconds: 10)
            #expect(bench.storedCount == Int(round))
            #expect(bench.machine.nextDeadline == nil)
        }
        #expect(bench.stored == [1, 11, 21, 31])
    }

    @Test func aFailureToStoreIsFollowedByTheShortTimeOnceItWasStored() {
        var bench = FollowBench()
        bench.canStore = false
        bench.store(1...1)
        bench.turn()
        bench.readLines()
        bench.run(seconds: 8)
        bench.canStore = true
        bench.run(seconds: 92)
        #expect(bench.stored == [1, 3, 7, 15])
        bench.store(2...2)
        bench.turn()
        bench.readLines()
        bench.run(seconds: 10)
        #expect(bench.stored == [1, 3, 7, 15, 101])
        #expect(bench.storedCount == 2)
    }

    @Test func anOutputThatBlocksAgainIsWaitedForAgain() {
        var bench = FollowBench()
        bench.capacity = 10
        for sequence in 1...5 as ClosedRange<UInt32> {
            bench.store(sequence...sequence)
            bench.turn()
        }
        #expect(bench.writtenCount == 1)
        bench.capacity = 40
        bench.readLines()
        #expect(bench.writtenCount == 5)
        bench.store(6...6)
        bench.turn()
        #expect(bench.writtenCount == 5)
        bench.readLines()
        #expect(bench.writtenCount == 6)
    }

    @Test func theTimeIsOverWhileAcknowledgementsAreAwaited() {
        var bench = FollowBench(isAcknowledged: true, lineLimit: 2, endsAfter: 10)
        bench.store(1...2)
        bench.run(seconds: 5)
        bench.acknowledge(1)
        bench.run(seconds: 4.9)
        #expect(!bench.machine.isFinished)
        bench.run(seconds: 0.1)
        #expect(bench.machine.isFinished)
        #expect(bench.confirmedOffsets == [1])
        #expect(bench.storedCount == 1)
        #expect(bench.endCount == 1)
    }

    @Test func aLineThatIsAcknowledgedTwiceIsReportedOnce() {
        var bench = FollowBench(isAcknowledged: true)
        bench.store(1...2)
        bench.turn()
        bench.acknowledge(2)
        bench.acknowledge(2, 1)
        #expect(bench.notices == [.notAnID(FollowBench.id(2).text)])
        #expect(bench.confirmedOffsets == [1, 2])
    }

    @Test func idsOfAnotherCollarConfirmNothing() {
        var bench = FollowBench(isAcknowledged: true, lineLimit: 2)
        bench.store(1...1)
        bench.store(1...1, collar: 8, session: 1)
        bench.turn()
        bench.acknowledge(1, collar: 9)
        #expect(bench.notices == [.notAnID(FollowBench.id(1, 9).text)])
        bench.acknowledge(1, collar: 8)
        #expect(bench.confirmed == [.entry(FollowBench.receipt(1, session: 1), hasID: true)])
        #expect(!bench.machine.isFinished)
        bench.acknowledge(1)
        #expect(bench.machine.isFinished)
    }

    @Test func gapsAndLinesAndEventsAreConfirmedInTheirOrder() throws {
        var bench = FollowBench(isAcknowledged: true)
        bench.store(1...1)
        try bench.storeGap(2)
        bench.store(3...3, isWanted: false)
        try bench.storeGap(4)
        bench.storeEvent(5)
        bench.store(6...6)
        bench.turn()
        bench.acknowledge(6)
        bench.readLines()
        bench.run(seconds: 5)
        #expect(bench.confirmedOffsets == [], "all wait for the first line")
        #expect(bench.confirmed == [.event(EventPosition(file: 1, offset: 5))])
        bench.acknowledge(1)
        #expect(bench.confirmedOffsets == [1, 2, 3, 4, 6])
    }

    @Test func aLimitOfUnwantedEntriesIsNone() {
        var bench = FollowBench(isAcknowledged: true, lineLimit: 2)
        bench.store(1...3, isWanted: false)
        bench.store(4...4)
        bench.store(5...6, isWanted: false)
        bench.store(7...9)
        bench.turn()
        #expect(bench.writtenCount == 2)
        bench.acknowledge(4)
        #expect(!bench.machine.isFinished)
        bench.acknowledge(7)
        #expect(bench.machine.isFinished)
        #expect(bench.confirmedOffsets == [1, 2, 3, 4, 5, 6, 7])
    }

    @Test func aSecondSignalChangesNothing() {
        var bench = FollowBench()
        bench.store(1...1)
        bench.turn()
        for _ in 0..<3 { bench.signal() }
        #expect(bench.machine.isFinished)
        #expect(bench.endCount == 1)
        #expect(bench.stored == [0])
        bench.store(2...2)
        bench.turn()
        #expect(bench.writtenCount == 1)
    }
}
