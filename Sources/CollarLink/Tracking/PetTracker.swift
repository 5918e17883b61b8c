import CollarTracking
import FoundationEssentials
import Observation

/// Where a pet is, for a program that shows it.
///
///     let tracker = PetTracker(Collar("Athena"))
///     tracker.startTracking()
///     …
///     print(tracker.connectionStatus.title, tracker.distanceFromOwner ?? "unknown")
///
/// The values change on the main actor, while it is tracking. A program that draws follows them with Observation. Those that depend on the
/// time, ``timeSinceLastUpdate`` and ``isStale``, are those of the moment at which they are asked for.
///
/// Trackers are independent of one another: make one for each collar. Tracking ends with the last reference to the tracker.
@MainActor @Observable public final class PetTracker {
    /// The collar that is tracked.
    public let collar: Collar
    /// The newest fix; nil before there is one. A fix that comes late is never the newest.
    public var latestPetLocation: LocationFix? { latest?.location }
    /// The newest fixes since the start, oldest first, in the order of their sequences: a fix that comes late is put in its place.
    public var locationHistory: [LocationFix] { trail.fixes.map(\.location) }
    /// The problem that stands in the way of tracking; nil if there is none, and while it is tried again.
    ///
    /// It is tried again after 1, 4 and 9 s, then every 9 s. So tracking goes on by itself once a missing permission is granted.
    public private(set) var lastError: UserFacingError?
    /// Whether the collar answers; `connecting` while it is not tracked.
    public private(set) var connectionStatus = ConnectionStatus.connecting
    /// Whether it is tracking.
    public var isTracking: Bool { tasks != nil }

    private var latest: TrackedFix?
    private var trail: Trail<TrackedFix>
    private var owner: LocationFix.Coordinate?
    private var tasks: TrackingTasks?

    /// Makes a tracker, which does nothing before ``startTracking()``.
    /// - Parameters:
    ///   - collar: the collar, or all collars that an animal wears.
    ///   - historyLimit: the most fixes in ``locationHistory``, at least 1.
    public init(_ collar: Collar, historyLimit: Int = 100) {
        self.collar = collar
        trail = Trail(limit: max(1, historyLimit))
    }

    // MARK: Starting and stopping

    /// Begins to track: with the newest fix that is stored, then with those that come. If it is tracking, nothing happens.
    public func startTracking() {
        guard tasks == nil else { return }
        let (collar, limit) = (collar, trail.limit)
        lastError = nil
        tasks = TrackingTasks([
            Task { [weak self] in await follow(collar.newest(limit: limit), collar.access, { self }) { $0.take($1) } },
            Task { [weak self] in await follow(collar.connection, collar.access, { self }) { $0.connectionStatus = $1 } },
        ])
    }

    /// Ends tracking: from now on no value changes. What was found stays.
    public func stopTracking() {
        tasks = nil
        connectionStatus = .connecting
    }

    /// Forgets the fixes of ``locationHistory``. The newest one stays known as ``latestPetLocation``.
    public func clearHistory() { trail = Trail(limit: trail.limit) }

    private func take(_ fix: LocationFix) {
        let fix = TrackedFix(fix)
        trail.add(fix)
        if latest.map(fix.isLater(than:)) ?? true { latest = fix }
    }

    /// Shows an attempt's end and the beginning of the next one.
    fileprivate func show(_ error: UserFacingError?) { lastError = error }

    // MARK: The owner

    /// Where the owner is; nil while that is unknown. A position within 10 m of the one before changes nothing, because a phone at rest
    /// moves by less; one that is outside of its range counts as unknown.
    public var ownerLocation: LocationFix.Coordinate? {
        get { owner }
        set {
            if let owner, let newValue, let way = Geodesic(from: owner, to: newValue), way.lengthMeters < OwnerTrack.stepMeters { return }
            owner = newValue.flatMap { $0.isValid ? $0 : nil }
        }
    }

    /// The distance from the owner to the pet in metres, on the ellipsoid; nil when one of the positions is unknown.
    public var distanceFromOwner: Double? { wayFromOwner?.lengthMeters }

