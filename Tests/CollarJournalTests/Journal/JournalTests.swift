import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// A journal stores records and reads them back, with files in memory.
@Suite struct JournalTests {
    @Test func everyFieldComesBack() throws {
        let files = MemoryFileSystem()
        let range = try #require(SequenceRange(20, 29))
        let loss = JournaledLoss(
            logID: log, range: range, reason: .deliveredElsewhere, receivedUnixMilliseconds: -5)
        let records = (0..<12).map { record($0) } + [record(Fix.maximumSequence, log: 0)]
        do {
            let journal = try openJournal(files)
            for record in records { #expect(try journal.append(record)) }
            #expect(try journal.append(loss))
            // Before the commit the entries can be read, but they are not durable.
            #expect(try allEntries(journal) == records.map { .fix($0) } + [.loss(loss)])
            #expect(journal.durable(logID: log).count == 0)
            try journal.commit()
            #expect(try allEntries(journal) == records.map { .fix($0) } + [.loss(loss)])
        }
        let journal = try openJournal(files)
        #expect(try allEntries(journal) == records.map { .fix($0) } + [.loss(loss)])
        #expect(journal.logIDs == [0, log])
        #expect(journal.durable(logID: log).ranges == [SequenceRange(0, 11), range])
        #expect(journal.known(logID: log).highest == 29)
        #expect(journal.known(logID: 0).highest == Fix.maximumSequence)
        #expect(journal.known(logID: 1).highest == nil)
        #expect(journal.damage == [])
        #expect(journal.previousReceiverID == nil)
    }

    /// What a receiver keeps of a collar's condition, with each combination of what may be absent.
    @Test(arguments: [false, true], [nil, log] as [LogID?])
    func theMemoryOfACollarComesBack(isReleased: Bool, releasedLogID: LogID?) throws {
        let some: [[SettingKey: UInt32]] = [
            [:], [.heartbeatSeconds: 300], [.fixIntervalMilliseconds: 86_400_000, .searchWaitSeconds: 0],
        ]
        for settings in some {
            let files = MemoryFileSystem()
            var memory = CollarMemory()
            (memory.heartbeatSeconds, memory.bootCount, memory.batteryWarning) = (65_535, .max, .low)
            (memory.isReleased, memory.settings) = (isReleased, settings)
            if isReleased { memory.releasedLogID = releasedLogID }
            do {
                let journal = try openJournal(files)
                journal.memory = memory
                try journal.commit()
            }
            #expect(try openJournal(files).memory == memory)
            // A checkpoint at the beginning of the next segment has it, too.
            do {
                let journal = try openJournal(files, limit: 4096)
                for sequence in 0..<200 as Range<UInt32> {
                    try append(sequence...sequence, to: journal)
                    try journal.commit()
                }
            }
            #expect(try openJournal(files).memory == memory)
        }
    }

    @Test func aDuplicateIsRefusedWhetherDurableOrNot() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files)
        #expect(try journal.append(record(3)))
        #expect(try !journal.append(record(3)))
        try journal.commit()
        #expect(try !journal.append(record(3)))
        #expect(try journal.append(record(3, log: 5)))
        let loss = JournaledLoss(logID: log, range: SequenceRange(3), reason: .storedBeforeMove, receivedUnixMilliseconds: 0)
        #expect(try !journal.append(loss))
        try journal.commit()
        #expect(try allEntries(journal).count == 2)
    }

    @Test func whatCannotBeWrittenChangesNothing() throws {
        let journal = try openJournal(MemoryFileSystem())
        try append(0...0, to: journal)
        let end = journal.end
        var wrong = record(1)
        wrong.fix.batteryPercent = 101
        #expect(throws: JournalError.unencodable(.fix(sequence: 1))) { try journal.append(wrong) }
        let beyond = try #require(SequenceRange(5, 0xFFFF_FFFF))
        #expect(throws: JournalError.unencodable(.sequence(0xFFFF_FFFF))) {
            try journal.append(
                JournaledLoss(logID: log, range: beyond, reason: .overwritten, receivedUnixMilliseconds: 0))
        }
        #expect(journal.end == end)
        #expect(journal.logIDs == [log])
        #expect(try journal.append(record(1)))
    }

    @Test func nothingIsDurableBeforeTheCommit() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files)
        let synchronised = files.calls[.synchronize]
        let written = files.calls[.write]
        try append(0...99, to: journal)
        #expect(files.calls[.write] == written)
        #expect(journal.durable(logID: log).firstMissing == 0)
        #expect(journal.firstMissing(logID: log) == 100)
        #expect(journal.firstMissing(logID: otherLog) == 0)
        #expect(journal.contains(99, logID: log))
        try journal.commit()
        #expect(journal.durable(logID: log).firstMissing == 100)
        #expect(journal.durable(logID: log).announcedEnd == 100)
        #expect(files.calls[.write] == (written ?? 0) + 1)
        #expect(files.calls[.synchronize] == (synchronised ?? 0) + 1)
        try journal.commit()
        #expect(files.calls[.write] == (written ?? 0) + 1, "nothing to write")
    }

    @Test func shortWritesAreContinued() throws {
        let files = MemoryFileSystem()
        files.longestWrite = 5
        let journal = try openJournal(files)
        try append(0...20, to: journal)
        try journal.commit()
        files.crash { durable, _ in durable }
        #expect(try sequences(allEntries(openJournal(files))) == Array(0...20))
    }

    @Test func segmentsFollowOneAnotherAndOpeningReadsOnlyTheLast() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files, limit: 2000)
            for start in stride(from: 0 as UInt32, to: 600, by: 10) {
                // Every tenth sequence is missing. This makes more ranges than one checkpoint record holds.
                for sequence in start..<(start + 9) { #expect(try journal.append(record(sequence))) }
                if start == 0 { #expect(try journal.append(record(1_000_000, log: 7))) }
                try journal.commit()
            }
            #expect(journal.segments.count > 10)
        }
        let before = files.readByteCount
        let journal = try openJournal(files, limit: 2000)
        #expect(files.readByteCount - before < 6000)
        #expect(journal.durable(logID: log).ranges.count == 60)
        #expect(journal.durable(logID: 7).ranges == [SequenceRange(1_000_000)])
        let all = try sequences(allEntries(journal))
        #expect(all.count == 541)
        #expect(Set(all).count == 541)
        #expect(try !journal.append(record(0)))
        #expect(try journal.append(record(9)))
    }

    @Test func aSegmentThatACrashLeftWithoutCheckpointIsBegunAgain() throws {
        for cut in 0...60 {
            let files = MemoryFileSystem()
            do {
                let journal = try openJournal(files, limit: 400)
                try append(0...19, to: journal)
                try journal.commit()
                #expect(journal.segments == [1, 2])
            }
            let bytes = try #require(files.files[secondSegment]).bytes
            #expect(bytes.count > 60)
            files.replace(secondSegment, with: Array(bytes.prefix(cut)))
            let journal = try openJournal(files, limit: 400)
            #expect(journal.segments == [1, 2])
            #expect(journal.durable(logID: log).firstMissing == 20)
            try append(20...20, to: journal)
            try journal.commit()
            #expect(try sequences(allEntries(journal)) == Array(0...20))
            #expect(files.files[secondSegment]?.durable.count ?? 0 > bytes.count)
        }
    }

    @Test func theEmissionCursorSurvives() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files, limit: 700)
            #expect(journal.emissionCursor == .start)
            try append(0...9, to: journal)
            let behindNine = journal.end
            try append(10...19, to: journal)
            journal.setEmissionCursor(behindNine)
            try journal.commit()
        }
        do {
            let journal = try openJournal(files, limit: 700)
            #expect(try sequences(allEntries(journal, from: journal.emissionCursor)) == Array(10...19))
            journal.setEmissionCursor(try journal.entries(from: journal.emissionCursor, limit: 4).end)
            let synchronised = files.calls[.synchronize]
            try journal.commit()
            #expect(files.calls[.synchronize] == synchronised, "a cursor alone is not waited for")
        }
        let journal = try openJournal(files, limit: 700)
        #expect(try sequences(allEntries(journal, from: journal.emissionCursor)) == Array(14...19))
        journal.setEmissionCursor(JournalPosition(segment: 99, offset: 0))
        #expect(journal.emissionCursor == journal.end)
    }

    @Test func positionsLeadToExactlyWhatFollows() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 900)
        var positions: [JournalPosition] = []
        for sequence in 0..<100 as Range<UInt32> {
            #expect(try journal.append(record(sequence)))
            positions.append(journal.end)
            if sequence % 8 == 7 { try journal.commit() }
        }
        for (index, position) in positions.enumerated() {
            let rest = Array((0..<100 as Range<UInt32>).dropFirst(index + 1))
            #expect(try sequences(allEntries(journal, from: position, limit: 33)) == rest)
        }
    }

    @Test func readingTakesChunksOfLongSegments() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files)
        try append(0...9999, to: journal)
        try journal.commit()
        #expect(try sequences(allEntries(journal, limit: 100_000)) == Array(0...9999))
        let batch = try journal.entries(from: .start, limit: 100_000)
        #expect(batch.elements.count < 2500, "one chunk at a time")
        // The damage, all of it before record 5000, is longer than a chunk.
        for offset in 1000..<200_000 { files.corrupt(firstSegment, at: offset, xor: 0xA5) }
        let rest = try sequences(allEntries(journal, limit: 100_000))
        #expect(rest.last == 9999)
        #expect(rest == Array(Set(rest)).sorted())
        #expect(rest.count > 5000)
    }

    @Test func aJournalFromAnotherReceiverIsContinuedInANewSegment() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files)
            try append(0...4, to: journal)
            try journal.commit()
        }
        do {
            let journal = try openJournal(files, receiverID: 77)
            #expect(journal.previousReceiverID == receiver)
            #expect(journal.segments == [1, 2])
            #expect(journal.durable(logID: log).firstMissing == 5)
        }
        #expect(try openJournal(files, receiverID: 77).previousReceiverID == nil)
    }
}
