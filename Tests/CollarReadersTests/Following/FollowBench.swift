import CollarARQ
import CollarFormats
import CollarWire
import LinuxSystem
import Testing

@testable import CollarJournal
@testable import CollarReaders

/// A follower's machine between stored items and a consumer at a pipe, in virtual time. Each line has 10 bytes.
struct FollowBench {
    static let collar: DeviceID = 7
    static let log: LogID = 1
    static let lineByteCount = 10

    private(set) var machine: FollowMachine
    private var lines: LineQueue
    private(set) var now = Instant(microseconds: 0)
    private var waiting: ArraySlice<StoredItem> = []
    /// Bytes that the pipe takes, and those in it.
    var capacity = Int.max
    private var unread = 0
    var isClosed = false
    /// Whether the output is a terminal: what it has not taken is lost at the end.
    var isTerminal = false
    /// Why writing fails; nil if it does not.
    var writeError: Int32?
    var canStore = true
    private var isWatched = false
    private(set) var isInputForgotten = false
    private(set) var writtenCount = 0
    private(set) var confirmed: [StoredReceipt] = []
    /// When the position was stored, in seconds, and how many items it was past.
    private(set) var stored: [Double] = []
    private(set) var storedCount = 0
    private(set) var notices: [FollowerNotice] = []
    private(set) var endCount = 0
    private(set) var failure: ReaderError?

    init(isNamed: Bool = true, isAcknowledged: Bool = false, lineLimit: Int? = nil, endsAfter seconds: Double? = nil) {
        machine = FollowMachine(
            isNamed: isNamed, isAcknowledged: isAcknowledged, endsAt: seconds.map { Instant(microseconds: Int64($0 * 1_000_000)) })
        lines = LineQueue(lineLimit: lineLimit)
    }

    static func id(_ sequence: UInt32, _ collar: DeviceID = collar) -> FixIdentifier {
        FixIdentifier(deviceID: collar, logID: log, sequence: sequence)
    }

    static func receipt(_ offset: UInt32, session: Int = 0) -> EmissionReceipt {
        EmissionReceipt(session: SessionID(index: session), through: JournalPosition(segment: 1, offset: offset))
    }

    // MARK: What is stored

    mutating func store(_ sequences: ClosedRange<UInt32>, collar: DeviceID = collar, session: Int = 0, isWanted: Bool = true) {
        for sequence in sequences {
            let fix = Fix(sequence: sequence, unixMilliseconds: 0, latitudeSteps: 1, longitudeSteps: 2)
            let content = EmittedEntry.Content.fix(JournaledFix(logID: FollowBench.log, receivedUnixMilliseconds: 0, fix: fix))
            let receipt = FollowBench.receipt(sequence, session: session)
            waiting.append(.entry(EmittedEntry(content: content, deviceID: collar, receipt: receipt), isWanted: isWanted))
        }
    }

    mutating func storeGap(_ number: UInt32, isWanted: Bool = true) throws {
        let range = try #require(SequenceRange(number, number))
        let change = GapChange(event: .missing, logID: FollowBench.log, range: range, unixMilliseconds: 0)
        waiting.append(
            .entry(
                EmittedEntry(content: .gap(change), deviceID: FollowBench.collar, receipt: FollowBench.receipt(number)),
                isWanted: isWanted))
    }

