import CollarARQ
import CollarJournal
import CollarWire

/// The commands to one collar: those that wait, kept durably, and the end of the protocol that sends them.
final class CommandOutbox {
    /// What is known of the commands once their file was read, or the first one was given.
    private struct Contents {
        var kept: OutgoingRequests
        var queue: RequestQueue
        var deadlines: [UInt16: Instant] = [:]

        /// Takes up the commands of an earlier process.
        init(_ kept: OutgoingRequests, at time: HostTime) {
            self.kept = kept
            queue = RequestQueue(receiverID: kept.receiverID, lastRequestID: kept.lastRequestID)
            for open in kept.open {
                // A clock that was set back must not make it wait for ever.
                let now = time.unixMilliseconds
                let rest = min(max(open.deadlineUnixMilliseconds, now), now + CommandOutbox.longestWait) - now
                let deadline = time.instant.advanced(byMicroseconds: rest * 1000)
                if queue.restore(open.requestID, open.request, deadline: deadline) { deadlines[open.requestID] = deadline }
            }
        }
    }

    private let file: OutgoingRequestsFile
    private let directoryPath: String
    private let deviceID: UInt64
    private let receiverID: UInt32
    private let output: HostOutput
    /// Nil where no command was ever given, or the file could not be read.
    private var contents: Contents?

    /// A command waits for its answer no longer than this, in milliseconds: a week.
    private static let longestWait: Int64 = 7 * 24 * 3_600_000

    /// Opens the outbox of a collar whose journal is open, and takes up the commands of an earlier process.
    /// - Parameter random: where ids begin.
    init(
        _ journal: Journal, fileSystem: any FileSystem, output: HostOutput, at time: HostTime,
        random: inout any RandomNumberGenerator
    ) {
        file = OutgoingRequestsFile(in: journal.directory, fileSystem: fileSystem)
        directoryPath = journal.directory.path
        deviceID = journal.deviceID
        receiverID = journal.receiverID
        self.output = output
        do throws(JournalError) { contents = try load(at: time, random: &random) } catch {
            output.report(.commandsFailing(deviceID: deviceID, error))
        }
    }

    private func load(
        at time: HostTime, random: inout any RandomNumberGenerator
    ) throws(JournalError) -> Contents? {
        switch try file.load(deviceID: deviceID, receiverID: receiverID) {
        case .intact(var kept):
            // The ids of open requests count from each other.
            if kept.open.isEmpty { kept.skipUsedIDs(random: &random) }
            return Contents(kept, at: time)
        case .missing: return nil
        case .unusable:
            try file.setAside()
            output.report(.commandsSetAside(deviceID: deviceID, path: directoryPath))
            return nil
        }
    }

    /// Whether a command to pair waits.
    var isPairingWanted: Bool { contents?.kept.open.contains { $0.request.isToPair } ?? false }

    /// Commands that have not ended.
    var openCount: Int { contents?.kept.open.count ?? 0 }

    /// The version of the settings that the collar reported last; nil where it never did.
    var reportedVersion: UInt64? { contents?.kept.report?.version }

    /// When the next command ends unanswered.
    var nextDeadline: Instant? { contents?.deadlines.values.min() }

