import CollarARQ
import CollarJournal
import CollarSimulator
import CollarWire
import FoundationEssentials
import Testing

@testable import CollarHost

/// Entries from a journal on the real file system, in the order of arrival or of sequences, with restarts.
@Suite("Lines from the journal")
final class EntryFeedTests {
    private let stateDirectory: String
    private var random = SeededRandom(seed: 1)

    init() throws {
        stateDirectory = FileManager.default.temporaryDirectory.appending(path: "line-feed-\(UUID().uuidString)").path
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: stateDirectory) } catch {}
    }

    private let time = HostTime(instant: Instant(microseconds: 0), unixMilliseconds: 1_700_000_000_000)

    private func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    private func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }

    private func openJournal() throws -> Journal {
        try Journal.open(
            stateDirectory: stateDirectory, deviceID: 7, receiverID: 9, nowUnixMilliseconds: 1_700_000_000_000,
            segmentByteLimit: 4096)
    }

    private func configuration(ordered: Bool, gaps: Bool = true) -> HostConfiguration {
        var configuration = HostConfiguration(stateDirectory: stateDirectory)
        configuration.selection.isSorted = ordered
        configuration.selection.hasGaps = gaps
        return configuration
    }

    /// Items that the feed returned and that have not been emitted yet. The receiver's output has a queue like this one, which
    /// is lost when the process ends.
    private var queue: [EntryFeed.Item] = []

    /// Takes the items that the feed has now, but not more than `most`, and moves the emission cursor accordingly.
    private func drain(_ feed: EntryFeed, _ journal: Journal, most: Int = .max) throws -> [EntryFeed.Item] {
        while feed.isBehind, queue.count < most { queue += try feed.next(at: time) }
        let items = queue.prefix(most)
        queue.removeFirst(items.count)
        for case let through? in items.map(\.through) where through > journal.emissionCursor {
            journal.setEmissionCursor(through)
        }
        return Array(items)
    }

    private func fixes(_ items: [EntryFeed.Item]) -> [String] {
        items.compactMap { if case .fix(let record) = $0.content { "\(record.logID)/\(record.fix.sequence)" } else { nil } }
    }

    private func gaps(_ items: [EntryFeed.Item]) -> [String] {
        items.compactMap { if case .gap(let change) = $0.content { change.text } else { nil } }
    }

    private func append(_ sequences: [UInt32], log: LogID = 1, to journal: Journal, _ feed: EntryFeed) throws {
        try append(sequences, log: log, to: journal)
        feed.noteChange()
    }

    private func append(_ sequences: [UInt32], log: LogID = 1, to journal: Journal) throws {
        for sequence in sequences { #expect(try journal.append(JournaledFix(sequence, logID: log))) }
    }

    private func appendLoss(_ first: UInt32, _ last: UInt32, to journal: Journal, _ feed: EntryFeed) throws {
        let range = try #require(SequenceRange(first, last))
        let loss = JournaledLoss(logID: 1, range: range, reason: .overwritten, receivedUnixMilliseconds: 1)
        #expect(try journal.append(loss))
        feed.noteChange()
    }

    @Test func fixesWaitForThoseBefore() throws {
        let journal = try openJournal()
        let feed = try EntryFeed(journal, configuration(ordered: true))
        try append([0, 1, 5, 6, 9], to: journal, feed)
        var items = try drain(feed, journal)
        #expect(fixes(items) == ["1/0", "1/1"])
        #expect(gaps(items) == ["1 missing 2-4", "1 missing 7-8"])
        try append([2, 4, 10], to: journal, feed)
        #expect(fixes(try drain(feed, journal)) == ["1/2"])
        try append([3], to: journal, feed)
        items = try drain(feed, journal)
        #expect(fixes(items) == ["1/3", "1/4", "1/5", "1/6"])
        try appendLoss(7, 8, to: journal, feed)
        items = try drain(feed, journal)
        #expect(gaps(items) == ["1 lost 7-8"])
        #expect(fixes(items) == ["1/9", "1/10"])
        #expect(journal.emissionCursor == journal.end)
    }

    @Test func aLogThatIsGoneHoldsNothingBack() throws {
        let journal = try openJournal()
        let feed = try EntryFeed(journal, configuration(ordered: true))
        feed.setCurrentLog(1)
        try append([2, 3, 7], to: journal, feed)
        #expect(fixes(try drain(feed, journal)) == [])
        feed.setCurrentLog(2)
        try append([0], log: 2, to: journal, feed)
        let items = try drain(feed, journal)
        #expect(gaps(items) == ["1 lost 0-1", "1 lost 4-6"])
        #expect(fixes(items).sorted() == ["1/2", "1/3", "1/7", "2/0"])
    }

    /// The collar's new log is known before the last entries of the old log are read.
    @Test func whatStandsFurtherOnInTheJournalIsNotLost() throws {
        let journal = try openJournal()
        try append((0..<200).filter { $0 != 3 }.map { UInt32($0) }, to: journal)
        try append([3], to: journal)
        let feed = try EntryFeed(journal, configuration(ordered: true))
        feed.setCurrentLog(2)
        let items = try drain(feed, journal)
        #expect(fixes(items) == (0..<200).map { "1/\($0)" })
        #expect(gaps(items) == ["1 missing 3-3", "1 filled 3-3"])
    }

    @Test func aFixThatWasSaidNotToComeComesLate() throws {
        let journal = try openJournal()
        let feed = try EntryFeed(journal, configuration(ordered: true))
        feed.setCurrentLog(2)
        try append([0, 2, 3], to: journal, feed)
        let before = try drain(feed, journal)
        #expect(gaps(before) == ["1 missing 1-1", "1 lost 1-1"])
        #expect(fixes(before) == ["1/0", "1/2", "1/3"])
        try append([1], to: journal, feed)
        let late = try drain(feed, journal)
        #expect(fixes(late) == ["1/1"])
        #expect(gaps(late) == ["1 filled 1-1"])
    }

    @Test(arguments: [true, false]) func aFixThatWasLostComesLateAndFillsItsGap(ordered: Bool) throws {
        let journal = try openJournal()
        let feed = try EntryFeed(journal, configuration(ordered: ordered))
        try append([0], to: journal, feed)
        try appendLoss(1, 3, to: journal, feed)
        try append([4], to: journal, feed)
        let before = try drain(feed, journal)
        #expect(gaps(before) == ["1 lost 1-3"])
        #expect(fixes(before) == ["1/0", "1/4"])
        try append([2], to: journal, feed)
        let late = try drain(feed, journal)
        #expect(fixes(late) == ["1/2"])
        #expect(gaps(late) == ["1 filled 2-2"])
        try append([5], to: journal, feed)
        #expect(fixes(try drain(feed, journal)) == ["1/5"])
        #expect(journal.emissionCursor == journal.end)
    }

    @Test func whatIsHeldComesAfterARestart() throws {
        let journal = try openJournal()
        let feed = try EntryFeed(journal, configuration(ordered: true))
        try append([0, 2, 3], to: journal, feed)
        #expect(fixes(try drain(feed, journal)) == ["1/0"])
        let again = try EntryFeed(journal, configuration(ordered: true))
        #expect(fixes(try drain(again, journal)) == [])
        try append([1], to: journal, again)
        #expect(fixes(try drain(again, journal)) == ["1/1", "1/2", "1/3"])
        let third = try EntryFeed(journal, configuration(ordered: true))
        #expect(try drain(third, journal).isEmpty)
    }

    @Test func aLaterStartTellsNothingOlder() throws {
        let journal = try openJournal()
        let feed = try EntryFeed(journal, configuration(ordered: false))
        // The time of receipt of each fix, in milliseconds, equals its sequence.
        try append((0..<600).map { UInt32($0) }, to: journal, feed)
        try journal.commit()
        #expect(fixes(try drain(feed, journal)).count == 600)
        var since = configuration(ordered: false)
        since.emissionStart = .since(unixMilliseconds: 590)
        #expect(fixes(try drain(try EntryFeed(journal, since), journal)) == (590..<600).map { "1/\($0)" })
        since.emissionStart = .all
        let cursor = journal.emissionCursor
        #expect(fixes(try drain(try EntryFeed(journal, since), journal)).count == 600)
        #expect(journal.emissionCursor == cursor)
    }

    /// The held fixes form more runs than are kept in memory.
    @Test(arguments: [false, true])
    func moreGapsThanAreKeptInMind(isFalling: Bool) throws {
        let journal = try openJournal()
        let feed = try EntryFeed(journal, configuration(ordered: true))
        let pieces = UInt32(SequenceOrder.runLimit) + 700
        let rising = (1...pieces).map { 2 * $0 }
        try append(isFalling ? rising.reversed() : rising, to: journal, feed)
        #expect(fixes(try drain(feed, journal)) == [])
        try journal.commit()
        var told: [String] = []
        for sequence in 0...pieces {
            if sequence == 0 { try append([0], to: journal, feed) }
            try append([2 * sequence + 1], to: journal, feed)
            if sequence % 100 == 0 { told += fixes(try drain(feed, journal)) }
        }
        told += fixes(try drain(feed, journal))
        let all = (0...(2 * pieces + 1)).map { "1/\($0)" }
        #expect(told == all)
    }

    /// Fixes of two logs and losses of the first one arrive in a random order, and the process restarts at random points. If `ordered`, the
    /// fixes of a log go out in the order of their sequences between two restarts. Every fix that is not lost goes out at
    /// least once, and every gap that is reported as missing is later reported as filled or lost.
    @Test(arguments: 0..<20 as Range<UInt64>, [true, false])
    func anyArrival(seed: UInt64, ordered: Bool) throws {
        random = SeededRandom(seed: seed)
        let journal = try openJournal()
        var feed = try EntryFeed(journal, configuration(ordered: ordered))
        var waiting = ([1, 2] as [LogID]).flatMap { log in (0..<150 as Range<UInt32>).map { (log: log, sequence: $0) } }
        var lost: Set<UInt32> = []
        var told: [String] = []
        var inLife: [String] = []
        var missing: Set<String> = []
        func take(_ items: [EntryFeed.Item]) {
            for item in items {
                switch item.content {
                case .fix(let record): inLife.append("\(record.logID)/\(record.fix.sequence)")
                case .message(let record): inLife.append("\(record.logID)/\(record.message.sequence)")
                case .gap(let change):
                    for sequence in change.range.first...change.range.last {
                        let name = "\(change.logID)/\(sequence)"
                        if change.event == .missing { missing.insert(name) } else { missing.remove(name) }
                    }
                }
            }
        }
        func endLife() {
            if ordered {
                for log in ["1/", "2/"] {
                    let order = inLife.filter { $0.hasPrefix(log) }.compactMap { UInt32($0.dropFirst(2)) }
                    #expect(order == order.sorted() && Set(order).count == order.count)
                }
            }
            told += inLife
            inLife = []
        }
        while !waiting.isEmpty {
            // Most rounds take one of the first six waiting sequences. The other rounds take any waiting sequence.
            let reach = chance(0.2) ? waiting.count : min(waiting.count, 6)
            let next = waiting.remove(at: below(reach))
            if next.log == 1, chance(0.05) {
                lost.insert(next.sequence)
                try appendLoss(next.sequence, next.sequence, to: journal, feed)
            } else {
                try append([next.sequence], log: next.log, to: journal, feed)
            }
            if chance(0.3) { try journal.commit() }
            if chance(0.4) { take(try drain(feed, journal, most: 1 + below(40))) }
            if chance(0.05) {
                try journal.commit()
                endLife()
                queue = []
                feed = try EntryFeed(journal, configuration(ordered: ordered))
            }
        }
        take(try drain(feed, journal))
        endLife()
        let all = (0..<150 as Range<UInt32>).flatMap { ["1/\($0)", "2/\($0)"] }
        let lostNames = lost.map { "1/\($0)" }
        #expect(Set(told) == Set(all).subtracting(lostNames))
        #expect(missing.isEmpty)
        #expect(try EntryFeed(journal, configuration(ordered: ordered)).next(at: time).isEmpty)
    }
}

extension EntryFeed {
    /// The feed of a host's own consumer.
    fileprivate convenience init(_ journal: Journal, _ configuration: HostConfiguration) throws(JournalError) {
        try self.init(
            journal, configuration.selection, start: configuration.emissionStart, stoppedAt: journal.emissionCursor)
    }
}
