import CollarARQ
import CollarConfiguration
import CollarControl
import CollarErrors
import CollarJournal

/// Finds the states of a connection, for one iteration over `Collar.connection`.
///
/// Events say when to look. The figures of the receiver say the state: a collar that is at the edge of the range has few events. An open
/// connection to the control socket tells the end of the receiver.
actor ConnectionReading {
    private enum Change: Sendable {
        case events
        case failed(UserFacingError)
        case over
        /// The receiver has ended, or it is time to look.
        case due
    }

    /// Pauses between two looks without an event, in microseconds: while something is missing of which no event need tell, and otherwise.
    /// A collar that is lost and found within a minute makes no event.
    private static let shortPause: Int64 = 5_000_000
    private static let longPause: Int64 = 60_000_000

    private let collar: Collar
    private let events: StoredReading<LinkHistory>
    private let iteration: Int
    private var history = LinkHistory()
    /// Whether there were events since the last look.
    private var isLookDue = false
    private var last: ConnectionStatus?
    /// Whether the receiver answers other users only.
    private var isDenied = false
    /// A connection that shows the end of the receiver; nil where there is none.
    private var link: (any ControlLink)?
    /// When to open one: a receiver that has given the place of the former one to another program is left alone for a while.
    private var reopens: Instant?

    init(_ collar: Collar) {
        self.collar = collar
        events = collar.links
        iteration = events.beginIteration()
    }

    /// The next state; nil if the task is cancelled, or the session of a test is over.
    func next() async throws(UserFacingError) -> ConnectionStatus? {
        if let last {
            guard let state = try await nextState(after: last).get() else { return nil }
            self.last = state
        } else {
            guard let first = try await events.next(inIteration: iteration) else { return nil }
            history = first
            last = try await look()
        }
        return Task.isCancelled ? nil : last
    }

    /// Waits for a state that differs from the last one.
    private func nextState(after last: ConnectionStatus) async -> Result<ConnectionStatus?, UserFacingError> {
        await withTaskGroup(of: Change.self) { group in
            group.addTask { await self.nextEvents() }
            group.addTask { await self.waitForReceiver(at: last) }
            defer { group.cancelAll() }
            do throws(UserFacingError) {
                while true {
                    if isLookDue {
                        let state = try await look()
                        if state != last { return .success(state) }
                    }
                    guard let change = await group.next(), !Task.isCancelled else { return .success(nil) }
                    switch change {
                    case .failed(let error): throw error
                    case .over: return .success(nil)
                    case .events: group.addTask { await self.nextEvents() }
                    case .due: group.addTask { await self.waitForReceiver(at: last) }
                    }
                }
            } catch { return .failure(error) }
        }
    }

    private func nextEvents() async -> Change {
        do throws(UserFacingError) {
            guard let new = try await events.next(inIteration: iteration) else { return .over }
            // Here, and not where it is awaited: by then, another change may have ended the wait.
            (history, isLookDue) = (new, true)
            return .events
        } catch { return .failed(error) }
    }

    /// Waits for the end of the receiver, at most until it is time to look.
    private func waitForReceiver(at state: ConnectionStatus) async -> Change {
        defer { if !Task.isCancelled { isLookDue = true } }
        let now = collar.access.time.instant
        if link == nil, now >= reopens ?? now {
            link = try? await collar.access.connect()
            reopens = now.advanced(byMicroseconds: Self.shortPause)
            // The receiver may have started since the last look.
            if link != nil { return .due }
        }
        let isBlind = link == nil && !isDenied
        let end = now.advanced(byMicroseconds: state == .connecting || isBlind ? Self.shortPause : Self.longPause)
        guard let link else {
            _ = await collar.access.wait(for: [], until: end)
            return .due
        }
        if case .timeout = await link.nextLine(until: end) { return .due }
        self.link = nil
        reopens = collar.access.time.instant.advanced(byMicroseconds: Self.shortPause)
        return .due
    }

    /// The state now.
    private func look() async throws(UserFacingError) -> ConnectionStatus {
        isLookDue = false
        let wanted = try await events.wanted()
        let now = collar.access.time.unixMilliseconds
        do throws(UserFacingError) {
            let figures = try await collar.access.figures()
            isDenied = false
            return ConnectionStatus(figures, of: wanted, at: now)
        } catch {
            isDenied = error.code == .notPermitted
            if isDenied { return history.connection(to: wanted, at: now) }
            // A receiver that is busy is still there.
            return error.code == .noReceiver ? .connecting : last ?? .connecting
        }
    }
}
