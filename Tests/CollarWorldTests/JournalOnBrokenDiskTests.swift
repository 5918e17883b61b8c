import CollarJournal
import CollarSimulator
import CollarWire
import Glibc
import Testing

@testable import CollarWorld

/// Bugs of the journal that seeds found. Each test uses failing file operations, the end of a process and a power cut.
@Suite struct JournalOnBrokenDiskTests {
    private let collar: DeviceID = 0xC011_A200_0000_0000
    private let directory = "/var/state/c011a20000000000"
    private let log: LogID = 7

    private func open(_ disk: SimulatedDisk, limit: Int = 4096) throws(JournalError) -> Journal {
        try Journal.open(
            stateDirectory: "/var/state", deviceID: collar, receiverID: 5, nowUnixMilliseconds: 1_700_000_000_000,
            segmentByteLimit: limit, fileSystem: disk)
    }

    private func append(_ sequences: Range<UInt32>, to journal: Journal) throws {
        for sequence in sequences {
            let fix = Fix(
                sequence: sequence, unixMilliseconds: 1_700_000_000_000, latitudeSteps: 1, longitudeSteps: 2,
                batteryPercent: 50)
            let record = JournaledFix(logID: log, receivedUnixMilliseconds: 1_700_000_000_000, fix: fix)
            #expect(try journal.append(record))
        }
    }

    /// Checks that everything below `end`, which was acknowledged, is there after a power cut.
    private func expectKept(below end: UInt32, _ disk: SimulatedDisk, _ seed: UInt64) throws {
        disk.losePower()
        let journal = try open(disk)
        #expect(journal.durable(logID: log).firstMissing >= end, "seed \(seed)")
        let found = try journal.entries(from: .start, limit: 100).elements.compactMap {
            if case .fix(let record) = $0.entry { record.fix.sequence } else { nil }
        }
        #expect(Set(0..<end).isSubset(of: found), "seed \(seed)")
    }

    /// Seed 165 of the first sweep.
    @Test func whatAFailedSyncLeftInTheCacheIsWrittenAgain() throws {
        for seed in 0..<40 as Range<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            do {
                let journal = try open(disk)
                try append(0..<5, to: journal)
                disk.faults.isNextSyncFailing = true
                disk.failed = { if $0.operation == .synchronize { disk.faults.operationsUntilStop = 0 } }
                // The process ends before it can cut off the bytes that may not be on the disk.
                #expect(throws: JournalError.self) { try journal.commit() }
                #expect(disk.isStopped)
                disk.failed = nil
                disk.endProcess()
            }
            do {
                let journal = try open(disk)
                #expect(journal.durable(logID: log).firstMissing == 5)
                disk.endProcess()
            }
            try expectKept(below: 5, disk, seed)
        }
    }

    /// Seed 834.
    @Test func aSegmentBeyondItsLimitIsDurableBeforeTheNextBegins() throws {
        for seed in 0..<40 as Range<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            do {
                let journal = try open(disk, limit: 300)
                try append(0..<20, to: journal)
                // The stop comes during the synchronisation, after the write.
                disk.faults.operationsUntilStop = 1
                #expect(throws: JournalError.self) { try journal.commit() }
                disk.endProcess()
            }
            do {
                let journal = try open(disk, limit: 300)
                #expect(journal.durable(logID: log).firstMissing == 20)
                #expect(journal.end.segment == 2)
                disk.endProcess()
            }
            try expectKept(below: 20, disk, seed)
        }
    }

    /// A disk that is full twice in a row, and a power cut. This case follows from the code; it is too rare for seeds.
    @Test func aSegmentWithoutRoomDoesNotComeBackWithWhatWasCoveredThen() throws {
        for seed in 0..<40 as Range<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            do {
                let journal = try open(disk, limit: 300)
                try append(0..<20, to: journal)
                // Five operations succeed: the write and synchronisation of the commit; opening, cutting and writing the next
                // segment.
                fail(disk, after: 5)
                try journal.commit()
                #expect(journal.end.segment == 1 && disk.faults.operationsUntilFailure == nil)
                try append(20..<30, to: journal)
                fail(disk, after: 2)
                try journal.commit()
                #expect(journal.end.segment == 1 && disk.faults.operationsUntilFailure == nil)
                #expect(journal.durable(logID: log).firstMissing == 30)
            }
            try expectKept(below: 30, disk, seed)
        }
    }

    private func fail(_ disk: SimulatedDisk, after operations: Int) {
        disk.faults.operationsUntilFailure = operations
        disk.faults.failureNumber = ENOSPC
    }

    /// Seed 2916 of worlds with a disk fault every second.
    @Test func whatACutWriteLeftIsMissedWhenItIsDamagedLater() throws {
        var cases = 0
        for seed in 0..<200 as Range<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            do {
                let journal = try open(disk)
                try append(0..<5, to: journal)
                // The stop comes during the write, perhaps after some fixes, but before the record that ends the commit.
                disk.faults.operationsUntilStop = 0
                #expect(throws: JournalError.self) { try journal.commit() }
                disk.endProcess()
            }
            var last: JournalBatch.Element?
            do {
                let journal = try open(disk)
                last = try journal.entries(from: .start, limit: 100).elements.last
                disk.endProcess()
            }
            guard let last, case .fix(let record) = last.entry else { continue }
            cases += 1
            disk.losePower()
            let file = try #require(disk.certainFiles(in: directory).first { $0.path.hasSuffix(".journal") }).file
            let offset = Int(last.end.offset) - 10
            disk.damage(file, at: offset..<(offset + 1)) { $0 ^ 0x55 }
            let covered = try open(disk).durable(logID: log)
            #expect(covered.firstMissing == record.fix.sequence, "seed \(seed)")
            #expect(covered.oldestLostRange(from: 0) == SequenceRange(record.fix.sequence), "seed \(seed)")
        }
        #expect(cases > 20)
    }

    /// Seed 165 again, after the first bug that it found was fixed.
    @Test func theDirectoryIsDurableAlsoWhereAnotherProcessMadeIt() throws {
        for seed in 0..<40 as Range<UInt64> {
            let disk = SimulatedDisk(seed: seed)
            // The directories above the journal's exist.
            var random = SeededRandom(seed: seed)
            _ = try ReceiverIdentity.load(stateDirectory: "/var/state", fileSystem: disk, random: &random)
            // The stop comes during the synchronisation of the directory above, after the new directory was made.
            disk.faults.operationsUntilStop = 1
            #expect(throws: JournalError.self) { try open(disk) }
            disk.endProcess()
            do {
                let journal = try open(disk)
                try append(0..<5, to: journal)
                try journal.commit()
                disk.endProcess()
            }
            try expectKept(below: 5, disk, seed)
        }
    }
}
