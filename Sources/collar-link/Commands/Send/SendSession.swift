import CollarConfiguration
import CollarControl
import CollarErrors
import CollarFormats
import CollarReceiver
import Glibc
import LinuxSystem

/// Gives one request to the running receiver, or runs a receiver for it, and waits for the result.
final class SendSession {
    /// How long a receiver may take to confirm a request, in microseconds.
    private static let answerTime: Int64 = 5_000_000
    /// Time between two attempts to reach a receiver that went away, in microseconds.
    private static let lookTime: UInt32 = 200_000
    /// How long the session waits for an absent receiver, in microseconds. If the last receiver was killed, the session waits
    /// until ``end``.
    private static let absenceTime: Int64 = 2_000_000
    /// How long frames are stored and answered after the result has come, in microseconds.
    private static let lastTime: Int64 = 500_000

    private let wanted: SendArguments
    private let runtimeDirectory = Environment.value("XDG_RUNTIME_DIR")
    /// When waiting ends, as a time of `MonotonicClock`.
    private let end: Int64
    /// The line that says that the request is queued; nil before that.
    private var queued: ResultLine?
    private var result: ResultLine?
    /// The line that tells why the request is not accepted yet; nil if there is none.
    private var rejection: ResultLine?
    private var receiver: Receiver?

    init(_ wanted: SendArguments) {
        self.wanted = wanted
        // In mode `now` the receiver itself reports that the time is over. The session waits longer to receive this report.
        let patience: Int64 = wanted.request.mode == .now ? 1_000_000 : 0
        end = MonotonicClock.microseconds + wanted.timeoutMicroseconds + patience
    }

    /// Runs the session. Returns the result of the request, or its state when the time is over.
    func run() throws(CommandFailure) -> ResultLine {
        if let connection = try connect(), let line = try result(over: connection) { return line }
        while let connection = try connectionInsteadOfOwnReceiver() {
            if let line = try result(over: connection) { return line }
        }
        if let result = result ?? rejection { return result }
        return try unfinished()
    }

    /// Runs a receiver for the request.
    /// - Returns: nil if that was possible; else a connection to another receiver that started first.
    private func connectionInsteadOfOwnReceiver() throws(CommandFailure) -> ControlConnection? {
        do throws(ReceiverError) {
            try runReceiver()
            return nil
        } catch {
            // A receiver that has just started holds the journals before it listens.
            if case .host(.journal(.heldBy)) = error, let connection = try reconnect() { return connection }
            if queued != nil { StandardError.say("The request is queued; it is sent when the collar is heard.") }
            throw CommandFailure(error.message)
        }
    }

    /// The state of the request when the time is over without a result.
    private func unfinished() throws(CommandFailure) -> ResultLine {
        guard var line = queued else {
            throw CommandFailure(
                .portBusy, "The running collar-link does not answer: it is not known whether the request is queued.")
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
        case .absent, .deserted: CommandFailure(.noDevice, "No collar-link runs.")
        case .denied(let path):
            CommandFailure(
                .noPermission, "The collar-link of this state directory takes no requests of this user: \(path).",
                remedy: "Run `collar-link send` as the user who runs collar-link, or as root.")
        case .system(let path, let errorNumber):
            CommandFailure(.inputOutput, "\(path) cannot be reached: \(SystemError.text(errorNumber)).")
        }
    }

    /// - Returns: nil if the receiver has ended normally, and no other has started.
    private func result(over first: ControlConnection) throws(CommandFailure) -> ResultLine? {
        var connection = first
        // A failure is ignored here: a receiver that refuses the connection sends a line that tells why.
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

    /// The next request to a receiver: the wanted request or, if that is already queued, a request for its result.
    private var request: ControlRequest {
        guard let queued, let requestID = queued.requestID else { return wanted.request }
        return ControlRequest(.await(requestID: requestID), deviceID: queued.deviceID)
    }

    /// Waits for a receiver to start, or to come back.
    /// - Returns: nil if no receiver listens before the time is over, or within ``absenceTime`` after one has ended normally.
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
        tellReach(line)
        guard wanted.timeoutMicroseconds > 0 else { return }
        StandardError.say("This program is waiting for \(line.subject) to answer.")
    }

