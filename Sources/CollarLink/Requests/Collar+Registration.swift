import CollarErrors
import CollarFormats
import CollarWire
import Synchronization

extension Collar {
    /// Answers the requests of a type that the application in the collar sends, until the task is cancelled.
    ///
    ///     try await collar.register(OpenDoor.self, as: "door") { request in
    ///         try await door.open(for: request.seconds)
    ///         return NoPayload()
    ///     }
    ///
    /// One request is answered after the other. Without a name these are the requests that come from now on. With a name, a program that
    /// starts again answers those that came meanwhile, too; a request that it had begun to answer is answered once more. What came before
    /// the first start under the name is not answered.
    /// - Parameters:
    ///   - type: the type of the requests.
    ///   - reader: the name under which the position is kept, as in ``FixDelivery/everything(as:)``. Each registration needs its own.
    ///   - answer: makes the reply. If it throws, the outcome of the reply is `failed`. A request that cannot be read is answered `invalid`.
    /// - Throws: at once if the code or the size of the type is not possible, or if this program answers the code already; later, if
    ///   something stands in the way that a person must remove. Call the function again to go on at the same request.
    public func register<R: CollarRequest>(
        _ type: R.Type, as reader: String? = nil, answer: @escaping @Sendable (R) async throws -> R.Response
    ) async throws(UserFacingError) {
        try R.checkWithResponse()
        let registration = try Registration(code: R.code, name: name, stateDirectory: try access.stateDirectory())
        defer { registration.end() }
        let requests = messages(as: reader, begins: .now) { received in
            received.content.kind == .request && received.content.code == R.code ? received : nil
        }
        for try await received in requests {
            let reply = try await Self.reply(to: received, answer)
            // A request whose answer was interrupted stays at the position of the reader.
            if Task.isCancelled { return }
            try await self.send(reply, to: received.deviceID)
        }
    }

    private static func reply<R: CollarRequest>(
        to received: RequestSession.Received, _ answer: @Sendable (R) async throws -> R.Response
    ) async throws(UserFacingError) -> ApplicationMessage {
        func reply(_ outcome: CommandResult.Outcome, _ value: some MessagePayload = NoPayload()) throws(UserFacingError) -> ApplicationMessage {
            try value.message(.reply(to: received.sequence, outcome), code: R.code)
        }
        let request: R
        do throws(PayloadError) { request = try R(payload: received.content.bytes) } catch { return try reply(.invalid) }
        let response: R.Response
        do { response = try await answer(request) } catch { return try reply(.failed) }
        return try reply(.ok, response)
    }

    /// Gives a reply to the receiver, and waits until it is durably queued there, however long that takes.
    private func send(_ reply: ApplicationMessage, to deviceID: DeviceID) async throws(UserFacingError) {
        while !Task.isCancelled {
            do throws(RequestFailure) {
                let session = RequestSession(Collar(deviceID.description, access), .queued, timeout: .seconds(30), .standard)
                _ = try await session.result(of: .message(reply), isQueuedEnough: true)
                return
            } catch {
                switch error.error.code {
                // Such a collar takes no reply.
                case .pairedElsewhere, .notPaired, .unknownCollar: return
                case .noReceiver: break
                default: guard error.error.isRetryable else { throw error.error }
                }
            }
            let next = access.time.instant.advanced(byMicroseconds: Registration.pauseMicroseconds)
            guard case .goOn = await access.wait(for: [], until: next) else { return }
        }
    }
}

/// A code that this program answers.
private struct Registration: Hashable {
    /// Time between two attempts to queue a reply, in microseconds.
    static let pauseMicroseconds: Int64 = 9_000_000
    private static let current = Mutex<Set<Registration>>([])

    let code: UInt8
    /// Nil for all collars.
    let name: String?
    let stateDirectory: String

    /// - Throws: if the code is answered already: the collar would get two replies.
    init(code: UInt8, name: String?, stateDirectory: String) throws(UserFacingError) {
        (self.code, self.name, self.stateDirectory) = (code, name, stateDirectory)
        let new = self
        let isNew = Registration.current.withLock { current in
            let isTaken = current.contains {
                $0.code == code && $0.stateDirectory == stateDirectory && ($0.name == name || $0.name == nil || name == nil)
            }
            if !isTaken { current.insert(new) }
            return !isTaken
        }
        guard isNew else {
            throw UserFacingError(
                .badRequest, reason: "This program answers requests of the code \(code) already.",
                remedy: "Register each type once, and give each type a code of its own.")
        }
    }

    func end() { _ = Registration.current.withLock { $0.remove(self) } }
}
