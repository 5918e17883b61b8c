import CollarARQ
import CollarConfiguration
import CollarControl
import CollarFormats
import CollarHost
import CollarJournal
import FoundationEssentials
import Glibc
import Testing

@testable import CollarReceiver

/// A receiver that plays captures, so that hours pass in one run. Its state stays from run to run.
final class ReceiverBench {
    /// What one run has brought.
    struct Run {
        /// What the receiver wrote to its output.
        var text = ""
        var notices: [ReceiverNotice] = []
        /// The error with which the run ended.
        var error: ReceiverError?
        var statistics = ReceiverStatistics()
        var figures = ReceiverFigures()

        /// The output lines of a kind.
        func lines(_ kind: LineKind) throws -> [JSONValue] { try ReceiverBench.lines(kind, in: text) }

        /// The sequences of the fix lines.
        func sequences() throws -> [Int] { try lines(.fix).compactMap { $0["seq"]?.integer(in: 0...Int.max) } }
    }

    /// A folder for the files of one test, removed with the bench. Its path is short, because that of a socket may have 107 bytes.
    let folder: String
    var configuration: ReceiverConfiguration
    /// Is called with each notice of the next run. It is dropped after the run, because it often holds the bench.
    var onNotice: (Receiver, ReceiverNotice) throws -> Void = { _, _ in }

    /// - Parameter kinds: the kinds of lines that the receiver writes.
    init(_ kinds: Set<LineKind> = [.fix], change: (inout ReceiverConfiguration) -> Void = { _ in }) throws {
        folder = "/tmp/collar-link-\(UUID().uuidString.prefix(13))"
        try #require(unsafe mkdir(folder, 0o700) == 0)
        try #require(unsafe mkdir("\(folder)/state", 0o700) == 0)
        configuration = ReceiverConfiguration(stateDirectory: "\(folder)/state")
        configuration.playbackPath = "\(folder)/capture"
        configuration.write(kinds)
        change(&configuration)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch {}
    }

    var stateDirectory: String { configuration.host.stateDirectory }

    /// - Parameter isLonger: whether the bytes begin with the present content of the file, which stays while they are written.
    func write(_ bytes: [UInt8], to name: String, isLonger: Bool = false) throws {
        let descriptor = unsafe open("\(folder)/\(name)", O_WRONLY | O_CREAT | (isLonger ? 0 : O_TRUNC) | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        try #require(count == bytes.count)
    }

    func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

    func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))) }

    /// Plays a capture to its end, or until something else ends the run. The output goes to a file.
    func play(_ day: RecordedDay) throws -> Run { try play(bytes: day.bytes) }

    func play(bytes: [UInt8]) throws -> Run {
        try write(bytes, to: "capture")
        try write([], to: "output")
        let descriptor = unsafe open("\(folder)/output", O_WRONLY | O_APPEND | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var run = try run(writingTo: descriptor)
        run.text = String(decoding: try read("output"), as: UTF8.self)
        return run
    }

    /// Runs a receiver whose output is a descriptor of the caller.
    /// - Parameter prepare: is called before the loop of the receiver begins.
    func run(writingTo descriptor: Int32, prepare: (Receiver) throws -> Void = { _ in }) throws -> Run {
        defer { onNotice = { _, _ in } }
        var run = Run()
        var configuration = configuration
        configuration.output = descriptor
        var running: Receiver?
        var failures: [any Error] = []
        let receiver = try Receiver(configuration) { [onNotice] reported in
            run.notices.append(reported.notice)
            guard let running else { return }
            do { try onNotice(running, reported.notice) } catch { failures.append(error) }
        }
        running = receiver
        try prepare(receiver)
        do throws(ReceiverError) { try receiver.run() } catch { run.error = error }
        run.statistics = receiver.statistics
        run.figures = receiver.figures
        running = nil
        #expect(failures.isEmpty, "\(failures)")
        return run
    }

    /// The text of the event log of all runs.
    func eventLog() throws -> String {
        let reader = EventLogReader(stateDirectory: stateDirectory)
        var bytes: [UInt8] = []
        while true {
            let lines = try reader.next()
            if lines.isEmpty { return String(decoding: bytes, as: UTF8.self) }
            bytes += lines.flatMap(\.bytes)
        }
    }

    /// The lines of a kind in the event log of all runs.
    func events(_ kind: LineKind) throws -> [JSONValue] { try ReceiverBench.lines(kind, in: try eventLog()) }

    private static func lines(_ kind: LineKind, in text: String) throws -> [JSONValue] {
        try text.split(separator: "\n").map { try JSONScanner.value(of: Array($0.utf8)) }.filter { $0["type"]?.text == kind.rawValue }
    }
}

extension JSONValue {
    /// The seconds since the start of a recorded day of a line.
    var second: Double? {
        self["unix_ms"]?.integer(in: 0...Int64.max).map { Double($0 - RecordedDay.start.unixMilliseconds) / 1000 }
    }

    func number(_ key: String) -> Int? { self[key]?.integer(in: Int.min...Int.max) }
}
