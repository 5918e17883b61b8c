import CollarARQ
import CollarControl
import CollarErrors
import CollarFormats
import CollarJournal
import CollarWire

/// Gives one request to the receiver, and waits for its end. The receiver may restart meanwhile.
actor RequestSession {
    /// How long a receiver may take to confirm a request, in microseconds.
    private static let answerTime: Int64 = 5_000_000
    /// Time between two attempts to reach a receiver that went away, in microseconds.
    private static let lookTime: Int64 = 200_000
    /// How much longer than the receiver itself this waits for its word that the time of a request is over, in microseconds.
    private static let patience: Int64 = 1_000_000

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe IOThread.shared.asUnownedSerialExecutor() }

    /// A message of a collar, as it was received.
    struct Received: Sendable {
        let deviceID: DeviceID
        let receivedUnixMilliseconds: Int64
        let sequence: UInt32
        let content: ApplicationMessage
    }

    private let choice: CollarChoice
    private let access: any ReceiverAccess
    private let delivery: RequestDelivery
    /// When waiting ends.
    let deadline: Instant
    private let retry: RetryPolicy

    init(_ collar: Collar, _ delivery: RequestDelivery, timeout: Duration, _ retry: RetryPolicy) {
        choice = collar.choice
        access = collar.access
        self.delivery = delivery
        self.retry = retry
        deadline = collar.access.time.instant.advanced(byMicroseconds: timeout.limitedMicroseconds)
    }

    // MARK: What is sent

    /// Sends a message and waits for its reply, whatever the outcome in it is.
    func reply(to message: ApplicationMessage) async throws(RequestFailure) -> Received {
        let start = access.time.unixMilliseconds
        let line = try await result(of: .message(message))
        guard let deviceID = line.deviceID, let requestID = line.requestID else { throw RequestFailure(unanswered: nil, isCancelled: false) }
        let collar = Collar(deviceID.description, access)
        // Numbers of requests come again after 65,535: only what is received from now on answers this one.
        let replies = collar.messages(begins: .since(start), ends: deadline) { received in
            guard received.deviceID == deviceID, case .reply(UInt32(requestID), _) = received.content.kind else { return nil as Received? }
            return received.content.code == message.code ? received : nil
        }
        var iterator = replies.makeAsyncIterator()
        let reply: Received?
        do throws(UserFacingError) { reply = try await iterator.next() } catch { throw RequestFailure(error, .open) }
        guard let reply else {
            let event = Task.isCancelled ? "The task was cancelled before the reply came" : "The reply has not come in time"
            throw RequestFailure(
                UserFacingError(
                    .collarNotReachable, reason: "The collar has the request. \(event).",
                    remedy: "Give it more time, and make sure that the firmware of the collar answers requests of the code \(message.code)."),
                .open)
        }
        return reply
    }

    /// Sends a request, and waits until the collar has executed it.
    /// - Parameter isQueuedEnough: whether to wait only until it is queued.
    func result(of request: HostRequest, isQueuedEnough: Bool = false) async throws(RequestFailure) -> ResultLine {
        var random = SystemRandomNumberGenerator()
        var retryCount = 0
        while true {
            do throws(RequestFailure) { return try await attempt(request, isQueuedEnough: isQueuedEnough) } catch {
                retryCount += 1
                // A receiver that does not run is started by a person.
                guard case .notExecuted = error.fate, error.error.isRetryable, error.error.code != .noReceiver, !Task.isCancelled,
                    let delay = retry.delay(beforeRetry: retryCount, using: &random)
                else { throw error }
                let next = access.time.instant.advanced(byMicroseconds: delay.limitedMicroseconds)
                guard next < deadline, case .goOn = await access.wait(for: [], until: next), !Task.isCancelled else { throw error }
            }
        }
    }

    // MARK: One attempt

    private func attempt(_ request: HostRequest, isQueuedEnough: Bool) async throws(RequestFailure) -> ResultLine {
        var control = ControlRequest(.command(request), deviceID: try collarOfRequest(), mode: delivery.mode)
        let rest = deadline.microseconds(since: access.time.instant) / 1000
        let range = ControlRequest.timeoutRange
        control.timeoutMicroseconds = min(max(rest, range.lowerBound), range.upperBound) * 1000
        var link = try await connect()
        link.send(control.line)
        var queued: ResultLine?
        while true {
            let now = access.time.instant
            let end = deadline.advanced(byMicroseconds: delivery == .now ? RequestSession.patience : 0)
            switch await link.nextLine(until: queued == nil ? max(end, now.advanced(byMicroseconds: RequestSession.answerTime)) : end) {
            case .line(let bytes):
                guard let line = ResultLine(bytes: bytes) else { throw RequestFailure(unanswered: queued, isCancelled: false) }
                if line.isFinal {
                    guard line.outcome == .ok else { throw RequestFailure(line) }
                    return line
                }
                if isQueuedEnough { return line }
                queued = line
            case .timeout: throw RequestFailure(unanswered: queued, isCancelled: Task.isCancelled)
            case .closed:
                guard let waiting = queued, let requestID = waiting.requestID else { throw RequestFailure(unanswered: nil, isCancelled: false) }
                link = try await reconnect(waiting)
                link.send(ControlRequest(.await(requestID: requestID), deviceID: waiting.deviceID).line)
            }
        }
    }

    private func collarOfRequest() throws(RequestFailure) -> DeviceID? {
        do throws(UserFacingError) { return try choice.requested(access) } catch { throw RequestFailure(error) }
    }

    private func connect() async throws(RequestFailure) -> any ControlLink {
        do throws(UserFacingError) { return try await access.connect() } catch { throw RequestFailure(error) }
    }

    /// Waits for the receiver to come back: the request is in its queue.
    private func reconnect(_ queued: ResultLine) async throws(RequestFailure) -> any ControlLink {
        while !Task.isCancelled, access.time.instant < deadline {
            let next = min(deadline, access.time.instant.advanced(byMicroseconds: RequestSession.lookTime))
            guard case .goOn = await access.wait(for: [], until: next) else { break }
            do throws(UserFacingError) { return try await access.connect() } catch {
                guard error.code == .noReceiver else { throw RequestFailure(error, .open) }
            }
        }
        throw RequestFailure(unanswered: queued, isCancelled: Task.isCancelled)
    }
}

extension Collar {
    /// The messages of the applications in the collars.
    func messages<Element: Sendable>(
        as reader: String? = nil, begins: StreamPlan<Element>.Beginning, ends: Instant? = nil,
        _ element: @escaping @Sendable (RequestSession.Received) -> Element?
    ) -> StoredStream<Element> {
        var plan = StreamPlan(kinds: [.message]) { item, _ in
            guard case .entry(let entry, isWanted: true) = item, case .message(let record) = entry.content else { return nil as Element? }
            return element(
                RequestSession.Received(
                    deviceID: entry.deviceID, receivedUnixMilliseconds: record.receivedUnixMilliseconds, sequence: record.message.sequence,
                    content: record.message.content))
        }
        plan.reader = reader
        plan.begins = begins
        plan.ends = ends
        return stream(plan)
    }
}
