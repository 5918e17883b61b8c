@testable import CollarJournal
import CollarWire
import Testing

@testable import CollarHost

@Suite("What is told about gaps")
final class GapTrackerTests {
    private var tracker = GapTracker()

    private func fix(_ sequence: UInt32, log: LogID = 1) -> [String] {
        tracker.take(.fix(JournaledFix(sequence, logID: log))).map(\.text)
    }

    private func loss(
        _ first: UInt32, _ last: UInt32, _ reason: LossReason = .overwritten, log: LogID = 1
    ) throws -> [String] {
        let range = try #require(SequenceRange(first, last))
        let loss = JournaledLoss(logID: log, range: range, reason: reason, receivedUnixMilliseconds: 0)
        return tracker.take(.loss(loss)).map(\.text)
    }

    @Test func aRunIsNotWorthAWord() {
        for sequence in 0..<100 as Range<UInt32> { #expect(fix(sequence) == []) }
        #expect(tracker.flush() == nil)
    }

    @Test func aGapIsMissingAndThenFilled() {
        #expect(fix(0) == [])
        #expect(fix(5) == ["1 missing 1-4"])
        #expect(fix(1) == [])
        #expect(fix(2) == [])
        #expect(fix(6) == ["1 filled 1-2"])
        #expect(fix(4) == [])
        #expect(fix(3) == ["1 filled 4-4"])
        #expect(tracker.flush()?.text == "1 filled 3-3")
        #expect(tracker.flush() == nil)
    }

    @Test func whatComesFirstLeavesAGapBeforeIt() {
        #expect(fix(7) == ["1 missing 0-6"])
        #expect(fix(9, log: 2) == ["2 missing 0-8"])
    }

    @Test func aLossNamesWhatIsNotThere() throws {
        #expect(fix(0) == [])
        #expect(fix(5) == ["1 missing 1-4"])
        #expect(fix(3) == [])
        #expect(try loss(0, 9) == ["1 filled 3-3", "1 lost 1-2", "1 lost 4-4", "1 lost 6-9"])
        #expect(try loss(12, 12, .deliveredElsewhere) == ["1 missing 10-11", "1 elsewhere 12-12"])
        #expect(try loss(10, 11, .storedBeforeMove) == ["1 elsewhere 10-11"])
        #expect(fix(13) == [])
    }

    @Test func whatDamageTookIsToldOfWhenItComesAgain() throws {
        for sequence in 0..<10 as Range<UInt32> { #expect(fix(sequence) == []) }
        let range = try #require(SequenceRange(2, 4))
        #expect(tracker.take(.uncovered(UncoveredRange(logID: 1, range: range))) == [])
        #expect(fix(3) == [])
        #expect(try loss(2, 2) == ["1 filled 3-3", "1 lost 2-2"])
        #expect(fix(4) == [])
        #expect(tracker.flush()?.text == "1 filled 4-4")
    }

    @Test func theFirstLossOfALogLeavesNothingBeforeItUnsaid() throws {
        #expect(try loss(0, 4) == ["1 lost 0-4"])
        #expect(try loss(5, 6, log: 2) == ["2 missing 0-4", "2 lost 5-6"])
    }

    @Test func aLongFillingIsToldInPieces() {
        #expect(fix(20_000) == ["1 missing 0-19999"])
        var told: [String] = []
        for sequence in 0..<20_000 as Range<UInt32> { told += fix(sequence) }
        if let last = tracker.flush() { told.append(last.text) }
        #expect(told == ["1 filled 0-4095", "1 filled 4096-8191", "1 filled 8192-12287", "1 filled 12288-16383", "1 filled 16384-19999"])
    }

    @Test func aLaterStartKnowsWhatWasBefore() {
        var covered = CoveredSequences()
        covered.insert(SequenceRange(0))
        covered.insert(SequenceRange(4))
        var tracker = GapTracker([1: covered])
        #expect(tracker.take(.fix(JournaledFix(5, logID: 1))) == [])
        #expect(tracker.take(.fix(JournaledFix(4, logID: 1))) == [])
        #expect(tracker.take(.fix(JournaledFix(2, logID: 1))) == [])
        #expect(tracker.flush()?.text == "1 filled 2-2")
    }
}

extension GapChange {
    /// Log, event and range.
    var text: String { "\(logID) \(event.rawValue) \(range.first)-\(range.last)" }
}

extension JournaledFix {
    /// A fix of which only the log and the sequence matter. The time of receipt, in milliseconds, equals the sequence.
    init(_ sequence: UInt32, logID: LogID) {
        self.init(
            logID: logID, receivedUnixMilliseconds: Int64(sequence),
            fix: Fix(sequence: sequence, unixMilliseconds: 1_700_000_000_000, latitudeSteps: 1, longitudeSteps: 2))
    }
}
