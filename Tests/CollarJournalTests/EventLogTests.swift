import Glibc
import Testing

@testable import CollarJournal

/// The bounded log of events.
@Suite struct EventLogTests {
    private let disk = MemoryFileSystem()

    init() throws { _ = try disk.makeDirectory(at: "/state") }

    private func line(_ number: Int, byteCount: Int = 20) -> [UInt8] {
        let text = "{\"n\":\(number),\"x\":\""
        return Array((text + String(repeating: "x", count: max(0, byteCount - text.utf8.count - 3)) + "\"}\n").utf8)
    }

    private func texts(_ reader: EventLogReader) throws -> [String] {
        var texts: [String] = []
        while true {
            let lines = try reader.next()
            if lines.isEmpty { return texts }
            texts += lines.map { String(decoding: $0.bytes.dropLast(), as: UTF8.self) }
        }
    }

    private func reader(_ position: EventPosition = .start) -> EventLogReader {
        EventLogReader(stateDirectory: "/state", from: position, fileSystem: disk)
    }

    @Test func linesComeInOrderAndWhole() throws {
        let follower = reader()
        #expect(try texts(follower) == [])
        let writer = EventLogWriter(stateDirectory: "/state", fileSystem: disk)
        try writer.append(Array("{\"a\":1}\n".utf8))
        #expect(try texts(follower) == ["{\"a\":1}"])
        try writer.append(Array("{\"a\":2}\n".utf8))
        // A line that is being written.
        disk.replace("/state/events/00000001.jsonl", with: Array("{\"a\":1}\n{\"a\":2}\n{\"a\"".utf8))
        #expect(try texts(follower) == ["{\"a\":2}"])
        #expect(follower.position == EventPosition(file: 1, offset: 16))
        // The next process ends the part of a line, and goes on.
        let next = EventLogWriter(stateDirectory: "/state", fileSystem: disk)
        try next.append(Array("{\"a\":3}\n".utf8))
        #expect(try texts(follower) == ["{\"a\"", "{\"a\":3}"])
        #expect(try texts(reader(EventPosition(file: 1, offset: 8))) == ["{\"a\":2}", "{\"a\"", "{\"a\":3}"])
        #expect(follower.position == EventPosition(file: 1, offset: 29))
    }

    @Test func twoFilesStay() throws {
        let writer = EventLogWriter(stateDirectory: "/state", fileSystem: disk)
        let behind = reader()
        let follower = reader()
        // 256 KiB each, less a byte: two fit in a file.
        for number in 0..<9 {
            try writer.append(line(number, byteCount: 262_143))
            #expect(try texts(follower).map { $0.prefix(6) } == ["{\"n\":\(number)"])
        }
        #expect(try disk.names(in: "/state/events").sorted() == ["00000004.jsonl", "00000005.jsonl"])
        #expect(disk.contents("/state/events/00000004.jsonl")?.count == 524_286)
        #expect(try texts(behind).map { $0.prefix(6) } == ["{\"n\":6", "{\"n\":7", "{\"n\":8"])
        // A log that begins again after a restoring is read from its newest file.
        #expect(try texts(reader(EventPosition(file: 9, offset: 5))).map { $0.prefix(6) } == ["{\"n\":8"])
    }

    @Test func aFailureLosesThatLineAlone() throws {
        let writer = EventLogWriter(stateDirectory: "/state", fileSystem: disk)
        try writer.append(line(1))
        disk.failures = [(.write, ENOSPC)]
        #expect(throws: FileFailure(.write, "/state/events/00000001.jsonl", errorNumber: ENOSPC)) { try writer.append(line(2)) }
        try writer.append(line(3))
        #expect(try texts(reader()).map { $0.prefix(6) } == ["{\"n\":1", "{\"n\":3"])
    }
}
