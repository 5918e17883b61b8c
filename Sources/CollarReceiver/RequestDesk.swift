import CollarARQ
import CollarBridge
import CollarJournal
import CollarWire

/// The requests to one collar: those that wait, kept durably, and the end of the protocol that sends them.
final class RequestDesk {
    /// Why a request is not taken.
    enum Refusal: Error, Equatable {
        /// As many wait as may, or an open one is eight ids old.
        case full
        /// The collar's settings have the highest version there is.
        case noVersion
        /// It could not be made durable.
        case storage(JournalError)
    }

    private let file: OutgoingRequestsFile
    private(set) var kept: OutgoingRequests
    private var queue: RequestQueue
    private var deadlines: [UInt16: Instant] = [:]

    /// A request waits for its answer no longer than this, in milliseconds: a week.
    static let longestWait: Int64 = 7 * 24 * 3_600_000

    private init(file: OutgoingRequestsFile, kept: OutgoingRequests, now: Instant, unixMilliseconds: Int64) {
        self.file = file
        self.kept = kept
        queue = RequestQueue(receiverID: kept.receiverID, lastRequestID: kept.lastRequestID)
        for open in kept.open {
            // A clock that was set back must not make it wait for ever.
            let rest = max(0, min(open.deadlineUnixMilliseconds.subtractingClamped(unixMilliseconds), RequestDesk.longestWait))
            let deadline = now.advanced(byMicroseconds: rest * 1000)
            if queue.restore(open.requestID, open.request, deadline: deadline) { deadlines[open.requestID] = deadline }
        }
    }

    /// Opens the desk of a collar whose journal is open.
    /// - Returns: nil where nothing was ever wanted of it, unless `isNeeded`; and whether a file that cannot be used was
    ///   set aside.
    static func open(
        _ journal: Journal, isNeeded: Bool, now: Instant, unixMilliseconds: Int64
    ) throws(JournalError) -> (desk: RequestDesk?, wasSetAside: Bool) {
        let file = OutgoingRequestsFile(in: journal.directory)
        let (deviceID, receiverID) = (journal.deviceID, journal.receiverID)
        var wasSetAside = false
        switch try file.load(deviceID: deviceID, receiverID: receiverID) {
        case .intact(let kept):
            return (RequestDesk(file: file, kept: kept, now: now, unixMilliseconds: unixMilliseconds), false)
        case .missing: break
        case .unusable:
            try file.setAside()
            wasSetAside = true
        }
        guard isNeeded else { return (nil, wasSetAside) }
        let kept = OutgoingRequests.beginning(deviceID: deviceID, receiverID: receiverID)
        return (RequestDesk(file: file, kept: kept, now: now, unixMilliseconds: unixMilliseconds), wasSetAside)
    }

    /// Whether a request to pair waits.
    var isPairingWanted: Bool { kept.open.contains { $0.request.isToPair } }

    /// When the next request ends unanswered.
    var nextDeadline: Instant? { deadlines.values.min() }

    /// Takes a request, durably.
    /// - Returns: its id, and the older ones that it makes pointless.
    func add(
        _ wish: (_ version: UInt64) -> HostRequest, waitMilliseconds: Int64, isLatestOnly: Bool, now: Instant,
        unixMilliseconds: Int64
    ) throws(Refusal) -> (requestID: UInt16, replaced: [OutgoingRequests.Ended]) {
        // The time makes it likely that the first version given here is above those that other receivers gave.
        let version = max(kept.highestVersion &+ 1, UInt64(clamping: unixMilliseconds))
        let request = wish(version)
        if case .order = request, kept.highestVersion == .max { throw .noVersion }
        let deadline = now.advanced(byMicroseconds: waitMilliseconds * 1000)
        var queue = queue
        guard let id = queue.add(request, deadline: deadline, isLatestOnly: isLatestOnly) else { throw .full }
        var kept = kept
        let gone = kept.open.map(\.requestID).filter { !queue.isOpen($0) }
        let replaced = gone.compactMap { kept.end($0, .replaced) }
        kept.lastRequestID = id
        if case .order = request { kept.learned(ofVersion: version) }
        kept.open.append(
            .init(
                requestID: id, request: request, deadlineUnixMilliseconds: unixMilliseconds + waitMilliseconds))
        do throws(JournalError) { try file.save(kept) } catch { throw .storage(error) }
        self.kept = kept
        self.queue = queue
        for id in gone { deadlines[id] = nil }
        deadlines[id] = deadline
        return (id, replaced)
    }

