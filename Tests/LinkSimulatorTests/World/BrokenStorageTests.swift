import CollarJournal
import CollarWire
import LinkSimulator
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
    }

    private let model: ModelStorage
    private let flaw: Flaw
    private var appended: [(log: LogIdentity, covered: CoveredSequences)] = []
    private var random: SeededRandom

    init(seed: UInt64, flaw: Flaw) {
        model = ModelStorage(seed: seed)
        random = SeededRandom(seed: seed)
        self.flaw = flaw
    }

    var isFull: Bool {
        get { model.isFull }
        set { model.isFull = newValue }
    }
    var isNextSyncFailing: Bool {
        get { model.isNextSyncFailing }
        set { model.isNextSyncFailing = newValue }
    }
    var waitingCount: Int { model.waitingCount }
    var logs: [LogIdentity] { model.logs }
    var isCommitDue: Bool { flaw != .neverSyncs && model.isCommitDue }

    func highestSequence(of log: LogIdentity) -> UInt32? { model.highestSequence(of: log) }
    func fix(_ sequence: UInt32, of log: LogIdentity) -> Fix? { model.fix(sequence, of: log) }

    func append(_ fix: Fix, of log: LogIdentity) throws(StorageFailure) -> Bool {
        var stored = fix
        if flaw == .changesAFix, fix.sequence % 16 == 3 { stored.latitudeSteps ^= 1 }
        let isNew = try model.append(stored, of: log)
        cover(SequenceRange(fix.sequence), log)
        return isNew
    }

    func append(lost range: SequenceRange, of log: LogIdentity) throws(StorageFailure) -> Bool {
        let isNew = try model.append(lost: range, of: log)
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

    func commit() throws(StorageFailure) { try model.commit() }

    func durable(of log: LogIdentity) -> CoveredSequences {
        guard flaw == .namesWhatIsNotSynced else { return model.durable(of: log) }
        return appended.first { $0.log == log }?.covered ?? CoveredSequences()
    }

    func reopen() {
        model.reopen()
        appended = model.logs.map { ($0, model.durable(of: $0)) }
        if flaw == .losesAfterACrash { _ = model.loseSome(&random) }
    }

    func kept(_ sequence: UInt32, of log: LogIdentity) -> KeptRecord { model.kept(sequence, of: log) }
    func loseSome(_ random: inout SeededRandom) -> [LostRecord] { model.loseSome(&random) }
}
