import CollarJournal
import CollarWire
import Testing

@testable import CollarReaders

/// A journal was cut or restored while its lines waited for acknowledgements: the lines that come again are those of another session.
@Suite("Lines that come again") struct RepeatedLinesTests {
    private func bench(lineLimit: Int? = nil) -> FollowBench { FollowBench(isAcknowledged: true, lineLimit: lineLimit) }

    @Test func endAtTheLimitOnceTheyAreAcknowledged() {
        var bench = bench(lineLimit: 5)
        bench.store(1...3)
        bench.turn()
        bench.store(2...3, session: 1)
        bench.turn()
        bench.run(seconds: 5)
        #expect(!bench.machine.isFinished)
        bench.acknowledge(2)
        bench.run(seconds: 5)
        #expect(!bench.machine.isFinished)
        bench.acknowledge(3)
        #expect(bench.machine.isFinished)
        #expect(bench.endCount == 1)
        #expect(bench.notices.isEmpty)
    }

    @Test func mayComeAgainSeveralTimes() {
        var bench = bench(lineLimit: 8)
        for session in 0..<4 {
            bench.store(1...2, session: session)
            bench.turn()
        }
        bench.acknowledge(1)
        #expect(!bench.machine.isFinished)
        bench.acknowledge(2)
        #expect(bench.machine.isFinished)
        #expect(bench.confirmed == [1, 2].map { .entry(FollowBench.receipt($0, session: 3), hasID: true) })
    }

    @Test func leaveTheLinesOfAnotherCollarWaiting() {
        var bench = bench(lineLimit: 4)
        bench.store(1...1)
        bench.store(1...2, collar: 8, session: 1)
        bench.turn()
        bench.store(1...1, session: 2)
        bench.turn()
        bench.acknowledge(1)
        bench.acknowledge(1, collar: 8)
        bench.run(seconds: 5)
        #expect(!bench.machine.isFinished, "line 2 of the other collar waits")
        bench.acknowledge(2, collar: 8)
        #expect(bench.machine.isFinished)
    }

    @Test func makeRoomForFurtherLines() {
        var bench = bench()
        let limit = UInt32(Confirmations.limit)
        bench.store(1...limit)
        for _ in 0..<20 { bench.turn() }
        #expect(bench.writtenCount == Int(limit))
        #expect(!bench.machine.hasRoom)
        bench.acknowledge(1)
        // The journal begins again: its former lines are not awaited any more.
        bench.store(2...2, session: 1)
        bench.turn()
        #expect(bench.machine.hasRoom)
        bench.store(3...5000, session: 1)
        for _ in 0..<5 { bench.turn() }
        #expect(bench.writtenCount == Int(limit) + 4999)
    }

    @Test func doNotAwaitTheFormerLinesThatDidNotComeAgain() {
        var bench = bench()
        bench.store(1...3)
        bench.turn()
        bench.store(1...1, session: 1)
        bench.turn()
        bench.acknowledge(3)
        #expect(bench.notices == [.notAnID(FollowBench.id(3).text)])
        #expect(bench.confirmed.isEmpty)
        bench.acknowledge(1)
        #expect(bench.confirmed == [.entry(FollowBench.receipt(1, session: 1), hasID: true)])
    }

    @Test func areNewLinesOnceTheyWereAcknowledged() {
        var bench = bench(lineLimit: 3)
        bench.store(1...2)
        bench.turn()
        bench.acknowledge(1)
        bench.store(1...1, session: 1)
        bench.turn()
        // The line was acknowledged, so the former session is not known to have ended.
        bench.acknowledge(1, 2)
        #expect(bench.machine.isFinished)
        #expect(bench.confirmedOffsets == [1, 1, 2])
    }
}

/// The count of lines that wait, and the receipts that are confirmed.
@Suite struct ConfirmationsTests {
    private var confirmations = Confirmations()

    private func receipt(_ offset: UInt32, _ session: Int = 0) -> EmissionReceipt { FollowBench.receipt(offset, session: session) }

    private func id(_ sequence: UInt32) -> Confirmations.Kind { .id(FollowBench.id(sequence)) }

