import CollarARQ
import CollarFormats
import CollarJournal
import Foundation
import Testing

@testable import CollarReaders

/// The position of a named reader in the event log, on the real file system, over restarts.
@Suite final class StoredEventsTests {
    private let stateDirectory = FileManager.default.temporaryDirectory.appending(path: "stored-events-\(UUID().uuidString)").path
    private let writer: EventLogWriter
    private let time = HostTime(instant: Instant(microseconds: 0), unixMilliseconds: 1_700_000_000_000)

    init() throws {
        try FileManager.default.createDirectory(atPath: stateDirectory, withIntermediateDirectories: true)
        writer = EventLogWriter(stateDirectory: stateDirectory)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: stateDirectory) } catch {}
    }

    private func append(_ kind: LineKind, _ numbers: ClosedRange<Int>) throws {
        for number in numbers { try writer.append(Array("{\"type\":\"\(kind.rawValue)\",\"unix_ms\":\(number)}\n".utf8)) }
    }

    /// A process reads lines of these kinds, confirms the first ones, and stores its position.
    /// - Returns: the numbers of the lines.
    private func numbers(_ kinds: Set<LineKind> = [.fix, .link], confirming count: Int = .max, as name: String = "db") throws -> [Int] {
        var configuration = ReadingConfiguration(stateDirectory: stateDirectory)
        configuration.name = ReaderName(name)
        configuration.read(kinds)
        let entries = try StoredEntries(configuration) { _ in }
        var numbers: [Int] = []
        while case .event(let line, _)? = entries.next(at: time) {
            numbers.append(try #require(try JSONScanner.value(of: line.bytes)["unix_ms"]?.integer(in: 0...Int.max)))
            if numbers.count <= count { entries.confirm(.event(line.end)) }
        }
        #expect(try entries.storePosition(at: time))
        return numbers
    }

    @Test func aReaderGoesOnAfterTheLinesThatItHasConfirmed() throws {
        try append(.link, 1...5)
        #expect(try numbers(confirming: 2) == [1, 2, 3, 4, 5])
        #expect(try numbers(confirming: 0) == [3, 4, 5])
        #expect(try numbers() == [3, 4, 5])
        #expect(try numbers() == [])
        try append(.link, 6...7)
        #expect(try numbers() == [6, 7])
    }

    @Test func unwantedLinesAreNotReadAgain() throws {
        try append(.error, 1...3)
        try append(.link, 4...4)
        try append(.error, 5...6)
        #expect(try numbers() == [4])
        // The position is before all of them.
        #expect(try numbers([.error]) == [])
    }

    @Test func aRunWithoutEventsKeepsThePosition() throws {
        try append(.link, 1...3)
        #expect(try numbers(confirming: 2) == [1, 2, 3])
        #expect(try numbers([.fix]) == [])
        #expect(try numbers() == [3])
    }

    @Test func eachReaderHasAPositionOfItsOwn() throws {
        try append(.link, 1...3)
        #expect(try numbers(as: "a") == [1, 2, 3])
        #expect(try numbers(as: "b") == [1, 2, 3])
        try append(.link, 4...4)
        #expect(try numbers(as: "a") == [4])
    }

    /// The log keeps its newest two files, of 512 KiB each.
    @Test func aPositionInALaterFileIsKept() throws {
        let padding = String(repeating: "x", count: 262_100)
        for number in 1...5 { try writer.append(Array("{\"type\":\"link\",\"unix_ms\":\(number),\"x\":\"\(padding)\"}\n".utf8)) }
        #expect(try numbers(confirming: 1) == [1, 2, 3, 4, 5].suffix(3))
        #expect(try numbers() == [4, 5])
        #expect(try numbers() == [])
    }
}
