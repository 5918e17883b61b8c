import CollarARQ
import CollarFormats
import CollarJournal
import Testing

@testable import CollarControl

/// A control machine, with programs that connect to it, in virtual time.
struct ControlBench {
    /// The end of a connection that a program has.
    struct Program {
        /// Bytes that the program has sent and that were not read.
        var unread: [UInt8] = []
        /// Whether the program has closed its sending direction.
        var isShut = false
        /// Whether reading and writing fail.
        var isBroken = false
        /// How many more bytes the connection takes until the program reads.
        var capacity = Int.max
        /// The bytes sent to the program.
        var received: [UInt8] = []
        var isClosed = false
        /// The client that has this connection; nil before it is admitted.
        var id: ControlClientID?
        var isWatchedForReading = false
        var isWatchedForWriting = false

        var isReadable: Bool { !isClosed && isWatchedForReading && (!unread.isEmpty || isShut || isBroken) }
        var isWritable: Bool { !isClosed && isWatchedForWriting && (capacity > 0 || isBroken) }

        var lines: [ResultLine] { received.split(separator: UInt8(ascii: "\n")).compactMap { ResultLine(bytes: $0) } }
        var outcomes: [ResultLine.Outcome] { lines.map(\.outcome) }
        var codes: [String] { lines.compactMap(\.code) }
    }

    static let owner: UInt32 = 1000
    static let figures = Array("figures\n".utf8)
    static let locate = #"{"do":"locate"}"#

    var machine = ControlMachine(owner: owner)
    var now = Instant(microseconds: 0)
    var programs: [Program] = []
    /// The requests that were submitted.
    var submitted: [ControlRequest] = []
    /// The outcome of each request that is submitted.
    var outcome = ResultLine.Outcome.queued
    /// Whether connections are accepted, by the machine's last output about it.
    var isListening = true

    var time: HostTime { HostTime(instant: now, unixMilliseconds: 1_800_000_000_000 + now.microseconds / 1000) }

    static func lines(_ line: String, count: Int) -> [UInt8] { Array(repeatElement(Array("\(line)\n".utf8), count: count).joined()) }

    // MARK: Programs

    /// A program connects. The result is its index in ``programs``.
    mutating func connect(as user: UInt32 = owner) -> Int {
        programs.append(Program())
        machine.accepted(peer: user, at: time)
        obey()
        return programs.count - 1
    }

    /// A program sends lines, and the receiver does all that they cause.
    mutating func send(_ lines: String..., from program: Int) {
        programs[program].unread += lines.flatMap { Array("\($0)\n".utf8) }
        settle()
    }

    /// Connects programs that each wait for a result.
    mutating func connectWaiting(_ count: Int) -> [Int] {
        (0..<count).map { _ in
            let program = connect()
            send(ControlBench.locate, from: program)
            return program
        }
    }

    /// The result of a request, by the order of submitting.
    func result(ofRequest number: Int, _ outcome: ResultLine.Outcome = .ok) -> ResultLine {
        ResultLine(outcome: outcome, unixMilliseconds: time.unixMilliseconds, deviceID: 7, requestID: UInt16(number), verb: "locate")
    }

    mutating func end(request number: Int) {
        machine.ended(result(ofRequest: number))
        settle()
    }

    // MARK: The receiver

    /// One turn of the receiver's loop: each ready connection is handled once, and then what is due.
    mutating func turn() {
        for program in programs.indices {
            let one = programs[program]
            guard let id = one.id, one.isReadable || one.isWritable else { continue }
            machine.ready(id, isReadable: one.isReadable, at: time)
            obey()
        }
        machine.deadlineReached(at: time)
        obey()
    }

    /// Turns the loop until nothing is due.
    mutating func settle() {
        for _ in 0..<10_000 {
            turn()
            let isDue = machine.nextDeadline(at: now).map { $0 <= now } ?? false
            if !isDue, !programs.contains(where: { $0.isReadable || $0.isWritable }) { return }
        }
        Issue.record("The loop never waits.")
    }

    /// A program is handled as if its connection could be read.
    mutating func makeReady(_ program: Int) {
        guard let id = programs[program].id else { return }
        machine.ready(id, isReadable: true, at: time)
        obey()
    }

    private func index(of id: ControlClientID) -> Int? { programs.lastIndex { $0.id == id && !$0.isClosed } }

    mutating func obey() {
        while let output = machine.nextOutput() {
            switch output {
            case .admit(let id): programs[programs.count - 1].id = id
            case .turnAway(let line):
                programs[programs.count - 1].received += line
                programs[programs.count - 1].isClosed = true
            case .watch(let id, let forReading, let forWriting):
                guard let program = index(of: id) else { continue }
                programs[program].isWatchedForReading = forReading
                programs[program].isWatchedForWriting = forWriting
            case .read(let id, let byteLimit):
                guard let program = index(of: id) else { continue }
                guard !programs[program].isBroken else { machine.broke(id); continue }
                let bytes = Array(programs[program].unread.prefix(byteLimit))
                programs[program].unread.removeFirst(bytes.count)
                machine.received(bytes.isEmpty && !programs[program].isShut ? nil : bytes, from: id, at: time)
            case .send(let id, let bytes):
                guard let program = index(of: id) else { continue }
                guard !programs[program].isBroken else { machine.broke(id); continue }
                let taken = bytes.prefix(programs[program].capacity)
                programs[program].received += taken
                programs[program].capacity -= taken.count
                machine.sent(taken.count, to: id)
            case .close(let id):
                if let program = index(of: id) { programs[program].isClosed = true }
            case .submit(let id, let request):
                submitted.append(request)
                machine.answered(id, with: result(ofRequest: submitted.count, outcome))
            case .makeFigures(let id): machine.answered(id, with: ControlBench.figures)
            case .listen(let isOn): isListening = isOn
            }
        }
    }
}