    /// The direction from the owner to the pet, 0 ..< 360 degrees from true north; nil when one of the positions is unknown, or both are
    /// the same.
    public var bearingFromOwner: Double? { wayFromOwner?.bearingDegrees }

    private var wayFromOwner: Geodesic? {
        guard let owner, let latest else { return nil }
        return Geodesic(from: owner, to: latest.location.coordinate)
    }

    // MARK: The newest fix and the connection

    /// The charge of the collar's battery, 0 … 1; nil when it is unknown.
    public var petBatteryLevel: Double? { latest.flatMap { $0.location.batteryFraction < 0 ? nil : $0.location.batteryFraction } }

    /// The horizontal accuracy of the newest fix, a radius in metres; nil when it is unknown.
    public var accuracyMeters: Double? { latest.flatMap { $0.location.hasValidAccuracy ? $0.location.horizontalAccuracyMeters : nil } }

    /// The same in a word: `excellent`, `good`, `fair` or `poor`.
    public var accuracyWord: String? { latest?.location.accuracyWord }

    /// The age of the newest fix in seconds, by the clock of this machine; nil before there is one. It is negative if the collar's clock is
    /// ahead.
    public var timeSinceLastUpdate: TimeInterval? {
        latest.map { Double(collar.access.time.unixMilliseconds - $0.unixMilliseconds) / 1000 }
    }

    /// Whether the newest fix is older than three intervals of the newest two fixes, and at least 60 s; false before there is a fix.
    public var isStale: Bool {
        guard let latest else { return false }
        let limit = trail.interval?.staleAfterMilliseconds ?? FixInterval.leastStaleAge
        return collar.access.time.unixMilliseconds - latest.unixMilliseconds >= limit
    }

    /// Whether the collar was heard within three heartbeats.
    public var isReachable: Bool { connectionStatus == .connected }

    /// Whether a session with the collar is open: a radio listens, and the collar was heard or is overdue.
    public var isSessionActivated: Bool { connectionStatus != .connecting }
}

/// Hands the elements of a stream to a tracker. After an error it tries again, until the task is cancelled or the tracker is gone.
@MainActor private func follow<Elements: AsyncSequence>(
    _ elements: Elements, _ access: any ReceiverAccess, _ tracker: () -> PetTracker?, take: (PetTracker, Elements.Element) -> Void
) async where Elements.Failure == UserFacingError {
    /// Seconds before each attempt; the last number counts for all further ones.
    let pauses: [Int64] = [1, 4, 9]
    var failureCount = 0
    while !Task.isCancelled {
        do throws(UserFacingError) {
            for try await element in elements {
                // The tracker may have been stopped while the element was on its way.
                guard !Task.isCancelled, let tracker = tracker() else { return }
                failureCount = 0
                take(tracker, element)
            }
            return
        } catch {
            guard !Task.isCancelled, let tracker = tracker() else { return }
            tracker.show(error)
        }
        let pause = pauses[min(failureCount, pauses.count - 1)]
        failureCount += 1
        _ = await access.wait(for: [], until: access.time.instant.advanced(byMicroseconds: pause * 1_000_000))
        guard !Task.isCancelled, let tracker = tracker() else { return }
        tracker.show(nil)
    }
}

/// Tasks that end with the last reference to this value.
private final class TrackingTasks {
    private let tasks: [Task<Void, Never>]

    init(_ tasks: [Task<Void, Never>]) { self.tasks = tasks }

    deinit { for task in tasks { task.cancel() } }
}

extension Collar {
    /// The newest fix that is stored, and all fixes that come after it. Of those that wait, the newest ones are kept.
    fileprivate func newest(limit: Int) -> StoredStream<LocationFix> {
        var plan = StreamPlan(kinds: [.fix]) { item, context in
            guard case .entry(let entry, isWanted: true) = item, case .fix(let record) = entry.content else { return nil as LocationFix? }
            return context.fix(record, of: entry.deviceID)
        }
        (plan.flow, plan.begins) = (.newest(limit: limit), .newestFix)
        return stream(plan)
    }
}
