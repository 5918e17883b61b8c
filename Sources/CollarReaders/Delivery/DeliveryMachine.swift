import CollarARQ
import CollarFormats
import LinuxSystem

/// Decides when a batch is delivered, when a failed one is tried again, how far the position moves, and what ends the deliverer.
///
/// It has no clock and does no I/O: inputs carry the time, and after each input the owner does what the outputs say, in their order.
///
///     machine.take(items, isComplete: true, at: now)
///     while let output = machine.nextOutput() { … }
///
/// Each order to start the command has one answer: ``notStarted(errorNumber:at:random:)`` or ``commandEnded(_:at:random:)``.
package struct DeliveryMachine {
    package enum Output: Equatable, Sendable {
        /// Start the command with this input.
        case start(words: [String], input: [UInt8])
        /// Tell the command to end.
        case terminate
        case kill
        /// Move the position past these items. `isStored`: and store it.
        case move(past: [StoredReceipt], isStored: Bool)
        case report(FollowerNotice)
        /// Store the position and end. `needsPosition`: a position that cannot be stored is an error.
        case end(needsPosition: Bool)
        /// End with an error; the position stays.
        case fail(ReaderError)
    }

    /// A batch that is complete; its first part is delivered next.
    private struct Delivery {
        var batch: DeliveryBatch
        var retry = RetryDelay()
    }

    private enum State {
        /// The batch grows. `isBehind`: more entries may wait.
        case filling(DeliveryBatch, isBehind: Bool)
        case running(Delivery)
        /// An attempt has failed.
        case waiting(Delivery, until: Instant)
        /// The running command was told to end. `killAt`: nil once it was killed.
        case ending(killAt: Instant?)
        case ended
    }

    /// Time between two storings of the position while nothing is delivered, in microseconds: entries that are not wanted are read again
    /// after a crash, and nothing comes twice.
    static let storeInterval: Int64 = 10_000_000
    /// Time that a command gets to end after it was told to, in microseconds.
    static let terminationTime: Int64 = 5_000_000

    private let configuration: DeliveryConfiguration
    private var format: FormatOptions
    private var state: State
    private var outputs: [Output] = []
    /// Whether an attempt has ended, in whatever way.
    private var hasRun = false
    /// When a batch that is not full may begin; nil if at once.
    private var earliestStart: Instant?
    /// When the position was stored last; nil before the first time.
    private var storedAt: Instant?
    /// When the position is stored, which has moved since; nil if it has not.
    private var storeDue: Instant?
    /// The fixes that the format has left out since the start.
    private var omissions: OmissionCount
    /// Batches delivered since the start.
    package private(set) var batchCount = 0
    /// Entries delivered since the start.
    package private(set) var entryCount = 0

    package init(_ configuration: DeliveryConfiguration) {
        self.configuration = configuration
        format = configuration.reading.format
        omissions = OmissionCount(format.format)
        state = .filling(DeliveryBatch(configuration.command, format), isBehind: true)
    }

    package mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

    package var isEnded: Bool { if case .ended = state { true } else { false } }

    /// When ``deadlineReached(at:)`` or ``take(_:isComplete:at:)`` is due; nil if nothing is expected.
    package var nextDeadline: Instant? {
        switch state {
        case .filling(let batch, _): Instant.earliest(storeDue, batch.count > 0 ? earliestStart : nil)
        case .waiting(_, let due): due
        case .ending(let killAt): killAt
        case .running, .ended: nil
        }
    }

    // MARK: Filling

    /// How many items may be taken now.
    package var room: Int { if case .filling(let batch, _) = state { configuration.batchCount - batch.count } else { 0 } }

    /// Whether items wait that may be taken at once.
    package var isBehind: Bool { if case .filling(_, isBehind: true) = state { true } else { false } }

    /// Whether the next item is the first of a batch, so that ``annotations`` may change.
    package var beginsBatch: Bool { if case .filling(let batch, _) = state { batch.receipts.isEmpty } else { false } }

    /// The animals and places of the next batches.
    package var annotations: Annotations {
        get { format.annotations }
        set {
            format.annotations = newValue
            if beginsBatch { fill() }
        }
    }

    private mutating func fill(isBehind: Bool = true) {
        state = .filling(DeliveryBatch(configuration.command, format), isBehind: isBehind)
    }

    /// Takes items, at most ``room``, after each change of what is stored, and when something is due.
    /// - Parameter isComplete: whether no further item waits.
    package mutating func take(_ items: [StoredItem], isComplete: Bool, at now: Instant) {
        guard case .filling(var batch, _) = state else { return }
        // The batch has one owner, so it grows in place.
        state = .ended
        for item in items { batch.add(item) }
        format.owner = batch.format.owner
        guard batch.count > 0 else { return pass(over: batch, isComplete: isComplete, at: now) }
        let mayStart = isComplete && (configuration.isOnce || earliestStart.map { now >= $0 } ?? true)
        guard mayStart || batch.count >= configuration.batchCount else { return state = .filling(batch, isBehind: !isComplete) }
        earliestStart = now.advanced(byMicroseconds: configuration.intervalMicroseconds)
        batch.end()
        omissions.add(batch.leftOutFixCount)
        if let omission = omissions.takeFirst() { outputs.append(.report(.fixesLeftOut(omission))) }
        deliver(Delivery(batch: batch), at: now)
    }

    /// The batch has only entries that are not wanted: the position moves past them. It is stored from time to time.
    private mutating func pass(over batch: DeliveryBatch, isComplete: Bool, at now: Instant) {
        if !batch.receipts.isEmpty {
            let due = storedAt.map { $0.advanced(byMicroseconds: DeliveryMachine.storeInterval) } ?? now
            move(past: batch.receipts, isStored: now >= due, at: now)
            if now < due { storeDue = due }
        }
        if isComplete, configuration.isOnce { end() } else { fill(isBehind: !isComplete) }
    }

    // MARK: Delivering

    private mutating func deliver(_ delivery: Delivery, at now: Instant) {
        if let part = delivery.batch.parts.first {
            state = .running(delivery)
            let words = configuration.command.words(collar: part.key.collar, name: part.key.name, count: part.count)
            return outputs.append(.start(words: words, input: part.bytes))
        }
        // The command has taken the whole batch.
        batchCount += 1
        move(past: delivery.batch.receipts, isStored: true, at: now)
        fill()
    }

    private mutating func move(past receipts: [StoredReceipt], isStored: Bool, at now: Instant) {
        if isStored { (storedAt, storeDue) = (now, nil) }
        outputs.append(.move(past: receipts, isStored: isStored))
    }

    /// The command could not be started.
    package mutating func notStarted(errorNumber: Int32, at now: Instant, random: inout some RandomNumberGenerator) {
        // A mistyped word must not make anybody wait forever.
        guard hasRun else { return fail(.command(name: configuration.command.name, errorNumber: errorNumber)) }
        commandEnded(.notStarted(errorNumber: errorNumber), at: now, random: &random)
    }

    package mutating func commandEnded(_ end: CommandEnd, at now: Instant, random: inout some RandomNumberGenerator) {
        // A command that was told to end may have taken only a part of its input: the batch comes again.
        if case .ending = state { return self.end() }
        guard case .running(var delivery) = state else { return }
        hasRun = true
        let name = configuration.command.name
        guard end != .exitCode(0) else {
            if delivery.retry.failureCount > 0 {
                outputs.append(.report(.commandRecovered(command: name, attempts: delivery.retry.failureCount + 1)))
            }
            delivery.retry.succeeded()
            entryCount += delivery.batch.parts[0].count
            delivery.batch.removeFirstPart()
            return deliver(delivery, at: now)
        }
        if configuration.isOnce { return fail(.commandFailed(name: name, end)) }
        if delivery.retry.failureCount == 0 { outputs.append(.report(.commandFailed(command: name, end))) }
        let pause = delivery.retry.failed(random: &random)
        state = .waiting(delivery, until: now.advanced(byMicroseconds: pause))
    }

    package mutating func deadlineReached(at now: Instant) {
        switch state {
        case .filling: if let storeDue, now >= storeDue { move(past: [], isStored: true, at: now) }
        case .waiting(let delivery, let due) where now >= due: deliver(delivery, at: now)
        case .ending(let killAt?) where now >= killAt:
            outputs.append(.kill)
            state = .ending(killAt: nil)
        case .running, .waiting, .ending, .ended: break
        }
    }

    // MARK: Ending

    /// The program was told to end.
    package mutating func toldToEnd(at now: Instant) {
        switch state {
        case .running, .ending:
            outputs.append(.terminate)
            state = .ending(killAt: now.advanced(byMicroseconds: DeliveryMachine.terminationTime))
        case .filling, .waiting: end()
        case .ended: break
        }
    }

    private mutating func end() {
        state = .ended
        if let omission = omissions.total { outputs.append(.report(.fixesLeftOut(omission))) }
        // With `--once`, the exit code says that the next run delivers the same entries again.
        outputs.append(.end(needsPosition: configuration.isOnce))
    }

    private mutating func fail(_ error: ReaderError) {
        state = .ended
        outputs.append(.fail(error))
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
