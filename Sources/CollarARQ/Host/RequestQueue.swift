import CollarWire

/// A request of the host to a collar.
public enum HostRequest: Equatable, Sendable {
    /// A command. The collar replies with a result.
    case command(Command.Action)
    /// At most ``settingLimit`` settings to use, with a version above the collar's. Settings that are not named stay as they
    /// are. The collar replies with a report, or with a result that tells why it did not obey.
    case settingsUpdate(version: SettingsVersion, SettingList)
    /// A request for the settings in force. The collar replies with reports.
    case settingsRequest
    /// A message for the collar's application. The collar replies with a result once the application has it.
    case message(ApplicationMessage)

    /// The most settings of an update: as many as fit a sealed frame of 51 bytes.
    public static let settingLimit = 5

    /// Whether this is the command *pair*, the only command that a collar paired with another receiver can obey.
    public var isToPair: Bool { if case .command(.pair) = self { true } else { false } }

    /// Whether this request changes settings.
    var isSettingsUpdate: Bool { if case .settingsUpdate = self { true } else { false } }

    /// Appends the request as a bare frame of at most 51 bytes.
    /// - Parameters:
    ///   - requestID: the id that the collar's reply repeats.
    ///   - receiverID: the receiver that makes the request; not 0.
    ///   - address: address of the collar on the air, 1 … 254.
    ///   - log: the collar and its log, to which the CRC is bound.
    ///   - output: the frame is appended here.
    /// - Throws: `EncodeError.field(_:value:)` if a receiver id is 0.
    public func encode(
        requestID: UInt16, receiverID: UInt32, address: UInt8, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        switch self {
        case .command(let action):
            try Command(requestID: requestID, receiverID: receiverID, action: action)
                .encode(address: address, log: log, into: &output)
        case .settingsUpdate(let version, let entries):
            try Settings(direction: .update, requestID: requestID, version: version, entries: entries)
                .encode(address: address, flags: FrameFlags(poll: nil), log: log, into: &output)
        case .settingsRequest: try SettingsRequest(requestID: requestID).encode(address: address, log: log, into: &output)
        case .message(let message):
            try HostMessage(requestID: requestID, receiverID: receiverID, content: message)
                .encode(address: address, log: log, into: &output)
        }
    }

    /// Whether `other`, if it is newer, makes this request pointless. An update of settings does so if it names every key of
    /// the older one.
    public func isReplaced(by other: HostRequest) -> Bool {
        switch (self, other) {
        case (.settingsUpdate(_, let settings), .settingsUpdate(_, let newer)): newer.namesEveryKey(of: settings)
        case (.settingsRequest, .settingsRequest): true
        case (.command(let action), .command(let newer)): action.kind == newer.kind
        // A reply is never replaced: a newer message does not answer the same request.
        case (.message(let message), .message(let newer)):
            message.code == newer.code && !message.isReply && message.kind == newer.kind
        default: false
        }
    }
}

extension SettingList {
    /// Whether this list has a setting for every key of another list.
    fileprivate func namesEveryKey(of other: SettingList) -> Bool {
        for index in 0..<other.count {
            var isNamed = false
            for position in 0..<count where self[position].key == other[index].key { isNamed = true }
            guard isNamed else { return false }
        }
        return true
    }
}

extension Command.Action {
    /// Actions of one kind undo or repeat one another.
    fileprivate var kind: UInt8 {
        switch self {
        case .startTracking, .stopTracking: 1
        case .locateNow: 2
        case .sound: 3
        case .reboot: 4
        case .pair, .unpair: 5
        case .find: 6
        case .reportPower: 7
        }
    }
}

/// How a request ended.
public enum HostRequestOutcome: Equatable, Sendable {
    /// The collar's result.
    case result(CommandResult.Outcome)
    /// The collar reported its settings, which have this version.
    case reported(version: SettingsVersion)
    /// The deadline passed. The collar may have executed the request.
    case expired
    /// A newer request of the same kind replaced it before it was sent.
    case replaced
}

