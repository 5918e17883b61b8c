import CollarErrors
import CollarFormats
import CollarWire

extension Collar {
    /// Sends a request to the application in the collar, and waits for its reply.
    ///
    ///     let weight = try await collar.send(Feed(grams: 20))
    ///
    /// The receiver sends the request when the collar listens, which is right after it has sent something; so an answer can take as long as
    /// a heartbeat. A cancellation of the task ends the wait with an error, and does not take the request back.
    /// - Parameters:
    ///   - request: the request; its type names that of the reply.
    ///   - delivery: whether the request may wait for the collar.
    ///   - timeout: how long this function waits, 1 ms … 7 days; with ``RequestDelivery/now`` at most an hour.
    ///   - retry: when it is tried again.
    /// - Returns: the value in the reply.
    /// - Throws: an error with a step to take. If the time is over, the error says whether the request still waits in the receiver's queue.
    public func send<R: CollarRequest>(
        _ request: R, delivery: RequestDelivery = .queued, timeout: Duration = .seconds(60), retry: RetryPolicy = .standard
    ) async throws(UserFacingError) -> R.Response {
        try R.checkWithResponse()
        let message = try request.message(.request)
        let reply: ApplicationMessage
        do throws(RequestFailure) {
            reply = try await RequestSession(self, delivery, timeout: timeout, retry).reply(to: message).content
        } catch { throw error.error }
        if case .reply(_, let outcome) = reply.kind, outcome != .ok { throw UserFacingError(outcome: ResultLine.Outcome(outcome)) }
        do throws(PayloadError) { return try R.Response(payload: reply.bytes) } catch {
            throw UserFacingError(unreadableReply: reply.bytes.count, as: R.Response.self)
        }
    }

    /// Sends the application in the collar a notice, and does not wait for the collar.
    ///
    /// The function returns when the notice is durably in the receiver's queue.
    /// - Parameters:
    ///   - notice: the notice.
    ///   - delivery: whether it may wait for the collar; with ``RequestDelivery/now`` at most 30 s.
    ///   - retry: when it is tried again, within 30 s.
    /// - Throws: an error with a step to take if it is not queued.
    public func post<Notice: CodedMessage>(
        _ notice: Notice, delivery: RequestDelivery = .queued, retry: RetryPolicy = .standard
    ) async throws(UserFacingError) {
        let message = try notice.message(.notice)
        do throws(RequestFailure) {
            _ = try await RequestSession(self, delivery, timeout: .seconds(30), retry).result(of: .message(message), isQueuedEnough: true)
        } catch { throw error.error }
    }

    /// The notices of a type that the application in the collar sends, from now on; with a name, also those since the last run of the
    /// program. Those that cannot be read are left out.
    /// - Parameters:
    ///   - type: the type of the notices.
    ///   - reader: the name under which the position is kept, as in ``FixDelivery/everything(as:)``.
    public func notices<Notice: CodedMessage>(of type: Notice.Type, as reader: String? = nil) -> StoredStream<Notice> {
        messages(as: reader, begins: .now) { received in
            guard received.content.kind == .notice, received.content.code == Notice.code else { return nil }
            return try? Notice(payload: received.content.bytes)
        }
    }
}
