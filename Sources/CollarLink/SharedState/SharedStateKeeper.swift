import CollarARQ
import CollarErrors
import CollarJournal
import CollarWire

/// The host's end of a shared state: its file, and what the collar tells.
actor SharedStateKeeper {
    /// Time between two attempts to change a file that another program is changing, in microseconds.
    private static let lockTime: Int64 = 10_000
    /// Time between two looks for a collar that was not heard yet, in microseconds.
    private static let lookTime: Int64 = 1_000_000
    /// A clock that was wrong may have given late messages earlier times: what was received this long before is looked at again, in
    /// milliseconds.
    private static let overlap: Int64 = 86_400_000

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe IOThread.shared.asUnownedSerialExecutor() }

    /// The collar, named by its id.
    let collar: Collar
    let sharing: StateSharing
    private let file: SharedStateFile

    /// A state that a collar tells, as it was received.
    struct Told: Sendable {
        let state: SharedStateMessage
        let unixMilliseconds: Int64
    }

    fileprivate init(_ collar: Collar, _ sharing: StateSharing, in directory: JournalDirectory) {
        (self.collar, self.sharing, file) = (collar, sharing, SharedStateFile(in: directory))
    }

    /// The keeper for the collar that a program has named. A collar that was not heard yet is waited for.
    /// - Parameter deadline: when waiting ends; nil for never.
    static func open(_ collar: Collar, _ rule: StateRule, until deadline: Instant?) async throws(UserFacingError) -> SharedStateKeeper {
        let opener = SharedStateOpener()
        while true {
            do throws(UserFacingError) { return try await opener.open(collar, rule) } catch {
                let next = collar.access.time.instant.advanced(byMicroseconds: lookTime)
                guard error.code == .noCollar || error.code == .unknownCollar, next < deadline ?? Instant(microseconds: .max), !Task.isCancelled,
                    case .goOn = await collar.access.wait(for: [], until: next)
                else { throw error }
            }
        }
    }

    private var access: any ReceiverAccess { collar.access }
    private var now: Int64 { access.time.unixMilliseconds }

    /// The states that the collar tells.
    nonisolated func states(begins: StreamPlan<Told>.Beginning, ends: Instant? = nil) -> StoredStream<Told> {
        collar.messages(begins: begins, ends: ends) { received in
            SharedStateMessage(received.content).map { Told(state: $0, unixMilliseconds: received.receivedUnixMilliseconds) }
        }
    }

    /// The state, after every message that is stored.
    func current() async throws(UserFacingError) -> KeptSharedState {
        let (kept, unsent) = try await look()
        return try await send(unsent) ?? kept
    }

    /// Takes what is stored.
    /// - Returns: as ``note(_:seen:)``.
    @discardableResult
    func look() async throws(UserFacingError) -> (kept: KeptSharedState, unsent: SharedStateMessage?) {
        let kept = try load()
        let time = access.time
        let start = min(kept.seenUnixMilliseconds, time.unixMilliseconds) - Self.overlap
        var told: [SharedStateMessage] = []
        for try await one in states(begins: .since(max(0, start)), ends: time.instant) { told.append(one.state) }
        return try await note(told, seen: time.unixMilliseconds)
    }

    /// Takes states that the collar tells. If another one is to count after a conflict, it is sent.
    func take(_ told: [SharedStateMessage]) async throws(UserFacingError) -> KeptSharedState {
        let (kept, unsent) = try await note(told)
        return try await send(unsent) ?? kept
    }

    /// Sends a state, if there is one, without waiting for the collar.
    /// - Returns: what is known then; nil if that has not changed.
    private func send(_ unsent: SharedStateMessage?) async throws(UserFacingError) -> KeptSharedState? {
        guard let unsent else { return nil }
        do throws(RequestFailure) {
            _ = try await RequestSession(collar, .latest, timeout: .seconds(30), .standard).result(
                of: .message(unsent.message(.request, unixSeconds: 0)), isQueuedEnough: true)
            return nil
        } catch {
            guard case .notExecuted = error.fate else { return nil }
            return try await drop(unsent)
        }
    }

    /// Takes states that the collar tells.
    /// - Returns: what is known now, and the state that must be sent, so that it counts; nil if nothing must be sent.
    func note(
        _ told: [SharedStateMessage], seen: Int64? = nil
    ) async throws(UserFacingError) -> (kept: KeptSharedState, unsent: SharedStateMessage?) {
        let (time, sharing) = (now, sharing)
        var unsent: SharedStateMessage?
        func take(_ kept: inout KeptSharedState) {
            kept.dropOldPending(at: time)
            unsent = nil
            for state in told { unsent = kept.take(state, in: sharing, at: time) ?? unsent }
            // A later state may have made it pointless.
            if kept.pending != unsent { unsent = nil }
            // The file is not written each time that a program looks.
            if let seen, seen > kept.seenUnixMilliseconds + Self.overlap { kept.seenUnixMilliseconds = seen }
        }
        do throws(JournalError) { return (try await update { take(&$0) }, unsent) } catch {
            // A program that may only read knows what it reads, and leaves conflicts to others.
            guard case .file(let failure) = error, failure.isDenial else { throw UserFacingError(reading: .journal(error)) }
            var kept = try load()
            take(&kept)
            return (kept, nil)
        }
    }

    /// Notes a change of this host.
    func change(to bytes: [UInt8]) async throws(UserFacingError) -> SharedStateMessage {
        let (time, sharing) = (now, sharing)
        var changed: SharedStateMessage?
        _ = try await write { changed = $0.change(to: bytes, in: sharing, at: time) }
        guard let changed else {
            throw UserFacingError(.noVersion, reason: "The shared state of the collar has the highest version there is.")
        }
        return changed
    }

    /// Forgets a change that will not reach the collar.
    @discardableResult
    func drop(_ change: SharedStateMessage) async throws(UserFacingError) -> KeptSharedState {
        try await write { $0.dropPending(change) }
    }

    private func load() throws(UserFacingError) -> KeptSharedState {
        do throws(JournalError) { return try file.load() } catch { throw UserFacingError(reading: .journal(error)) }
    }

    private func write(_ body: (inout KeptSharedState) -> Void) async throws(UserFacingError) -> KeptSharedState {
        do throws(JournalError) { return try await update(body) } catch { throw UserFacingError(reading: .journal(error)) }
    }

    /// Changes the file as soon as no other program does.
    private func update(_ body: (inout KeptSharedState) -> Void) async throws(JournalError) -> KeptSharedState {
        while true {
            var result = KeptSharedState()
            let isDone = try file.update { kept in
                body(&kept)
                result = kept
            }
            if isDone { return result }
            _ = await access.wait(for: [], until: access.time.instant.advanced(byMicroseconds: Self.lockTime))
        }
    }
}

