import CLinux
import CollarARQ
import CollarConfiguration
import CollarControl
import CollarErrors
import CollarFormats
import CollarHost
import CollarJournal
import Glibc
import LinuxSystem

/// Performs what a `Host` decides: waits for ports, udev, signals, sockets and the consumer, carries bytes, and writes
/// lines. It uses one thread, and no timer while nothing is due.
///
/// Each turn of the loop passes on what the host has put out, writes lines, makes the journal of one collar durable and answers that
/// collar. Then it reads what waits at ports and sockets.
package final class Receiver {
    /// Why the loop ends.
    private enum End {
        /// A signal came, or a limit of lines or time is reached.
        case wanted
        /// The reader of the lines went away.
        case outputClosed
    }

    /// The most rounds of filling and writing the output before radios and collars are served. All rounds together take some
    /// tens of milliseconds.
    private static let emissionRounds = 16
    /// Time between two reports of the figures, in microseconds.
    private static let statisticsInterval: Int64 = 60_000_000

    private let configuration: ReceiverConfiguration
    private let reportToOwner: (ReportedNotice) -> Void
    private let events: ReceiverEvents
    private let output: LineOutput
    /// The receipts of the entries that the consumer has not read, oldest first.
    private var receipts: [EmissionReceipt] = []
    private var formatter: EntryFormatter
    private var annotationFiles: AnnotationFiles
    private let host: Host
    private let eventLog: EventLogWriter
    private let signals: SignalDescriptor
    private let clock: ReceiverClock
    private let startedAt: Instant
    private let runMarker: RunMarker?
    private let serviceManager = ServiceManager()
    private var control: ControlServer?
    private lazy var ports = RadioPorts(configuration, events: events, host: host) { [unowned self] in report($0) }
    /// When the consumer stopped reading; nil while it reads.
    private var outputBlockedSince: Instant?
    /// Whether lines still wait because the writing of lines was interrupted for the other work of the loop.
    private var hasMoreLines = false
    /// When the figures are reported next; nil if the consumer does not want them and the event log has the present ones.
    private var statisticsDeadline: Instant?
    /// The frames that the figures in the event log count.
    private var reportedFrameCount = 0
    private var isReportDue = false
    private var targets = TargetMonitor()
    /// Keeps a stick, a collar or a stranger from filling logs with notices.
    private var noticeGate = NoticeGate()
    /// How many errors of each code there were, reported or left out.
    private var errorCounts: [ErrorCode: Int] = [:]
    /// When to check again whether a terminal has taken the last lines; nil while no check is due.
    private var heldUpDeadline: Instant?
    /// The round of the records of a capture that are being played; nil between rounds.
    private var playedRound: UInt16?
    private var end: End?
    /// The error with which the loop ends.
    private var failure: ReceiverError?
    private var endDeadline: Instant?
    private var stopDeadline: Instant?

    /// Prepares a receiver: opens the state directory and the journals in it. No port is opened yet.
    ///
    /// `report` is called with each notice, on the thread that runs the loop.
    package init(_ configuration: ReceiverConfiguration, report: @escaping (ReportedNotice) -> Void) throws(ReceiverError) {
        self.configuration = configuration
        reportToOwner = report
        let playback = try configuration.playbackPath.map { (path) throws(ReceiverError) in try CapturePlayback(path: path) }
        clock = ReceiverClock(playback: playback)
        startedAt = clock.now.instant
        // 256 journals and some hundred radios need more than a process usually has.
        raise_descriptor_limit()
        do throws(SystemError) {
            events = try ReceiverEvents(urgent: .signals)
            signals = try SignalDescriptor(SignalDescriptor.ofEnd + [SIGUSR1])
        } catch { throw .system(error) }
        output = LineOutput(fileDescriptor: configuration.output, lineLimit: configuration.lineLimit)
        formatter = EntryFormatter(configuration.format)
        annotationFiles = AnnotationFiles(animals: configuration.animalPaths, places: configuration.placePaths)
        do throws(HostError) {
            var hostConfiguration = configuration.host
            hostConfiguration.receiverID = playback?.receiverID
            host = try Host(
                hostConfiguration, fileSystem: POSIXFileSystem(stateDirectory: hostConfiguration.stateDirectory),
                random: SystemRandomNumberGenerator(), at: clock.now)
        } catch { throw .host(error) }
        runMarker = playback == nil ? RunMarker(stateDirectory: configuration.host.stateDirectory) : nil
        eventLog = EventLogWriter(stateDirectory: configuration.host.stateDirectory)
        // The readers of a service may not make it themselves. Without it, nothing but named readers fails, and they say why.
        do throws(JournalError) { try ReaderFiles(stateDirectory: configuration.host.stateDirectory).makeDirectory() } catch {}
        events.watch(signals.fileDescriptor, as: .signals)
        if writesFigures { statisticsDeadline = startedAt.advanced(byMicroseconds: Receiver.statisticsInterval) }
        endDeadline = configuration.durationMicroseconds.map { startedAt.advanced(byMicroseconds: $0) }
        readAnnotations(at: startedAt)
        if let end = runMarker?.previousEnd { self.report(.crashed(end)) }
        if playback == nil { openControl() }
        guard let path = configuration.capturePath else { return }
        do throws(CaptureFileError) {
            ports.capture = try CaptureFile(path, receiverID: host.receiverID, at: clock.now) { [unowned self] in self.report(.captureStopped($0)) }
        } catch { throw .captureFile(error) }
    }

    /// Runs the loop until something ends it; everything received by then is stored.
    package func run() throws(ReceiverError) {
        if let path = configuration.capturePath { report(.capturing(path: path)) }
        output.lines.append { formatter.begin(into: &$0) }
        if clock.playback == nil { try ports.open(at: clock.now) }
        serviceManager?.isReady()
        defer { ports.capture?.note(.ended, at: clock.now) }
        var hasCommitted = false
        // The commits since a report became due.
        var commitCount = 0
        while true {
            takeOutputs()
            if playedRound == nil {
                try emitLines()
                // With many collars the commits add up. A serial line is read after each of them, or it would stop most of the time. At
                // the end nothing more is read.
                if host.isCommitDue, !hasCommitted || end != nil {
                    hasCommitted = host.commitNext(at: clock.now)
                    commitCount += 1
                    continue
                }
                hasCommitted = false
                // The figures include what was received before they became due. In a flood, some commit is always due.
                if !isReportDue {
                    commitCount = 0
                } else if !host.isCommitDue || commitCount > host.collarCount {
                    reportFigures()
                }
                if end != nil { return try finish() }
            }
            do throws(ReceiverError) {
                let isBusy = host.isCommitDue || host.hasOutputs || hasMoreLines || isReportDue || ports.hasWork || !output.lines.isEmpty && outputBlockedSince == nil
                if let playback = clock.playback {
                    try play(playback, isBusy: isBusy)
                } else {
                    let now = clock.now.instant
                    try handle(events.wait(timeoutMicroseconds: isBusy ? 0 : nextDeadline(now)?.microseconds(since: now)))
                }
                if playedRound == nil { try handleDeadlines() }
            } catch {
                // The frames before the error are stored, and their lines are written, before the receiver ends.
                playedRound = nil
                failure = error
                end = end ?? .wanted
            }
        }
    }

    private func finish() throws(ReceiverError) {
        serviceManager?.isStopping()
        if end != .outputClosed {
            reportFigures()
            if let omission = formatter.omissions.total { report(.fixesLeftOut(omission)) }
            output.lines.append { formatter.end(into: &$0) }
        }
        if !output.lines.isEmpty { try emitLines() }
        if let failure { throw failure }
    }

    /// Ends the loop after this time at the latest; frames that come in until then are stored and answered.
    package func stop(afterMicroseconds time: Int64) {
        let due = clock.now.instant.advanced(byMicroseconds: time)
        stopDeadline = min(stopDeadline ?? due, due)
    }

    /// Accepts a command to a collar, or reports the state of an earlier command.
    /// - Returns: `queued` if the command is stored durably and has not ended; its outcome if it has ended; or why it is
    ///   refused. After `queued`, `HostNotice.requestEnded(_:)` reports the end of the command.
    package func submit(_ wanted: ControlRequest) -> ResultLine {
        let time = clock.now
        readAnnotations(at: time.instant)
        return host.result(of: wanted, at: time).named(by: formatter.deployments)
    }

    package var statistics: ReceiverStatistics { ReceiverStatistics(host: host.statistics, lines: output.lines.writtenLineCount) }

    // MARK: Events

    /// Plays the next record of a capture, which sets the time. The consumer takes the lines of one round before the next one is played.
    private func play(_ playback: CapturePlayback, isBusy: Bool) throws(ReceiverError) {
        if let round = playedRound {
            guard let record = try playback.takeRecord(of: round) else { return playedRound = nil }
            return try ports.play(record, at: playback.now)
        }
        let ready = events.wait(timeoutMicroseconds: outputBlockedSince == nil ? 0 : nil)
        guard ready.isEmpty, !isBusy else { return try handle(ready) }
        guard let first = try playback.takeRecord() else { return end = end ?? .wanted }
        playedRound = first.round
        try ports.play(first, at: playback.now)
    }

    /// When something is due; nil if nothing is.
    private func nextDeadline(_ now: Instant) -> Instant? { Instant.earliest(nextRecordedDeadline(now), ports.nextRetry) }

    /// When something is due that a capture records: all but another look for a port.
    private func nextRecordedDeadline(_ now: Instant) -> Instant? {
        [
            endDeadline, stopDeadline, statisticsDeadline, host.nextDeadline, ports.nextDeadline,
            control?.nextDeadline(at: now), heldUpDeadline, noticeGate.nextDeadline,
        ].compactMap { $0 }.min()
    }

    /// Handles events that came together. The ports among them share one turn.
    private func handle(_ ready: [ReceiverEvents.Event]) throws(ReceiverError) {
        let portCount = ready.count { if case .port = $0.source { true } else { false } }
        let turn = RadioPorts.turnMicroseconds / Int64(max(1, portCount))
        for event in ready { try handle(event, turnMicroseconds: turn) }
    }

    private func handle(_ event: ReceiverEvents.Event, turnMicroseconds: Int64) throws(ReceiverError) {
        let time = clock.now
        switch event.source {
        case .signals:
            switch signals.next() {
            case nil: break
            case SIGUSR1: isReportDue = true
            default: end = .wanted
            }
        case .deviceMonitor: try ports.handleDeviceEvents(at: time)
        case .output:
            outputBlockedSince = nil
            events.forget(output.fileDescriptor)
        case .control: control?.accept(at: time)
        case .controlClient(let client): control?.handle(client, event, at: time)
        case .port(let port):
            let damaged = host.statistics.damagedFrames
            try ports.handle(port, event, turnMicroseconds: turnMicroseconds, at: time)
            if host.statistics.damagedFrames != damaged { ports.bytesAreMissing(at: time) }
            // Without new frames there are no new figures, and nothing wakes up.
            if statisticsDeadline == nil, host.statistics.frames != reportedFrameCount {
                statisticsDeadline = time.instant.advanced(byMicroseconds: Receiver.statisticsInterval)
            }
        case .portOpenings(let port): ports.noteOpenings(of: ports.ports[port.index], at: time)
        }
    }

    private func handleDeadlines() throws(ReceiverError) {
        let time = clock.now
        if let capture = ports.capture, let due = nextRecordedDeadline(time.instant), due <= time.instant { capture.note(.due, at: time) }
        if let endDeadline, time.instant >= endDeadline { end = end ?? .wanted }
        if let stopDeadline, time.instant >= stopDeadline { end = end ?? .wanted }
        if let due = statisticsDeadline, time.instant >= due {
            statisticsDeadline = writesFigures ? time.instant.advanced(byMicroseconds: Receiver.statisticsInterval) : nil
            isReportDue = true
        }
        try ports.deadlineReached(at: time)
        host.deadlineReached(at: time)
        for notice in noticeGate.take(at: time.instant) { give(notice) }
        control?.deadlineReached(at: time)
    }

    /// Passes the host's frames and notices to ports, owner, consumer and clients, until it has no more: while the owner handles a notice,
    /// it may submit a command, which causes further ones.
    private func takeOutputs() {
        repeat {
            sendFrames()
            var notices: [HostNotice] = []
            host.moveNotices(to: &notices)
            for notice in notices {
                report(.host(notice))
                if notice.suggestsMissingBytes { ports.bytesAreMissing(at: clock.now) }
                switch notice {
                case .collar(let deviceID, .health(.condition(.unhealthy))):
                    // Its radio may be the cause.
                    if let link = host.linkToRenew(for: deviceID) { ports.renew(link, for: deviceID, at: clock.now) }
                case .requestEnded(let end):
                    control?.tell(ResultLine(end, unixMilliseconds: clock.now.unixMilliseconds).named(by: formatter.deployments))
                default: break
                }
            }
        } while host.hasOutputs
    }

    private func sendFrames() {
        while true {
            var link: LinkID?
            let frame = [UInt8](capacity: 64) { output in link = host.nextFrame(into: &output) }
            guard let link else { break }
            ports.send(frame, on: link)
        }
        let now = clock.now
        ports.endAnswers(at: now)
        host.framesSent(at: now.instant)
    }

    /// Opens the control socket, for requests of other programs. If that fails, everything else goes on.
    private func openControl() {
        do throws(ControlSocket.OpenError) {
            control = try ControlServer(
                stateDirectory: configuration.host.stateDirectory, runtimeDirectory: configuration.runtimeDirectory,
                events: events, submit: { [unowned self] in submit($0) }, figures: { [unowned self] in figures.line(unixMilliseconds: clock.now.unixMilliseconds) })
        } catch { report(.controlFailing(path: error.path, errorNumber: error.errorNumber)) }
    }

    // MARK: Lines

    /// Reports a notice, unless too many of its kind come.
    private func report(_ notice: ReceiverNotice) {
        if let code = notice.code { errorCounts[code, default: 0] += 1 }
        if noticeGate.admits(notice, at: clock.now.instant) { give(notice) }
    }

    /// Gives a notice to the owner, and as lines to the consumer and to the event log.
    private func give(_ notice: ReceiverNotice) {
        readAnnotations(at: clock.now.instant)
        let notice = ReportedNotice(notice)
        reportToOwner(notice)
        notice.forEachLine(at: clock.now.unixMilliseconds, formatter.deployments) { write($1, as: $0) }
    }

    private var writesFigures: Bool { configuration.lineKinds.contains(.stats) }

    /// Writes a line that is not of an entry.
    private func write(_ line: [UInt8], as kind: LineKind) {
        if configuration.lineKinds.contains(kind) { output.lines.queue(line) }
        // Events are worth less than fixes: if the disk is full, the journals report that, and these lines are lost.
        do throws(FileFailure) { try eventLog.append(line) } catch {}
    }

    /// Reads the files of animals and places that have changed, at most once a second. It is called only before a line is made, so that
    /// nothing wakes up for it.
    private func readAnnotations(at now: Instant) {
        guard let faults = annotationFiles.refresh(at: now) else { return }
        formatter.annotations = annotationFiles.annotations
        for fault in faults { report(.editedFile(fault)) }
    }

    /// Reports the figures now, if they are asked for or have changed.
    private func reportFigures() {
        isReportDue = false
        guard writesFigures || host.statistics.frames != reportedFrameCount else { return }
        reportedFrameCount = host.statistics.frames
        let time = clock.now
        readAnnotations(at: time.instant)
        let reading = reading(at: time)
        for line in reading.lines(at: time.unixMilliseconds, formatter.deployments) { write(line, as: .stats) }
        if configuration.reportsFigures { report(.figures(statistics, reading.host.latencies)) }
        // The times of a capture are not those of this machine.
        guard clock.playback == nil else { return }
        for missed in targets.newlyMissed(in: reading, at: time.instant) { report(.targetMissed(missed.target, measured: missed.value)) }
    }

    private func reading(at time: HostTime) -> ReceiverReading {
        ReceiverReading(
            host: host.reading(at: time), lineCount: output.lines.writtenLineCount,
            uptimeMicroseconds: time.instant.microseconds(since: startedAt),
            outputBlockedMicroseconds: outputBlockedSince.map { time.instant.microseconds(since: $0) },
            airtimeMicroseconds: ports.airtimeMicroseconds, errorCounts: errorCounts, radios: ports.figures, usage: .now)
    }

    package var figures: ReceiverFigures { ReceiverFigures(reading(at: clock.now)) }

    /// Writes lines until none is left, the consumer does not read, or ``emissionRounds`` rounds are done.
    private func emitLines() throws(ReceiverError) {
        hasMoreLines = false
        heldUpDeadline = nil
        ports.capture?.beginRound()
        defer { confirmLines() }
        guard outputBlockedSince == nil else { return }
        switch output.pump(rounds: Receiver.emissionRounds, fill: { queueEntries() }) {
        case .drained: break
        case .limitReached: end = end ?? .wanted
        case .paused: hasMoreLines = true
        case .heldUp: heldUpDeadline = clock.now.instant.advanced(byMicroseconds: LineOutput.heldUpInterval)
        case .blocked:
            outputBlockedSince = clock.now.instant
            events.watch(output.fileDescriptor, as: .output, forReading: false, forWriting: true)
        case .closed: end = .outputClosed
        case .failed(let errorNumber): throw .output(errorNumber: errorNumber)
        }
    }

    /// Tells the host which lines the consumer has read. A few read lines must not cause a commit, so this does nothing until
    /// a commit or a report is due, the loop ends, or many lines are unconfirmed.
    private func confirmLines() {
        guard host.isCommitDue || isReportDue || end != nil || output.lines.isReadingUnclear else { return }
        let count = output.takeRead(isLast: end != nil)
        for receipt in receipts[..<count] { host.emitted(receipt) }
        receipts.removeFirst(count)
    }

    /// Queues the lines of entries while there is room.
    /// - Returns: whether no further entry waits.
    private func queueEntries() -> Bool {
        let time = clock.now
        defer { if let omission = formatter.omissions.takeFirst() { report(.fixesLeftOut(omission)) } }
        while output.lines.hasRoom {
            guard let entry = host.nextEntry(at: time) else { return true }
            readAnnotations(at: time.instant)
            receipts.append(entry.receipt)
            output.lines.queue { bytes in formatter.append(entry.content, deviceID: entry.deviceID, to: &bytes) }
        }
        return false
    }
}
