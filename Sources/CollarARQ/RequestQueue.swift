import CollarWire

/// The host's requests to one collar that have not ended: which go out in a window, and what ends them.
///
/// A request is repeated with the same id in the first, second, fourth and eighth window after it was given, and then in
/// every eighth, a *pair* in every window, until its answer comes or its time is over. A window holds at most two.
public struct RequestQueue: Sendable {
    /// Requests that may be open.
    public static let capacity = 8
    /// Requests in a window, so that its length is bounded.
    public static let windowLimit = 2

    private struct Pending {
        var requestID: UInt16
        var request: HostRequest
        var deadline: Instant
        /// Windows until it goes out.
        var wait: UInt8 = 0
        var sentCount: UInt32 = 0
        /// Whether the collar may have heard it: from this process, or from an earlier one.
        var mayBeHeard = false
        /// Of a report: its version, and a bit for each key that was named.
        var reportedVersion: UInt64 = 0
        var reportedKeys: UInt16 = 0
    }

    /// In whose name requests are made; not 0.
    public let receiverID: UInt32
    private var pending = InlineArray<8, Pending?>(repeating: nil)
    private var lastRequestID: UInt16
    /// Open requests.
    public private(set) var count = 0
    private var sentInWindow = 0
    private var windowIndex = 0

    /// An empty queue.
    /// - Parameter lastRequestID: the last id this receiver used with the collar; those that follow are used next. A host
    ///   keeps it durably: a collar does not execute one of the last eight ids again.
    public init(receiverID: UInt32, lastRequestID: UInt16) {
        self.receiverID = receiverID
        self.lastRequestID = lastRequestID
    }

    /// Adds a request.
    /// - Parameters:
    ///   - deadline: when it ends unanswered.
    ///   - isLatestOnly: whether open requests of the same kind that were never sent are given up for it, silently. A *pair*
    ///     always takes the place of an open one.
    /// - Returns: its id; nil where the queue is full, where an open request would be eight ids old (its repeat could come
    ///   when the collar has forgotten it), or for an order of more than ``HostRequest/settingLimit`` settings. The last
    ///   place is kept for a *pair*, and requests that would be too old for it are given up: a collar that belongs to nobody
    ///   executes nothing else, and so makes no room.
    public mutating func add(_ request: HostRequest, deadline: Instant, isLatestOnly: Bool = false) -> UInt16? {
        if case .order(_, let entries) = request, entries.count > HostRequest.settingLimit { return nil }
        var changed = self
        if isLatestOnly { changed.removeAll { !$0.mayBeHeard && $0.request.isOfSameKind(as: request) } }
        // A *pair* that was sent and not answered may be a repetition to the collar, which another receiver has taken since.
        if request.isToPair { changed.removeAll { $0.request.isToPair } }
        let next = nextRequestID
        let room = RequestQueue.capacity - (request.isToPair ? 0 : 1)
        if request.isToPair {
            let last = lastRequestID
            changed.removeAll { distance(from: $0.requestID, to: last) >= UInt16(RequestQueue.capacity - 1) }
        }
        guard changed.count < room, distance(from: changed.pending[0]?.requestID ?? next, to: next) < UInt16(room) else {
            return nil
        }
        changed.pending[changed.count] = Pending(requestID: next, request: request, deadline: deadline)
        changed.count += 1
        changed.lastRequestID = next
        self = changed
        return next
    }

    /// Takes up a request of an earlier process again, under the id it had. Give them in the order of their ids.
    /// - Returns: false where the queue is full.
    public mutating func restore(_ requestID: UInt16, _ request: HostRequest, deadline: Instant) -> Bool {
        guard count < RequestQueue.capacity else { return false }
        pending[count] = Pending(requestID: requestID, request: request, deadline: deadline, mayBeHeard: true)
        count += 1
        return true
    }

    /// 0 means "nobody asked" in a report.
    private var nextRequestID: UInt16 { lastRequestID == .max ? 1 : lastRequestID + 1 }

    /// How many ids `next` is after `id`. The collar remembers the last eight.
    private func distance(from id: UInt16, to next: UInt16) -> UInt16 { next >= id ? next - id : next &- id - 1 }

    /// Whether a request waits for its answer.
    public func isOpen(_ requestID: UInt16) -> Bool {
        for index in 0..<count where pending[index]?.requestID == requestID { return true }
        return false
    }

    /// The collar has asked and will be answered: a window begins. What ``nextOfWindow(address:log:into:)`` gives goes
    /// out before the answer.
    public mutating func beginWindow() {
        sentInWindow = 0
        windowIndex = 0
        for index in 0..<count {
            if let wait = pending[index]?.wait, wait > 0 { pending[index]?.wait = wait - 1 }
        }
    }

