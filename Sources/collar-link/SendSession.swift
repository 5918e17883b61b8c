import CollarBridge
import CollarHost
import CollarReceiver
import Glibc
import SerialDevices

/// Gives one request to whoever has the state directory, or does it here, and waits for its end.
final class SendSession {
    /// How long a receiver may take to say that it has taken a request, in microseconds.
    private static let answerTime: Int64 = 5_000_000
    /// Time between two looks for a receiver that went away, in microseconds.
    private static let lookTime: UInt32 = 200_000
    /// After this time without a receiver, and without a sign that one was killed, it is taken for gone, in microseconds.
    private static let absenceTime: Int64 = 2_000_000
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
        if let connection = try connect(), let line = try result(over: connection) { return line }
        while let connection = try connectionInsteadOfOwnReceiver() {
            if let line = try result(over: connection) { return line }
        }
        if let result = result ?? rejection { return result }
        return try unfinished()
    }

    /// Does the request here.
    /// - Returns: nil where it was done; the receiver that was quicker to begin, otherwise.
    private func connectionInsteadOfOwnReceiver() throws(CommandFailure) -> ControlConnection? {
        do throws(ReceiverError) {
            try runReceiver()
            return nil
        } catch {
            // One that has just begun holds the journals before it listens.
            if case .host(.journal(.heldBy)) = error, let connection = try reconnect() { return connection }
            if queued != nil { StandardError.say("the request is queued; it is sent when the collar is heard") }
            throw CommandFailure(error)
        }
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

    private func open() throws(ControlConnection.ConnectError) -> ControlConnection {
        try ControlConnection(stateDirectory: wanted.stateDirectory, runtimeDirectory: runtimeDirectory)
    }

    private func connect() throws(CommandFailure) -> ControlConnection? {
        do throws(ControlConnection.ConnectError) { return try open() } catch {
            if error == .absent || error == .deserted { return nil }
            throw failure(error)
        }
    }

    private func failure(_ error: ControlConnection.ConnectError) -> CommandFailure {
        switch error {
        case .absent, .deserted: CommandFailure(.noDevice, "no collar-link runs")
        case .denied(let path):
            CommandFailure(
                .noPermission, "the collar-link of this state directory takes no requests of this user: \(path)",
                remedy: "run send as the user who runs collar-link, or as root")
        case .system(let path, let errorNumber):
            CommandFailure(.inputOutput, "\(path): \(SystemError.text(errorNumber))")
        }
    }

    /// - Returns: nil where the receiver has ended, as it was told to, and no other has come.
    private func result(over first: ControlConnection) throws(CommandFailure) -> ResultLine? {
        var connection = first
        // Where it is turned away a line tells why.
        connection.send(request)
        while true {
            let time = queued == nil ? max(end, MonotonicClock.microseconds + SendSession.answerTime) : end
            switch connection.next(untilMicroseconds: time) {
            case .line(let line) where line.isFinal: return line
            case .line(let line):
                if queued == nil { tellQueued(line) }
                queued = line
            case .timeout: return try unfinished()
            case .closed:
                guard queued != nil else { return try unfinished() }
                guard let again = try reconnect() else { return MonotonicClock.microseconds < end ? nil : try unfinished() }
                connection = again
                connection.send(request)
            }
        }
    }

    /// What to say to a receiver: what is wanted, and once that is queued, what became of it.
    private var request: ControlRequest {
        guard let queued, let requestID = queued.requestID else { return wanted.request }
        return ControlRequest(.await(requestID: requestID), deviceID: queued.deviceID)
    }

    /// Waits for a receiver to begin, or to come back.
    /// - Returns: nil where none does: at the end of the time, and some seconds after one has ended as it was told to.
    private func reconnect() throws(CommandFailure) -> ControlConnection? {
        var absentSince: Int64?
        while MonotonicClock.microseconds < end {
            usleep(SendSession.lookTime)
            do throws(ControlConnection.ConnectError) { return try open() } catch {
                let now = MonotonicClock.microseconds
                guard error == .absent else {
                    absentSince = nil
                    guard error == .deserted else { throw failure(error) }
                    continue
                }
                if now - (absentSince ?? now) > SendSession.absenceTime { return nil }
                absentSince = absentSince ?? now
            }
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
        configuration.write([])
        configuration.runtimeDirectory = runtimeDirectory
        let receiver = try Receiver(configuration) { notice in self.noticed(notice) }
        self.receiver = receiver
        defer { self.receiver = nil }
        submit()
        let rest = end - MonotonicClock.microseconds
        if result == nil, rest > 0 {
            receiver.stop(afterMicroseconds: rest)
            try receiver.run()
        }
    }

    private func submit() {
        guard let receiver else { return }
        let line = receiver.submit(request)
        if !line.isFinal {
            if queued == nil { tellQueued(line) }
            queued = line
            rejection = nil
        } else if mayBeTakenLater(line) {
            if rejection == nil { StandardError.say("waiting for \(line.subject) to be heard") }
            rejection = line
        } else {
            result = line
        }
    }

    /// Whether the collar may be heard yet: this receiver has just begun.
    private func mayBeTakenLater(_ line: ResultLine) -> Bool {
        guard wanted.timeoutMicroseconds > 0 else { return false }
        switch line.code {
        case "unknown_collar": return true
        case "no_radio", "no_contact", "no_collar": return wanted.request.mode == .now
        default: return false
        }
    }

    /// There is no radio, or nobody at it has said who it is: a command that does not wait has failed.
    private func giveUpUnlessQueued() {
        guard wanted.request.mode == .now, queued == nil, result == nil, let receiver else { return }
        result = receiver.submit(request)
        receiver.stop(afterMicroseconds: 0)
    }

    private func noticed(_ notice: ReceiverNotice) {
        switch notice {
        case .host(.commandEnded(let report)):
            guard let queued, report.requestID == queued.requestID, report.deviceID == queued.deviceID else { return }
            result = ResultLine(report, unixMilliseconds: WallClock.unixMilliseconds)
            receiver?.stop(afterMicroseconds: SendSession.lastTime)
        case .host(.collar):
            guard queued == nil, result == nil else { return }
            submit()
            if result != nil { receiver?.stop(afterMicroseconds: 0) }
        case .waitingForPort, .waitingForRadio, .cannotOpen, .host(.noIdentity), .host(.storageFailing), .host(.commandsSetAside):
            StandardError.say(notice.text, details: notice.details, remedy: notice.remedy)
            switch notice {
            case .waitingForPort, .waitingForRadio, .cannotOpen, .host(.noIdentity(_, seconds: 5)): giveUpUnlessQueued()
            default: break
            }
        default: break
        }
    }
}