/// A request that has ended.
public struct EndedRequest: Equatable, Sendable {
    /// The id of the request on the air.
    public var requestID: UInt16
    /// The request.
    public var request: HostRequest
    /// How the request ended.
    public var outcome: HostRequestOutcome

    /// Creates an ended request.
    public init(requestID: UInt16, request: HostRequest, outcome: HostRequestOutcome) {
        self.requestID = requestID
        self.request = request
        self.outcome = outcome
    }
}

/// A request that has not ended.
public struct OpenRequest: Sendable {
    /// The id of the request on the air.
    public let requestID: UInt16
    /// The request.
    public let request: HostRequest
    /// When the request expires without a reply.
    public let deadline: Instant
    /// Number of requests that were added after this one, at most 8.
    public fileprivate(set) var successorCount: UInt8 = 0
    /// Number of windows until the request goes out again.
    fileprivate var wait: UInt8 = 0
    fileprivate var sentCount: UInt32 = 0
    /// Whether the collar may have received the request, from this process or an earlier one.
    fileprivate var mayBeHeard = false
    /// For ``HostRequest/settingsRequest``: the version of the last report, and a bit for each key named in a report of this
    /// version.
    fileprivate var reportedVersion = SettingsVersion.defaults
    fileprivate var reportedKeys: UInt32 = 0
}

/// The host's open requests to one collar. The queue decides which of them go out in a window, and when they end.
///
/// A request goes out with the same id in the first, second, fourth and eighth window after it was added, and then in every
/// eighth; the command *pair* goes out in every window. A request ends when its reply comes or its deadline passes. A window
/// holds at most two requests.
public struct RequestQueue: Sendable {
    /// The most open requests.
    public static let capacity = 8
    /// The most requests in a window, which bounds the length of the window.
    public static let windowLimit = 2

    /// Id of the receiver that makes the requests; not 0.
    public let receiverID: UInt32
    /// The id that was used last. The ids that follow it are used next.
    public var lastRequestID: UInt16
    private var pending = InlineArray<8, OpenRequest?>(repeating: nil)
    /// Number of open requests.
    public private(set) var count = 0
    private var sentInWindow = 0
    private var windowIndex = 0

    /// Creates an empty queue.
    ///
    /// The ids that follow `lastRequestID` are used next. This receiver must not have used them lately: if a command has the id
    /// and the action of one of the last eight commands that the collar executed, the collar treats it as a repeat and does not
    /// execute it.
    public init(receiverID: UInt32, lastRequestID: UInt16) {
        self.receiverID = receiverID
        self.lastRequestID = lastRequestID
    }

    /// Adds a request.
    /// - Parameters:
    ///   - request: the request to the collar.
    ///   - deadline: when the request expires without a reply.
    ///   - isLatestOnly: whether the request silently replaces open requests that it makes pointless and that were never sent. The
    ///     command *pair* always replaces an open *pair*.
    /// - Returns: the id of the request. It is nil if the queue is full, if an update has more than ``HostRequest/settingLimit``
    ///   settings, or if too many requests were added after the oldest open one. (The collar remembers eight commands. If it had
    ///   forgotten the oldest open one, it would execute a repeat of it.) Only the command *pair* may take the last place. It
    ///   also replaces open requests with too many successors: a collar without a receiver executes no other command, so those
    ///   requests would stay open and keep their places.
    public mutating func add(_ request: HostRequest, deadline: Instant, isLatestOnly: Bool = false) -> UInt16? {
        if case .settingsUpdate(_, let entries) = request, entries.count > HostRequest.settingLimit { return nil }
        var changed = self
        if isLatestOnly { changed.removeAll { !$0.mayBeHeard && $0.request.isReplaced(by: request) } }
        // The collar may have executed an open *pair* already, before it was paired with another receiver. It would not execute a
        // repeat of that *pair*.
        if request.isToPair { changed.removeAll { $0.request.isToPair } }
        let room = RequestQueue.capacity - (request.isToPair ? 0 : 1)
        if request.isToPair { changed.removeAll { $0.successorCount >= UInt8(RequestQueue.capacity - 1) } }
        guard changed.count < room, (changed.pending[0]?.successorCount ?? 0) < UInt8(room - 1) else { return nil }
        for index in 0..<changed.count { changed.pending[index]?.successorCount += 1 }
        // 0 is left out: in a report it means that there was no request.
        let next = lastRequestID == .max ? 1 : lastRequestID + 1
        changed.pending[changed.count] = OpenRequest(requestID: next, request: request, deadline: deadline)
        changed.count += 1
        changed.lastRequestID = next
        self = changed
        return next
    }

