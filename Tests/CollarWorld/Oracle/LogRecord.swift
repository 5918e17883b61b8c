import CollarWire

/// What the oracle knows of one log of one collar.
final class LogRecord {
    let log: LogIdentity
    /// The first sequence that the world sees: what lies below was delivered to somebody in an earlier life of the collar.
    let base: UInt32
    /// Fixes that were logged durably, by sequence behind ``base``; nil where nothing was.
    private var fixes: [Fix?] = []
    /// Fixes whose record was being written when something failed: it may be there or not.
    var torn: [UInt32: Fix] = [:]
    /// What was not in the log any more at some moment, or decayed.
    private var gone = Flags()
    /// What the hostile sender called lost.
    private var forgedLosses = Flags()
    /// What each receiver told the collar to be durable, in acknowledgements that reached it.
    private var told: [UInt32: Flags] = [:]
    /// Acknowledgements by host, of which there are two at most.
    var hosts = [HostPromises](repeating: HostPromises(), count: 2)
    /// The oldest sequence of the log.
    var oldest: UInt32
    /// Everything the oracle has checked to be told below this.
    var checkedDelivered: UInt32
    /// The receiver for which that was checked.
    var checkedReceiver: UInt32 = 0
    /// What was requested of the collar.
    var requests = RequestRecord()
    /// Whether the collar has another log now.
    var isErased = false
    /// Sequences that were handed out, or used up.
    private(set) var end: UInt32

    init(_ log: LogIdentity, base: UInt32) {
        self.log = log
        self.base = base
        (oldest, checkedDelivered, end) = (base, base, base)
    }

    /// Those of some sequences that the world has seen, and must account for.
    func seen(_ sequences: Range<UInt32>) -> Range<UInt32> {
        max(base, sequences.lowerBound)..<max(base, sequences.lowerBound, sequences.upperBound)
    }

    func logged(_ sequence: UInt32) -> Fix? {
        guard sequence >= base, sequence - base < fixes.count else { return nil }
        return fixes[Int(sequence - base)]
    }

    /// What the log holds for a sequence: what was logged, or what may be there of a write that failed.
    func possible(_ sequence: UInt32) -> Fix? { logged(sequence) ?? torn[sequence] }

    /// Whether `fix` may stand for its sequence.
    func permits(_ fix: Fix) -> Bool {
        logged(fix.sequence) == fix || (logged(fix.sequence) == nil && torn[fix.sequence] == fix)
    }

    func note(_ fix: Fix) {
        while fixes.count <= fix.sequence - base { fixes.append(nil) }
        fixes[Int(fix.sequence - base)] = fix
        end = max(end, fix.sequence + 1)
    }

    func noteForgedLoss(of range: SequenceRange) {
        for sequence in range.first...range.last { forgedLosses.insert(sequence) }
    }

    var hasForgedLosses: Bool { forgedLosses.end > 0 }

    func noteGone(_ sequence: UInt32) { gone.insert(sequence) }

    /// Whether the collar may say of a sequence that it will never come.
    func mayBeLost(_ sequence: UInt32) -> Bool { gone.contains(sequence) || logged(sequence) == nil }

    /// Whether a host may have been told so, by the collar or by the hostile sender.
    func mayBeCalledLost(_ sequence: UInt32) -> Bool { mayBeLost(sequence) || forgedLosses.contains(sequence) }

    func tell(_ sequence: UInt32, by receiver: UInt32) { told[receiver, default: Flags()].insert(sequence) }
    func wasTold(_ sequence: UInt32, by receiver: UInt32) -> Bool { told[receiver]?.contains(sequence) ?? false }

    func wasToldByAnybody(_ sequence: UInt32) -> Bool {
        sequence < base || told.values.contains { $0.contains(sequence) }
    }

    /// A host's state directory is as it was when it had acknowledged this.
    func replacePromises(of host: Int, by earlier: Flags) {
        let promised = hosts[host].promised
        for sequence in 0..<promised.end where promised.contains(sequence) && !earlier.contains(sequence) {
            hosts[host].forgotten.insert(sequence)
        }
        hosts[host].promised = earlier
        hosts[host].below = 0
        hosts[host].lost = []
    }

    /// The lowest sequence that a host acknowledged, has lost since, and has not got back; nil where there is none.
    func firstLostPromise(of host: SimulatedMachine) -> UInt32? {
        hosts[host.index].lost = hosts[host.index].lost.filter { host.records.kept($0, of: log) == .nothing }
        return hosts[host.index].lost.min()
    }

    /// Damage took a record of a host.
    func lost(_ record: LostRecord, by host: Int) {
        if record.isFoundAtStart, record.sequence < hosts[host].below { hosts[host].lost.insert(record.sequence) }
        hosts[host].promised.remove(record.sequence)
        if !record.isFoundAtStart { hosts[host].unnoticed.insert(record.sequence) }
    }
}

/// What is known of what a host has acknowledged of a log.
struct HostPromises {
    /// What it sent as durable.
    var promised = Flags()
    /// What it had acknowledged before its state directory was replaced: it may not know any more that it has it.
    var forgotten = Flags()
    /// What damage took, which it finds out when it reads.
    var unnoticed = Flags()
    /// It has acknowledged everything below this. What it acknowledged above it names again in every answer.
    var below: UInt32 = 0
    /// What it acknowledged so, and knows to be gone.
    var lost: Set<UInt32> = []
}

/// A set of small numbers.
struct Flags {
    private var flags: [Bool] = []
    /// Behind the highest.
    var end: UInt32 { UInt32(flags.count) }
    func contains(_ number: UInt32) -> Bool { number < flags.count && flags[Int(number)] }
    mutating func insert(_ number: UInt32) {
        while flags.count <= number { flags.append(false) }
        flags[Int(number)] = true
    }
    mutating func remove(_ number: UInt32) { if number < flags.count { flags[Int(number)] = false } }
}
