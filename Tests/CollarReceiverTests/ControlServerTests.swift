import CollarARQ
import CollarControl
import CollarFormats
import CollarJournal
import CollarWire
import FoundationEssentials
import Glibc
import LinuxSystem
import Testing

@testable import CollarReceiver

/// The control socket with real connections. Server and programs are in one thread, so nothing waits.
@Suite final class ControlServerTests {
    /// Short, because the path of a socket may have 107 bytes.
    private let folder = "/tmp/collar-link-\(UUID().uuidString.prefix(13))"
    private let events: ReceiverEvents
    private let time = RecordedDay.start
    private var server: ControlServer?
    private var requests: [ControlRequest] = []
    private var figureCount = 0
    /// Bytes in each line of figures.
    private var figureByteCount = 20

    init() throws {
        for path in [folder, "\(folder)/state", "\(folder)/run"] { try #require(unsafe mkdir(path, 0o700) == 0) }
        events = try ReceiverEvents(urgent: .signals)
        try open()
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch {}
    }

    private func open() throws {
        server = try ControlServer(
            stateDirectory: "\(folder)/state", runtimeDirectory: "\(folder)/run", events: events,
            submit: { [unowned self] in submit($0) }, figures: { [unowned self] in nextFigures() })
    }

    private func submit(_ request: ControlRequest) -> ResultLine {
        requests.append(request)
        return result(requests.count, .queued)
    }

    private func result(_ number: Int, _ outcome: ResultLine.Outcome) -> ResultLine {
        ResultLine(outcome: outcome, unixMilliseconds: time.unixMilliseconds, deviceID: 7, requestID: UInt16(number), verb: "locate")
    }

    private func figures(_ number: Int) -> [UInt8] {
        let text = "figures \(number) "
        return Array((text + String(repeating: "x", count: max(0, figureByteCount - text.utf8.count - 1)) + "\n").utf8)
    }

    private func nextFigures() -> [UInt8] {
        figureCount += 1
        return figures(figureCount)
    }

    private func connect() throws -> ControlConnection {
        try ControlConnection(stateDirectory: "\(folder)/state", runtimeDirectory: "\(folder)/run", patience: 0)
    }

    /// The path of the socket file; nil if there is none.
    private func socketPath() throws -> String? {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/run/collar-link")
        return names.first.map { "\(folder)/run/collar-link/\($0)" }
    }

    /// Turns the loop of the receiver until nothing is ready.
    private func settle() throws {
        let server = try #require(server)
        for _ in 0..<10_000 {
            let ready = events.wait(timeoutMicroseconds: 0)
            for event in ready {
                switch event.source {
                case .control: server.accept(at: time)
                case .controlClient(let id): server.handle(id, event, at: time)
                default: Issue.record("\(event)")
                }
            }
            let isDue = server.nextDeadline(at: time.instant).map { $0 <= time.instant } ?? false
            if ready.isEmpty, !isDue { return }
            server.deadlineReached(at: time)
        }
        Issue.record("The loop never waits.")
    }

    /// The lines that wait for a program.
    private func lines(_ program: ControlConnection, atMost limit: Int = .max) -> [String] {
        var lines: [String] = []
        // On a busy machine the time may be over before the first look.
        var lookCount = 0
        while lines.count < limit, lookCount < 2 {
            if case .line(let line) = program.nextLine(untilMicroseconds: MonotonicClock.microseconds + 10_000) {
                lines.append(String(decoding: line, as: UTF8.self))
                lookCount = 0
            } else {
                lookCount += 1
            }
        }
        return lines
    }

    private func outcomes(_ program: ControlConnection) -> [ResultLine.Outcome] {
        lines(program).compactMap { ResultLine(bytes: Array($0.utf8))?.outcome }
    }

    private static let figuresRequest = FiguresRequest.line
    private static let locate = ControlRequest(.command(.command(.locateNow)))

    /// A program that does not read gets each byte once, when it reads, whatever the socket took at a time.
    @Test(arguments: [1000, 4999, 16_383])
    func aProgramThatReadsLateGetsEachByteOnce(byteCount: Int) throws {
        figureByteCount = byteCount
        let program = try connect()
        // More than the buffers of a socket hold.
        let count = 1_500_000 / byteCount
        var sent = 0
        var got: [String] = []
        while got.count < count {
            let isStuck = sent == count
            // A hundred small requests fit into the socket.
            while sent < count, sent - figureCount < 100 {
                program.send(Self.figuresRequest)
                sent += 1
            }
            try settle()
            let more = lines(program, atMost: 50)
            if isStuck, more.isEmpty { break }
            got += more
        }
        try #require(got.count == count)
        for (index, line) in got.enumerated() where Array((line + "\n").utf8) != figures(index + 1) {
            Issue.record("line \(index + 1) is \(line.prefix(30)) of \(line.utf8.count) bytes")
            return
        }
    }

    /// While one program does not read, the others are served.
    @Test func aProgramThatDoesNotReadHoldsUpNobody() throws {
        figureByteCount = 10_000
        let (lazy, other) = (try connect(), try connect())
        for _ in 0..<100 { lazy.send(Self.figuresRequest) }
        try settle()
        let before = figureCount
        #expect(before < 100, "what a program does not read is not made")
        other.send(Self.figuresRequest)
        other.send(Self.locate)
        try settle()
        #expect(lines(other).count == 2)
        #expect(figureCount == before + 1)
    }

    @Test func theResultGoesToEachProgramThatWaitsForIt() throws {
        let programs = [try connect(), try connect(), try connect()]
        programs[0].send(Self.locate)
        try settle()
        programs[2].send(Self.locate)
        try settle()
        #expect(requests.count == 2)
        #expect(programs.map { outcomes($0) } == [[.queued], [], [.queued]])
        let server = try #require(server)
        server.tell(result(2, .ok))
        try settle()
        #expect(programs.map { outcomes($0) } == [[], [], [.ok]])
        server.tell(result(1, .expired))
        server.tell(result(1, .ok))
        server.tell(result(2, .ok))
        try settle()
        #expect(programs.map { outcomes($0) } == [[.expired], [], []])
    }

    @Test func severalLinesInOneReadAreAnsweredInTheirOrder() throws {
        let program = try connect()
        program.send(Self.figuresRequest + Self.locate.line + Array("nonsense\n".utf8) + Self.figuresRequest)
        try settle()
        let answers = lines(program)
        #expect(answers.count == 4)
        #expect(answers.first.map { Array("\($0)\n".utf8) } == figures(1))
        #expect(answers.last.map { Array("\($0)\n".utf8) } == figures(2))
        #expect(answers.dropFirst().dropLast().compactMap { ResultLine(bytes: Array($0.utf8))?.outcome } == [.queued, .rejected])
    }

    /// A line may come in pieces.
    @Test func aLineIsTakenOnceItIsWhole() throws {
        let program = try connect()
        let line = Self.figuresRequest
        program.send(Array(line.prefix(5)))
        try settle()
        #expect(figureCount == 0)
        program.send(Array(line.dropFirst(5)))
        try settle()
        #expect(lines(program).count == 1)
    }

    @Test func aProgramThatIsGoneMakesRoom() throws {
        var programs: [ControlConnection] = []
        for _ in 0..<ControlMachine.clientLimit {
            programs.append(try connect())
            programs.last?.send(Self.locate)
            try settle()
        }
        #expect(programs.map { outcomes($0) } == .init(repeating: [.queued], count: ControlMachine.clientLimit))
        let refused = try connect()
        try settle()
        #expect(outcomes(refused) == [.rejected])
        #expect(refused.nextLine(untilMicroseconds: MonotonicClock.microseconds + 1_000_000) == .closed)
        programs.remove(at: 3)
        try settle()
        // The result of a program that is gone goes to no other program.
        server?.tell(result(4, .ok))
        let next = try connect()
        next.send(Self.locate)
        try settle()
        #expect(outcomes(next) == [.queued])
        server?.tell(result(ControlMachine.clientLimit + 1, .ok))
        try settle()
        #expect(outcomes(next) == [.ok])
        #expect(programs.allSatisfy { outcomes($0).isEmpty })
    }

    /// Unread answers of a program that is gone make its connection an error, not an empty one: the loop still comes to rest.
    @Test func aProgramThatLeavesWithoutReadingIsForgotten() throws {
        for count in 1...(2 * ControlMachine.clientLimit) {
            let program = try connect()
            program.send(Self.figuresRequest + Self.locate.line)
            try settle()
            #expect(figureCount == count)
        }
        try settle()
        let next = try connect()
        next.send(Self.locate)
        try settle()
        #expect(outcomes(next) == [.queued])
    }

    /// Programs that connect at the same time are all accepted in one turn.
    @Test func programsThatConnectTogetherAreAcceptedTogether() throws {
        let programs = [try connect(), try connect(), try connect()]
        for program in programs { program.send(Self.figuresRequest) }
        try #require(server).accept(at: time)
        for event in events.wait(timeoutMicroseconds: 0) {
            if case .controlClient(let id) = event.source { server?.handle(id, event, at: time) }
        }
        #expect(figureCount == programs.count)
        #expect(programs.map { lines($0).count } == [1, 1, 1])
    }

    @Test func theSocketIsForItsOwnerAloneAndEndsWithTheServer() throws {
        let path = try #require(try socketPath())
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let program = try connect()
        try settle()
        server = nil
        #expect(try socketPath() == nil)
        #expect(program.nextLine(untilMicroseconds: MonotonicClock.microseconds + 1_000_000) == .closed)
        #expect(throws: ControlConnection.ConnectError.absent) { try self.connect() }
    }

    /// A process that was killed leaves its socket file.
    @Test func aSocketFileThatWasLeftIsReplaced() throws {
        let path = try #require(try socketPath())
        server = nil
        try Data().write(to: URL(filePath: path))
        try open()
        let program = try connect()
        program.send(Self.figuresRequest)
        try settle()
        #expect(lines(program).count == 1)
    }

    /// Without a runtime directory, the socket is in the state directory. Without that too, it is an error.
    @Test func aPlaceThatCannotBeUsedIsPassedOver() throws {
        let missing = ControlSocket.OpenError(path: "\(folder)/none", errorNumber: ENOENT)
        #expect(throws: missing) { try ControlSocket(stateDirectory: "\(self.folder)/none", runtimeDirectory: "\(self.folder)/run") }
        let socket = try ControlSocket(stateDirectory: "\(folder)/state", runtimeDirectory: "\(folder)/absent")
        #expect(!socket.path.hasPrefix("\(folder)/absent"))
        var status = stat()
        #expect(unsafe stat(socket.path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK)
    }
}