    /// Restores a request of an earlier process under its id. Requests must be restored in the order in which they were added.
    /// `successorCount` requests were added after this one.
    /// - Returns: false if the queue is full.
    public mutating func restore(_ requestID: UInt16, _ request: HostRequest, deadline: Instant, successorCount: UInt8) -> Bool {
        guard count < RequestQueue.capacity else { return false }
        pending[count] = OpenRequest(
            requestID: requestID, request: request, deadline: deadline, successorCount: successorCount, mayBeHeard: true)
        count += 1
        return true
    }

    /// The open request at an index below ``count``, oldest first; nil at any other index.
    public subscript(index: Int) -> OpenRequest? { index >= 0 && index < count ? pending[index] : nil }

    /// When the next request expires; nil if none is open.
    public var nextDeadline: Instant? {
        var next: Instant?
        for index in 0..<count { if let deadline = pending[index]?.deadline { next = min(next ?? deadline, deadline) } }
        return next
    }

    /// Whether a request waits for its reply.
    public func isOpen(_ requestID: UInt16) -> Bool {
        for index in 0..<count where pending[index]?.requestID == requestID { return true }
        return false
    }

    /// Begins a window: the collar has polled, and the host is about to answer. The requests that
    /// ``nextOfWindow(address:log:isForeign:into:)`` writes go out before the answer.
    public mutating func beginWindow() {
        sentInWindow = 0
        windowIndex = 0
        for index in 0..<count {
            if let wait = pending[index]?.wait, wait > 0 { pending[index]?.wait = wait - 1 }
        }
    }

    /// Writes the next request of this window as a bare frame of at most 51 bytes.
    /// - Parameters:
    ///   - address: address of the collar on the air, 1 … 254.
    ///   - log: the collar and its log, to which the CRC is bound.
    ///   - isForeign: whether the collar belongs to another receiver; then only the command *pair* goes out.
    ///   - output: empty, with room for 51 bytes.
    /// - Returns: the id of the request; nil if nothing more goes out in this window.
    public mutating func nextOfWindow(
        address: UInt8, log: LogIdentity, isForeign: Bool = false, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) -> UInt16? {
        while windowIndex < count, sentInWindow < RequestQueue.windowLimit {
            let index = windowIndex
            windowIndex += 1
            guard var next = pending[index], next.wait == 0, !isForeign || next.request.isToPair,
                !next.request.isSettingsUpdate || !isUpdateOpen(before: index),
                next.request.isToPair || !isUnpairOpen(before: index)
            else { continue }
            try next.request.encode(requestID: next.requestID, receiverID: receiverID, address: address, log: log, into: &output)
            // A collar of another receiver obeys *pair* only in the minute after power-on or a press of its button, so a *pair*
            // goes out in every window.
            next.wait = next.request.isToPair ? 0 : UInt8(1 &<< min(next.sentCount, 3))
            next.sentCount += 1
            next.mayBeHeard = true
            pending[index] = next
            sentInWindow += 1
            return next.requestID
        }
        return nil
    }

    /// Whether an older update is open. Updates go out one at a time: while a newer update is in force, the collar answers a
    /// repeat of an older one with a conflict.
    private func isUpdateOpen(before end: Int) -> Bool {
        for index in 0..<end { if let open = pending[index], open.request.isSettingsUpdate { return true } }
        return false
    }

