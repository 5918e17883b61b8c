import CollarARQ
import CollarJournal
import CollarWire

/// The requests to one collar: the open ones, kept durably, and the protocol that sends them.
final class RequestOutbox {
    private let file: OutgoingRequestsFile
    private let journal: Journal
    private let output: HostOutput
    /// Nil if no request was ever submitted, or the file could not be read.
    private var requests: OutgoingRequests?

    /// The receiver that the collar's last identity named, 0 for none; nil if no identity came in this run.
    private var namedReceiverID: UInt32?

    /// Opens the outbox of a collar whose journal is open, and restores the requests of an earlier process.
    /// - Parameter random: source of the first request id.
    init(
        _ journal: Journal, fileSystem: any FileSystem, output: HostOutput, at time: HostTime,
        random: inout any RandomNumberGenerator
    ) {
        file = OutgoingRequestsFile(in: journal.directory, fileSystem: fileSystem)
        self.journal = journal
        self.output = output
        do throws(JournalError) { requests = try load(at: time, random: &random) } catch {
            output.report(.collar(deviceID, .requestsFailing(error)))
        }
        // A collar may be heard before the first look at deadlines: it must not be sent a request whose time ended meanwhile.
        expire(at: time)
    }

    private func load(at time: HostTime, random: inout any RandomNumberGenerator) throws(JournalError) -> OutgoingRequests? {
        switch try file.load(deviceID: deviceID, receiverID: receiverID, at: time) {
        case .intact(var requests):
            requests.skipUsedIDs(random: &random)
            return requests
        case .missing: return nil
        case .unusable:
            try file.setAside()
            output.report(.collar(deviceID, .requestsSetAside(path: journal.directory.path)))
            return nil
        }
    }

    var isPairingWanted: Bool { requests?.open.contains { $0.request.isToPair } ?? false }

    private var deviceID: DeviceID { journal.deviceID }
    private var receiverID: UInt32 { journal.receiverID }

    /// Whether the collar says that it has no receiver, and was unpaired by this one. Such a collar takes no acknowledgement of this
    /// receiver, either, unless its memory is erased.
    var hasReleased: Bool { journal.memory.isReleased && namedReceiverID == 0 }

    var openCount: Int { requests?.queue.count ?? 0 }

    var reportedVersion: SettingsVersion? { requests?.report?.version }

    /// When the next open request expires; nil if none is open.
    var nextDeadline: Instant? { requests?.queue.nextDeadline }

    /// Accepts a request and stores it durably. The version of a settings update, the time of a message, and this
    /// receiver's id in a command *pair* whose receiver id is 0 are filled in here.
    /// - Parameter random: source of the first request id if no earlier process has left a file.
    func submit(
        _ request: HostRequest, patience: RequestPatience, at time: HostTime, random: inout any RandomNumberGenerator
    ) throws(RequestRefusal) -> RequestReport {
        if requests == nil {
            do throws(JournalError) { requests = try load(at: time, random: &random) } catch {
                throw .storage(deviceID: deviceID, error)
            }
        }
        var requests = self.requests ?? .beginning(deviceID: deviceID, receiverID: receiverID, random: &random)
        var request = request
        switch request {
        case .settingsUpdate(_, let list):
            // With the time as number, the version is likely to be above those that other receivers gave.
            guard
                let version = SettingsVersion(
                    after: requests.highestVersion, unixMilliseconds: time.unixMilliseconds, receiverID: receiverID)
            else { throw .noVersion(deviceID: deviceID) }
            request = .settingsUpdate(version: version, list)
            requests.learn(of: version)
        case .command(.pair(0)): request = .command(.pair(receiverID: receiverID))
        case .message(var message):
            message.unixSeconds = UInt32(clamping: time.unixMilliseconds / 1000)
            request = .message(message)
        case .command, .settingsRequest: break
        }
        var wait = OutgoingRequests.longestWait * 1000
        if case .now(let microseconds) = patience { wait = microseconds }
        let deadline = time.instant.advanced(byMicroseconds: wait)
        guard let added = requests.add(request, deadline: deadline, isLatestOnly: patience == .latest) else {
            throw .queueFull(deviceID: deviceID)
        }
        do throws(JournalError) { try file.save(requests, at: time) } catch { throw .storage(deviceID: deviceID, error) }
        self.requests = requests
        for one in added.ended { output.report(.requestEnded(report(one))) }
        return RequestReport(deviceID: deviceID, requestID: added.requestID, request: request, state: .queued)
    }

    /// The state of a request; nil if the request is unknown or no longer kept.
    func report(ofRequest requestID: UInt16) -> RequestReport? {
        if let open = requests?.open.first(where: { $0.requestID == requestID }) {
            return RequestReport(deviceID: deviceID, requestID: requestID, request: open.request, state: .queued)
        }
        return requests?.ended.last { $0.requestID == requestID }.map(report)
    }

