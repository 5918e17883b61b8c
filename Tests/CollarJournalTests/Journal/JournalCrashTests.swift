import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// Random operations, power cuts and disk failures, generated from seeds.
@Suite struct JournalCrashTests {
    /// The life of one journal over several crashes. The journal must hold the `durable` fixes and may hold the `appended` ones.
    private struct Life {
        let files = MemoryFileSystem()
        var random: SeededRandom
        let limit: Int
        var appended: Set<UInt32> = []
        var durable: Set<UInt32> = []
        var next: UInt32 = 0

        init(seed: UInt64) {
            random = SeededRandom(seed: seed)
            limit = Int.random(in: 300...3000, using: &random)
        }

        mutating func run(seed: UInt64) throws {
            for _ in 0..<6 {
                // The opening may fail too.
                if Int.random(in: 0..<4, using: &random) == 0 { disturb() }
                let journal: Journal
                do throws(JournalError) {
                    journal = try openJournal(files, limit: limit)
                } catch {
                    guard case .file = error else { throw error }
                    crash()
                    continue
                }
                try check(journal, seed: seed)
                try work(journal)
                crash()
            }
            files.failures = []
            files.room = .max
            try check(openJournal(files, limit: limit), seed: seed)
        }

        private mutating func check(_ journal: Journal, seed: UInt64) throws {
            let found = try sequences(allEntries(journal, limit: 50))
            let set = Set(found)
            #expect(set.count == found.count, "seed \(seed): twice")
            #expect(durable.isSubset(of: set), "seed \(seed): lost \(durable.subtracting(set).sorted())")
            #expect(set.isSubset(of: appended), "seed \(seed): invented")
            let covered = journal.durable(logID: log)
            // While progress records wait for room on the disk, the records of the interrupted commit are not announced yet.
            if journal.writer.pending.bytes.isEmpty {
                #expect(covered.count == UInt64(found.count), "seed \(seed): entries and coverage differ")
            }
            #expect(covered.stored.ranges.allSatisfy { set.isSuperset(of: $0.first...$0.last) }, "seed \(seed)")
            #expect(found.allSatisfy { journal.contains($0, logID: log) }, "seed \(seed): entries and coverage differ")
            #expect(covered.oldestLostRange(from: 0) == nil, "seed \(seed): lost what was announced")
            #expect(journal.damage == [], "seed \(seed)")
            // Opening makes every readable record durable.
            durable = set
        }

        private mutating func work(_ journal: Journal) throws {
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                switch Int.random(in: 0..<10, using: &random) {
                case 0...5:
                    let isOld = Int.random(in: 0..<3, using: &random) == 0
                    let sequence = isOld ? UInt32.random(in: 0...next, using: &random) : next
                    let known = journal.contains(sequence, logID: log)
                    do throws(JournalError) {
                        #expect(try journal.append(record(sequence)) != known)
                    } catch {
                        guard case .stopped = error else { throw error }
                        return
                    }
                    appended.insert(sequence)
                    if !isOld { next += UInt32.random(in: 1...3, using: &random) }
                    if Bool.random(using: &random) { journal.setEmissionCursor(journal.end) }
                case 6...8:
                    do throws(JournalError) {
                        try journal.commit()
                        let covered = journal.durable(logID: log)
                        #expect(appended.allSatisfy { journal.contains($0, logID: log) == covered.contains($0) })
                    } catch {
                        // The failed commit makes no further fix durable.
                        #expect(durable.isSuperset(of: appended.filter(journal.durable(logID: log).contains)))
                        guard case .full = journal.state else { return }
                        files.room = .max
                    }
                    durable.formUnion(appended.filter(journal.durable(logID: log).contains))
                default: disturb()
                }
            }
        }

        private mutating func disturb() {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: files.failures = [(.synchronize, EIO)]
            case 1: files.failures = [(.write, Bool.random(using: &random) ? EIO : ENOSPC)]
            case 2: files.failures = [(.create, ENOSPC), (.truncate, EIO)]
            case 3: files.longestWrite = Int.random(in: 1...90, using: &random)
            default: files.room = files.usedByteCount + Int.random(in: 0...200, using: &random)
            }
        }

        private mutating func crash() {
            var random = self.random
            files.crash(
                keep: { durable, written in Int.random(in: durable...written, using: &random) },
                keepsName: { Bool.random(using: &random) })
            self.random = random
            files.failures = []
            files.room = .max
        }
    }

    @Test func whatWasDurableIsThereAndNothingElse() throws {
        for seed in 0..<1000 as Range<UInt64> {
            var life = Life(seed: seed)
            try life.run(seed: seed)
        }
    }
}
