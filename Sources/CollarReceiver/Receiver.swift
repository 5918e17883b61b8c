import CLinuxEvents
import CollarARQ
import CollarBridge
import CollarJournal
import CollarWire
import Glibc
import SerialDevices

/// The host's end of everything: finds radios, receives, stores, writes lines, acknowledges. One thread, no timers
/// while nothing is due.
///
/// Each round of the loop does, in this order: read everything that waits, append it to the journals, write lines; then for
/// each collar: make its journal durable, acknowledge.
public final class Receiver {
    /// Why the loop ended.
    public enum End: Equatable, Sendable {
        /// SIGINT or SIGTERM.
        case signalled
        /// As many lines as wanted are out.
        case lineLimit
        /// The time is over.
        case duration
        /// The reader of the lines went away.
        case outputClosed
        /// ``Receiver/stop(afterMicroseconds:)``.
        case stopped
    }

    let configuration: ReceiverConfiguration
    private let reportToOwner: (ReceiverNotice) -> Void
    let receiverID: UInt32
    let events: EventPoll
    let output: LineOutput
    var writer: FixLineWriter
    var ports: [RadioPort] = []
    var collars: [CollarSession] = []
    /// Which collar was heard last at an address.
    var collarAtAddress = [Int?](repeating: nil, count: 256)
    var unavailableCollars: Set<UInt64> = []
    /// How fast new collars are taken up.
    var newCollars = ReceiverLimits.newCollars
    /// What was said about collars that were refused.
    var refusalNotices = NoticeLimiter<CollarRefusal>()
    /// What was counted so far.
    public internal(set) var statistics = ReceiverStatistics()
    var readBuffer = [UInt8](repeating: 0, count: 65_536)
    var monitor: DeviceMonitor?
    /// Gone before ``stateLock`` is: its file must not be taken for one of the next process.
    var controlSocket: ControlSocket?
    /// Whether the consumer does not read now.
    var isOutputBlocked = false {
        didSet { outputBlockedSince = isOutputBlocked ? now : nil }
    }
    /// Since when the consumer has not read; nil while it reads.
    private(set) var outputBlockedSince: Instant?
    /// Whether lines wait only because others have their turn.
    var hasMoreLines = false
    /// When the loop began.
    var startedAt = Instant(microseconds: 0)
    /// When the figures are reported next; nil where nobody wants them.
    var statisticsDeadline: Instant?
    private let stateLock: StateDirectoryLock
    private let signals: SignalDescriptor
    var end: End?
    private var endDeadline: Instant?
    private var stopDeadline: Instant?

    /// Numbers by which the event loop knows its descriptors; ports have their index.
    enum Token {
        static let signals: UInt64 = 1 << 32
        static let monitor: UInt64 = 2 << 32
        static let output: UInt64 = 3 << 32
        static let control: UInt64 = 4 << 32
        /// The first client; each further one has the next number.
        static let controlClients: UInt64 = 5 << 32
    }

    /// Prepares a receiver: opens the state directory and the journals in it. Nothing is opened or written at any
    /// port yet.
    /// - Parameter report: called with what happens, on the thread that runs the loop.
    public init(
        _ configuration: ReceiverConfiguration, report: @escaping (ReceiverNotice) -> Void
    ) throws(ReceiverError) {
        self.configuration = configuration
        reportToOwner = report
        events = try EventPoll()
        output = LineOutput(fileDescriptor: configuration.output)
        writer = FixLineWriter(flavour: configuration.flavour, sourceAs: configuration.sourceAs)
        guard let signals = SignalDescriptor([SIGINT, SIGTERM, SIGUSR1]) else {
            throw .system(operation: "signalfd", errorNumber: errno)
        }
        self.signals = signals
        events.watch(signals.fileDescriptor, token: Token.signals)
        do throws(JournalError) {
            stateLock = try StateDirectoryLock(configuration.stateDirectory)
            receiverID = try ReceiverIdentity.load(stateDirectory: configuration.stateDirectory).receiverID
        } catch { throw .journal(error) }
        try openKnownJournals()
        openControlSocket()
        if let duration = configuration.durationMicroseconds {
            endDeadline = now.advanced(byMicroseconds: duration)
        }
    }

