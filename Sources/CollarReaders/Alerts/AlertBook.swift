import CollarARQ
import CollarFormats
import CollarJournal
import CollarTracking
import CollarWire

/// The alerts of all collars for one reader, and how far its consumer has them.
///
/// Entries come in the order of their logs. Where a fix is held back because older ones are missing, it is announced: if they do not come
/// within ``longestHold``, its alerts are raised ahead of their turn.
///
/// A reader keeps the state of a collar with its position. The consumer confirms alerts and entries in the order in which they are handed
/// out; a state is kept once everything that led to it is confirmed. So each alert is raised at least once, with the same id.
package struct AlertBook {
    /// The state of a collar after an alert or entry that was handed out and is not confirmed yet.
    private struct Outstanding {
        let deviceID: DeviceID
        let tracker: AlertTracker
    }

    /// The state of a collar after its held fixes, and their alerts.
    private struct Ahead {
        var tracker: AlertTracker
        var pending: [Pending] = []
    }

    /// An alert of a held fix.
    private struct Pending {
        let alert: RaisedAlert
        let sequence: UInt32
        let due: Instant
    }

    /// The longest wait for missing fixes, in microseconds.
    package static let longestHold: Int64 = 120_000_000

    package var watch: AlertWatch { didSet { silenceDue = trackers.isEmpty ? nil : 0 } }
    private var sinceUnixMilliseconds: Int64 { kept.sinceUnixMilliseconds }
    /// The age beyond which alerts are left out, in milliseconds; nil for none.
    private let longestAge: Int64?
    private var trackers: [DeviceID: AlertTracker] = [:]
    /// No collar is silent for too long before this time, in milliseconds since 1970; nil if that is no question.
    private var silenceDue: Int64?
    private var ahead: [DeviceID: Ahead] = [:]
    private var outstanding: ArraySlice<Outstanding> = []
    /// The states that are kept with the reader's position.
    private var kept: ReaderAlerts
    /// The collars whose confirmed states are not in ``kept``.
    private var changed: [DeviceID: AlertTracker] = [:]

    /// - Parameters:
    ///   - former: the states that the reader has kept; for a new reader, only the time from which receptions count.
    ///   - longestAge: the age beyond which alerts are left out, in milliseconds; nil for none.
    package init(_ watch: AlertWatch, former: ReaderAlerts, longestAge: Int64? = nil) {
        self.watch = watch
        self.longestAge = longestAge
        kept = former
        trackers = former.states.compactMapValues { AlertTracker(text: $0) }
        silenceDue = trackers.isEmpty ? nil : 0
    }

    // MARK: Entries

    /// Takes the next entry.
    package mutating func take(_ entry: EmittedEntry, at time: HostTime) -> [RaisedAlert] {
        guard let received = entry.content.reception else { return [] }
        // The clock was ahead when the reader began. It does not stay silent until the clock comes there again.
        if sinceUnixMilliseconds - time.unixMilliseconds > AlertTracker.clockTolerance { kept.sinceUnixMilliseconds = received }
        var tracker = trackers[entry.deviceID] ?? AlertTracker()
        var raised = tracker.hear(at: received, now: time.unixMilliseconds, watch).compactMap { raise($0, of: entry, at: time) }
        if case .fix(let record) = entry.content {
            if entry.isHeld {
                look(ahead: entry, record, from: tracker, at: time)
            } else {
                let alerts = tracker.take(record.fix, logID: record.logID, receivedUnixMilliseconds: received, watch)
                raised += alerts.compactMap { raise($0, of: entry, at: time) }
                forgetAhead(of: entry.deviceID, reaching: tracker)
            }
        }
        trackers[entry.deviceID] = tracker
        if let deadline = tracker.silenceDeadline(watch) { silenceDue = min(deadline, silenceDue ?? deadline) }
        return raised
    }

    /// The alert to hand out; nil if its cause was received before the reader's first start, or if it is too old.
    private func raise(_ alert: Alert, of entry: EmittedEntry, at time: HostTime) -> RaisedAlert? {
        var received = alert.unixMilliseconds
        if case .fix = alert.cause, let reception = entry.content.reception { received = reception }
        guard received >= sinceUnixMilliseconds, isYoung(alert, at: time) else { return nil }
        return RaisedAlert(alert, of: entry.deviceID, fix: entry.content.fix)
    }

    /// Whether an alert that comes from no entry is handed out.
    package func isRaised(_ raised: RaisedAlert, at time: HostTime) -> Bool {
        raised.alert.unixMilliseconds >= sinceUnixMilliseconds && isYoung(raised.alert, at: time)
    }

    private func isYoung(_ alert: Alert, at time: HostTime) -> Bool {
        longestAge.map { time.unixMilliseconds - alert.unixMilliseconds <= $0 } ?? true
    }

    private mutating func look(ahead entry: EmittedEntry, _ record: JournaledFix, from tracker: AlertTracker, at time: HostTime) {
        var ahead = ahead[entry.deviceID] ?? Ahead(tracker: tracker)
        let alerts = ahead.tracker.take(
            record.fix, logID: record.logID, receivedUnixMilliseconds: record.receivedUnixMilliseconds, watch)
        for alert in alerts {
            guard let raised = raise(alert, of: entry, at: time), !tracker.hasTold(raised.id) else { continue }
            ahead.pending.append(
                Pending(alert: raised, sequence: record.fix.sequence, due: time.instant.advanced(byMicroseconds: AlertBook.longestHold)))
        }
        self.ahead[entry.deviceID] = ahead
    }

    private mutating func forgetAhead(of deviceID: DeviceID, reaching tracker: AlertTracker) {
        guard let reached = tracker.latest, let last = ahead[deviceID]?.tracker.latest else { return }
        if reached.logID != last.logID || reached.sequence >= last.sequence {
            ahead[deviceID] = nil
        } else {
            ahead[deviceID]?.pending.removeAll { $0.sequence <= reached.sequence }
        }
    }

    // MARK: Time

    /// When ``due(at:)`` may have something; nil if nothing is expected.
    package func nextDeadline(at time: HostTime) -> Instant? {
        var due = silenceDue.map { time.instant.advanced(byMicroseconds: ($0 - time.unixMilliseconds) * 1000) }
        for pending in ahead.values.lazy.flatMap(\.pending) { due = Instant.earliest(due, pending.due) }
        return due
    }

    /// The next alert that the time alone makes; nil if there is none. It is called when no entry waits.
    package mutating func due(at time: HostTime) -> RaisedAlert? {
        for (deviceID, waiting) in ahead {
            guard let first = waiting.pending.first, time.instant >= first.due else { continue }
            ahead[deviceID]?.pending.removeFirst()
            trackers[deviceID, default: AlertTracker()].tell(first.alert.alert, of: deviceID)
            if isYoung(first.alert.alert, at: time) { return first.alert }
        }
        guard let silenceDue, time.unixMilliseconds >= silenceDue else { return nil }
        let silent = trackers.filter { $0.value.silenceDeadline(watch).map { time.unixMilliseconds >= $0 } ?? false }
        for deviceID in silent.keys {
            // A silence that began before the first start is noted, and not told.
            for alert in trackers[deviceID]?.silence(until: time.unixMilliseconds, watch) ?? [] {
                let raised = RaisedAlert(alert, of: deviceID, fix: nil)
                if isRaised(raised, at: time) { return raised }
            }
        }
        self.silenceDue = trackers.values.compactMap { $0.silenceDeadline(watch) }.min()
        return nil
    }

    // MARK: Confirmations

    /// An alert or entry is handed out.
    /// - Parameter isLast: whether it is the last one of those that led to the present state.
    package mutating func handOut(_ deviceID: DeviceID, isLast: Bool) {
        let state = isLast ? trackers[deviceID] : outstanding.last { $0.deviceID == deviceID }?.tracker ?? confirmed(deviceID)
        outstanding.append(Outstanding(deviceID: deviceID, tracker: state ?? AlertTracker()))
    }

    private func confirmed(_ deviceID: DeviceID) -> AlertTracker? {
        changed[deviceID] ?? kept.states[deviceID].flatMap { AlertTracker(text: $0) }
    }

    /// The consumer has the oldest of those that were handed out.
    package mutating func confirm() {
        guard let oldest = outstanding.popFirst() else { return }
        changed[oldest.deviceID] = oldest.tracker
    }

    /// The confirmed states, to be stored with the reader's position.
    package mutating func state() -> ReaderAlerts {
        for (deviceID, tracker) in changed { kept.states[deviceID] = tracker.text }
        changed.removeAll()
        return kept
    }
}

extension EmittedEntry.Content {
    /// When the entry was received, in milliseconds since 1970; nil for a change of a gap.
    fileprivate var reception: Int64? {
        switch self {
        case .fix(let record): record.receivedUnixMilliseconds
        case .message(let record): record.receivedUnixMilliseconds
        case .gap: nil
        }
    }

    fileprivate var fix: JournaledFix? { if case .fix(let record) = self { record } else { nil } }
}
