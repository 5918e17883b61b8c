import CollarFirmware
import CollarWire

/// Watches a ``World`` from outside. It records what was logged durably and what was sent, and judges every step by these
/// records alone.
final class Oracle {
    /// The sequences of a log that a host had acknowledged at some moment.
    typealias LogPromises = (log: LogIdentity, flags: Flags)

    let plan: WorldPlan
    var now: Int64 = 0
    private(set) var violation: Violation?
    private(set) var records: [LogRecord] = []
    /// The present log of each collar.
    private(set) var current: [LogRecord?]
    var disciplines: [PollDiscipline]
    private var hours: [HourOfAirtime]
    private var sent: Set<[UInt8]> = []
    /// Frames that the hostile sender forged, and that nobody must accept.
    private var forged: Set<[UInt8]> = []
    var sealed = SealedFrames()
    private(set) var coincidences = 0
    /// The alerts that readers were owed, and that were checked.
    var checkedAlertCount = 0

    init(_ plan: WorldPlan) {
        self.plan = plan
        current = Array(repeating: nil, count: plan.collarCount)
        disciplines = Array(repeating: PollDiscipline(plan), count: plan.collarCount)
        hours = Array(repeating: HourOfAirtime(), count: plan.collarCount)
    }

    func report(_ invariant: Invariant, _ text: @autoclosure () -> String) {
        guard violation == nil else { return }
        violation = Violation(invariant: invariant, text: text(), microseconds: now)
    }

    func record(of log: LogIdentity) -> LogRecord? { records.first { $0.log == log } }

    /// The log to which the CRC of a frame is bound, computed bit by bit and not by the code under test.
    func record(checking frame: [UInt8]) -> LogRecord? { records.last { BitwiseCRC.isValid(frame, log: $0.log) } }

    /// Logs that the hostile sender has invented.
    var inventedLogs: [LogIdentity] = []

    /// The highest number of logs that a host can know.
    var knownLogCount: Int { records.count + inventedLogs.count }

    /// Remembers a frame that was really sent.
    func noteSent(_ frame: [UInt8]) { sent.insert(frame) }

    /// Remembers a frame that nobody must accept, although it has a valid CRC.
    func noteForged(_ frame: [UInt8]) { forged.insert(frame) }

    /// The collar that sent a sealed frame.
    func sender(of frame: [UInt8]) -> DeviceID? { sealed.sender(of: frame) }

    /// The clear form of a frame that was handed out.
    func clearForm(of frame: [UInt8]) -> [UInt8] { sealed.clearForm(of: frame) }

    /// Whether bytes that arrived are a frame that was sent. Nil if they are damaged but have a valid CRC by chance, which
    /// happens once in 16 million cases: such bytes are dropped.
    func isGenuine(_ frame: [UInt8]) -> Bool? {
        if sent.contains(frame) { return true }
        if forged.contains(frame) { return false }
        if BitwiseCRC.isValid(frame, log: nil)
            || (records.map(\.log) + inventedLogs).contains(where: { BitwiseCRC.isValid(frame, log: $0) })
        {
            coincidences += 1
            return nil
        }
        return false
    }

    /// A collar has booted.
    func booted(_ collar: SimulatedCollar) {
        guard let log = collar.log else { return }
        if plan.isSealed, let wrong = sealed.booted(log, bootCount: collar.bootCount) {
            report(.sealIsKept, "collar \(collar.index): \(wrong)")
        }
        disciplines[collar.index] = PollDiscipline(
            plan, turnaroundMilliseconds: Int64(collar.settings?[.turnaroundMilliseconds] ?? 0))
        let before = current[collar.index]
        if let before, before.log == log, before.isGivenUp {
            report(.sealIsKept, "collar \(collar.index) shows the log of its former owner")
        }
        if before?.log != log {
            if let before, !before.isErased {
                report(.logOnlyGrows, "collar \(collar.index) has another log after a boot")
            }
            let record = LogRecord(log, base: collar.nextSequence)
            records.append(record)
            current[collar.index] = record
        }
        if let record = current[collar.index], collar.nextSequence < record.end {
            report(
                .logOnlyGrows,
                "collar \(collar.index) continues at \(collar.nextSequence), \(record.end - 1) was logged")
        }
        check(collar)
    }

    /// A collar has tried to log an entry.
    func tried(_ entry: LogEntry, expected: UInt32, _ outcome: Result<UInt32, FixLogError>, _ collar: SimulatedCollar) {
        guard let record = current[collar.index] else { return }
        switch outcome {
        case .success(let sequence):
            if sequence < record.end { report(.logOnlyGrows, "sequence \(sequence) is given out again") }
            record.note(entry.at(sequence), at: sequence)
        case .failure(.flash): record.torn[expected] = entry.at(expected)
        case .failure(let error): report(.noRefusal, "an entry is refused: \(error)")
        }
        check(collar)
    }

    /// Checks the rules that hold for a collar at any moment.
    func check(_ collar: SimulatedCollar) {
        if let offset = collar.flash.programmedTwice {
            report(.programmedOnce, "byte \(offset) of collar \(collar.index)'s flash was programmed without an erase")
        }
        guard collar.isRunning, let record = current[collar.index] else { return }
        let next = collar.nextSequence
        let receiver = collar.pairedReceiverID
        checkRequestedState(collar, record)
        checkOldest(of: collar, record, next: next, receiver: receiver)
        let delivered = collar.firstUndelivered
        if delivered > next { report(.deliveredWasTold, "delivered below \(delivered) of \(next)") }
        if record.checkedReceiver != receiver {
            record.checkedReceiver = receiver
            record.checkedDelivered = record.base
        }
        while record.checkedDelivered < min(delivered, next) {
            let sequence = record.checkedDelivered
            guard record.wasTold(sequence, by: receiver) else {
                report(
                    .deliveredWasTold, "collar \(collar.index) counts \(sequence) as delivered to receiver \(receiver)")
                return
            }
            record.checkedDelivered += 1
        }
    }

    private func checkOldest(of collar: SimulatedCollar, _ record: LogRecord, next: UInt32, receiver: UInt32) {
        let oldest = collar.oldestSequence
        guard oldest <= next else {
            return report(.logOnlyGrows, "oldest \(oldest) of \(next)")
        }
        while record.oldest < oldest {
            let sequence = record.oldest
            let isFull = next - oldest >= SimulatedCollar.minimumCapacity(plan)
            if !isFull, !record.mayBeLost(sequence), !record.wasTold(sequence, by: receiver) {
                report(.overwritesOnlyWhenFull, "\(sequence) is overwritten with \(next - oldest) in the log")
            }
            record.noteGone(sequence)
            record.oldest += 1
        }
    }

    /// A block of the flash has decayed, while everything in the log was delivered.
    func decayed(_ collar: SimulatedCollar) {
        guard let record = current[collar.index] else { return }
        for sequence in record.base..<record.end { record.noteGone(sequence) }
    }

    func transmitted(_ collar: Int, airtime: Int64) {
        disciplines[collar].frameIsOver(now: now)
        guard let limit = plan.hourlyAirtimeLimitMicroseconds else { return }
        let used = hours[collar].add(start: now - airtime, end: now)
        if used > limit { report(.dutyCycle, "collar \(collar) used \(used) µs of \(limit) in an hour") }
    }
}
