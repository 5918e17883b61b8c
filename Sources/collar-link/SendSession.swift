import CollarBridge
import CollarReceiver
import Glibc

/// Gives one request to whoever has the state directory, or does it here, and waits for its end.
final class SendSession {
    /// How long a receiver may take to say that it has taken a request, in microseconds.
    private static let answerTime: Int64 = 5_000_000
    /// Time between two looks for a receiver that went away, in microseconds.
    private static let lookTime: UInt32 = 200_000
    /// What comes in after the result is stored and answered for so long, in microseconds.
    private static let lastTime: Int64 = 500_000

    private let wanted: SendArguments
    private let runtimeDirectory = Environment.value("XDG_RUNTIME_DIR")
    /// When waiting ends, by ``MonotonicClock``.
    private let end: Int64
    /// That the request waits; nil before it was taken.
    private var queued: ResultLine?
    private var result: ResultLine?
    /// Why it was not taken yet.
    private var rejection: ResultLine?
    private var receiver: Receiver?

    init(_ wanted: SendArguments) {
        self.wanted = wanted
        // The receiver tells that the time is over.
        let patience: Int64 = wanted.request.mode == .now ? 1_000_000 : 0
        end = MonotonicClock.microseconds + wanted.timeoutMicroseconds + patience
    }

    /// What became of the request by the end of the time.
    func run() throws(CommandFailure) -> ResultLine {
        if let connection = try connect() { return try result(over: connection) }
        do throws(ReceiverError) { try runReceiver() } catch {
            // A receiver that has just begun holds the journals before it listens.
            if case .journal(.heldBy) = error {
                for _ in 0..<10 {
                    usleep(SendSession.lookTime)
                    if let connection = try connect() { return try result(over: connection) }
                }
            }
            if queued != nil { StandardError.say("the request is queued; it is sent when the collar is heard") }
            throw CommandFailure(error)
        }
        if let result = result ?? rejection { return result }
        return try unfinished()
    }

    /// The time is over and there is no result.
    private func unfinished() throws(CommandFailure) -> ResultLine {
        guard var line = queued else {
            throw CommandFailure(
                .portBusy, "the running collar-link does not answer: it is not known whether the request is queued")
        }
        if wanted.request.mode == .now { line.outcome = .expired }
        return line
    }

    private func connect() throws(CommandFailure) -> ControlConnection? {
        do throws(ControlConnection.ConnectError) {
            return try ControlConnection(stateDirectory: wanted.stateDirectory, runtimeDirectory: runtimeDirectory)
        } catch {
            switch error {
            case .absent: return nil
            case .denied(let path):
                throw CommandFailure(
                    .noPermission, "the collar-link of this state directory takes no requests of this user: \(path)",
                    remedy: "run send as the user who runs collar-link, or as root")
            case .system(let path, let errorNumber):
                throw CommandFailure(.inputOutput, "\(path): \(SystemText.of(errorNumber))")
            }
        }
    }

    private func result(over first: ControlConnection) throws(CommandFailure) -> ResultLine {
        var connection = first
        var isGiven = connection.send(wanted.request)
        while true {
            let time = queued == nil ? max(end, MonotonicClock.microseconds + SendSession.answerTime) : end
            switch isGiven ? connection.next(untilMicroseconds: time) : .closed {
            case .line(let line) where line.isFinal: return line
            case .line(let line):
                if queued == nil { tellQueued(line) }
                queued = line
            case .timeout: return try unfinished()
            case .closed:
                guard let queued, let again = try reconnect() else { return try unfinished() }
                connection = again
                isGiven = connection.send(
                    ControlRequest(.await(requestID: queued.requestID ?? 0), deviceID: queued.deviceID))
            }
        }
    }

    /// The receiver went away; it may come back, and knows its requests then.
    private func reconnect() throws(CommandFailure) -> ControlConnection? {
        while MonotonicClock.microseconds < end {
            usleep(SendSession.lookTime)
            if let connection = try connect() { return connection }
        }
        return nil
    }

    private func tellQueued(_ line: ResultLine) {
        guard wanted.timeoutMicroseconds > 0 else { return }
        StandardError.say("waiting for \(line.subject) to answer")
    }

    private func runReceiver() throws(ReceiverError) {
        var configuration = ReceiverConfiguration(stateDirectory: wanted.stateDirectory)
        configuration.ports = wanted.ports
        configuration.writesFixes = false
        configuration.runtimeDirectory = runtimeDirectory
        let receiver = try Receiver(configuration) { notice in self.noticed(notice) }
        self.receiver = receiver
        defer { self.receiver = nil }
        submit()
        let rest = max(0, end - MonotonicClock.microseconds)
        if result == nil {
            receiver.stop(afterMicroseconds: rest)
            _ = try receiver.run()
        }
    }

    private func submit() {
        guard let receiver else { return }
        let line = receiver.submit(wanted.request)
        if !line.isFinal {
            queued = line
            rejection = nil
            tellQueued(line)
        } else if line.code == "unknown_collar", wanted.timeoutMicroseconds > 0 {
            // It may be heard yet.
            if rejection == nil { StandardError.say("waiting for \(line.subject) to be heard") }
            rejection = line
        } else {
            result = line
        }
    }

    private func noticed(_ notice: ReceiverNotice) {
        switch notice {
        case .requestEnded(let line):
            guard let queued, line.requestID == queued.requestID, line.deviceID == queued.deviceID else { return }
            result = line
            receiver?.stop(afterMicroseconds: SendSession.lastTime)
        case .collar:
            guard queued == nil, result == nil else { return }
            submit()
            if result != nil { receiver?.stop(afterMicroseconds: 0) }
        case .waitingForPort, .waitingForRadio, .cannotOpen, .noIdentity, .storageFailing, .requestsSetAside:
            StandardError.say(notice.text, remedy: notice.remedy)
        default: break
        }
    }
}
