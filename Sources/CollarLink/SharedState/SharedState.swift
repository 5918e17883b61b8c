import CollarARQ
import CollarErrors
import CollarFormats
import CollarJournal
import CollarWire

/// A small state that programs share with the application in a collar: each of them may change it, and all agree after a while.
///
///     enum LightMode: UInt8, MessagePayload { case off, on, blinking }
///
///     let light = collar.sharedState(LightMode.self, resolving: .latest)
///     try await light.set(.blinking)
///     for try await change in light.changes { print(change.value, change.origin) }
///
/// A collar has one shared state, of at most 12 bytes. Its firmware must support it (`SharedStateCell`). The state is kept beside the
/// journal of the collar, over restarts of the program.
public struct SharedState<Value: MessagePayload>: Sendable {
    private let collar: Collar
    private let rule: StateRule

    fileprivate init(_ collar: Collar, _ rule: StateRule) { (self.collar, self.rule) = (collar, rule) }

    /// The state as this machine knows it; nil if none is known. The collar is not asked.
    public var value: Value? {
        get async throws(UserFacingError) {
            let keeper = try await SharedStateKeeper.open(collar, rule, until: collar.access.time.instant)
            return try value(of: try await keeper.current())
        }
    }

    /// Asks the collar for the state in force.
    /// - Parameters:
    ///   - delivery: whether the question may wait for the collar.
    ///   - timeout: how long this function waits, 1 ms … 7 days.
    /// - Returns: the state; nil if there is none yet.
    /// - Throws: as ``Collar/send(_:delivery:timeout:retry:)``.
    @discardableResult
    public func refresh(
        delivery: RequestDelivery = .latest, timeout: Duration = .seconds(60)
    ) async throws(UserFacingError) -> Value? {
        // A question must not replace a change that waits.
        let session = RequestSession(collar, delivery == .latest ? .queued : delivery, timeout: timeout, .standard)
        let told: SharedStateMessage
        do throws(RequestFailure) {
            told = try state(in: try await session.reply(to: SharedStateMessage().message(.request, unixSeconds: 0)))
        } catch { throw error.error }
        let keeper = try await SharedStateKeeper.open(collar, rule, until: session.deadline)
        return try value(of: try await keeper.take([told]))
    }

    /// Changes the state, and waits until the collar has confirmed it.
    ///
    /// If the collar or another receiver has changed it meanwhile, the resolution decides which change counts. A change that waits for the
    /// collar counts on this machine already: ``value`` returns it. The queue keeps it for at most a week.
    /// - Parameters:
    ///   - new: the new state, at most 12 bytes.
    ///   - delivery: whether the change may wait for the collar. By default it replaces a change that was not sent yet.
    ///   - timeout: how long this function waits, 1 ms … 7 days.
    ///   - retry: when it is tried again.
    /// - Returns: the state that counts: the new one, or another one after a conflict.
    /// - Throws: as ``Collar/send(_:delivery:timeout:retry:)``.
    @discardableResult
    public func set(
        _ new: Value, delivery: RequestDelivery = .latest, timeout: Duration = .seconds(60), retry: RetryPolicy = .standard
    ) async throws(UserFacingError) -> Value {
        let bytes = new.payload
        guard bytes.count <= SharedStateMessage.stateLimit else {
            throw UserFacingError(tooLong: Value.self, bytes.count, limit: SharedStateMessage.stateLimit)
        }
        let session = RequestSession(collar, delivery, timeout: timeout, retry)
        let keeper = try await SharedStateKeeper.open(collar, rule, until: delivery == .now ? collar.access.time.instant : session.deadline)
        try await keeper.look()
        var change = try await keeper.change(to: bytes)
        while true {
            let reply: RequestSession.Received
            let told: SharedStateMessage
            do throws(RequestFailure) {
                reply = try await session.reply(to: change.message(.request, unixSeconds: 0))
                told = try state(in: reply)
            } catch {
                // The answer may still come, also to another run of the program.
                if case .open = error.fate {} else { try await keeper.drop(change) }
                throw error.error
            }
            let (kept, unsent) = try await keeper.note([told])
            if let unsent {
                change = unsent
                continue
            }
            if case .reply(_, let outcome) = reply.content.kind, outcome != .ok, kept.pending == change {
                try await keeper.drop(change)
                throw UserFacingError(outcome: ResultLine.Outcome(outcome))
            }
            return try value(of: kept) ?? new
        }
    }

    /// The changes of the state, from now on, whoever makes them: an element comes when the collar has the change. States that this program
    /// cannot read are left out.
    public var changes: SharedStateChanges<Value> { SharedStateChanges(collar, rule) }

    private func value(of kept: KeptSharedState) throws(UserFacingError) -> Value? {
        guard let current = kept.current else { return nil }
        do throws(PayloadError) { return try Value(payload: current.bytes) } catch {
            throw UserFacingError(unreadableReply: current.bytes.count, as: Value.self)
        }
    }

    private func state(in reply: RequestSession.Received) throws(RequestFailure) -> SharedStateMessage {
        guard let state = SharedStateMessage(reply.content) else {
            throw RequestFailure(UserFacingError(unreadableReply: reply.content.bytes.count, as: SharedState.self))
        }
        return state
    }
}

extension Collar {
    /// The state that this program shares with the application in the collar.
    /// - Parameters:
    ///   - type: the type of the state; a value has at most 12 bytes.
    ///   - resolution: which change counts after a conflict.
    public func sharedState<Value: MessagePayload>(
        _ type: Value.Type, resolving resolution: StateResolution<Value>
    ) -> SharedState<Value> { SharedState(self, resolution.rule) }
}
