import CollarARQ
import CollarJournal
import CollarWire

/// The schedule of one collar, as far as its settings, statuses and power reports have told it. The settings are kept in the journal for
/// the next run: a collar reports them only when it is asked.
struct KnownSchedule {
    /// The settings that the schedule consists of, and the heartbeat that follows from rest.
    private static let keys: Set<SettingKey> = [
        .heartbeatSeconds, .lowBatteryCaptureIntervalMilliseconds, .fixIntervalMilliseconds, .restFixIntervalMilliseconds,
        .searchTimeoutSeconds, .restHeartbeatSeconds, .searchWaitSeconds,
    ]
    /// A receiver without orbits may search for this long, whatever the time-out is, in microseconds.
    private static let coldSearchTime: Int64 = 300_000_000
    /// No position is missed for this long while a collar says that its searches fail, or while its settings are not known, in
    /// microseconds. It is the longest interval that a setting accepts, and an animal that sleeps under a roof comes out within it.
    private static let day: Int64 = 86_400_000_000

    private let journal: Journal
    /// Whether the collar is at rest, as its newest status or power report says; nil before the first.
    private(set) var isAtRest: Bool?
    private var isResting = false
    private var isBatteryLow = false
    private var isWithoutSky = false
    private var plan: (report: PowerReport, receivedAt: Instant)?

    init(_ journal: Journal) { self.journal = journal }

    /// The value of a setting; nil if the collar has not told it.
    private subscript(key: SettingKey) -> UInt32? { journal.memory.settings[key] }

    /// The collar reported settings.
    /// - Returns: whether they may change the heartbeat.
    mutating func accept(_ report: Settings) -> Bool {
        var tellsHeartbeat = false
        for index in 0..<report.entries.count {
            let entry = report.entries[index]
            guard let key = SettingKey(rawValue: entry.key), KnownSchedule.keys.contains(key), key.accepts(entry.value) else { continue }
            journal.memory.settings[key] = entry.value
            if key == .heartbeatSeconds || key == .restHeartbeatSeconds { tellsHeartbeat = true }
        }
        return tellsHeartbeat
    }

    /// The collar may have other settings than those that it told.
    mutating func forgetSettings() { journal.memory.settings = [:] }

    /// The collar sent its status.
    /// - Returns: whether it may change the heartbeat.
    mutating func accept(_ status: Status) -> Bool {
        if status.lastError == .settingsLost { forgetSettings() }
        isResting = status.isResting
        isWithoutSky = status.gnssState == .searching
        isBatteryLow = status.batteryPercent.map { $0 <= BatteryMonitor.lowPercent } ?? false
        return note(isAtRest: status.isTracking && status.isStationary)
    }

    /// The collar sent a power report.
    /// - Returns: whether it may change the heartbeat.
    mutating func accept(_ report: PowerReport, at now: Instant) -> Bool {
        plan = (report, now)
        isWithoutSky = report.mode == .noSky
        return switch report.mode {
        case .moving: note(isAtRest: false)
        case .resting: note(isAtRest: true)
        case .stopped, .continuous, .noSky, .find: false
        }
    }

    /// The newest fix of the collar was stored.
    mutating func noteFix() { isWithoutSky = false }

    private mutating func note(isAtRest: Bool) -> Bool {
        defer { self.isAtRest = isAtRest }
        return isAtRest != self.isAtRest
    }

    /// Whether the collar makes fixes by a schedule.
    private var isScheduled: Bool {
        if let longest = longestIntervalMilliseconds { return longest > 0 }
        if isResting { return true }
        return switch plan?.report.mode {
        case .moving, .resting, .noSky: true
        case .stopped, .continuous, .find, nil: false
        }
    }

    /// The longest interval between fixes that the settings allow, in milliseconds; nil if they are not known, 0 if the receiver is
    /// always on.
    private var longestIntervalMilliseconds: UInt32? {
        guard let moving = self[.fixIntervalMilliseconds], let resting = self[.restFixIntervalMilliseconds] else { return nil }
        let longest = max(moving, resting)
        return longest > 0 ? max(longest, self[.lowBatteryCaptureIntervalMilliseconds] ?? 0) : 0
    }

    /// The interval between the fixes that the collar makes now, in milliseconds; nil if it is not known, or if the GNSS receiver is
    /// always on.
    var intervalMilliseconds: UInt32? {
        guard let isAtRest, let moving = self[.fixIntervalMilliseconds] else { return nil }
        var interval = moving
        if isAtRest {
            guard let resting = self[.restFixIntervalMilliseconds] else { return nil }
            if resting > 0 { interval = resting }
        }
        if isBatteryLow, interval > 0 { interval = max(interval, self[.lowBatteryCaptureIntervalMilliseconds] ?? 0) }
        return interval > 0 ? interval : nil
    }

    /// The heartbeat that follows from the settings, in seconds; nil if only the identity tells it.
    var heartbeatSeconds: UInt32? {
        let resting = self[.restHeartbeatSeconds] ?? 0
        if isAtRest == true, resting > 0 { return resting }
        // With the default, the heartbeat grows with the intervals.
        guard let moving = self[.heartbeatSeconds], moving != DefaultHeartbeat.leastSeconds else { return nil }
        return isAtRest == nil ? max(moving, resting) : moving
    }

    /// When the next position must have come.
    func limits(heartbeatMicroseconds: Int64) -> PositionLimits {
        guard isScheduled else { return PositionLimits() }
        let margin = searchMicroseconds + heartbeatMicroseconds
        var limits = PositionLimits(longestAge: timeToNews + margin)
        if let plan, let seconds = plan.report.secondsToSearch {
            limits.planned = plan.receivedAt.advanced(byMicroseconds: Int64(seconds) * 1_000_000 + margin)
        }
        return limits
    }

    /// The time from the beginning of a search with a position to that of a search after which the collar sends a position or tells that it
    /// has none, in microseconds. It tells so when three searches in a row have failed; the wait before the third is twice as long as the
    /// interval, or the longest that the settings allow. A report that an animal has gone to rest may be lost, so the interval is the
    /// longest one.
    private var timeToNews: Int64 {
        guard let longestIntervalMilliseconds, !isWithoutSky else { return KnownSchedule.day }
        let interval = Int64(longestIntervalMilliseconds) * 1000
        return 2 * interval + min(2 * interval, max(interval, Int64(self[.searchWaitSeconds] ?? 0) * 1_000_000))
    }

    private var searchMicroseconds: Int64 {
        max(Int64(self[.searchTimeoutSeconds] ?? 0) * 1_000_000, KnownSchedule.coldSearchTime)
    }
}

/// When the next position of a collar must have come. It is missed only after both times.
struct PositionLimits: Equatable {
    /// The age of the newest position at which it is stale, in microseconds; nil if the collar has no schedule.
    var longestAge: Int64?
    /// When the search that the collar has planned last must have ended; nil if it has told none.
    var planned: Instant?
}