    /// Says within what time *find* reaches the collar.
    private func tellReach(_ line: ResultLine) {
        guard case .command(.command(.find)) = wanted.request.content, let deviceID = line.deviceID else { return }
        StandardError.say(FindReach(figures.collars[deviceID] ?? [:]).text(for: line.subject))
    }

    /// The figures that the receiver has of the collar; none where it does not tell them.
    private var figures: ReceiverFigures {
        if let receiver { return receiver.figures }
        do throws(ControlConnection.ConnectError) {
            let answer = try open().figures(untilMicroseconds: MonotonicClock.microseconds + SendSession.answerTime)
            if case .figures(let figures) = answer { return figures }
        } catch {
            // Without a receiver nothing is known.
        }
        return ReceiverFigures()
    }

    private func runReceiver() throws(ReceiverError) {
        var configuration = ReceiverConfiguration(stateDirectory: wanted.stateDirectory)
        configuration.ports = wanted.ports
        configuration.radio = wanted.radio
        configuration.write([])
        configuration.runtimeDirectory = runtimeDirectory
        configuration.animalPaths = StandardPaths.configurationFiles(named: "animals")
        configuration.placePaths = StandardPaths.configurationFiles(named: "places")
        let receiver = try Receiver(configuration) { self.noticed($0) }
        self.receiver = receiver
        defer { self.receiver = nil }
        submit()
        let rest = end - MonotonicClock.microseconds
        if result == nil, rest > 0 {
            receiver.stop(afterMicroseconds: rest)
            try receiver.run()
            // The reason that keeps the request back may have changed since the start.
            if result == nil, queued == nil { rejection = receiver.submit(request) }
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
            if rejection == nil {
                StandardError.say("\(line.reason.map { "\($0) " } ?? "")This program is waiting for \(line.subject) to be heard.")
            }
            rejection = line
        } else {
            result = line
        }
    }

    /// Whether the request was refused only because this receiver has just started. It may be accepted when the collar is heard.
    private func mayBeTakenLater(_ line: ResultLine) -> Bool {
        guard wanted.timeoutMicroseconds > 0 else { return false }
        switch line.code {
        case "unknown_collar": return true
        case "no_radio", "no_contact", "no_collar": return wanted.request.mode == .now
        default: return false
        }
    }

    /// Ends a request that is not queued yet, if it has the mode `now`, or if its collar was never heard and cannot be heard now. Called when
    /// no radio is available, or when no collar has sent its identity.
    /// - Parameter hasRadio: whether a collar may be heard yet.
    private func giveUpUnlessQueued(hasRadio: Bool) {
        guard queued == nil, result == nil, let receiver else { return }
        guard wanted.request.mode == .now || !hasRadio && rejection?.code == ErrorCode.unknownCollar.rawValue else { return }
        result = receiver.submit(request)
        receiver.stop(afterMicroseconds: 0)
    }

    private func noticed(_ reported: ReportedNotice) {
        switch reported.notice {
        case .host(.requestEnded(let report)):
            guard let queued, report.requestID == queued.requestID, report.deviceID == queued.deviceID else { return }
            result = ResultLine(report, unixMilliseconds: WallClock.unixMilliseconds)
            receiver?.stop(afterMicroseconds: SendSession.lastTime)
        case .host(.collar(_, .heard)):
            guard queued == nil, result == nil else { return }
            submit()
            if result != nil { receiver?.stop(afterMicroseconds: 0) }
        case .port(_, .waiting), .port(_, .cannotOpen), .waitingForRadio, .host(.link(_, .noIdentity)), .host(.collar(_, .storageFailing)),
            .host(.collar(_, .requestsSetAside)):
            StandardError.say(reported)
            switch reported.notice {
            case .port, .waitingForRadio: giveUpUnlessQueued(hasRadio: false)
            case .host(.link(_, .noIdentity(let silence, _))) where silence >= 5_000_000: giveUpUnlessQueued(hasRadio: true)
            default: break
            }
        default: break
        }
    }
}
