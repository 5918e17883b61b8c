import CollarARQ
import CollarControl
import CollarFormats
import CollarHost
import CollarJournal
import CollarWire
import FoundationEssentials
import Glibc
import LinuxSystem
import Testing

@testable import CollarReceiver

/// A receiver that plays no capture, and whose radio is absent: with a control socket, and with the mark of its run. What it waits for
/// is there before it begins. One at a time, because the note of a crash is one for the process.
@Suite(.serialized) struct ReceiverLiveTests {
    /// A bench whose collar is known from an earlier run, and has a name.
    private func bench(_ kinds: Set<LineKind> = [.result]) throws -> ReceiverBench {
        let bench = try ReceiverBench(kinds)
        try bench.write("[animal Athena]\nwears = 00000000000000c0\n", to: "animals")
        bench.configuration.animalPaths = ["\(bench.folder)/animals"]
        var random = SystemRandomNumberGenerator()
        let fileSystem = POSIXFileSystem(stateDirectory: bench.stateDirectory)
        let identity = try ReceiverIdentity.load(stateDirectory: bench.stateDirectory, fileSystem: fileSystem, random: &random)
        var day = RecordedDay(receiverID: identity.receiverID)
        day.receive(try RecordedCollar().identity())
        _ = try bench.play(day)
        try #require(unsafe mkdir("\(bench.folder)/run", 0o700) == 0)
        bench.configuration.playbackPath = nil
        bench.configuration.ports = ["\(bench.folder)/radio"]
        bench.configuration.runtimeDirectory = "\(bench.folder)/run"
        // Only for a receiver that does not end as it should.
        bench.configuration.durationMicroseconds = 20_000_000
        return bench
    }

    private func connect(_ bench: ReceiverBench) throws -> ControlConnection {
        try ControlConnection(stateDirectory: bench.stateDirectory, runtimeDirectory: "\(bench.folder)/run", patience: 0)
    }

    private func lines(_ program: ControlConnection) -> [ResultLine] {
        var lines: [ResultLine] = []
        while case .line(let line) = program.next(untilMicroseconds: MonotonicClock.microseconds + 1_000_000) { lines.append(line) }
        return lines
    }

