import CollarARQ

/// Limits how often notices of one kind about one port or collar are given, whatever a stick, a collar or a stranger does. All notices
/// of a receiver pass it: what it holds back reaches neither a person nor a program nor the event log.
///
/// Of what is held back, the newest is given when it is due, with the number of those that were left out: so the last state is told.
struct NoticeGate {
    /// The notices that count as one: each may take the place of the one before.
    private struct Key: Hashable {
        let kind: String
        let subject: String
    }

    private struct Limit {
        var bucket: TokenBucket
        /// The newest notice that was held back, and since when some are.
        var held: (notice: ReceiverNotice, since: Instant)?
        var leftOutCount = 0
        var lastUse: Instant
    }

    /// Time between two notices that count as one, after ``burst`` at once, in microseconds.
    static let interval: Int64 = 10_000_000
    static let burst = 8
    /// A port that a person plugs in and out, or a connection that fails, is no flood yet.
    static let connectionBurst = 64
    /// Limits that are kept before those that are full again are dropped. A stranger can invent collars.
    private static let limitCount = 1024

    private var limits: [Key: Limit] = [:]

    /// When to call ``take(at:)`` next; nil while nothing is held back.
    var nextDeadline: Instant? { limits.values.compactMap(\.held?.since).min()?.advanced(byMicroseconds: NoticeGate.interval) }

    /// Whether to give a notice now. If not, the gate holds it back.
    mutating func admits(_ notice: ReceiverNotice, at now: Instant) -> Bool {
        guard let kind = notice.limitedKind else { return true }
        dropUnused(at: now)
        let key = Key(kind: kind, subject: notice.port ?? notice.deviceID.map { "\($0)" } ?? "")
        let capacity = kind == ReceiverNotice.connectionKind ? NoticeGate.connectionBurst : NoticeGate.burst
        var limit = limits[key] ?? Limit(
            bucket: TokenBucket(capacity: capacity, microsecondsPerToken: NoticeGate.interval), lastUse: now)
        limit.lastUse = now
        defer { limits[key] = limit }
        if let held = limit.held {
            limit.held = (notice, held.since)
            limit.leftOutCount += 1
            return false
        }
        if limit.bucket.take(at: now) { return true }
        limit.held = (notice, now)
        return false
    }

    /// The notices that were held back and are due.
    mutating func take(at now: Instant) -> [ReceiverNotice] {
        var due: [(notice: ReceiverNotice, since: Instant)] = []
        for (key, limit) in limits {
            guard let held = limit.held, now.microseconds(since: held.since) >= NoticeGate.interval else { continue }
            due.append((limit.leftOutCount == 0 ? held.notice : .repeated(held.notice, leftOutCount: limit.leftOutCount), held.since))
            limits[key]?.held = nil
            limits[key]?.leftOutCount = 0
            _ = limits[key]?.bucket.take(at: now)
        }
        return due.sorted { $0.since < $1.since }.map(\.notice)
    }

    private mutating func dropUnused(at now: Instant) {
        guard limits.count >= NoticeGate.limitCount else { return }
        let refillTime = NoticeGate.interval * Int64(NoticeGate.connectionBurst)
        limits = limits.filter { $0.value.held != nil || now.microseconds(since: $0.value.lastUse) < refillTime }
    }
}

extension ReceiverNotice {
    static let connectionKind = "connection"

    /// The kind for which notices are limited: states that end one another are of one kind. Nil for notices that nobody outside can
    /// cause in numbers, and for those that stand for data: results, statuses, power reports, and losses, which the host limits.
    fileprivate var limitedKind: String? {
        switch self {
        case .port(_, .opened), .port(_, .unplugged), .port(_, .unmarked), .port(_, .waiting): ReceiverNotice.connectionKind
        case .renewing: "renewing"
        case .modem(_, .found): "found"
        case .modem(_, .ready): "ready"
        case .modem(_, .powerReduced), .modem(_, .powerRaised), .modem(_, .amplified), .modem(_, .boardUnknown): "power"
        case .modem(_, .notAnswering), .modem(_, .answersAgain): "answering"
        case .host(.link(_, .radio)): "radio"
        case .host(.link(_, .modem)): "modem"
        case .host(.collar(_, .heard)): "heard"
        case .host(.collar(_, .health(.condition))): "condition"
        case .host(.collar(_, .health)): "reachable"
        case .host(.collar(_, .restarted)): "restarted"
        case .host(.collar(_, .storageFailing)), .host(.collar(_, .storageRecovered)): "storage"
        case .waitingForRadio, .udevElsewhere, .crashed, .fixesLeftOut, .capturing, .captureStopped, .figures, .traffic, .repeated, .host(.requestEnded),
            .host(.collar(_, .status)), .host(.collar(_, .power)), .host(.collar(_, .lost)), .host(.collar(_, .deliveredElsewhere)),
            .host(.collar(_, .damagedFixes)):
            nil
        case .port, .cannotSend, .modem, .controlFailing, .editedFile, .targetMissed, .host: code?.rawValue
        }
    }
}
