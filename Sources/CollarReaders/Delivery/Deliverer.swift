import CollarARQ
import CollarFormats
import CollarJournal
import Glibc
import LinuxSystem

package struct DeliveryConfiguration: Sendable {
    /// What is read; it has a name.
    package var reading: ReadingConfiguration
    package var command: DeliveryCommand
    package var batchCount = 1000
    /// The shortest time between the starts of two batches, in microseconds; a full one does not wait.
    package var intervalMicroseconds: Int64 = 0
    /// Whether to end when everything that was stored at the start is delivered, or an attempt has failed.
    package var isOnce = false

    package init(_ reading: ReadingConfiguration, _ command: DeliveryCommand) {
        self.reading = reading
        self.command = command
    }
}

/// Passes batches of stored entries to the stdin of a command, and moves the reader's position only when the command has succeeded.
///
/// A batch that fails is tried again until it succeeds. So each entry reaches the command at least once, and a sink that ignores ids that it
/// has holds each exactly once.
package final class Deliverer {
    /// The most entries that are taken before signals are handled.
    private static let fillCount = 4096
    /// Time between two storings of the position while nothing is delivered, in microseconds.
    private static let storeInterval: Int64 = 1_000_000
    /// Time that a command gets to end after SIGTERM, in microseconds.
    private static let terminationTime: Int64 = 5_000_000

    private let configuration: DeliveryConfiguration
    private let report: (FollowerNotice) -> Void
    private let events: ReaderEvents
    private let signals: SignalDescriptor
    private let entries: StoredEntries
    private var random = SystemRandomNumberGenerator()
    /// The batch that grows, or that is delivered.
    private var batch: DeliveryBatch
    private var format: FormatOptions
    /// Whether ``batch`` is complete and is being delivered.
    private var isDelivering = false
    private var hasMore = false
    private var child: ChildProcess?
    private var hasSucceeded = false
    private var retry = RetryDelay()
    /// When the next attempt begins after a failed one; nil if none has failed.
    private var retryDeadline: Instant?
    /// When a batch that is not full may begin; nil if at once.
    private var nextStart: Instant?
    /// When the position was stored last; nil before the first time.
    private var storedAt: Instant?
    /// When a command that was told to end is killed.
    private var killDeadline: Instant?
    private var isEnding = false
    /// The fixes that the format has left out since the start.
    private var omissions: OmissionCount
    /// Batches delivered since the start.
    package private(set) var batchCount = 0
    /// Entries delivered since the start.
    package private(set) var entryCount = 0

    /// Prepares a deliverer: opens the state directory and takes the reader's name.
    ///
    /// `report` is called with each notice, on the thread that runs the loop.
    package init(_ configuration: DeliveryConfiguration, report: @escaping (FollowerNotice) -> Void) throws(ReaderError) {
        self.configuration = configuration
        self.report = report
        // If the signal were ignored, as a parent process may have left it, the end of a command would go unnoticed.
        signal(SIGCHLD, SIG_DFL)
        do throws(SystemError) {
            events = try ReaderEvents(urgent: .signals)
            signals = try SignalDescriptor(SignalDescriptor.ofEnd + [SIGCHLD])
        } catch { throw .system(error) }
        entries = try StoredEntries(configuration.reading) { notice in
            // Delivering once ends with this failure.
            if case .cannotStorePosition = notice, configuration.isOnce { return }
            report(notice)
        }
        format = configuration.reading.format
        omissions = OmissionCount(format.format)
        batch = DeliveryBatch(configuration.command, format)
        events.watch(signals.fileDescriptor, as: .signals)
        // With `--once`, what is stored after the start is left: a command that is slower than the collars would never end.
        if !configuration.isOnce { events.watch(entries.fileDescriptor, as: .journals) }
    }

    /// Runs the loop until a signal ends it, or everything was delivered once.
    package func run() throws(ReaderError) {
        while true {
            try work()
            if isEnding, child == nil { break }
            let now = HostTime.now.instant
            let batchDeadline = batch.count > 0 && !isDelivering ? nextStart : nil
            let due = [retryDeadline, batchDeadline, killDeadline, entries.nextDeadline].compactMap { $0 }.min()
            for event in events.wait(timeoutMicroseconds: hasMore ? 0 : due?.microseconds(since: now)) {
                switch event.source {
                case .signals: try takeSignals()
                case .journals: try entries.handleChanges()
                default: break
                }
            }
            handleDeadlines()
        }
        if let omission = omissions.total { report(.fixesLeftOut(omission)) }
        try entries.storePosition(at: .now, isSeen: true)
        // Whoever delivers once learns from the exit code that the next call delivers the same again.
        if configuration.isOnce, let failure = entries.positionFailure { throw .positionNotStored(failure) }
    }

    /// Fills the batch, or delivers a part of it, as far as that is possible now.
    private func work() throws(ReaderError) {
        hasMore = false
        guard child == nil, !isEnding, retryDeadline == nil else { return }
        if !isDelivering {
            let isComplete = fill()
            hasMore = !isComplete
            guard batch.count > 0 else {
                try passOver()
                if isComplete, configuration.isOnce { isEnding = true }
                return
            }
            let now = HostTime.now.instant
            let isFull = batch.count >= configuration.batchCount
            if !isFull, !configuration.isOnce || !isComplete, let nextStart, now < nextStart { return }
            if !isFull, !isComplete { return }
            nextStart = now.advanced(byMicroseconds: configuration.intervalMicroseconds)
            batch.end()
            omissions.add(batch.leftOutFixCount)
            if let omission = omissions.takeFirst() { report(.fixesLeftOut(omission)) }
            isDelivering = true
        }
        if let part = batch.parts.first { try start(part) } else { try finishBatch() }
    }

    /// Adds waiting entries to the batch.
    /// - Returns: whether no further entry waits.
    private func fill() -> Bool {
        let time = HostTime.now
        if batch.receipts.isEmpty, let deployments = entries.changedDeployments(at: time.instant) {
            format.deployments = deployments
            batch = DeliveryBatch(configuration.command, format)
        }
        for _ in 0..<Deliverer.fillCount where batch.count < configuration.batchCount {
            guard let item = entries.next(at: time) else { return true }
            batch.add(item)
        }
        return false
    }

    /// The batch has only entries that are not wanted: the position moves past them. It is stored from time to time.
    private func passOver() throws(ReaderError) {
        guard !batch.receipts.isEmpty else { return }
        for receipt in batch.receipts { entries.confirm(receipt) }
        batch = DeliveryBatch(configuration.command, format)
        let time = HostTime.now
        if let storedAt, time.instant.microseconds(since: storedAt) < Deliverer.storeInterval { return }
        storedAt = time.instant
        try entries.storePosition(at: time)
    }

    private func start(_ part: DeliveryBatch.Part) throws(ReaderError) {
        let words = configuration.command.words(collar: part.key.collar, name: part.key.name, count: part.count)
        do throws(SystemError) { child = try ChildProcess(words, input: part.bytes, hasGroup: true) } catch {
            // A mistyped word must not make anybody wait forever.
            guard hasSucceeded || retry.failureCount > 0 else {
                throw .command(name: configuration.command.name, errorNumber: error.errno)
            }
            try noteEnd(.notStarted(errorNumber: error.errno))
        }
    }

    private func takeSignals() throws(ReaderError) {
        while let signal = signals.next() {
            guard signal != SIGCHLD else { continue }
            isEnding = true
            child?.send(signal: SIGTERM)
            killDeadline = HostTime.now.instant.advanced(byMicroseconds: Deliverer.terminationTime)
        }
        guard let end = child?.end(waits: false) else { return }
        child = nil
        try noteEnd(end)
    }

    private func noteEnd(_ end: CommandEnd) throws(ReaderError) {
        // A command that was told to end may have taken only a part of its input: the batch comes again.
        if isEnding { return }
        guard end != .exitCode(0) else {
            if retry.failureCount > 0 {
                report(.commandRecovered(command: configuration.command.name, attempts: retry.failureCount + 1))
            }
            retry.succeeded()
            hasSucceeded = true
            entryCount += batch.parts[0].count
            batch.removeFirstPart()
            if batch.parts.isEmpty { try finishBatch() }
            return
        }
        if configuration.isOnce { throw .commandFailed(name: configuration.command.name, end) }
        if retry.failureCount == 0 { report(.commandFailed(command: configuration.command.name, end)) }
        retryDeadline = HostTime.now.instant.advanced(byMicroseconds: retry.failed(random: &random))
    }

    /// The command has taken the whole batch: the position moves.
    private func finishBatch() throws(ReaderError) {
        for receipt in batch.receipts { entries.confirm(receipt) }
        batch = DeliveryBatch(configuration.command, format)
        isDelivering = false
        // More entries may wait that did not fit.
        hasMore = true
        batchCount += 1
        let time = HostTime.now
        storedAt = time.instant
        try entries.storePosition(at: time)
    }

    private func handleDeadlines() {
        let now = HostTime.now.instant
        entries.deadlineReached(at: now)
        if let due = retryDeadline, now >= due { retryDeadline = nil }
        if let due = nextStart, now >= due { nextStart = nil }
        if let due = killDeadline, now >= due {
            child?.send(signal: SIGKILL)
            killDeadline = nil
        }
    }
}

/// The pauses between attempts: 1 s, then twice as long each time, to 5 minutes; each between half and all of that, so that many
/// programs do not try at the same moment.
package struct RetryDelay {
    private static let first: Int64 = 1_000_000
    private static let longest: Int64 = 300_000_000

    private var next = RetryDelay.first
    /// Attempts that have failed in a row.
    package private(set) var failureCount = 0

    /// An attempt has failed.
    /// - Returns: the pause before the next one, in microseconds.
    package mutating func failed(random: inout some RandomNumberGenerator) -> Int64 {
        defer { next = min(2 * next, RetryDelay.longest) }
        failureCount += 1
        return Int64.random(in: (next / 2)...next, using: &random)
    }

    package mutating func succeeded() { self = RetryDelay() }
}