    @Test mutating func theCountIsThatOfTheLinesThatWait() {
        for sequence in 1...4 as ClosedRange<UInt32> { #expect(confirmations.add(receipt(sequence), id(sequence)) == []) }
        #expect(confirmations.count == 4)
        #expect(confirmations.confirm(FollowBench.id(3)) == [])
        #expect(confirmations.count == 4, "line 3 waits for those before it")
        #expect(confirmations.confirm(FollowBench.id(1)) == [receipt(1)])
        #expect(confirmations.confirm(FollowBench.id(2)) == [receipt(2), receipt(3)])
        #expect(confirmations.count == 1)
        #expect(confirmations.confirm(FollowBench.id(2)) == nil)
        #expect(confirmations.confirm(FollowBench.id(4)) == [receipt(4)])
        #expect(confirmations.count == 0 && confirmations.hasRoom)
    }

    @Test mutating func theCountFallsByTheLinesOfAnEndedSession() {
        for sequence in 1...4 as ClosedRange<UInt32> { _ = confirmations.add(receipt(sequence), id(sequence)) }
        _ = confirmations.add(receipt(9, 7), id(90))
        _ = confirmations.confirm(FollowBench.id(1))
        #expect(confirmations.count == 4)
        #expect(confirmations.add(receipt(2, 1), id(2)) == [])
        #expect(confirmations.count == 2, "one of each session that goes on")
        #expect(confirmations.confirm(FollowBench.id(4)) == nil)
        #expect(confirmations.confirm(FollowBench.id(2)) == [receipt(2, 1)])
        #expect(confirmations.confirm(FollowBench.id(90)) == [receipt(9, 7)])
        #expect(confirmations.count == 0)
    }

    @Test mutating func unwrittenEntriesAndThoseWithoutIDCountUntilTheyAreConfirmed() {
        #expect(confirmations.add(receipt(1), .unwritten) == [receipt(1)])
        #expect(confirmations.count == 0)
        #expect(confirmations.add(receipt(2), .withoutID) == [])
        #expect(confirmations.add(receipt(3), .unwritten) == [])
        #expect(confirmations.add(receipt(4), .withoutID) == [])
        #expect(confirmations.count == 3)
        #expect(confirmations.noteRead(of: SessionID(index: 0)) == [receipt(2), receipt(3)])
        #expect(confirmations.count == 1)
        #expect(confirmations.noteRead(of: SessionID(index: 0)) == [receipt(4)])
        #expect(confirmations.noteRead(of: SessionID(index: 0)) == [])
        #expect(confirmations.count == 0)
    }

    @Test mutating func readingOfOneSessionConfirmsNothingOfAnother() {
        _ = confirmations.add(receipt(1, 0), .withoutID)
        _ = confirmations.add(receipt(2, 1), .withoutID)
        #expect(confirmations.noteRead(of: SessionID(index: 1)) == [receipt(2, 1)])
        #expect(confirmations.noteRead(of: SessionID(index: 0)) == [receipt(1, 0)])
    }

    /// Queues drop what is done from time to time.
    @Test mutating func manyLinesAreConfirmedInTheirOrder() {
        var confirmed: [EmissionReceipt] = []
        for sequence in 1...5000 as ClosedRange<UInt32> {
            _ = confirmations.add(receipt(sequence), sequence % 7 == 0 ? .withoutID : id(sequence))
            if sequence > 10 {
                let earlier = sequence - 10
                confirmed +=
                    earlier % 7 == 0
                    ? confirmations.noteRead(of: SessionID(index: 0)) : confirmations.confirm(FollowBench.id(earlier)) ?? []
            }
        }
        #expect(confirmed == (1...4990 as ClosedRange<UInt32>).map { receipt($0) })
        #expect(confirmations.count == 10)
    }

    @Test func linesOfIDsMayEndAnywhere() {
        let (one, two) = (FollowBench.id(1), FollowBench.id(2))
        let bytes = Array("\(one.text)\n\"\(two.text)\"\r\n\n x \n\(one.text)\n".utf8)
        let expected: [AcknowledgedIDs.Line] = [.id(one), .id(two), .other("x"), .id(one)]
        for cut in bytes.indices {
            var ids = AcknowledgedIDs()
            #expect(ids.lines(endingIn: Array(bytes[..<cut])) + ids.lines(endingIn: Array(bytes[cut...])) == expected, "cut at \(cut)")
        }
    }
}
