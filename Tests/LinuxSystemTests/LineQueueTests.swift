import Testing

@testable import LinuxSystem

struct LineQueueTests {
    private static let atomic = NonblockingOutput.atomicByteCount

    /// A line with its line feed.
    private func line(_ byteCount: Int = 10) -> [UInt8] { [UInt8](repeating: 0x2E, count: byteCount - 1) + [0x0A] }

    private func queue(entries count: Int, byteCount: Int = 10, lineLimit: Int? = nil) -> LineQueue {
        var lines = LineQueue(lineLimit: lineLimit)
        for _ in 0..<count { lines.queue { $0 += line(byteCount) } }
        return lines
    }

    @Test func wholeLinesAreWrittenTogether() {
        var lines = queue(entries: 500)
        #expect(lines.unwritten.count == 4090)
        lines.wrote(4090)
        #expect(lines.writtenLineCount == 409)
        #expect(lines.unwritten.count == 910)
        lines.wrote(910)
        #expect(lines.isEmpty)
        #expect(lines.unwritten.isEmpty)
    }

    @Test func linesThatFitExactlyAreWrittenTogether() {
        let lines = queue(entries: 9, byteCount: LineQueueTests.atomic / 8)
        #expect(lines.unwritten.count == LineQueueTests.atomic)
    }

    @Test func aLongLineIsWrittenInParts() {
        var lines = queue(entries: 1, byteCount: 10_000)
        lines.queue { $0 += line() }
        #expect(lines.unwritten.count > LineQueueTests.atomic)
        for _ in 0..<2 { lines.wrote(LineQueueTests.atomic) }
        #expect(lines.writtenLineCount == 0)
        #expect(!lines.hasUnread)
        #expect(lines.unwritten.count == 10_000 - 2 * LineQueueTests.atomic + 10)
        lines.wrote(10_000 - 2 * LineQueueTests.atomic)
        #expect(lines.writtenLineCount == 1)
        #expect(lines.hasUnread)
    }

    @Test func entriesStayInTheJournalWhenManyBytesWait() {
        var lines = queue(entries: 1, byteCount: LineQueue.byteLimit - 1)
        #expect(lines.hasRoom)
        lines.queue { $0 += line(100) }
        #expect(!lines.hasRoom)
        lines.wrote(100)
        #expect(lines.hasRoom)
    }

    @Test func entriesStayInTheJournalWhenManyWait() {
        var lines = LineQueue()
        for _ in 1..<LineQueue.entryLimit { lines.queue { _ in } }
        #expect(lines.hasRoom)
        lines.queue { _ in }
        #expect(!lines.hasRoom)
        lines.wrote(0)
        #expect(lines.hasRoom)
    }

    @Test func eventsHaveRoomThatEntriesDoNotUse() {
        var lines = queue(entries: 1, byteCount: LineQueue.byteLimit)
        #expect(!lines.hasRoom)
        let most = LineQueue.reservedByteCount / 10 + 1
        for _ in 0..<2 * most { lines.queue(line()) }
        lines.wrote(LineQueue.byteLimit + most * 10)
        #expect(lines.isEmpty, "the others are dropped")
        #expect(lines.writtenLineCount == 1 + most)
        #expect(lines.takeRead(unreadByteCount: 0) == 1, "an event is no entry")
    }

    @Test func theLimitCountsLines() {
        var lines = queue(entries: 1, lineLimit: 3)
        lines.append { $0 += [0x5B] }
        lines.queue { _ in }
        lines.queue(line())
        #expect(!lines.isLimitReached)
        #expect(lines.hasRoom)
        lines.queue { $0 += line() }
        #expect(lines.isLimitReached)
        #expect(!lines.hasRoom)
        lines.queue(line())
        lines.wrote(31)
        #expect(lines.isEmpty)
        #expect(lines.writtenLineCount == 3)
    }

    @Test func anEntryIsReadWithTheLastByteOfItsLine() {
        var lines = queue(entries: 3)
        lines.wrote(30)
        #expect(lines.takeRead(unreadByteCount: 30) == 0)
        #expect(lines.takeRead(unreadByteCount: 11) == 1)
        #expect(lines.takeRead(unreadByteCount: 11) == 0)
        #expect(lines.takeRead(unreadByteCount: 10) == 1)
        #expect(lines.hasUnread)
        #expect(lines.takeRead(unreadByteCount: 0) == 1)
        #expect(!lines.hasUnread)
    }

    @Test func anOutputThatCannotTellHasEverythingUnread() {
        var lines = queue(entries: 3)
        lines.wrote(30)
        #expect(lines.takeRead(unreadByteCount: .max) == 0)
        #expect(lines.takeRead(unreadByteCount: 0) == 3)
    }

    @Test func whatIsNotWrittenIsNotRead() {
        var lines = queue(entries: 3)
        lines.wrote(15)
        #expect(lines.takeRead(unreadByteCount: 0) == 1)
    }

    @Test func anEntryWithoutALineIsReadWithTheOneBeforeIt() {
        var lines = queue(entries: 1)
        lines.queue { _ in }
        lines.queue { $0 += line() }
        lines.wrote(20)
        #expect(lines.takeRead(unreadByteCount: 11) == 0)
        #expect(lines.takeRead(unreadByteCount: 10) == 2)
        #expect(lines.writtenLineCount == 2)
    }

    @Test func readingBecomesUnclearWithManyLines() {
        var lines = queue(entries: LineQueue.unreadLimit)
        lines.wrote((LineQueue.unreadLimit - 1) * 10)
        #expect(!lines.isReadingUnclear)
        lines.wrote(10)
        #expect(lines.isReadingUnclear)
        #expect(lines.takeRead(unreadByteCount: 10) == LineQueue.unreadLimit - 1)
        #expect(!lines.isReadingUnclear)
    }

    /// The queue forgets what was written and read, at other times. Lines have numbers, which the consumer finds in order.
    @Test(arguments: [1, 7, 300, 5000]) func longRunsLoseNothing(perTurn: Int) {
        var lines = LineQueue()
        var consumer: [UInt8] = []
        var (queued, read, unread) = (0, 0, 0)
        for turn in 0..<200 {
            for _ in 0..<perTurn where lines.hasRoom {
                lines.queue { $0 += Array("\(100_000_000 + queued)\n".utf8) }
                queued += 1
            }
            for _ in 0..<turn % 7 {
                let part = lines.unwritten.prefix(LineQueueTests.atomic - turn)
                consumer += part
                unread += part.count
                lines.wrote(part.count)
            }
            unread -= turn % 3 == 0 ? unread : unread / 2
            read += lines.takeRead(unreadByteCount: unread)
            #expect(read == (consumer.count - unread) / 10, "turn \(turn)")
        }
        while !lines.isEmpty {
            consumer += lines.unwritten
            lines.wrote(lines.unwritten.count)
        }
        read += lines.takeRead(unreadByteCount: 0)
        #expect(read == queued && lines.writtenLineCount == queued)
        #expect(consumer.elementsEqual((0..<queued).flatMap { Array("\(100_000_000 + $0)\n".utf8) }))
    }
}
