import CollarWire

/// What the oracle knows of one log of one collar.
final class LogRecord {
    let log: LogIdentity
    /// Fixes that were logged durably, by sequence; nil where nothing was.
    private(set) var fixes: [Fix?] = []
    /// Fixes whose record was being written when something failed: it may be there or not.
    private var torn: [UInt32: Fix] = [:]
    /// What was not in the log any more at some moment, or decayed.
    private var gone = Flags()
    /// What each receiver told the collar to be durable, in acknowledgements that reached it.
    private var told: [UInt32: Flags] = [:]
    /// What each host sent as durable.
    private var promised: [Int: Flags] = [:]
    /// What each host had acknowledged before its state directory was replaced.
    private var forgotten: [Int: Flags] = [:]
    /// What damage took from each host, which finds out when it reads.
    private var unnoticed: [Int: Flags] = [:]
    /// Each host has acknowledged everything below this. What it acknowledged above it names again in every answer.
    private var promisedBelow: [Int: UInt32] = [:]
    /// What each host acknowledged so, and knows to be gone.
    private var lostPromises: [Int: Set<UInt32>] = [:]
    /// The oldest sequence of the log.
    var oldest: UInt32 = 0
    /// Everything the oracle has checked to be told below this.
    var checkedDelivered: UInt32 = 0
    /// The receiver for which that was checked.
    var checkedReceiver: UInt32 = 0
    /// What was requested of the collar.
    var requests = RequestRecord()
    /// Whether the collar has another log now.
    var isErased = false
    /// Sequences that were handed out, or used up.
    private(set) var end: UInt32 = 0

    init(_ log: LogIdentity) { self.log = log }

    func logged(_ sequence: UInt32) -> Fix? { sequence < fixes.count ? fixes[Int(sequence)] : nil }

    /// What the log holds for a sequence: what was logged, or what may be there of a write that failed.
    func possible(_ sequence: UInt32) -> Fix? { logged(sequence) ?? torn[sequence] }

    /// Whether `fix` may stand for its sequence.
    func permits(_ fix: Fix) -> Bool {
        logged(fix.sequence) == fix || (logged(fix.sequence) == nil && torn[fix.sequence] == fix)
    }

    func note(_ fix: Fix) {
        while fixes.count <= fix.sequence { fixes.append(nil) }
        fixes[Int(fix.sequence)] = fix
        end = max(end, fix.sequence + 1)
    }

    func noteTorn(_ fix: Fix) { torn[fix.sequence] = fix }

    func noteGone(_ sequence: UInt32) { gone.insert(sequence) }

    /// Whether the collar may say of a sequence that it will never come.
    func mayBeLost(_ sequence: UInt32) -> Bool { gone.contains(sequence) || logged(sequence) == nil }

    func tell(_ sequence: UInt32, by receiver: UInt32) { told[receiver, default: Flags()].insert(sequence) }
    func wasTold(_ sequence: UInt32, by receiver: UInt32) -> Bool { told[receiver]?.contains(sequence) ?? false }

    func wasToldByAnybody(_ sequence: UInt32) -> Bool { told.values.contains { $0.contains(sequence) } }

    /// The host may not know any more that it has the sequence: its state directory was replaced.
    func isForgotten(_ sequence: UInt32, by host: Int) -> Bool { forgotten[host]?.contains(sequence) ?? false }

    /// What a host has acknowledged.
    func promises(of host: Int) -> Flags { promised[host] ?? Flags() }

    /// A host's state directory is as it was when it had acknowledged this.
    func replacePromises(of host: Int, by earlier: Flags) {
        for sequence in 0..<promisedEnd(by: host) where wasPromised(sequence, by: host) && !earlier.contains(sequence) {
            forgotten[host, default: Flags()].insert(sequence)
        }
        promised[host] = earlier
        promisedBelow[host] = nil
        lostPromises[host] = nil
    }

    /// A host acknowledges everything below a sequence.
    func promise(below end: UInt32, by host: Int) { promisedBelow[host] = max(promisedBelow[host] ?? 0, end) }

    /// The lowest sequence that a host acknowledged, has lost since, and has not got back; nil where there is none.
    func firstLostPromise(of host: SimulatedMachine) -> UInt32? {
        guard let lost = lostPromises[host.index] else { return nil }
        let left = lost.filter { host.records.kept($0, of: log) == .nothing }
        lostPromises[host.index] = left.isEmpty ? nil : left
        return left.min()
    }

    func promise(_ sequence: UInt32, by host: Int) { promised[host, default: Flags()].insert(sequence) }
    func wasPromised(_ sequence: UInt32, by host: Int) -> Bool { promised[host]?.contains(sequence) ?? false }

    /// Damage took a record of a host.
    func lost(_ record: LostRecord, by host: Int) {
        if record.isFoundAtStart, record.sequence < promisedBelow[host] ?? 0 {
            lostPromises[host, default: []].insert(record.sequence)
        }
        promised[host]?.remove(record.sequence)
        if !record.isFoundAtStart { unnoticed[host, default: Flags()].insert(record.sequence) }
    }

    /// Whether a host may not have noticed that damage took the record.
    func isLossUnnoticed(_ sequence: UInt32, by host: Int) -> Bool { unnoticed[host]?.contains(sequence) ?? false }

    func promisedEnd(by host: Int) -> UInt32 { UInt32(promised[host]?.count ?? 0) }
}

/// What a host had acknowledged of a log at some moment.
struct LogPromises {
    let log: LogIdentity
    let flags: Flags
}

/// A set of small numbers.
struct Flags {
    private var flags: [Bool] = []
    var count: Int { flags.count }
    func contains(_ number: UInt32) -> Bool { number < flags.count && flags[Int(number)] }
    mutating func insert(_ number: UInt32) {
        while flags.count <= number { flags.append(false) }
        flags[Int(number)] = true
    }
    mutating func remove(_ number: UInt32) { if number < flags.count { flags[Int(number)] = false } }
}