    /// Writes the next request of this window as a bare frame of at most 51 bytes.
    /// - Parameters:
    ///   - isForeign: whether the collar belongs to another receiver: nothing but *pair* goes out then.
    ///   - output: empty, with room for 51 bytes.
    /// - Returns: its id; nil where nothing more goes out in this window.
    public mutating func nextOfWindow(
        address: UInt8, log: LogIdentity, isForeign: Bool = false, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) -> UInt16? {
        while windowIndex < count, sentInWindow < RequestQueue.windowLimit {
            let index = windowIndex
            windowIndex += 1
            guard var next = pending[index], next.wait == 0, !isForeign || next.request.isToPair,
                !next.request.isOrder || !isOrderOpen(before: index)
            else { continue }
            try encode(next, address: address, log: log, into: &output)
            // A collar obeys a *pair* for a minute at most: that one goes out in every window.
            next.wait = next.request.isToPair ? 0 : UInt8(1 &<< min(next.sentCount, 3))
            next.sentCount += 1
            next.mayBeHeard = true
            pending[index] = next
            sentInWindow += 1
            return next.requestID
        }
        return nil
    }

    /// Orders go out one after the other: a repeat of one behind the next would be answered with a conflict.
    private func isOrderOpen(before end: Int) -> Bool {
        for index in 0..<end { if let open = pending[index], open.request.isOrder { return true } }
        return false
    }

    private func encode(
        _ next: Pending, address: UInt8, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        switch next.request {
        case .command(let order):
            try Command(requestID: next.requestID, receiverID: receiverID, order: order)
                .encode(address: address, log: log, into: &output)
        case .order(let version, let entries):
            try Settings(direction: .order, requestID: next.requestID, version: version, entries: entries)
                .encode(address: address, flags: FrameFlags(ask: nil), log: log, into: &output)
        case .report:
            try SettingsRequest(requestID: next.requestID).encode(address: address, log: log, into: &output)
        }
    }

    /// The collar sent a result.
    /// - Returns: the request that it ends; nil for a repeat, or for one that is not this host's.
    public mutating func received(_ result: CommandResult) -> EndedRequest? {
        end(result.requestID, .result(result.outcome))
    }

    /// The collar reported settings. A request for a report ends when all keys of one version were named.
    /// - Returns: the request that it ends, if one does.
    public mutating func received(_ report: Settings) -> EndedRequest? {
        for index in 0..<count {
            guard report.direction == .report, var asked = pending[index], asked.requestID == report.requestID else {
                continue
            }
            switch asked.request {
            case .command: return nil
            case .order(let version, _):
                return report.version >= version ? end(report.requestID, .reported(version: report.version)) : nil
            case .report:
                if asked.reportedVersion != report.version { asked.reportedKeys = 0 }
                asked.reportedVersion = report.version
                for entry in 0..<report.entries.count where SettingKey(rawValue: report.entries[entry].key) != nil {
                    asked.reportedKeys |= 1 &<< UInt16(report.entries[entry].key)
                }
                pending[index] = asked
                let isWhole = asked.reportedKeys == RequestQueue.everyKey
                return isWhole ? end(report.requestID, .reported(version: report.version)) : nil
            }
        }
        return nil
    }

    /// Bits 1 … 10.
    private static let everyKey: UInt16 = 0b111_1111_1110

    /// The collar's identity names its receiver, 0 for none: what was ordered to come about has.
    /// - Returns: the request that this ends, if one does; call it again until none does.
    public mutating func learnedReceiver(_ pairedReceiverID: UInt32) -> EndedRequest? {
        for index in 0..<count {
            guard let open = pending[index], open.mayBeHeard, case .command(let order) = open.request else { continue }
            switch order {
            case .pair(pairedReceiverID): return end(open.requestID, .result(.ok))
            case .unpair: if pairedReceiverID == 0 { return end(open.requestID, .result(.ok)) }
            default: break
            }
        }
        return nil
    }

    /// Ends a request whose time is over.
    /// - Returns: which, if one did; call it again until none does.
    public mutating func expire(now: Instant) -> EndedRequest? {
        for index in 0..<count {
            if let open = pending[index], open.deadline <= now { return end(open.requestID, .expired) }
        }
        return nil
    }

    private mutating func end(_ requestID: UInt16, _ outcome: HostRequestOutcome) -> EndedRequest? {
        guard isOpen(requestID) else { return nil }
        removeAll { $0.requestID == requestID }
        return EndedRequest(requestID: requestID, outcome: outcome)
    }

    private mutating func removeAll(where isUnwanted: (Pending) -> Bool) {
        var kept = 0
        for index in 0..<count {
            guard let open = pending[index], !isUnwanted(open) else {
                // The window goes on with the request behind.
                if index < windowIndex { windowIndex -= 1 }
                continue
            }
            pending[kept] = open
            kept += 1
        }
        for index in kept..<count { pending[index] = nil }
        count = kept
    }
}
