import CollarWire

/// Finds the alerts of one collar, from its fixes and the times at which it was heard.
///
/// Fixes come in the order of their log. A fix that is not after the latest one changes nothing: a late fix is never the latest.
/// So the alerts depend on the fixes alone, not on the order of their reception.
package struct AlertTracker: Equatable, Sendable {
    /// The latest fix.
    package struct Latest: Equatable, Sendable {
        package let logID: LogID
        package let sequence: UInt32
        package let unixMilliseconds: Int64
    }

    /// An alert that was raised ahead of its turn, because older fixes were missing for too long.
    struct Told: Equatable, Sendable {
        let id: UInt64
        /// The hash of its kind and place.
        let subject: UInt64
        let logID: LogID
        let sequence: UInt32
    }

    enum Battery: Int {
        case good, low, critical
    }

    /// A border, and on which side of it the collar is.
    struct Border: Equatable, Sendable {
        let key: UInt64
        var shapeKey: UInt64
        var watch: BorderWatch
    }

    /// A clock that goes back by less than this was only corrected, in milliseconds.
    package static let clockTolerance: Int64 = 60_000
    /// The number of poor fixes in a row that is an alert, and of good ones in a row that ends it.
    package static let poorFixCount = 5
    /// The most alerts of ``told``.
    private static let toldLimit = 64
    /// The charge in percent at which a battery is low or critical, and the charge above which it is no longer.
    private static let low: (limit: UInt8, end: UInt8) = (20, 25)
    private static let critical: (limit: UInt8, end: UInt8) = (10, 15)

    package internal(set) var latest: Latest?
    /// The log before that of the latest fix; nil before there were two.
    var formerLogID: LogID?
    /// When the collar was heard last, in milliseconds since 1970; nil before it was.
    package internal(set) var heardUnixMilliseconds: Int64?
    var isSilent = false
    var battery = Battery.good
    var isPoor = false
    /// Fixes in a row that contradict `isPoor`.
    var contraryCount = 0
    var borders: [Border] = []
    /// The alerts that were raised ahead of their turn, and whose fixes have not come in the order of the log.
    var told: [Told] = []

    package init() {}

    // MARK: Alerts ahead of their turn

    /// An alert of a fix was raised although older fixes are missing. When these come, the crossing that they show is not raised once more.
    package mutating func tell(_ alert: Alert, of deviceID: DeviceID) {
        guard case .fix(let logID, let sequence) = alert.cause, told.count < AlertTracker.toldLimit else { return }
        told.append(Told(id: AlertID(alert, of: deviceID).high, subject: alert.event.subject, logID: logID, sequence: sequence))
    }

    package func hasTold(_ id: AlertID) -> Bool { told.contains { $0.id == id.high } }

    /// Leaves out an alert that was raised ahead of its turn, then those that can no longer come.
    private mutating func leaveOutTold(_ events: [Alert.Event]) -> [Alert.Event] {
        if told.isEmpty { return events }
        let left = events.filter { event in
            guard let index = told.firstIndex(where: { $0.subject == event.subject }) else { return true }
            told.remove(at: index)
            return false
        }
        told.removeAll { known in latest.map { $0.logID != known.logID || $0.sequence >= known.sequence } ?? false }
        return left
    }

    // MARK: Fixes

    /// Takes the next fix in the order of the log.
    /// - Precondition: the fix is valid (`Fix.validate()`).
    ///
    /// Complexity: linear in the corners of the places.
    package mutating func take(_ fix: Fix, logID: LogID, receivedUnixMilliseconds: Int64, _ watch: AlertWatch) -> [Alert] {
        guard isNext(fix, logID) else { return [] }
        let former = latest
        if let former, former.logID != logID { formerLogID = former.logID }
        latest = Latest(logID: logID, sequence: fix.sequence, unixMilliseconds: fix.unixMilliseconds)
        var events: [Alert.Event] = []
        if let former, former.unixMilliseconds - fix.unixMilliseconds > AlertTracker.clockTolerance {
            events.append(.clockChanged(milliseconds: former.unixMilliseconds - fix.unixMilliseconds))
            // The times of an unfinished crossing are those of the former clock.
            for index in borders.indices { borders[index].watch = borders[index].watch.withoutCrossing }
        }
        if let percent = fix.batteryPercent { noteBattery(percent, &events) }
        noteAccuracy(of: fix, &events)
        cross(with: fix, watch, &events)
        events = leaveOutTold(events)
        let isLate = receivedUnixMilliseconds - fix.unixMilliseconds > DaySummary.lateAfterMilliseconds
        let cause = Alert.Cause.fix(logID: logID, sequence: fix.sequence)
        return events.map { Alert($0, cause, unixMilliseconds: fix.unixMilliseconds, isLate: isLate) }
    }

    /// Whether a fix is after the latest one. A log that was not the former one is new.
    private func isNext(_ fix: Fix, _ logID: LogID) -> Bool {
        guard let latest else { return true }
        return latest.logID == logID ? fix.sequence > latest.sequence : logID != formerLogID
    }

    private mutating func noteBattery(_ percent: UInt8, _ events: inout [Alert.Event]) {
        let before = battery
        if percent <= AlertTracker.critical.limit {
            battery = .critical
        } else if percent <= AlertTracker.low.limit {
            if battery == .good || percent > AlertTracker.critical.end { battery = .low }
        } else if percent > AlertTracker.low.end {
            battery = .good
        } else if battery == .critical {
            battery = .low
        }
        guard battery.rawValue > before.rawValue else { return }
        events.append(battery == .critical ? .batteryCritical(percent: percent) : .batteryLow(percent: percent))
    }

    private mutating func noteAccuracy(of fix: Fix, _ events: inout [Alert.Event]) {
        guard let accuracy = fix.horizontalAccuracy.map({ Double($0.millimeters) / 1000 }) else { return }
        guard (accuracy > DayBook.poorAccuracyMeters) != isPoor else { return contraryCount = 0 }
        contraryCount += 1
        guard contraryCount == AlertTracker.poorFixCount else { return }
        (isPoor, contraryCount) = (!isPoor, 0)
        if isPoor { events.append(.poorFixes(accuracyMeters: accuracy)) }
    }

    private mutating func cross(with fix: Fix, _ watch: AlertWatch, _ events: inout [Alert.Event]) {
        let accuracy = fix.horizontalAccuracy.map { Double($0.millimeters) / 1000 } ?? DayBook.unknownAccuracyMeters
        borders.removeAll { known in !watch.borders.contains { $0.key == known.key } }
        guard accuracy <= DayBook.poorAccuracyMeters else { return }
        let position = Position(fix)
        for border in watch.borders {
            let known = borders.firstIndex { $0.key == border.key }
            guard let (distance, depth) = border.border(from: position, at: fix.unixMilliseconds) else {
                // The animal stays on its side, and fixes in a row count from the next one that is judged.
                if let known { borders[known].watch = borders[known].watch.withoutCrossing }
                continue
            }
            guard let index = known else {
                borders.append(Border(key: border.key, shapeKey: border.shapeKey, watch: BorderWatch(distanceMeters: distance)))
                continue
            }
            guard borders[index].shapeKey == border.shapeKey else {
                borders[index].shapeKey = border.shapeKey
                borders[index].watch = BorderWatch(distanceMeters: distance)
                events.append(border.subject.changed(isInside: distance <= 0))
                continue
            }
            let since = borders[index].watch.take(
                distanceMeters: distance, accuracyMeters: accuracy, depthMeters: depth, at: fix.unixMilliseconds)
            if let since { events.append(border.subject.crossed(isInside: borders[index].watch.isInside, since: since)) }
        }
    }

    // MARK: Receptions

    /// The collar was heard. A reception that is not the latest changes nothing.
    /// - Parameter now: the time by the clock of the receptions. If the latest one is after it, the clock went back.
    package mutating func hear(at unixMilliseconds: Int64, now: Int64, _ watch: AlertWatch) -> [Alert] {
        guard let last = heardUnixMilliseconds else {
            heardUnixMilliseconds = unixMilliseconds
            return []
        }
        var alerts: [Alert] = []
        if last - now > AlertTracker.clockTolerance {
            alerts.append(alert(.clockChanged(milliseconds: last - now), at: unixMilliseconds))
        } else if unixMilliseconds <= last {
            return []
        } else {
            alerts += silence(until: unixMilliseconds, watch)
        }
        heardUnixMilliseconds = unixMilliseconds
        if isSilent { alerts.append(alert(.heard(since: last), at: unixMilliseconds)) }
        isSilent = false
        return alerts
    }

    /// When the collar will have been silent for too long, in milliseconds since 1970; nil if that is no question.
    package func silenceDeadline(_ watch: AlertWatch) -> Int64? {
        guard !isSilent, let heardUnixMilliseconds, let limit = watch.rules.silentMilliseconds else { return nil }
        return heardUnixMilliseconds + limit
    }

    /// Nothing was heard before this time.
    package mutating func silence(until unixMilliseconds: Int64, _ watch: AlertWatch) -> [Alert] {
        guard let deadline = silenceDeadline(watch), unixMilliseconds >= deadline, let heardUnixMilliseconds else { return [] }
        isSilent = true
        return [Alert(.silent(since: heardUnixMilliseconds), .time(unixMilliseconds: heardUnixMilliseconds), unixMilliseconds: deadline)]
    }

    private func alert(_ event: Alert.Event, at unixMilliseconds: Int64) -> Alert {
        Alert(event, .time(unixMilliseconds: unixMilliseconds), unixMilliseconds: unixMilliseconds)
    }
}

extension WatchedBorder.Subject {
    fileprivate func crossed(isInside: Bool, since: Int64) -> Alert.Event {
        switch self {
        case .place(let name): isInside ? .entered(place: name, since: since) : .left(place: name, since: since)
        case .owner(let limit): isInside ? .near(limitMeters: limit, since: since) : .far(limitMeters: limit, since: since)
        }
    }

    fileprivate func changed(isInside: Bool) -> Alert.Event {
        switch self {
        case .place(let name): .placeChanged(place: name, isInside: isInside)
        case .owner: .ownerMoved(isFar: !isInside)
        }
    }
}
