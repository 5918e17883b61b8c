import CLinuxEvents
import CollarARQ
import CollarBridge
import CollarHost
import CollarJournal
import Glibc

/// Performs what a ``Host`` decides: waits for ports, udev, signals, sockets and the consumer, carries bytes, and writes lines.
/// One thread, no timers while nothing is due.
///
/// Each round of the loop does, in this order: read everything that waits, write lines; then for each collar: make its journal
/// durable, answer.
public final class Receiver {
    /// Why the loop ends.
    private enum End {
        /// A signal, or what was wanted is reached.
        case wanted
        /// The reader of the lines went away.
        case outputClosed
    }

    /// Times the output is filled before radios and collars have their turn: some tens of milliseconds.
    private static let emissionRounds = 16
    /// Time between two reports of the figures, in microseconds.
    private static let statisticsInterval: Int64 = 60_000_000
    /// Time between two looks whether a terminal has the last lines, in microseconds.
    private static let heldUpInterval: Int64 = 20_000

    private let configuration: ReceiverConfiguration
    private let reportToOwner: (ReceiverNotice) -> Void
    private let events: EventPoll
    private let output: LineOutput
    private var lines: LineMaker
    private let host: Host
    private let signals: SignalDescriptor
    private let startedAt = HostTime.now.instant
    private var control: ControlServer?
    private lazy var ports = RadioPorts(configuration, events: events, host: host) { [unowned self] in report($0) }
    /// Since when the consumer has not read; nil while it reads.
    private var outputBlockedSince: Instant?
    /// Whether lines wait only because others have their turn.
    private var hasMoreLines = false
    /// When the figures are reported next; nil if they are not wanted.
    private var statisticsDeadline: Instant?
    private var isReportDue = false
    /// When it is looked again whether a terminal has the last lines.
    private var heldUpDeadline: Instant?
    private var end: End?
    private var endDeadline: Instant?
    private var stopDeadline: Instant?

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
        lines = LineMaker(configuration)
        guard let signals = SignalDescriptor([SIGINT, SIGTERM, SIGUSR1]) else {
            throw .system(operation: "signalfd", errorNumber: errno)
        }
        self.signals = signals
        do throws(HostError) {
            host = try Host(
                configuration.host, fileSystem: POSIXFileSystem(), random: SystemRandomNumberGenerator(), at: .now)
        } catch { throw .host(error) }
        events.watch(signals.fileDescriptor, as: .signals)
        if lines.writesFigures { statisticsDeadline = startedAt.advanced(byMicroseconds: Receiver.statisticsInterval) }
        endDeadline = configuration.durationMicroseconds.map { startedAt.advanced(byMicroseconds: $0) }
        takeOutputs()
        openControl()
    }

    /// Runs until something ends it; then everything received is stored.
    public func run() throws(ReceiverError) {
        try ports.open(at: .now)
        takeOutputs()
        // A third of the resident memory is code that only the start runs.
        release_pages_of_the_start()
        while true {
            // A report tells what the commit of its round has made durable.
            let isReporting = isReportDue
            try emitLines()
            try commit()
            if isReporting { reportFigures() }
            // Notices and results of the commits.
            if !output.isEmpty { try emitLines() }
            if let end, !host.isCommitDue {
                if end != .outputClosed { reportFigures() }
                if !output.isEmpty { try emitLines() }
                return
            }
            let isBusy = host.isCommitDue || hasMoreLines || isReportDue
            let now = HostTime.now.instant
            for event in events.wait(timeoutMicroseconds: isBusy ? 0 : nextDeadline(now)?.microseconds(since: now)) {
                try handle(event)
            }
            handleDeadlines()
        }
    }

    /// Ends the loop after this time at the latest; what comes in until then is stored and answered.
    public func stop(afterMicroseconds time: Int64) {
        let due = HostTime.now.instant.advanced(byMicroseconds: time)
        stopDeadline = min(stopDeadline ?? due, due)
    }

    /// Takes a command to a collar, or asks what became of one.
    /// - Returns: that it waits, durably (``ResultLine/Outcome/queued``); what became of it; or why it is not taken.
    ///   After `queued` the end is told by ``HostNotice/commandEnded(_:)``.
    public func submit(_ wanted: ControlRequest) -> ResultLine {
        let time = HostTime.now
        defer { takeOutputs() }
        do throws(CommandRefusal) {
            let report =
                switch wanted.wish {
                case .await(let requestID): try host.report(ofRequest: requestID, to: wanted.deviceID)
                case .command(let request):
                    try host.submit(request, to: wanted.deviceID, patience: wanted.patience, at: time)
                }
            return ResultLine(report, unixMilliseconds: time.unixMilliseconds)
        } catch { return ResultLine(error, verb: wanted.verb, unixMilliseconds: time.unixMilliseconds) }
    }

    /// What was counted so far.
    public var statistics: ReceiverStatistics { ReceiverStatistics(host: host.statistics, lines: output.writtenLineCount) }

    // MARK: Events

    private func nextDeadline(_ now: Instant) -> Instant? {
        [
            endDeadline, stopDeadline, statisticsDeadline, host.nextDeadline, ports.nextDeadline,
            control?.nextDeadline(at: now), heldUpDeadline,
        ].compactMap { $0 }.min()
    }

    private func handle(_ event: EventPoll.Event) throws(ReceiverError) {
        let time = HostTime.now
        switch event.source {
        case .signals:
            switch signals.next() {
            case nil: break
            case SIGUSR1: isReportDue = true
            default: end = .wanted
            }
        case .deviceMonitor: ports.handleDeviceEvents(at: time)
        case .output:
            outputBlockedSince = nil
            events.forget(output.fileDescriptor)
        case .control: control?.accept(at: time.instant)
        case .controlClient(let client): control?.handle(client, event, at: time.instant)
        case .port(let port): try ports.handle(port, event, at: time)
        }
        takeOutputs()
    }

    private func handleDeadlines() {
        let time = HostTime.now
        if let endDeadline, time.instant >= endDeadline { end = end ?? .wanted }
        if let stopDeadline, time.instant >= stopDeadline { end = end ?? .wanted }
        if let due = statisticsDeadline, time.instant >= due {
            statisticsDeadline = time.instant.advanced(byMicroseconds: Receiver.statisticsInterval)
            isReportDue = true
        }
        ports.deadlineReached(at: time)
        host.deadlineReached(at: time)
        takeOutputs()
        control?.deadlineReached(at: time.instant)
    }

    /// Makes journals durable, one a collar, and sends the answers.
    private func commit() throws(ReceiverError) {
        for _ in 0..<host.collarCount {
            guard host.commitNext(at: .now) else { return }
            takeOutputs()
            // Bringing data to a disk takes milliseconds, in which the buffer of a line fills up: with many collars these add
            // up, and the line would stop for most of the time.
            guard host.isCommitDue, end == nil else { continue }
            for event in events.wait(timeoutMicroseconds: 0) { try handle(event) }
            try emitLines()
        }
    }

    /// Carries what the host has to say to ports, owner, consumer and clients.
    private func takeOutputs() {
        while true {
            var link: LinkID?
            let frame = [UInt8](capacity: 64) { output in link = host.nextFrame(into: &output) }
            guard let link else { break }
            ports.send(frame.span, on: link)
        }
        // The owner may give a command on hearing a notice, which makes further ones.
        var notices: [HostNotice] = []
        host.moveNotices(to: &notices)
        for notice in notices {
            report(.host(notice))
            if case .commandEnded(let end) = notice {
                control?.tell(ResultLine(end, unixMilliseconds: WallClock.unixMilliseconds))
            }
        }
    }

    /// Listens for requests of other programs. Without that everything else goes on.
    private func openControl() {
        do throws(ControlSocket.OpenError) {
            control = try ControlServer(
                stateDirectory: configuration.host.stateDirectory, runtimeDirectory: configuration.runtimeDirectory,
                events: events
            ) { [unowned self] in submit($0) }
        } catch { report(.controlFailing(path: error.path, errorNumber: error.errorNumber)) }
    }

    // MARK: Lines

    /// Reports what happens, to the owner and to the consumer of the lines.
    private func report(_ notice: ReceiverNotice) {
        reportToOwner(notice)
        for line in lines.lines(of: notice, unixMilliseconds: WallClock.unixMilliseconds) where !isLineLimitReached {
            output.queue(line)
        }
    }

    /// Reports the figures now, if they are wanted.
    private func reportFigures() {
        isReportDue = false
        guard lines.writesFigures else { return }
        let time = HostTime.now
        let reading = ReceiverReading(
            host: host.reading(at: time), lineCount: output.writtenLineCount,
            uptimeSeconds: time.instant.microseconds(since: startedAt) / 1_000_000,
            outputBlockedMilliseconds: outputBlockedSince.map { time.instant.microseconds(since: $0) / 1000 })
        for line in lines.lines(of: reading, unixMilliseconds: time.unixMilliseconds) where !isLineLimitReached {
            output.queue(line)
        }
    }

    private var isLineLimitReached: Bool {
        guard let limit = configuration.lineLimit else { return false }
        return output.queuedLineCount >= limit
    }

    /// Writes lines, all there are or as many as keep nobody waiting.
    private func emitLines() throws(ReceiverError) {
        hasMoreLines = false
        heldUpDeadline = nil
        defer { confirmLines() }
        guard outputBlockedSince == nil else { return }
        for _ in 0..<Receiver.emissionRounds {
            let isComplete = queueEntries()
            switch output.flush() {
            case .drained:
                if isLineLimitReached {
                    if output.isHeldUp {
                        heldUpDeadline = HostTime.now.instant.advanced(byMicroseconds: Receiver.heldUpInterval)
                    } else {
                        end = end ?? .wanted
                    }
                    return
                }
                if isComplete { return }
            case .blocked:
                outputBlockedSince = HostTime.now.instant
                events.watch(output.fileDescriptor, as: .output, forReading: false, forWriting: true)
                return
            case .closed:
                end = .outputClosed
                return
            case .failed(let errorNumber):
                throw .output(errorNumber: errorNumber)
            }
        }
        hasMoreLines = true
    }

    /// Takes in which lines the consumer has. Few lines are no reason for a commit of their own.
    private func confirmLines() {
        guard host.isCommitDue || isReportDue || end != nil || output.isReadingUnclear else { return }
        output.takeRead(isLast: end != nil) { host.emitted($0) }
    }

    /// Queues the lines of entries, as many as find room.
    /// - Returns: whether no entry waits.
    private func queueEntries() -> Bool {
        let time = HostTime.now
        defer { takeOutputs() }
        while output.hasRoom, !isLineLimitReached {
            guard let entry = host.nextEntry(at: time) else { return true }
            output.queue(entry.receipt) { bytes in lines.append(entry, to: &bytes) }
        }
        return false
    }
}
