import CollarARQ
import CollarJournal
import CollarWire

/// The requests to one collar: the open ones, kept durably, and the protocol that sends them.
final class RequestOutbox {
    /// The requests, which are known after their file was read or the first request was submitted.
    private struct Contents {
        var kept: OutgoingRequests
        var queue: RequestQueue

        init(_ kept: OutgoingRequests, at time: HostTime) {
            self.kept = kept
            queue = RequestQueue(receiverID: kept.receiverID, lastRequestID: kept.lastRequestID)
            for open in kept.open {
                // A clock that was set back must not make a request wait forever.
                let now = time.unixMilliseconds
                let rest = min(max(open.deadlineUnixMilliseconds, now), now + RequestOutbox.longestWait) - now
                let deadline = time.instant.advanced(byMicroseconds: rest * 1000)
                _ = queue.restore(open.requestID, open.request, deadline: deadline, successorCount: open.successorCount)
            }
        }
    }

    private let file: OutgoingRequestsFile
    private let journal: Journal
    private let output: HostOutput
    /// Nil if no request was ever submitted, or the file could not be read.
    private var contents: Contents?

    /// The receiver that the collar's last identity named, 0 for none; nil if no identity came in this run.
    private var namedReceiverID: UInt32?

    /// The longest time that a request waits for its answer, in milliseconds: a week.
    private static let longestWait: Int64 = 7 * 24 * 3_600_000

    /// Opens the outbox of a collar whose journal is open, and restores the requests of an earlier process.
    /// - Parameter random: source of the first request id.
    init(
        _ journal: Journal, fileSystem: any FileSystem, output: HostOutput, at time: HostTime,
        random: inout any RandomNumberGenerator
    ) {
        file = OutgoingRequestsFile(in: journal.directory, fileSystem: fileSystem)
        self.journal = journal
        self.output = output
        do throws(JournalError) { contents = try load(at: time, random: &random) } catch {
            output.report(.requestsFailing(deviceID: deviceID, error))
        }
    }

    private func load(at time: HostTime, random: inout any RandomNumberGenerator) throws(JournalError) -> Contents? {
        switch try file.load(deviceID: deviceID, receiverID: receiverID) {
        case .intact(var kept):
            kept.skipUsedIDs(random: &random)
            return Contents(kept, at: time)
        case .missing: return nil
        case .unusable:
            try file.setAside()
            output.report(.requestsSetAside(deviceID: deviceID, path: journal.directory.path))
            return nil
        }
    }

    var isPairingWanted: Bool { contents?.kept.open.contains { $0.request.isToPair } ?? false }

    private var deviceID: UInt64 { journal.deviceID }
    private var receiverID: UInt32 { journal.receiverID }

    /// Whether the collar says that it has no receiver, and was unpaired by this one. Such a collar takes no acknowledgement of this
    /// receiver, either, unless its memory is erased.
    var hasReleased: Bool { journal.memory.isReleased && namedReceiverID == 0 }

    var openCount: Int { contents?.kept.open.count ?? 0 }

    var reportedVersion: SettingsVersion? { contents?.kept.report?.version }

    /// When the next open request expires; nil if none is open.
    var nextDeadline: Instant? { contents?.queue.nextDeadline }