    /// The frames that go out in front of an answer.
    func takeWindow(address: UInt8, log: LogIdentity, isForeign: Bool) -> [[UInt8]] {
        queue.beginWindow()
        var frames: [[UInt8]] = []
        while true {
            do throws(EncodeError) {
                let frame = try [UInt8](capacity: Frame.minimumLimitByteCount) {
                    (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                    _ = try queue.nextOfWindow(address: address, log: log, isForeign: isForeign, into: &output)
                }
                guard !frame.isEmpty else { return frames }
                frames.append(frame)
            } catch { preconditionFailure("a request of a host fits the smallest frame: \(error)") }
        }
    }

    func received(_ result: CommandResult) -> [OutgoingRequests.Ended] { end(queue.received(result)) }

    func received(_ report: Settings) -> [OutgoingRequests.Ended] {
        kept.received(report)
        return end(queue.received(report))
    }

    func learnedReceiver(_ receiverID: UInt32) -> [OutgoingRequests.Ended] {
        var ended: [OutgoingRequests.Ended] = []
        while let one = queue.learnedReceiver(receiverID) { ended += end(one) }
        return ended
    }

    func expire(now: Instant) -> [OutgoingRequests.Ended] {
        var ended: [OutgoingRequests.Ended] = []
        while let one = queue.expire(now: now) { ended += end(one) }
        return ended
    }

    private func end(_ ended: EndedRequest?) -> [OutgoingRequests.Ended] {
        guard let ended, let one = kept.end(ended.requestID, .outcome(ended.outcome)) else { return [] }
        deadlines[ended.requestID] = nil
        return [one]
    }

    /// Makes durable what has ended. Where that fails the request is sent again after a restart, under its old id: the
    /// collar gives the old result.
    func save() throws(JournalError) { try file.save(kept) }

    /// A request as a line tells of it: that it waits, or what became of it.
    /// - Returns: nil where it is not known, or not any more.
    func line(ofRequest requestID: UInt16, unixMilliseconds: Int64) -> ResultLine? {
        if let open = kept.open.first(where: { $0.requestID == requestID }) {
            return ResultLine(
                outcome: .queued, unixMilliseconds: unixMilliseconds, deviceID: kept.deviceID, requestID: requestID,
                verb: open.request.verb)
        }
        return kept.ended.last { $0.requestID == requestID }.map { line(of: $0, unixMilliseconds: unixMilliseconds) }
    }

    /// What became of a request, as a line.
    func line(of ended: OutgoingRequests.Ended, unixMilliseconds: Int64) -> ResultLine {
        var line = ResultLine(
            outcome: ended.end.outcome, unixMilliseconds: unixMilliseconds, deviceID: kept.deviceID,
            requestID: ended.requestID, verb: ended.request.verb)
        if case .outcome(.reported(let version)) = ended.end {
            line.settingsVersion = version
            if ended.request == .report, let report = kept.report, report.version == version {
                line.settings = report.values.sorted { $0.key < $1.key }.map { Setting(key: $0.key, value: $0.value) }
            }
        }
        return line
    }
}

extension OutgoingRequests.End {
    fileprivate var outcome: ResultLine.Outcome {
        switch self {
        case .replaced: .replaced
        case .outcome(.expired): .expired
        case .outcome(.reported), .outcome(.result(.ok)): .ok
        case .outcome(.result(.unknown)): .unknown
        case .outcome(.result(.unsupported)): .unsupported
        case .outcome(.result(.invalid)): .invalid
        case .outcome(.result(.refused)): .refused
        case .outcome(.result(.conflict)): .conflict
        case .outcome(.result(.busy)): .busy
        case .outcome(.result(.timeout)): .timeout
        case .outcome(.result(.failed)): .failed
        }
    }
}

extension HostRequest {
    /// The word for it in a ``ControlRequest``.
    fileprivate var verb: String {
        switch self {
        case .command(.startTracking): "track_on"
        case .command(.stopTracking): "track_off"
        case .command(.locateNow): "locate"
        case .command(.sound): "sound"
        case .command(.reboot): "reboot"
        case .command(.pair): "pair"
        case .command(.unpair): "unpair"
        case .report: "get_settings"
        case .order: "set_settings"
        }
    }
}

extension Int64 {
    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, isTooLarge) = subtractingReportingOverflow(other)
        return isTooLarge ? (self < 0 ? .min : .max) : difference
    }
}
