import CollarARQ
import CollarTracking
import CollarWire

/// Watches the quality of one collar's positions. It reports each worsening once, and each kind at most once a minute. It
/// needs no timer: it checks when frames of the collar come in.
struct PositionMonitor {
    /// Worsenings that are reported. Every fix ends some, so this is no `Set`, which would allocate.
    private struct Worsenings: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        static let switchedOff = Worsenings(rawValue: 1 << 0)
        static let fault = Worsenings(rawValue: 1 << 1)
        static let undecodable = Worsenings(rawValue: 1 << 2)
        static let noFix = Worsenings(rawValue: 1 << 3)
        static let stale = Worsenings(rawValue: 1 << 4)
        static let poorAccuracy = Worsenings(rawValue: 1 << 5)
    }

    private struct Newest {
        var logID: LogID
        var sequence: UInt32
        var unixMilliseconds: Int64
        var receivedAt: Instant
    }

    /// The age below which a fix is not stale, in microseconds. A collar also has this time for its first fix.
    private static let leastAge = FixInterval.leastStaleAge * 1000
    /// The time in which another frame of a backlog comes, in microseconds: a frame of 253 bytes takes 9 to 10 s at spreading factor
    /// 12, and a duty cycle of 1 % allows the next one after 100 times as long.
    private static let backlogTime: Int64 = 1_000_000_000

    private let deviceID: DeviceID
    private var firstHeard: Instant?
    /// When an entry came in last that was not the newest.
    private var backlogAt: Instant?
    private var newest: Newest?
    /// The interval of the newest two fixes; nil before there are two fixes of one log.
    private var expectedInterval: FixInterval?
    /// Messages stored since the newest fix. Each uses up a sequence.
    private var messageCount: Int64 = 0
    private var open: Worsenings = []
    private var notices = NoticeLimiter<Worsenings>()

    init(deviceID: DeviceID) { self.deviceID = deviceID }

    /// The newest fix of the collar's current log was stored.
    mutating func noteStored(_ fix: Fix, logID: LogID, at now: Instant, _ output: HostOutput) {
        if let newest, newest.logID == logID, newest.sequence < fix.sequence {
            expectedInterval = FixInterval(
                milliseconds: fix.unixMilliseconds - newest.unixMilliseconds,
                fixCount: Int64(fix.sequence - newest.sequence) - messageCount)
        }
        messageCount = 0
        newest = Newest(logID: logID, sequence: fix.sequence, unixMilliseconds: fix.unixMilliseconds, receivedAt: now)
        end([.noFix, .stale])
        if let accuracy = fix.horizontalAccuracy, AccuracyGrade(accuracy) == .poor {
            note(.poorAccuracy, .poorAccuracy(meters: Int((accuracy.millimeters + 500) / 1000)), at: now, output)
        } else {
            end(.poorAccuracy)
        }
    }

    /// An entry was stored that is older than the newest one: a backlog comes in.
    mutating func noteBacklog(at now: Instant) { backlogAt = now }

    /// A message of the collar's current log was stored.
    mutating func noteMessage() { messageCount += 1 }

    /// An intact frame of the collar came in, but its fix cannot be decoded.
    mutating func noteUndecodable(at now: Instant, _ output: HostOutput) {
        end(.undecodable)
        note(.undecodable, .undecodable, at: now, output)
    }

    mutating func accept(_ status: Status, at now: Instant, _ output: HostOutput) {
        let isOff = !status.isTracking || status.gnssState == .off && !status.isResting
        if isOff { note(.switchedOff, status.isTracking ? .gnssOff : .trackingOff, at: now, output) } else { end(.switchedOff) }
        if status.gnssState == .fault { note(.fault, .gnssFault, at: now, output) } else { end(.fault) }
    }

    /// A frame without a fix came in, and no newer fix is known to be on its way.
    /// - Parameter isComplete: whether no older entry is missing.
    mutating func noteFrameWithoutFix(isComplete: Bool, _ limits: PositionLimits, at now: Instant, _ output: HostOutput) {
        let firstHeard = firstHeard ?? now
        self.firstHeard = firstHeard
        // The cause of the missing fixes was already reported.
        guard open.isDisjoint(with: [.switchedOff, .fault]) else { return }
        if let backlogAt {
            // The airtime is spent on the backlog.
            let silence = now.microseconds(since: backlogAt)
            if silence < (isComplete ? PositionMonitor.leastAge : PositionMonitor.backlogTime) { return }
        }
        let age = now.microseconds(since: newest?.receivedAt ?? firstHeard)
        guard age >= max(PositionMonitor.leastAge, limits.longestAge ?? 0), now >= limits.planned ?? now else { return }
        guard newest != nil else { return note(.noFix, .noFix(microseconds: age), at: now, output) }
        if limits.longestAge == nil {
            guard let expectedInterval, age >= expectedInterval.staleAfterMilliseconds * 1000 else { return }
        }
        note(.stale, .stale(microseconds: age), at: now, output)
    }

    /// A worsening is there: it is reported if it begins.
    private mutating func note(
        _ worsening: Worsenings, _ problem: @autoclosure () -> PositionProblem, at now: Instant, _ output: HostOutput
    ) {
        guard !open.contains(worsening), notices.isDue(worsening, at: now) else { return }
        open.insert(worsening)
        output.report(.collar(deviceID, .positions(problem())))
    }

    private mutating func end(_ worsenings: Worsenings) { open.subtract(worsenings) }
}

/// Why a collar has no current and accurate position, although the collar is heard.
package enum PositionProblem: Equatable, Sendable {
    /// The collar logs no positions.
    case trackingOff
    case gnssOff
    /// The GNSS receiver does not answer, or reports a fault.
    case gnssFault
    /// An intact frame came in, but the content of its fix is impossible.
    case undecodable
    /// The collar has been heard for this many microseconds, and has sent no fix in this run.
    case noFix(microseconds: Int64)
    /// The newest fix came this many microseconds ago.
    case stale(microseconds: Int64)
    /// The newest fix has this accuracy in meters: a radius above 50 m.
    case poorAccuracy(meters: Int)
}