    /// Accepts a request and stores it durably. The version of a settings update, the time of a message, and this
    /// receiver's id in a command *pair* whose receiver id is 0 are filled in here.
    /// - Parameter random: source of the first request id if no earlier process has left a file.
    func submit(
        _ request: HostRequest, patience: RequestPatience, at time: HostTime, random: inout any RandomNumberGenerator
    ) throws(RequestRefusal) -> RequestReport {
        if contents == nil {
            do throws(JournalError) { contents = try load(at: time, random: &random) } catch {
                throw .storage(deviceID: deviceID, error)
            }
        }
        var contents =
            self.contents
            ?? Contents(.beginning(deviceID: deviceID, receiverID: receiverID, random: &random), at: time)
        var request = request
        switch request {
        case .settingsUpdate(_, let list):
            // With the time as number, the version is likely to be above those that other receivers gave.
            guard
                let version = SettingsVersion(
                    after: contents.kept.highestVersion, unixMilliseconds: time.unixMilliseconds, receiverID: receiverID)
            else { throw .noVersion(deviceID: deviceID) }
            request = .settingsUpdate(version: version, list)
            contents.kept.learn(of: version)
        case .command(.pair(0)): request = .command(.pair(receiverID: receiverID))
        case .message(var message):
            message.unixSeconds = UInt32(clamping: time.unixMilliseconds / 1000)
            request = .message(message)
        case .command, .settingsRequest: break
        }
        var wait = RequestOutbox.longestWait
        if case .now(let milliseconds) = patience { wait = milliseconds }
        let deadline = time.instant.advanced(byMicroseconds: wait * 1000)
        guard let id = contents.queue.add(request, deadline: deadline, isLatestOnly: patience == .latest) else {
            throw .queueFull(deviceID: deviceID)
        }
        let replacedIDs = contents.kept.open.map(\.requestID).filter { !contents.queue.isOpen($0) }
        let replaced = replacedIDs.compactMap { id -> OutgoingRequests.Ended? in
            guard let open = contents.kept.open.first(where: { $0.requestID == id }) else { return nil }
            return contents.kept.end(id, open.request.isReplaced(by: request) ? .replaced : .outcome(.expired))
        }
        contents.kept.add(requestID: id, request, deadlineUnixMilliseconds: time.unixMilliseconds + wait)
        do throws(JournalError) { try file.save(contents.kept) } catch { throw .storage(deviceID: deviceID, error) }
        self.contents = contents
        for one in replaced { output.report(.requestEnded(report(one))) }
        return RequestReport(deviceID: deviceID, requestID: id, request: request, state: .queued)
    }

    /// The state of a request; nil if the request is unknown or no longer kept.
    func report(ofRequest requestID: UInt16) -> RequestReport? {
        guard let kept = contents?.kept else { return nil }
        if let open = kept.open.first(where: { $0.requestID == requestID }) {
            return RequestReport(deviceID: deviceID, requestID: requestID, request: open.request, state: .queued)
        }
        return kept.ended.last { $0.requestID == requestID }.map(report)
    }

