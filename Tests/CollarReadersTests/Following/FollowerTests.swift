import CollarConfiguration
import CollarJournal
import CollarWire
import Glibc
import Testing

@testable import CollarFormats
@testable import CollarReaders

/// A whole follower, between a state directory and pipes. Each ends without a wait: at a limit, after no time, or with its input.
@Suite struct FollowerTests {
    private let bench: StoredReadingBench

    init() throws { bench = try StoredReadingBench() }

    /// Runs a follower. What the consumer writes is in the pipe before it starts.
    private func lines(
        acknowledging input: String? = nil, _ change: (inout FollowerConfiguration) -> Void = { _ in }
    ) throws -> [String] {
        try run(acknowledging: input, change).lines
    }

    private func run(
        acknowledging input: String? = nil, _ change: (inout FollowerConfiguration) -> Void
    ) throws -> (lines: [String], notices: [FollowerNotice]) {
        let (output, acknowledgements) = (try pipe(), try pipe())
        defer { for descriptor in [output.reading, acknowledgements.reading] { close(descriptor) } }
        var configuration = FollowerConfiguration(ReadingConfiguration(stateDirectory: bench.stateDirectory))
        configuration.output = output.writing
        configuration.input = acknowledgements.reading
        if let input {
            configuration.isAcknowledged = true
            let bytes = Array(input.utf8)
            #expect(unsafe bytes.withUnsafeBytes { unsafe write(acknowledgements.writing, $0.baseAddress, $0.count) } == bytes.count)
        } else {
            configuration.durationMicroseconds = 0
        }
        close(acknowledgements.writing)
        change(&configuration)
        var notices: [FollowerNotice] = []
        do {
            defer { close(output.writing) }
            let follower = try Follower(configuration) { notices.append($0) }
            try follower.run()
        }
        var bytes = [UInt8](repeating: 0, count: 60_000)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(output.reading, $0.baseAddress, $0.count) }
        return (String(decoding: bytes[..<max(0, count)], as: UTF8.self).split(separator: "\n").map(String.init), notices)
    }

    private func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe ends.withUnsafeMutableBufferPointer { unsafe Glibc.pipe($0.baseAddress) } == 0)
        return (ends[0], ends[1])
    }

    /// The collars and sequences of the fixes in the lines, as `a1`.
    private func fixes(_ lines: [String]) throws -> [String] {
        try lines.map { line in
            let object = try JSONScanner.value(of: Array(line.utf8))
            return "\(object["collar"]?.text?.suffix(1) ?? "?")\(object["seq"]?.integer(in: 0...Int.max) ?? -1)"
        }
    }

    private func id(_ sequence: UInt32) -> String { FixIdentifier(deviceID: collarA, logID: 1, sequence: sequence).text + "\n" }

    @Test func everyLineIsWrittenUpToTheLimit() throws {
        try bench.append(1...3)
        try bench.append(1...2, of: collarB)
        #expect(try fixes(lines()) == ["a1", "a2", "a3", "b1", "b2"])
        #expect(try fixes(lines { $0.lineLimit = 4 }) == ["a1", "a2", "a3", "b1"])
    }

    @Test func aNamedReaderGoesOnAfterItsLimit() throws {
        try bench.append(1...5)
        let named: (inout FollowerConfiguration) -> Void = {
            $0.reading.name = ReaderName("db")
            $0.lineLimit = 2
        }
        #expect(try (0..<4).map { _ in try fixes(lines(named)) } == [["a1", "a2"], ["a3", "a4"], ["a5"], []])
    }

    @Test func whatIsNotAcknowledgedComesAgain() throws {
        try bench.append(1...4)
        let named: (inout FollowerConfiguration) -> Void = { $0.reading.name = ReaderName("db") }
        #expect(try fixes(lines(acknowledging: id(1) + id(2) + id(4), named)) == ["a1", "a2", "a3", "a4"])
        #expect(try fixes(lines(acknowledging: "", named)) == ["a3", "a4"])
        let third = try run(acknowledging: id(2) + id(3), named)
        #expect(try fixes(third.lines) == ["a3", "a4"])
        #expect(third.notices == [.notAnID(String(id(2).dropLast()))])
        #expect(try fixes(lines(named)) == ["a4"])
    }

    @Test func entriesOfAnotherAnimalHaveNoLines() throws {
        try bench.append(1...4)
        let time = StoredReadingBench.time.unixMilliseconds
        let table = DeploymentTable([
            Deployment(animal: Animal(name: "A"), deviceID: collarA, beginUnixMilliseconds: time + 2000, endUnixMilliseconds: time + 4000)
        ])
        #expect(
            try fixes(
                lines {
                    $0.reading.wanted = .animal(name: "A", table)
                    $0.lineLimit = 3
                }) == ["a2", "a3"])
    }

    @Test func linesOfEventsAndNamesOfAnimals() throws {
        try bench.append(1...1)
        try bench.appendEvents(1...2)
        let path = bench.stateDirectory + "/animals"
        try AnimalText.write("[animal Luna]\nwears = 000000000000000a\n", to: path)
        let lines = try lines {
            $0.reading.read([.fix, .link])
            $0.reading.animalPaths = [path]
        }
        #expect(lines.count == 3)
        #expect(lines.first?.contains("\"name\":\"Luna\"") == true)
        #expect(lines.dropFirst() == ["{\"type\":\"link\",\"unix_ms\":1}", "{\"type\":\"link\",\"unix_ms\":2}"])
    }

    @Test func whatTheFormatLeavesOutIsToldAtFirstAndAtTheEnd() throws {
        try bench.append(1...3)
        let (lines, notices) = try run { $0.reading.format.format = .homeassistant }
        #expect(lines == [])
        #expect(notices == [nil, 3].map { .fixesLeftOut(Omission(format: .homeassistant, fixCount: $0)) })
    }

    @Test func aDocumentHasItsBeginAndItsEnd() throws {
        try bench.append(1...2)
        let lines = try lines { $0.reading.format.format = .geojson }
        #expect(lines.first == "{\"type\":\"FeatureCollection\",\"features\":[" && lines.last == "]}" && lines.count == 4)
    }
}

private enum AnimalText {
    static func write(_ text: String, to path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        try #require(count == bytes.count)
    }
}
