import CollarARQ
import CollarJournal
import CollarLink
import FoundationEssentials
import Synchronization

/// The clock of a test session. It stands still until the session or the test moves it.
public final class VirtualClock: Sendable {
    private struct State {
        var microseconds: Int64
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        /// The waits that were cancelled before they began.
        var cancelled: Set<UInt64> = []
        var nextID: UInt64 = 0
        /// Grows with each change.
        var changeCount = 0
    }

    /// The instant at which clocks begin: times before the start of the session exist, too.
    private static let origin: Int64 = 3_600_000_000

    private let state = Mutex(State(microseconds: VirtualClock.origin))
    private let startUnixMilliseconds: Int64

    /// - Parameter start: the time at which the clock begins, in the years from 1970 to 9999.
    public init(start: Date = Date(timeIntervalSince1970: 1_700_000_000)) {
        startUnixMilliseconds = Int64((min(max(start.timeIntervalSince1970, 0), 253_402_300_799) * 1000).rounded())
    }

    /// The time of day.
    public var now: Date { Date(unixMilliseconds: time.unixMilliseconds) }

    /// Moves the clock forward.
    /// - Parameter seconds: at least 0, at most a year.
    public func advance(bySeconds seconds: Double) {
        let step = Int64(min(max(seconds, 0), 31_622_400) * 1_000_000)
        advance(to: Instant(microseconds: time.instant.microseconds + step))
    }

    var time: HostTime {
        let now = state.withLock { $0.microseconds }
        return HostTime(
            instant: Instant(microseconds: now), unixMilliseconds: startUnixMilliseconds + (now - VirtualClock.origin) / 1000)
    }

    /// Moves the clock forward to an instant; an earlier one changes nothing.
    func advance(to instant: Instant) {
        state.withLock { $0.microseconds = max($0.microseconds, instant.microseconds) }
        noteChange()
    }

    // MARK: Waiting

    /// Counts the changes of the session and its clock, for ``change(after:)``.
    var changeCount: Int { state.withLock { $0.changeCount } }

    /// Wakes those that wait: the session has changed.
    func noteChange() {
        let waiting = state.withLock { state in
            state.changeCount += 1
            defer { state.waiting = [:] }
            return state.waiting.values.map { $0 }
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until the session or its clock has changed since the count was `count`, or until the task is cancelled.
    func change(after count: Int) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.cancelled.remove(id) != nil || state.changeCount != count { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let continuation = state.waiting.removeValue(forKey: id)
                if continuation == nil { state.cancelled.insert(id) }
                return continuation
            }
            continuation?.resume()
        }
        _ = state.withLock { $0.cancelled.remove(id) }
    }
}