    mutating func storeMessage(_ sequence: UInt32) throws {
        let data: [UInt8] = []
        let made = ApplicationMessage(kind: .notice, code: 3, unixSeconds: 0, data: data.span)
        let message = CollarMessage(sequence: sequence, content: try #require(made))
        let content = EmittedEntry.Content.message(
            JournaledMessage(logID: FollowBench.log, receivedUnixMilliseconds: 0, message: message))
        waiting.append(
            .entry(
                EmittedEntry(content: content, deviceID: FollowBench.collar, receipt: FollowBench.receipt(sequence)), isWanted: true))
    }

    mutating func storeEvent(_ offset: UInt32) {
        waiting.append(.event(EventLogReader.Line(bytes: [UInt8](repeating: 0x2E, count: 10), end: EventPosition(file: 1, offset: offset))))
    }

    // MARK: What the consumer does

    /// The offsets of the entries that the consumer has.
    var confirmedOffsets: [UInt32] {
        confirmed.compactMap { if case .entry(let receipt, _) = $0 { receipt.through?.offset } else { nil } }
    }

    mutating func readLines(_ count: Int = .max) {
        unread -= min(unread, count == .max ? count : count * FollowBench.lineByteCount)
        if isWatched { machine.outputHasRoom() }
        turn()
    }

    mutating func acknowledge(_ sequences: UInt32..., collar: DeviceID = collar) {
        write(sequences.map { FollowBench.id($0, collar).text + "\n" }.joined())
    }

    mutating func write(_ text: String) {
        confirmed += machine.inputCame(Array(text.utf8), at: now)
        turn()
    }

    mutating func closeInput() {
        machine.inputEnded()
        turn()
    }

    mutating func signal() {
        machine.end()
        turn()
    }

    /// A signal and the consumer's reading are found together.
    mutating func signalAndRead() {
        machine.end()
        unread = 0
        machine.outputHasRoom()
        turn()
    }

    // MARK: The loop

    mutating func turn() {
        machine.turn()
        obey()
    }

    mutating func run(seconds: Double) {
        let end = now.advanced(byMicroseconds: Int64(seconds * 1_000_000))
        turn()
        while !machine.isFinished, let due = machine.nextDeadline, due <= end {
            now = max(now, due)
            machine.deadlineReached(at: now)
            obey()
            turn()
        }
        now = end
    }

    private mutating func obey() {
        while failure == nil, let output = machine.nextOutput() {
            switch output {
            case .writeLines: machine.wrote(write(), at: now)
            case .findRead(let isLast): findRead(isLast: isLast)
            case .watchOutput: isWatched = true
            case .forgetOutput: isWatched = false
            case .forgetInput: isInputForgotten = true
            case .endDocument:
                endCount += 1
                machine.documentEnded(writeError.map { .failed(errorNumber: $0) } ?? .drained)
            case .reportLeftOut: break
            case .storePosition:
                stored.append(Double(now.microseconds) / 1_000_000)
                if canStore { storedCount = confirmed.count }
                machine.stored(canStore, hasUnread: lines.hasUnread, at: now)
            case .notice(let notice): notices.append(notice)
            case .fail(let error): failure = error
            }
        }
    }

    private mutating func findRead(isLast: Bool = false) {
        let isRead = isLast && !isClosed && !isTerminal
        confirmed += machine.read(lines.takeRead(unreadByteCount: isRead ? 0 : unread))
    }

    private mutating func write() -> LineProgress {
        for _ in 0..<4 {
            let isComplete = fill()
            while !lines.isEmpty {
                if let writeError { return .failed(errorNumber: writeError) }
                if isClosed { return .closed }
                let count = lines.unwritten.count
                guard unread + count <= capacity else { return .blocked }
                unread += count
                writtenCount += count / FollowBench.lineByteCount
                lines.wrote(count)
            }
            lines.wrote(0)
            if lines.isLimitReached { return isTerminal && unread > 0 ? .heldUp : .limitReached }
            if isComplete { return .drained }
        }
        return .paused
    }

    private mutating func fill() -> Bool {
        if lines.isReadingUnclear { findRead() }
        while lines.hasRoom, machine.hasRoom {
            guard let item = waiting.popFirst() else { return true }
            if case .entry(_, isWanted: false) = item { lines.queue { _ in } } else { lines.queue { $0 += Array("123456789\n".utf8) } }
            confirmed += machine.queued(item, at: now)
        }
        return !machine.hasRoom
    }
}
