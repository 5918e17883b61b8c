import CollarFormats
import CollarJournal
import CollarWorld
import Testing

@testable import CollarReaders

/// The lines of the event log for a reader that wants those of links.
@Suite struct FollowedEventsTests {
    private let disk = SimulatedDisk(seed: 1)
    private let writer: EventLogWriter

    init() throws {
        _ = try disk.makeDirectory(at: "/state")
        writer = EventLogWriter(stateDirectory: "/state", fileSystem: disk)
    }

    private func events(_ former: EventPosition? = nil, _ change: (inout ReadingConfiguration) -> Void = { _ in }) -> FollowedEvents {
        var configuration = ReadingConfiguration(stateDirectory: "/state")
        configuration.read([.link])
        change(&configuration)
        return FollowedEvents(configuration, former: former, fileSystem: disk)
    }

    /// Appends a line of each of these kinds, with the next numbers as their times.
    private func append(_ kinds: LineKind..., from number: Int) throws {
        for (offset, kind) in kinds.enumerated() {
            try writer.append(Array("{\"type\":\"\(kind.rawValue)\",\"unix_ms\":\(number + offset)}\n".utf8))
        }
    }

    private func position(afterLines count: Int) throws -> EventPosition {
        let lines = try EventLogReader(stateDirectory: "/state", fileSystem: disk).next()
        return count == 0 ? .start : lines[count - 1].end
    }

    @Test func anUnwantedLineDoesNotMoveThePositionPastAnUnconfirmedOne() throws {
        var events = events()
        try append(.link, .error, .stats, from: 1)
        let line = try #require(try events.next())
        #expect(try events.next() == nil)
        #expect(events.taken == .start)
        events.confirm(through: line.end)
        #expect(try events.taken == position(afterLines: 1))
        // The consumer has all wanted lines before the next unwanted one.
        try append(.error, from: 4)
        events.noteChange()
        #expect(try events.next() == nil)
        #expect(try events.taken == position(afterLines: 4))
    }

    @Test func oneConfirmationDoesNotConfirmTheLinesAfterIt() throws {
        var events = events()
        try append(.link, .link, .error, from: 1)
        let first = try #require(try events.next())
        let second = try #require(try events.next())
        events.confirm(through: first.end)
        #expect(try events.next() == nil)
        #expect(events.taken == first.end)
        events.confirm(through: second.end)
        #expect(events.taken == second.end)
    }

    @Test func unwantedLinesAloneMoveThePosition() throws {
        var events = events()
        try append(.error, .stats, from: 1)
        #expect(try events.next() == nil)
        #expect(try events.taken == position(afterLines: 2))
    }

    @Test func aReaderWithAPositionGoesOnThereWhateverItsStart() throws {
        try append(.link, .link, .link, from: 1)
        var new = events { $0.start = .since(unixMilliseconds: 3) }
        #expect(try new.next()?.end == position(afterLines: 3))
        var known = events(try position(afterLines: 1)) { $0.start = .since(unixMilliseconds: 3) }
        #expect(try known.next()?.end == position(afterLines: 2))
    }
}