    /// Sends the requests that are due. The caller sends its answer after them.
    func sendWindow(
        on link: LinkID, address: UInt8, log: LogIdentity, isForeign: Bool, sealing seal: SealedAnswer?,
        into frames: inout OutgoingFrames
    ) {
        guard openCount > 0 else { return }
        requests?.queue.beginWindow()
        var isOver = false
        var index: UInt8 = 0
        while !isOver {
            index += 1
            frames.add(for: link, sealing: seal, index: index) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                let id = try requests?.queue.nextOfWindow(address: address, log: log, isForeign: isForeign, into: &output)
                isOver = id == nil
            }
        }
    }

    func accept(_ result: CommandResult, logID: LogID, at time: HostTime) {
        end(logID: logID, at: time) { queue in queue.accept(result) }
    }

    func accept(_ report: Settings, at time: HostTime) {
        requests?.accept(report)
        end(at: time) { queue in queue.accept(report) }
    }

    /// Accepts the receiver that the collar's identity names.
    /// - Parameter isNewLog: whether it also names a log that was not known before, so that the collar's memory was erased.
    func learnReceiver(of identity: Identity, isNewLog: Bool, at time: HostTime) {
        // Else another receiver may have unpaired the collar, which then takes this one's acknowledgements.
        let isOwn = namedReceiverID == journal.receiverID || journal.memory.isReleased
        let receiverID = identity.pairedReceiverID
        namedReceiverID = receiverID
        end(logID: identity.log.logID, at: time) { queue in queue.learnReceiver(receiverID) }
        if receiverID != 0 || isNewLog || !isOwn { journal.memory.isReleased = false }
        if hasReleased { end(at: time) { queue in queue.refuseUnheard() } }
    }

    func expire(at time: HostTime) {
        guard let due = nextDeadline, time.instant >= due else { return }
        end(at: time) { queue in queue.expire(now: time.instant) }
    }

    /// Ends requests until `next` returns nil, stores that durably, and reports it. If storing fails, a request is sent again after a
    /// restart under its old id, and the collar gives the old result.
    /// - Parameter logID: the log of the frame that ends the requests; nil if no result or identity does.
    private func end(logID: LogID? = nil, at time: HostTime, _ next: (inout RequestQueue) -> EndedRequest?) {
        guard var requests else { return }
        var ended: [EndedRequest] = []
        while let one = next(&requests.queue) {
            requests.note(one)
            ended.append(one)
        }
        self.requests = requests
        guard !ended.isEmpty else { return }
        for one in ended where one.outcome == .result(.ok) {
            if one.request == .command(.unpair) {
                journal.memory.isReleased = true
                journal.memory.releasedLogID = logID
            }
            if one.request.isToPair { journal.memory.isReleased = false }
        }
        do throws(JournalError) { try file.save(requests, at: time) } catch {
            output.report(.collar(deviceID, .requestsFailing(error)))
        }
        for one in ended { output.report(.requestEnded(report(one))) }
    }

    private func report(_ ended: EndedRequest) -> RequestReport {
        var report = RequestReport(
            deviceID: deviceID, requestID: ended.requestID, request: ended.request, state: .ended(ended.outcome))
        if ended.request == .settingsRequest, case .reported(let version) = ended.outcome,
            let told = requests?.report, told.version == version
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
        case ended(HostRequestOutcome)
    }

    package var deviceID: DeviceID
    /// The request's id on the air.
    package var requestID: UInt16
    package var request: HostRequest
    package var state: State
    /// The settings that the collar reported, in the order of their keys; empty unless the request asked for them.
    package var settings: [Setting] = []
}

package enum RequestRefusal: Error, Equatable, Sendable {
    /// The collar was never heard here; `known` lists the collars that were.
    case unknownCollar(deviceID: DeviceID, known: [DeviceID])
    case noCollar
    /// The request names no collar and there are several.
    case whichCollar(known: [DeviceID])
    /// The collar belongs to another receiver.
    case pairedElsewhere(deviceID: DeviceID)
    /// The collar belongs to nobody, because this receiver released it: it obeys nothing but the command *pair*.
    case notPaired(deviceID: DeviceID)
    /// No radio is open, and the request must not wait for one.
    case noRadio(deviceID: DeviceID)
    /// The collar is not heard, and the request must not wait for it.
    case noContact(deviceID: DeviceID)
    /// The queue is full, or the new id would be seven or more above the id of an open request.
    case queueFull(deviceID: DeviceID)
    /// The collar's settings already have the highest possible version.
    case noVersion(deviceID: DeviceID)
    /// No request of this id is known, or it ended long ago.
    case unknownRequest(deviceID: DeviceID, requestID: UInt16)
    /// The request could not be made durable.
    case storage(deviceID: DeviceID, JournalError)

    /// The collar that the request is for; nil if none was found.
    package var deviceID: DeviceID? {
        switch self {
        case .unknownCollar(let deviceID, _), .pairedElsewhere(let deviceID), .notPaired(let deviceID), .noRadio(let deviceID),
            .noContact(let deviceID),
            .queueFull(let deviceID), .noVersion(let deviceID), .unknownRequest(let deviceID, _), .storage(let deviceID, _):
            deviceID
        case .noCollar, .whichCollar: nil
        }
    }
}