    /// Sends the requests that are due. The caller sends its answer after them.
    func sendWindow(
        on link: LinkID, address: UInt8, log: LogIdentity, isForeign: Bool, sealing seal: SealedAnswer?,
        into frames: inout OutgoingFrames
    ) {
        guard contents?.kept.open.isEmpty == false else { return }
        contents?.queue.beginWindow()
        var isOver = false
        var index: UInt8 = 0
        while !isOver {
            index += 1
            frames.add(for: link, sealing: seal, index: index) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                let id = try contents?.queue.nextOfWindow(address: address, log: log, isForeign: isForeign, into: &output)
                isOver = id == nil
            }
        }
    }

    func accept(_ result: CommandResult, logID: UInt32) { end([contents?.queue.accept(result)], logID: logID) }

    func accept(_ report: Settings) {
        contents?.kept.accept(report)
        end([contents?.queue.accept(report)], logID: nil)
    }

    /// Accepts the receiver that the collar's identity names.
    /// - Parameter isNewLog: whether it also names a log that was not known before, so that the collar's memory was erased.
    func learnReceiver(of identity: Identity, isNewLog: Bool) {
        // Else another receiver may have unpaired the collar, which then takes this one's acknowledgements.
        let isOwn = namedReceiverID == journal.receiverID || journal.memory.isReleased
        let receiverID = identity.pairedReceiverID
        namedReceiverID = receiverID
        endAll(logID: identity.log.logID) { queue in queue.learnReceiver(receiverID) }
        if receiverID != 0 || isNewLog || !isOwn { journal.memory.isReleased = false }
        if hasReleased { endAll(logID: nil) { queue in queue.refuseUnheard() } }
    }

    /// Ends the requests whose time is over.
    func expire(at now: Instant) {
        guard let due = nextDeadline, now >= due else { return }
        endAll(logID: nil) { queue in queue.expire(now: now) }
    }

    private func endAll(logID: UInt32?, _ next: (inout RequestQueue) -> EndedRequest?) {
        guard var queue = contents?.queue else { return }
        var ended: [EndedRequest?] = []
        while let one = next(&queue) { ended.append(one) }
        contents?.queue = queue
        end(ended, logID: logID)
    }

    /// Stores ended requests durably and reports them. If storing fails, a request is sent again after a restart under its
    /// old id, and the collar gives the old result.
    /// - Parameter logID: the log of the frame that ended the requests; nil if no frame or a report did.
    private func end(_ requests: [EndedRequest?], logID: UInt32?) {
        guard var contents else { return }
        var ended: [OutgoingRequests.Ended] = []
        for case let request? in requests {
            if request.outcome == .result(.ok), let open = contents.kept.open.first(where: { $0.requestID == request.requestID }) {
                if open.request == .command(.unpair) {
                    journal.memory.isReleased = true
                    journal.memory.releasedLogID = logID
                }
                if open.request.isToPair { journal.memory.isReleased = false }
            }
            if let one = contents.kept.end(request.requestID, .outcome(request.outcome)) { ended.append(one) }
        }
        guard !ended.isEmpty else { return }
        self.contents = contents
        do throws(JournalError) { try file.save(contents.kept) } catch {
            output.report(.requestsFailing(deviceID: deviceID, error))
        }
        for one in ended { output.report(.requestEnded(report(one))) }
    }

    private func report(_ ended: OutgoingRequests.Ended) -> RequestReport {
        var report = RequestReport(
            deviceID: deviceID, requestID: ended.requestID, request: ended.request, state: .ended(ended.end))
        if ended.request == .settingsRequest, case .outcome(.reported(let version)) = ended.end,
            let told = contents?.kept.report, told.version == version
        {
            report.settings = told.values.sorted { $0.key < $1.key }.map { Setting(key: $0.key, value: $0.value) }
        }
        return report
    }
}

package struct RequestReport: Equatable, Sendable {
    package enum State: Equatable, Sendable {
        /// It is stored durably and goes out when the collar is heard.
        case queued
        case ended(OutgoingRequests.End)
    }

    package var deviceID: UInt64
    /// The request's id on the air.
    package var requestID: UInt16
    package var request: HostRequest
    package var state: State
    /// The settings that the collar reported, in the order of their keys; empty unless the request asked for them.
    package var settings: [Setting] = []
}

package enum RequestRefusal: Error, Equatable, Sendable {
    /// The collar was never heard here; `known` lists the collars that were.
    case unknownCollar(deviceID: UInt64, known: [UInt64])
    case noCollar
    /// The request names no collar and there are several.
    case whichCollar(known: [UInt64])
    /// The collar belongs to another receiver.
    case pairedElsewhere(deviceID: UInt64)
    /// The collar belongs to nobody, because this receiver released it: it obeys nothing but the command *pair*.
    case notPaired(deviceID: UInt64)
    /// No radio is open, and the request must not wait for one.
    case noRadio(deviceID: UInt64)
    /// The collar is not heard, and the request must not wait for it.
    case noContact(deviceID: UInt64)
    /// The queue is full, or the new id would be seven or more above the id of an open request.
    case queueFull(deviceID: UInt64)
    /// The collar's settings already have the highest possible version.
    case noVersion(deviceID: UInt64)
    /// No request of this id is known, or it ended long ago.
    case unknownRequest(deviceID: UInt64, requestID: UInt16)
    /// The request could not be made durable.
    case storage(deviceID: UInt64, JournalError)

    /// The collar that the request is for; nil if none was found.
    package var deviceID: UInt64? {
        switch self {
        case .unknownCollar(let deviceID, _), .pairedElsewhere(let deviceID), .notPaired(let deviceID), .noRadio(let deviceID),
            .noContact(let deviceID),
            .queueFull(let deviceID), .noVersion(let deviceID), .unknownRequest(let deviceID, _), .storage(let deviceID, _):
            deviceID
        case .noCollar, .whichCollar: nil
        }
    }
}