    /// Whether an older command *unpair* is open. After it, the collar refuses all requests but *pair*.
    private func isUnpairOpen(before end: Int) -> Bool {
        for index in 0..<end where pending[index]?.request == .command(.unpair) { return true }
        return false
    }

    /// Receives a result that the collar sent.
    /// - Returns: the request that the result ends; nil for a repeated result, or for the result of another host's request.
    public mutating func accept(_ result: CommandResult) -> EndedRequest? { end(result.requestID, .result(result.outcome)) }

    /// Receives settings that the collar reported. A settings request ends when the reports have named all keys of one version.
    /// - Returns: the request that the report ends, if there is one.
    public mutating func accept(_ report: Settings) -> EndedRequest? {
        for index in 0..<count {
            guard report.direction == .report, var asked = pending[index], asked.requestID == report.requestID else { continue }
            switch asked.request {
            case .command, .message: return nil
            case .settingsUpdate(let version, _):
                return report.version >= version ? end(report.requestID, .reported(version: report.version)) : nil
            case .settingsRequest:
                if asked.reportedVersion != report.version { asked.reportedKeys = 0 }
                asked.reportedVersion = report.version
                for entry in 0..<report.entries.count where SettingKey(rawValue: report.entries[entry].key) != nil {
                    asked.reportedKeys |= 1 &<< UInt32(report.entries[entry].key)
                }
                pending[index] = asked
                let isWhole = asked.reportedKeys == RequestQueue.everyKey
                return isWhole ? end(report.requestID, .reported(version: report.version)) : nil
            }
        }
        return nil
    }

    /// The bits of all keys, from 1 on.
    private static let everyKey: UInt32 = 2 &<< UInt32(SettingKey.count) &- 2

    /// Receives the receiver id that the collar's identity names, 0 for none. An open command *pair* or *unpair*
    /// ends if the id shows that the command has taken effect.
    /// - Returns: the request that this ends, if there is one. Call this again until it returns nil.
    public mutating func learnReceiver(_ pairedReceiverID: UInt32) -> EndedRequest? {
        for index in 0..<count {
            guard let open = pending[index], open.mayBeHeard, case .command(let action) = open.request else { continue }
            switch action {
            case .pair(pairedReceiverID): return end(open.requestID, .result(.ok))
            case .unpair: if pairedReceiverID == 0 { return end(open.requestID, .result(.ok)) }
            default: break
            }
        }
        return nil
    }

    /// The collar has no receiver since a command *unpair*, so that it refuses the requests that it has not heard yet.
    /// - Returns: such a request, which ends; nil if there is none. Call this again until it returns nil.
    public mutating func refuseUnheard() -> EndedRequest? {
        for index in 0..<count {
            guard let open = pending[index], !open.mayBeHeard, !open.request.isToPair else { continue }
            return end(open.requestID, .result(.refused))
        }
        return nil
    }

    /// Ends a request whose deadline has passed.
    /// - Returns: the request that ended, if there is one. Call this again until it returns nil.
    public mutating func expire(now: Instant) -> EndedRequest? {
        for index in 0..<count {
            if let open = pending[index], open.deadline <= now { return end(open.requestID, .expired) }
        }
        return nil
    }

    private mutating func end(_ requestID: UInt16, _ outcome: HostRequestOutcome) -> EndedRequest? {
        for index in 0..<count {
            guard let open = pending[index], open.requestID == requestID else { continue }
            removeAll { $0.requestID == requestID }
            return EndedRequest(requestID: requestID, request: open.request, outcome: outcome)
        }
        return nil
    }

    private mutating func removeAll(where isUnwanted: (OpenRequest) -> Bool) {
        var kept = 0
        for index in 0..<count {
            guard let open = pending[index], !isUnwanted(open) else {
                // Later requests move to lower indices, and `windowIndex` moves with them.
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
