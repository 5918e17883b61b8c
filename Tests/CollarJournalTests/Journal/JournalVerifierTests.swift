import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// The sequences that verification reports as stored, lost, missing, removed and damaged.
@Suite struct JournalVerificationTests {
    private func path(_ segment: UInt32) -> String {
        JournalDirectory(stateDirectory: "/state", deviceID: collar).path(ofSegment: segment)
    }

    private func verify(_ files: MemoryFileSystem) throws -> JournalVerification {
        try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files).verify()
    }

    private func set(_ ranges: [SequenceRange]) -> Set<UInt32> {
        Set(ranges.flatMap { Array($0.first...$0.last) })
    }

    /// Fix 7 of another log, and fixes 0 to 299 of the main log without 50 to 52 (lost), 60 (delivered elsewhere) and 70 to 75
    /// (missing).
    private func sample() throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 1500)
        for sequence in 0..<300 as Range<UInt32> {
            switch sequence {
            case 50:
                let loss = JournaledLoss(
                    logID: log, range: try #require(SequenceRange(50, 52)), reason: .overwritten,
                    receivedUnixMilliseconds: 0)
                #expect(try journal.append(loss))
            case 60:
                let loss = JournaledLoss(
                    logID: log, range: SequenceRange(60), reason: .deliveredElsewhere, receivedUnixMilliseconds: 0)
                #expect(try journal.append(loss))
            case 51, 52, 70...75: break
            default: try append(sequence...sequence, to: journal)
            }
            if sequence == 100 { #expect(try journal.append(record(7, log: 3))) }
            if sequence % 9 == 8 { try journal.commit() }
        }
        try journal.commit()
        #expect(journal.segments.count > 5)
        return files
    }

    @Test func anIntactJournalIsCalledSo() throws {
        let files = try sample()
        let found = try verify(files)
        #expect(found.isIntact && found.damage == [] && found.damagedSegments == [])
        #expect(found.logs.map(\.logID) == [3, log])
        #expect(found.logs[0].stored.ranges == [SequenceRange(7)])
        #expect(set(found.logs[0].missing) == Set(0...6))
        let main = found.logs[1]
        #expect(set(main.lost.ranges) == Set(50...52))
        #expect(set(main.deliveredElsewhere.ranges) == [60])
        #expect(set(main.missing) == Set(70...75))
        #expect(set(main.stored.ranges) == Set(0..<300).subtracting(50...52).subtracting([60]).subtracting(70...75))
        #expect(main.damaged.count == 0 && main.removed.count == 0)
    }

    @Test func aTornTailIsIntact() throws {
        let files = try sample()
        let last = try #require(JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files).segments.last)
        let bytes = try #require(files.files[path(last)]).bytes
        for tail in [[1, 2, 3], [UInt8](repeating: 0, count: 5000)] {
            files.replace(path(last), with: bytes + tail)
            #expect(try verify(files).isIntact)
        }
    }

    @Test func removedSegmentsAreNoDamage() throws {
        let files = try sample()
        let before = try verify(files)
        try files.remove(path(1))
        try files.remove(path(2))
        let found = try verify(files)
        #expect(found.isIntact)
        let main = found.logs[1]
        #expect(main.removed.count > 0 && main.damaged.count == 0)
        #expect(set(main.missing) == Set(70...75))
        #expect(
            set(main.stored.ranges) == set(before.logs[1].stored.ranges).subtracting(set(main.removed.ranges)))
        // If the oldest checkpoint is damaged, removed fixes cannot be told from damaged ones, so none counts as damaged.
        files.corrupt(path(3), at: 5, xor: 1)
        files.corrupt(path(3), at: 40, xor: 1)
        let damaged = try verify(files)
        #expect(!damaged.isIntact && damaged.logs[1].damaged.count == 0)
        #expect(damaged.damagedSegments == [3])
        let journal = try openJournal(files)
        #expect(try journal.uncoverDamage(inSegment: 3) == [:])
        #expect(journal.durable(logID: log).oldestLostRange(from: 0) == nil)
    }

    /// For every kind of damage in a segment before the last one, verification names as damaged exactly the sequences whose
    /// records the damage destroyed. After the damage was dealt with, verification names them as missing.
    @Test func whatIsGoneIsNamed() throws {
        for kind in 0..<4 {
            let files = try sample()
            let bytes = try #require(files.files[path(3)]).bytes
            switch kind {
            case 0: files.corrupt(path(3), at: 300, xor: 0x10)
            case 1: try files.remove(path(3))
            case 2: files.replace(path(3), with: Array(bytes.prefix(700)))
            default: files.replace(path(3), with: [UInt8](repeating: 0, count: bytes.count))
            }
            let whole = Set(try sequences(allEntries(openJournal(files), limit: 50)))
            let found = try verify(files)
            let gone = Set(0..<300 as Range<UInt32>).subtracting(whole).subtracting(50...52).subtracting(70...75)
                .subtracting([60])
            #expect(!gone.isEmpty && !found.isIntact)
            let main = try #require(found.logs.last)
            #expect(set(main.damaged.ranges).subtracting(50...52).subtracting([60]) == gone, "kind \(kind)")
            #expect(set(main.missing) == Set(70...75))
            #expect(kind == 2 || !found.damage.isEmpty, "what is cut off may leave no bytes")
            #expect(found.damage.allSatisfy { $0.segment == 3 })
            do {
                let journal = try openJournal(files)
                for segment in found.damagedSegments {
                    #expect(try set(journal.uncoverDamage(inSegment: segment)[log] ?? []) == set(main.damaged.ranges))
                }
                try journal.commit()
            }
            let repaired = try verify(files)
            #expect(repaired.isIntact, "kind \(kind)")
            #expect(set(try #require(repaired.logs.last).missing) == set(main.damaged.ranges).union(70...75))
            // Damage to another segment is still reported afterwards.
            files.corrupt(path(5), at: 200, xor: 1)
            #expect(try verify(files).damagedSegments == [5])
        }
    }

    @Test func damageInTheLastSegmentIsNamedUntilTheJournalIsOpened() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files)
            try append(0...9, to: journal)
            try journal.commit()
        }
        files.corrupt(firstSegment, at: 200, xor: 1)
        let found = try verify(files)
        #expect(!found.isIntact && found.damage.count == 1 && found.damagedSegments == [1])
        #expect(found.logs[0].damaged.count == 1 && found.logs[0].missing == [])
        do {
            let journal = try openJournal(files)
            #expect(journal.durable(logID: log).oldestLostRange(from: 0) == found.logs[0].damaged.ranges[0])
            try journal.commit()
        }
        let opened = try verify(files)
        #expect(opened.isIntact && opened.logs[0].missing == found.logs[0].damaged.ranges)
    }

    @Test func readingTakesWhatIsAppendedMeanwhile() throws {
        let files = try sample()
        let journal = try openJournal(files, limit: 1500)
        try append(300...310, to: journal)
        #expect(try verify(files).isIntact)
        try journal.commit()
        #expect(try verify(files).isIntact)
        #expect(try verify(files).logs[1].stored.contains(310))
    }
}
