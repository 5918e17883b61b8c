import CollarJournal
import CollarSimulator
import CollarWire
import CollarWorld
import Testing

/// The oracle sees what a broken storage does: a world that finds nothing is worth something.
@Suite struct BrokenStorageTests {
    private func firstViolation(_ flaw: BrokenStorage.Flaw) -> Invariant? {
        for seed in 0..<200 as Range<UInt64> {
            let report = World(WorldPlan(seed: seed), makeStorage: { BrokenStorage(seed: $0, flaw: flaw) }).run()
            if let violation = report.violation { return violation.invariant }
        }
        return nil
    }

    @Test func acknowledgingBeforeTheSyncIsSeen() {
        #expect(firstViolation(.namesWhatIsNotSynced) == .acknowledgedIsDurable)
    }

    @Test func aFixThatIsStoredWithOtherContentsIsSeen() {
        let invariant = firstViolation(.changesAFix)
        #expect(invariant == .oneContentPerID || invariant == .storedIsLogged)
    }

    @Test func losingWhatWasSyncedIsSeen() {
        #expect(firstViolation(.losesAfterACrash) == .acknowledgedIsDurable)
    }

    @Test func aLineThatTheConsumerNeverGetsIsSeen() {
        #expect(firstViolation(.skipsALine) == .acknowledgedIsEmitted)
    }

    @Test func emissionThatBeginsAgainAfterEveryRestartIsSeen() {
        #expect(firstViolation(.repeatsAllLines) == .emissionGoesOn)
    }

    @Test func neverSyncingIsSeen() {
        var plan = WorldPlan.small(fixCount: 5)
        plan.calmMicroseconds = 60_000_000
        let report = World(plan, makeStorage: { BrokenStorage(seed: $0, flaw: .neverSyncs) }).run()
        #expect(report.violation?.invariant == .progress)
    }
}

/// A storage with one flaw.
private final class BrokenStorage: FaultyStorage {
    enum Flaw {
        case namesWhatIsNotSynced
        case changesAFix
        case losesAfterACrash
        case neverSyncs
        case skipsALine
        case repeatsAllLines
    }

    private let sound: JournalStorage
    private let flaw: Flaw
    private var appended: [(log: LogIdentity, covered: CoveredSequences)] = []
    private var random: SeededRandom

    init(seed: UInt64, flaw: Flaw) {
        sound = JournalStorage(seed: seed)
        random = SeededRandom(seed: seed)
        self.flaw = flaw
    }

    var disk: SimulatedDisk { sound.disk }
    var needsRestart: Bool { sound.needsRestart }
    var logs: [LogIdentity] { sound.logs }
    var collars: [UInt64] { sound.collars }
    func isServed(_ deviceID: UInt64) -> Bool { sound.isServed(deviceID) }
    var isCommitDue: Bool { flaw != .neverSyncs && sound.isCommitDue }

    func highestSequence(of log: LogIdentity) -> UInt32? { sound.highestSequence(of: log) }
    func fix(_ sequence: UInt32, of log: LogIdentity) -> Fix? { sound.fix(sequence, of: log) }

    func append(_ fix: Fix, of log: LogIdentity) throws(StorageFailure) -> Bool {
        var stored = fix
        if flaw == .changesAFix, fix.sequence % 16 == 3 { stored.latitudeSteps ^= 1 }
        let isNew = try sound.append(stored, of: log)
        cover(SequenceRange(fix.sequence), log)
        return isNew
    }

    func append(lost range: SequenceRange, of log: LogIdentity) throws(StorageFailure) -> Bool {
        let isNew = try sound.append(lost: range, of: log)
        cover(range, log)
        return isNew
    }

    private func cover(_ range: SequenceRange, _ log: LogIdentity) {
        if let index = appended.firstIndex(where: { $0.log == log }) {
            appended[index].covered.insert(range)
        } else {
            var covered = CoveredSequences()
            covered.insert(range)
            appended.append((log, covered))
        }
    }

    func commit() throws(StorageFailure) { try sound.commit() }

    func durable(of log: LogIdentity) -> CoveredSequences {
        guard flaw == .namesWhatIsNotSynced else { return sound.durable(of: log) }
        return appended.first { $0.log == log }?.covered ?? CoveredSequences()
    }

    func stop(losesPower: Bool) { sound.stop(losesPower: losesPower) }

    func reopen() throws(StorageFailure) {
        if flaw == .losesAfterACrash { for _ in 0..<10 { _ = sound.damage(&random) } }
        try sound.reopen()
        appended = sound.logs.map { ($0, sound.durable(of: $0)) }
    }

    func kept(_ sequence: UInt32, of log: LogIdentity) -> KeptRecord { sound.kept(sequence, of: log) }
    func keptFixes(of log: LogIdentity) -> [UInt32: Fix] { sound.keptFixes(of: log) }
    func repeatedFix(of log: LogIdentity) -> UInt32? { sound.repeatedFix(of: log) }
    func damage(_ random: inout SeededRandom) -> [LostRecord] { sound.damage(&random) }
    func promisedCursor(of deviceID: UInt64) -> JournalPosition { sound.promisedCursor(of: deviceID) }

    func emissionCursor(of deviceID: UInt64) -> JournalPosition {
        flaw == .repeatsAllLines ? .start : sound.emissionCursor(of: deviceID)
    }

    func entries(
        of deviceID: UInt64, from position: JournalPosition, limit: Int
    ) throws(StorageFailure) -> JournalBatch {
        let batch = try sound.entries(of: deviceID, from: position, limit: limit)
        guard flaw == .skipsALine, batch.elements.count > 1 else { return batch }
        return try sound.entries(of: deviceID, from: batch.elements[0].end, limit: limit)
    }

    func setEmissionCursor(_ position: JournalPosition, of deviceID: UInt64) {
        sound.setEmissionCursor(position, of: deviceID)
    }
}
