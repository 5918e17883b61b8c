import CollarWire

/// The size of batches: halved if more than 60 % of them are lost, doubled if fewer than 30 % are.
///
/// On a link that damages bytes, a long frame is lost more often than a short one. On a link that loses frames whatever their
/// length, long frames are never worse.
struct BatchSize: Sendable {
    private static let historyCapacity = 16

    private let largest: Int
    /// The largest frame a batch may fill now, in bytes.
    private(set) var frameByteLimit: Int
    /// The last sequence of each batch since the last answer.
    private var last = InlineArray<16, UInt32>(repeating: 0)
    private var openCount = 0
    private var arrivedCount = 0
    private var lostCount = 0

    init(largest: Int) {
        self.largest = largest
        frameByteLimit = largest
    }

    mutating func sent(last sequence: UInt32) {
        guard openCount < BatchSize.historyCapacity else { return }
        last[openCount] = sequence
        openCount += 1
    }

    /// Counts, after an answer, how many of the batches since the previous answer arrived. After eight or more batches the limit
    /// is adapted.
    mutating func answered(_ delivered: DeliveredSequences) {
        for index in 0..<openCount {
            if delivered.contains(last[index]) { arrivedCount += 1 } else { lostCount += 1 }
        }
        openCount = 0
        let count = arrivedCount + lostCount
        guard count >= 8 else { return }
        if lostCount * 5 > count * 3 {
            frameByteLimit = max(frameByteLimit / 2, min(Frame.minimumLimitByteCount, largest))
        } else if lostCount * 10 < count * 3 {
            frameByteLimit = min(frameByteLimit * 2, largest)
        }
        arrivedCount = 0
        lostCount = 0
    }
}

/// Limits how often a new fix begins a burst, or is the first frame of one. Between these times new fixes wait, and then go
/// together in a batch.
///
/// Only fixes that were never sent wait. What must be sent again is sent at once.
struct LivePace: Equatable, Sendable {
    /// The shortest time between two newest fixes that are sent, in microseconds; 0 for no limit.
    var intervalMicroseconds: Int64 = 0
    var isUrgent = false
    /// The first sequence that may wait: one more than the highest newest fix that was sent since the boot; 0 before that.
    private(set) var waitingStart: UInt32 = 0
    /// When a newest fix was last sent; nil before the first.
    private var lastSent: Instant?

    /// When the newest fix may be sent; nil if it may be sent at any time.
    var due: Instant? { isUrgent ? nil : lastSent?.advanced(byMicroseconds: intervalMicroseconds) }

    /// Whether fixes that were never sent wait at `now`.
    func isWaiting(now: Instant) -> Bool { due.map { now < $0 } ?? false }

    mutating func sent(_ newest: UInt32, now: Instant) {
        waitingStart = max(waitingStart, newest + 1)
        lastSent = now
        isUrgent = false
    }
}

/// Limits the frames that carry the newest fix to a quarter of the airtime while there is a backlog.
struct LiveShare: Equatable, Sendable {
    /// Three times the airtime of frames with the newest fix, minus the airtime of other frames, in microseconds.
    private var balance: Int64 = 0
    /// Whether the frame that is sent next carries the newest fix.
    var isLive = false

    /// The most that the balance may differ from 0, in microseconds. Without this bound, frames with the newest fix could
    /// use all the airtime for a long time if there were few of them before.
    private static let bound: Int64 = 60_000_000

    var allowsLive: Bool { balance <= 0 }

    mutating func sent(airtimeMicroseconds: Int64) {
        balance += isLive ? 3 * airtimeMicroseconds : -airtimeMicroseconds
        balance = min(max(balance, -LiveShare.bound), LiveShare.bound)
    }
}