    /// Runs a receiver whose lines go to a file of the bench.
    private func run(_ bench: ReceiverBench, prepare: (Receiver) throws -> Void) throws -> ReceiverBench.Run {
        try bench.write([], to: "output")
        let descriptor = unsafe open("\(bench.folder)/output", O_WRONLY | O_APPEND | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var run = try bench.run(writingTo: descriptor, prepare: prepare)
        run.text = String(decoding: try bench.read("output"), as: UTF8.self)
        return run
    }

    private func endAfter(_ count: Int, _ bench: ReceiverBench) {
        var ended = 0
        bench.onNotice = { receiver, notice in
            guard case .host(.requestEnded) = notice else { return }
            ended += 1
            if ended == count { receiver.stop(afterMicroseconds: 0) }
        }
    }

    /// The lines in the order of their requests, without their times: each line has the moment at which it was made.
    private func comparable(_ lines: [ResultLine]) -> [ResultLine] {
        lines.map { line in
            var line = line
            line.unixMilliseconds = 0
            return line
        }.sorted { ($0.requestID ?? 0) < ($1.requestID ?? 0) }
    }

    /// A program that waits for a request gets the same members as the line on the output has.
    @Test func aProgramGetsTheResultAsTheConsumerDoes() throws {
        let bench = try bench()
        endAfter(2, bench)
        var programs: [ControlConnection] = []
        let run = try run(bench) { receiver in
            for _ in 0..<2 {
                let program = try connect(bench)
                program.send(ControlRequest(.command(.command(.locateNow)), deviceID: 0xC0, mode: .latest))
                programs.append(program)
            }
            // The newest request replaces both.
            let last = try connect(bench)
            last.send(ControlRequest(.command(.command(.locateNow)), mode: .latest))
            programs.append(last)
        }
        #expect(run.error == nil)
        let told = programs.map { lines($0) }
        let outcomes: [[ResultLine.Outcome]] = told.map { $0.map(\.outcome) }
        #expect(outcomes == [[.queued, .replaced], [.queued, .replaced], [.queued]])
        for line in told.joined() {
            #expect(line.name == "Athena")
            #expect(line.deviceID == 0xC0)
            #expect(line.verb == "locate")
        }
        let written: [ResultLine] = run.text.split(separator: "\n").compactMap { ResultLine(bytes: Array($0.utf8)) }
        let ended: [ResultLine] = told.prefix(2).compactMap(\.last)
        #expect(comparable(written) == comparable(ended))
        for pair in told { #expect(Set(pair.map(\.requestID)).count == 1) }
    }

    @Test func figuresAreToldToAProgram() throws {
        let bench = try bench()
        endAfter(1, bench)
        var line: [UInt8] = []
        var program: ControlConnection?
        let run = try run(bench) { receiver in
            let connection = try connect(bench)
            connection.send(FiguresRequest.line)
            for _ in 0..<2 { connection.send(ControlRequest(.command(.command(.locateNow)), deviceID: 0xC0, mode: .latest)) }
            program = connection
        }
        if case .line(let bytes)? = program?.nextLine(untilMicroseconds: MonotonicClock.microseconds + 1_000_000) { line = bytes }
        let figures = try JSONScanner.value(of: line)
        #expect(figures["type"]?.text == "figures")
        #expect(figures.number("fixes_stored") == 0)
        guard case .array(let radios)? = figures["radios"] else {
            Issue.record("\(String(decoding: line, as: UTF8.self))")
            return
        }
        #expect(radios.compactMap { $0["port"]?.text } == ["\(bench.folder)/radio"])
        #expect(run.figures.radios.map(\.state) == [.waiting])
        #expect(run.figures.collars[0xC0]?[.heard] == 0)
    }

    /// The program that asks may have another working directory.
    @Test func aRelativePortIsShownAsAnAbsolutePath() throws {
        let bench = try bench()
        bench.configuration.ports = ["collar-link-radio", "tcp://127.0.0.1:1"]
        let run = try run(bench) { $0.stop(afterMicroseconds: 0) }
        #expect(run.figures.radios.map(\.port) == ["\(FileManager.default.currentDirectoryPath)/collar-link-radio", "tcp://127.0.0.1:1"])
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsTheRun(signal: Int32) throws {
        let bench = try bench([.fix])
        let run = try run(bench) { _ in try #require(raise(signal) == 0) }
        #expect(run.error == nil)
    }

    @Test func anAbsentRadioIsAnErrorWithoutReconnecting() throws {
        let bench = try bench()
        bench.configuration.reconnects = false
        let run = try run(bench) { _ in }
        #expect(run.error != nil)
    }

    private func boot() throws -> String {
        try #require(SystemFiles.firstLine(of: "/proc/sys/kernel/random/boot_id")).filter { !$0.isWhitespace }
    }

    private func crashes(_ run: ReceiverBench.Run) -> [EndOfRun] {
        run.notices.compactMap { if case .crashed(let end) = $0 { end } else { nil } }
    }

    /// The mark of a killed run is found once. A run that ends normally leaves none.
    @Test func aRunThatCrashedIsToldOnce() throws {
        let bench = try bench([.error])
        let marker = "state/running"
        let cases: [(String, EndOfRun?)] = [
            ("process=77\nboot=\(try boot())\nsignal=11\n", EndOfRun(processID: 77, signal: 11)),
            ("process=78\nboot=\(try boot())\n", EndOfRun(processID: 78, signal: nil)),
            ("process=79\nboot=another\nsignal=11\n", nil),
        ]
        for (text, end) in cases {
            try bench.write(text, to: marker)
            var present = ""
            let first = try run(bench) { receiver in
                present = String(decoding: try bench.read(marker), as: UTF8.self)
                receiver.stop(afterMicroseconds: 0)
            }
            #expect(crashes(first) == [end].compactMap { $0 })
            #expect(try first.lines(.error).compactMap { $0["code"]?.text } == (end == nil ? [] : ["run_crashed"]))
            #expect(present == "process=\(getpid())\nboot=\(try boot())\n")
            #expect(throws: (any Error).self) { try bench.read(marker) }
            let second = try run(bench) { $0.stop(afterMicroseconds: 0) }
            #expect(crashes(second) == [])
        }
        #expect(try bench.events(.error).filter { $0["code"]?.text == "run_crashed" }.count == 2)
    }

    /// What happens is recorded, and can be played.
    @Test func aRunIsRecordedFromItsBeginningToItsEnd() throws {
        let bench = try bench()
        bench.configuration.capturePath = "\(bench.folder)/recorded"
        for count in 1...2 {
            let run = try run(bench) { $0.stop(afterMicroseconds: 0) }
            #expect(run.notices.contains(.capturing(path: "\(bench.folder)/recorded")))
            var reader = CaptureReader()
            reader.append(try bench.read("recorded"))
            var events: [CaptureEvent] = []
            while let record = try reader.next() { events.append(record.event) }
            #expect(events.filter { if case .began = $0 { true } else { false } }.count == count)
            #expect(events.last == .ended)
        }
    }
}
