import CollarFirmware
import CollarWire

/// The oracle's record of one log of one collar.
final class LogRecord {
    let log: LogIdentity
    /// The first sequence of this world. The collar delivered all lower ones to another receiver before the world began.
    let base: UInt32
    /// The entries that were logged durably; the index is the sequence − ``base``. Nil if a sequence has none.
    private var entries: [LogEntry?] = []
    /// Entries whose write failed: the record may be in the flash or not.
    var torn: [UInt32: LogEntry] = [:]
    /// Sequences that the collar has overwritten or skipped, or whose block may have decayed.
    private var gone = Flags()
    /// Sequences that the hostile sender reported as lost.
    private var forgedLosses = Flags()
    /// Sequences that each receiver acknowledged as durable, in acknowledgements that reached the collar.
    private var told: [UInt32: Flags] = [:]
    /// The promises of each machine; there are at most two hosts and a clone.
    var hosts = [HostPromises](repeating: HostPromises(), count: 3)
    /// The oldest sequence of the log.
    var oldest: UInt32
    /// The oracle has checked that all sequences below this one were told by ``checkedReceiver``.
    var checkedDelivered: UInt32
    /// The receiver for which ``checkedDelivered`` was checked.
    var checkedReceiver: UInt32 = 0
    /// The requests to the collar.
    var requests = RequestRecord()
    /// Whether the flash of this log was erased, so that the collar has another log after its next boot.
    var isErased = false
    /// Whether a stranger has given the collar a key: this log must not be sent after the next boot.
    var isGivenUp = false
    /// One more than the highest sequence that was logged durably; ``base`` before the first.
    private(set) var end: UInt32

    init(_ log: LogIdentity, base: UInt32) {
        self.log = log
        self.base = base
        (oldest, checkedDelivered, end) = (base, base, base)
    }

    /// The part of `sequences` at or above ``base``: the world must account for it.
    func seen(_ sequences: Range<UInt32>) -> Range<UInt32> {
        max(base, sequences.lowerBound)..<max(base, sequences.lowerBound, sequences.upperBound)
    }

    func logged(_ sequence: UInt32) -> LogEntry? {
        guard sequence >= base, sequence - base < entries.count else { return nil }
        return entries[Int(sequence - base)]
    }

    /// The fix that the log can hold for a sequence: the one that was logged, or the one of a failed write.
    func possibleFix(_ sequence: UInt32) -> Fix? {
        if case .fix(let fix) = logged(sequence) ?? torn[sequence] { fix } else { nil }
    }

    /// Whether an entry is a possible content of a sequence.
    func permits(_ entry: LogEntry, at sequence: UInt32) -> Bool {
        logged(sequence) == entry || (logged(sequence) == nil && torn[sequence] == entry)
    }

    /// Whether `fix` is a possible content of its sequence.
    func permits(_ fix: Fix) -> Bool { permits(.fix(fix), at: fix.sequence) }

    func note(_ entry: LogEntry, at sequence: UInt32) {
        while entries.count <= sequence - base { entries.append(nil) }
        entries[Int(sequence - base)] = entry
        end = max(end, sequence + 1)
    }

    func noteForgedLoss(of range: SequenceRange) {
        for sequence in range.first...range.last { forgedLosses.insert(sequence) }
    }

    var hasForgedLosses: Bool { forgedLosses.end > 0 }

    func noteGone(_ sequence: UInt32) { gone.insert(sequence) }

    /// Whether the collar may report a sequence as gone.
    func mayBeLost(_ sequence: UInt32) -> Bool { gone.contains(sequence) || logged(sequence) == nil }

    /// Whether the collar or the hostile sender may have reported a sequence as lost.
    func mayBeCalledLost(_ sequence: UInt32) -> Bool { mayBeLost(sequence) || forgedLosses.contains(sequence) }

    func tell(_ sequence: UInt32, by receiver: UInt32) { told[receiver, default: Flags()].insert(sequence) }
    func wasTold(_ sequence: UInt32, by receiver: UInt32) -> Bool { told[receiver]?.contains(sequence) ?? false }

    func wasToldByAnybody(_ sequence: UInt32) -> Bool {
        sequence < base || told.values.contains { $0.contains(sequence) }
    }

    /// A host's state directory was restored to the state in which the host had acknowledged `earlier`.
    func replacePromises(of host: Int, by earlier: Flags) {
        let promised = hosts[host].promised
        for sequence in 0..<promised.end where promised.contains(sequence) && !earlier.contains(sequence) {
            hosts[host].forgotten.insert(sequence)
        }
        hosts[host].promised = earlier
        hosts[host].below = 0
        hosts[host].lost = []
    }

    /// The lowest sequence that a host acknowledged, has lost since, and has not received again; nil if there is none.
    func firstLostPromise(of host: SimulatedMachine) -> UInt32? {
        hosts[host.index].lost = hosts[host.index].lost.filter { host.records.kept($0, of: log) == .nothing }
        return hosts[host.index].lost.min()
    }

    /// Damage removed a record of a host.
    func lost(_ record: LostRecord, by host: Int) {
        if record.isFoundAtStart, record.sequence < hosts[host].below { hosts[host].lost.insert(record.sequence) }
        hosts[host].promised.remove(record.sequence)
        if !record.isFoundAtStart { hosts[host].unnoticed.insert(record.sequence) }
    }
}

/// The oracle's record of a host's acknowledgements of one log.
struct HostPromises {
    /// Sequences that it acknowledged and that must still be on its disk.
    var promised = Flags()
    /// Sequences that it acknowledged before its state directory was replaced, or whose records it left behind when it moved:
    /// its disk need not have them.
    var forgotten = Flags()
    /// Sequences that damage removed, and whose loss it notices only when it reads them.
    var unnoticed = Flags()
    /// It has acknowledged everything below this sequence. Durable sequences above it are named again in every answer.
    var below: UInt32 = 0
    /// Sequences below ``below`` that it knows to be gone.
    var lost: Set<UInt32> = []
}

/// A set of small numbers.
struct Flags {
    private var flags: [Bool] = []
    /// One more than the highest number; 0 before the first.
    var end: UInt32 { UInt32(flags.count) }
    func contains(_ number: UInt32) -> Bool { number < flags.count && flags[Int(number)] }
    mutating func insert(_ number: UInt32) {
        while flags.count <= number { flags.append(false) }
        flags[Int(number)] = true
    }
    mutating func remove(_ number: UInt32) { if number < flags.count { flags[Int(number)] = false } }
}