/// Finds out which collar is meant and which receiver this is, on the thread of files.
private actor SharedStateOpener {
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe IOThread.shared.asUnownedSerialExecutor() }

    func open(_ collar: Collar, _ rule: StateRule) throws(UserFacingError) -> SharedStateKeeper {
        let directory = try collar.access.stateDirectory()
        let requested = try collar.choice.requested(collar.access)
        let known = try reading { () throws(JournalError) in try JournalDirectory.knownCollars(stateDirectory: directory) }
        guard let deviceID = requested ?? known.first else { throw UserFacingError(rejectedAs: .noCollar, reason: "No collar was ever heard here.") }
        guard requested != nil || known.count == 1 else {
            throw UserFacingError(rejectedAs: .whichCollar, reason: "Which collar? There are \(known.count).")
        }
        let receiverID = try reading { () throws(JournalError) in
            known.contains(deviceID) ? try JournalReader(stateDirectory: directory, deviceID: deviceID).receiverID() : nil
        }
        guard let receiverID else { throw UserFacingError(rejectedAs: .unknownCollar, reason: "The collar \(deviceID) was never heard here.") }
        return SharedStateKeeper(
            Collar(deviceID.description, collar.access), StateSharing(receiverID: receiverID, rule: rule),
            in: JournalDirectory(stateDirectory: directory, deviceID: deviceID))
    }

    private func reading<Result>(_ body: () throws(JournalError) -> Result) throws(UserFacingError) -> Result {
        do throws(JournalError) { return try body() } catch { throw UserFacingError(reading: .journal(error)) }
    }
}
