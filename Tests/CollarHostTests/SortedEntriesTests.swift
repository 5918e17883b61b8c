import CollarJournal
import CollarWire
import FoundationEssentials
import Testing

@testable import CollarHost

/// What a journal has, sorted, without waiting for what is missing.
@Suite("Sorted entries of a journal")
final class SortedEntriesTests {
    private let stateDirectory: String

    init() throws {
        stateDirectory = FileManager.default.temporaryDirectory.appending(path: "sorted-entries-\(UUID().uuidString)").path
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: stateDirectory) } catch {}
    }

    /// Stores fixes in this order, and takes them sorted: `log/sequence`.
    private func sorted(_ stored: [(sequence: UInt32, log: LogID)], start: EmissionStart = .all) throws -> [String] {
        let journal = try Journal.open(
            stateDirectory: stateDirectory, deviceID: 7, receiverID: 9, nowUnixMilliseconds: 1_700_000_000_000,
            segmentByteLimit: 4096)
        for (sequence, log) in stored { #expect(try journal.append(JournaledFix(sequence, logID: log))) }
        try journal.commit()
        let reader = try JournalReader(stateDirectory: stateDirectory, deviceID: 7)
        let entries = try SortedEntries(reader, EntrySelection(), start: start)
        var found: [String] = []
        while let contents = try entries.next() {
            for case .fix(let record) in contents { found.append("\(record.logID)/\(record.fix.sequence)") }
        }
        #expect(entries.takeDamage().isEmpty)
        return found
    }

    @Test("The newest came first, then the backlog")
    func backlog() throws {
        #expect(try sorted([9, 0, 1, 2, 3, 10, 4, 5, 6, 7, 8].map { ($0, 1) }) == (0...10).map { "1/\($0)" })
    }

    @Test("What is missing holds nothing back")
    func missing() throws {
        #expect(try sorted([5, 6, 1, 9, 8].map { ($0, 1) }) == ["1/1", "1/5", "1/6", "1/8", "1/9"])
    }

    @Test("Each log by itself")
    func logs() throws {
        #expect(try sorted([(4, 1), (2, 1), (7, 2), (3, 1), (6, 2)]).sorted() == ["1/2", "1/3", "1/4", "2/6", "2/7"])
    }

    @Test("More pieces than are kept in memory, from the last to the first, each behind a gap")
    func manyPieces() throws {
        let sequences = (0..<3000).map { UInt32(2 * $0 + 1) }
        #expect(try sorted(sequences.reversed().map { ($0, 1) }) == sequences.map { "1/\($0)" })
    }
}