    /// Says what happens, to the owner and to the consumer of the lines.
    func report(_ notice: ReceiverNotice) {
        reportToOwner(notice)
        for line in configuration.eventLines(notice) where !isLineLimitReached { output.queue(line) }
    }

    var now: Instant { Instant(microseconds: MonotonicClock.microseconds) }

    /// Runs until something ends it; then everything received is stored.
    public func run() throws(ReceiverError) -> End {
        beginStatistics()
        try openPorts()
        // A third of the resident memory is code that only the start runs.
        release_pages_of_the_start()
        while true {
            try emitLines()
            try storeAndAnswer()
            // What was said on the way.
            if !output.isEmpty { try emitLines() }
            // Frames that came in while others were brought to the disk want the same.
            let isUnfinished = collars.contains(where: \.isHeardSinceCommit)
            if let end, !isUnfinished {
                if end != .outputClosed { reportStatistics() }
                if !output.isEmpty { try emitLines() }
                return end
            }
            let ready = events.wait(timeoutMicroseconds: isUnfinished || hasMoreLines ? 0 : nextDeadline?.microseconds(since: now))
            for event in ready { try handle(event) }
            handleDeadlines()
        }
    }

    /// Ends the loop after this time at the latest; what comes in until then is stored and answered.
    public func stop(afterMicroseconds time: Int64) {
        let due = now.advanced(byMicroseconds: time)
        stopDeadline = min(stopDeadline ?? due, due)
    }

    private var nextDeadline: Instant? {
        var deadline = endDeadline
        for case let due? in [statisticsDeadline, healthDeadline, requestDeadline, controlDeadline, stopDeadline, rereadDeadline] {
            deadline = min(deadline ?? due, due)
        }
        for port in ports {
            guard let due = port.nextDeadline else { continue }
            deadline = min(deadline ?? due, due)
        }
        return deadline
    }

    private func handle(_ event: EventPoll.Event) throws(ReceiverError) {
        switch event.token {
        case Token.signals:
            switch signals.next() {
            case nil: break
            case SIGUSR1: reportStatistics()
            default: end = .signalled
            }
        case Token.monitor:
            handleDeviceEvents()
        case Token.output:
            isOutputBlocked = false
            events.forget(output.fileDescriptor)
        case Token.control:
            acceptControlClients()
        case Token.controlClients...:
            handleControlClient(Int(event.token - Token.controlClients), event)
        default:
            try handlePort(Int(event.token), event)
        }
    }

    private func handleDeadlines() {
        let now = self.now
        if let endDeadline, now >= endDeadline { end = end ?? .duration }
        if let stopDeadline, now >= stopDeadline { end = end ?? .stopped }
        for index in ports.indices { portDeadlineReached(index, now: now) }
        healthDeadlineReached(now: now)
        statisticsDeadlineReached(now: now)
        requestDeadlineReached(now: now)
        controlDeadlineReached(now: now)
    }

    /// Reads what waits and writes lines, without waiting.
    private func takeInWhatWaits() throws(ReceiverError) {
        for event in events.wait(timeoutMicroseconds: 0) { try handle(event) }
        try emitLines()
    }

    /// Makes everything durable, then answers who asked.
    private func storeAndAnswer() throws(ReceiverError) {
        for collar in collars {
            let isNew = collar.hasNewRecords
            collar.hasNewRecords = false
            collar.isHeardSinceCommit = false
            do throws(JournalError) {
                try collar.journal.commit()
            } catch {
                reportFailing(error, of: collar)
                continue
            }
            noteStored(collar)
            answer(collar)
            removeOldSegments(of: collar)
            // Bringing data to a disk takes milliseconds, in which the buffer of a line fills up: with many collars these add
            // up, and the line would stand still for most of the time.
            if isNew, collars.count > 1, end == nil { try takeInWhatWaits() }
        }
    }
}