    /// Takes a command, durably. The version of settings and the receiver of a *pair* are set here.
    /// - Parameter random: where ids begin that no earlier process has left a trace of.
    func submit(
        _ request: HostRequest, patience: CommandPatience, at time: HostTime, random: inout any RandomNumberGenerator
    ) throws(CommandRefusal) -> CommandReport {
        if contents == nil {
            do throws(JournalError) { contents = try load(at: time, random: &random) } catch {
                throw .storage(deviceID: deviceID, error)
            }
        }
        var contents =
            self.contents
            ?? Contents(.beginning(deviceID: deviceID, receiverID: receiverID, random: &random), at: time)
        // The time makes it likely that the first version given here is above those that other receivers gave.
        let version = max(contents.kept.highestVersion &+ 1, UInt64(clamping: time.unixMilliseconds))
        var request = request
        switch request {
        case .order(_, let list):
            guard contents.kept.highestVersion < .max else { throw .noVersion(deviceID: deviceID) }
            request = .order(version: version, list)
            contents.kept.learned(ofVersion: version)
        case .command(.pair(0)): request = .command(.pair(receiverID: receiverID))
        case .command, .report: break
        }
        var wait = CommandOutbox.longestWait
        if case .now(let milliseconds) = patience { wait = milliseconds }
        let deadline = time.instant.advanced(byMicroseconds: wait * 1000)
        guard let id = contents.queue.add(request, deadline: deadline, isLatestOnly: patience == .latest) else {
            throw .queueFull(deviceID: deviceID)
        }
        let replacedIDs = contents.kept.open.map(\.requestID).filter { !contents.queue.isOpen($0) }
        let replaced = replacedIDs.compactMap { id -> OutgoingRequests.Ended? in
            guard let open = contents.kept.open.first(where: { $0.requestID == id }) else { return nil }
            return contents.kept.end(id, open.request.isOfSameKind(as: request) ? .replaced : .outcome(.expired))
        }
        for id in replacedIDs { contents.deadlines[id] = nil }
        contents.deadlines[id] = deadline
        contents.kept.lastRequestID = id
        contents.kept.open.append(
            .init(requestID: id, request: request, deadlineUnixMilliseconds: time.unixMilliseconds + wait))
        do throws(JournalError) { try file.save(contents.kept) } catch { throw .storage(deviceID: deviceID, error) }
        self.contents = contents
        for one in replaced { output.report(.commandEnded(report(one))) }
        return CommandReport(deviceID: deviceID, requestID: id, request: request, state: .queued)
    }

    /// What became of a command; nil where it is not known, or not any more.
    func report(ofRequest requestID: UInt16) -> CommandReport? {
        guard let kept = contents?.kept else { return nil }
        if let open = kept.open.first(where: { $0.requestID == requestID }) {
            return CommandReport(deviceID: deviceID, requestID: requestID, request: open.request, state: .queued)
        }
        return kept.ended.last { $0.requestID == requestID }.map(report)
    }

    /// Sends the commands that go out before an answer.
    func sendWindow(
        on link: LinkID, address: UInt8, log: LogIdentity, isForeign: Bool, into frames: inout OutgoingFrames
    ) {
        guard contents?.kept.open.isEmpty == false else { return }
        contents?.queue.beginWindow()
        var isOver = false
        while !isOver {
            frames.add(for: link) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                let id = try contents?.queue.nextOfWindow(address: address, log: log, isForeign: isForeign, into: &output)
                isOver = id == nil
            }
        }
    }

    /// The collar's result came in.
    func received(_ result: CommandResult) { end([contents?.queue.received(result)]) }

    /// The collar's report of its settings came in.
    func received(_ report: Settings) {
        contents?.kept.received(report)
        end([contents?.queue.received(report)])
    }

    /// The collar's identity names its receiver.
    func learnedReceiver(_ receiverID: UInt32) {
        endAll { queue in queue.learnedReceiver(receiverID) }
    }

    /// Ends the commands whose time is over.
    func expire(at now: Instant) {
        guard let due = nextDeadline, now >= due else { return }
        endAll { queue in queue.expire(now: now) }
    }

    private func endAll(_ next: (inout RequestQueue) -> EndedRequest?) {
        guard var queue = contents?.queue else { return }
        var ended: [EndedRequest?] = []
        while let one = next(&queue) { ended.append(one) }
        contents?.queue = queue
        end(ended)
    }

    /// Keeps what has ended, durably, and reports it. If that fails the command is sent again after a restart, under its old
    /// id: the collar gives the old result.
    private func end(_ requests: [EndedRequest?]) {
        guard var contents else { return }
        var ended: [OutgoingRequests.Ended] = []
        for case let request? in requests {
            contents.deadlines[request.requestID] = nil
            if let one = contents.kept.end(request.requestID, .outcome(request.outcome)) { ended.append(one) }
        }
        guard !ended.isEmpty else { return }
        self.contents = contents
        do throws(JournalError) { try file.save(contents.kept) } catch {
            output.report(.commandsFailing(deviceID: deviceID, error))
        }
        for one in ended { output.report(.commandEnded(report(one))) }
    }

    private func report(_ ended: OutgoingRequests.Ended) -> CommandReport {
        var report = CommandReport(
            deviceID: deviceID, requestID: ended.requestID, request: ended.request, state: .ended(ended.end))
        if ended.request == .report, case .outcome(.reported(let version)) = ended.end,
            let told = contents?.kept.report, told.version == version
        {
            report.settings = told.values.sorted { $0.key < $1.key }.map { Setting(key: $0.key, value: $0.value) }
        }
        return report
    }
}
