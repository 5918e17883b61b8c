import CollarARQ
import CollarWire

/// Commands and settings of the host.
extension Collar {
    /// How long a collar obeys the command *pair* from any receiver after power-on or a press of its button.
    private static var pairingWindowMicroseconds: Int64 { 60_000_000 }

    /// Notes that the button was pressed: for 60 s the collar obeys the command *pair* from any receiver, and key requests on its
    /// cable.
    public mutating func openPairingWindow(now: Instant) { openPairingWindow(now: now, byButton: true) }

    mutating func openPairingWindow(now: Instant, byButton: Bool) {
        isButtonWindow = byButton
        exchange = nil
        cableReply = nil
        pairingWindowEnd = now.advanced(byMicroseconds: Self.pairingWindowMicroseconds)
    }

    /// Whether the 60 s after power-on or a press of the button are not over.
    func isPairingWindowOpen(now: Instant) -> Bool { pairingWindowEnd.map { now < $0 } ?? false }

    /// Whether replies wait to be sent. Firmware that is told to reboot sends them first, if it can.
    public var isReplyWaiting: Bool { replies.count > 0 }

    /// Handles a command or message that is not to be executed now, and queues its reply, if there is one.
    /// - Returns: nil if the request must be executed.
    private mutating func receptionIfNotDue(
        _ request: ExecutedRequests.Request, isPairing: Bool, isSupported: Bool, now: Instant
    ) -> Reception? {
        delivery.requestReceived(now: now)
        let id = request.requestID
        if let memory = executed.memory(of: request, in: settingsStore) {
            repeatedRequestCount &+= 1
            if case .finished(let outcome) = memory { reply(.result(CommandResult(requestID: id, outcome: outcome))) }
            return .repeatedRequest(requestID: id)
        }
        // If a result of this request is queued, it must still be true when it is sent, so the request is not executed now.
        guard !replies.containsResult(ofRequest: id) else { return .requestNotTaken(requestID: id) }
        let isOwn = pairedReceiverID != 0 && request.receiverID == pairedReceiverID
        guard isOwn || isPairing && (pairedReceiverID == 0 || isPairingWindowOpen(now: now)) else { return refuse(id) }
        guard replies.room > 0 || isPairing else { return .requestNotTaken(requestID: id) }
        return isSupported ? nil : answer(id, .unsupported)
    }

    mutating func accept(_ message: HostMessage, now: Instant) throws(FlashError) -> Reception {
        let request = ExecutedRequests.Request(message)
        let isSupported = configuration.capabilities.contains(.messages)
        if let reception = receptionIfNotDue(request, isPairing: false, isSupported: isSupported, now: now) { return reception }
        try remember(request, nil)
        return .message(message)
    }

    mutating func execute(_ command: Command, now: Instant) throws(FlashError) -> Reception {
        let id = command.requestID
        let request = ExecutedRequests.Request(command)
        var isSupported = true
        if case .sound = command.action { isSupported = configuration.capabilities.contains(.sounder) }
        let reception = receptionIfNotDue(request, isPairing: isToPair(command.action), isSupported: isSupported, now: now)
        if let reception { return reception }
        switch command.action {
        case .startTracking, .stopTracking: try setTracking(command.action == .startTracking, by: request, now: now)
        case .pair(let receiverID): try changeReceiver(to: receiverID, request, now: now)
        case .unpair: try changeReceiver(to: 0, request, now: now)
        case .reboot, .find: try remember(request, .ok)
        case .reportPower:
            try remember(request, .ok)
            isPowerReportWanted = true
            lastPowerReport = nil
        case .locateNow, .sound:
            try remember(request, nil)
            return .command(requestID: id, command.action)
        }
        reply(.result(CommandResult(requestID: id, outcome: .ok)))
        return .command(requestID: id, command.action)
    }

    /// Whether an action is *pair*. This command is executed even if there is no room for its reply, because the identity tells
    /// the result as well. Otherwise a collar that gets no answers any more could not be paired: it cannot send the replies that
    /// fill its queue.
    private func isToPair(_ action: Command.Action) -> Bool { if case .pair = action { true } else { false } }

    /// Notes that the firmware has executed the action of ``Reception/command(requestID:_:)``, or has failed to. This is needed
    /// for `Command.Action.locateNow` and `Command.Action.sound(milliseconds:)`, and for ``Reception/message(_:)``; the other
    /// actions have their reply already.
    /// - Returns: false if no such request is being executed.
    /// - Throws: ``FlashError`` if the outcome could not be stored; the call may be repeated.
    @discardableResult
    public mutating func finish(requestID: UInt16, outcome: CommandResult.Outcome) throws(FlashError) -> Bool {
        guard try executed.finish(requestID, outcome, in: &settingsStore, &flash) else { return false }
        reply(.result(CommandResult(requestID: requestID, outcome: outcome)))
        return true
    }

    /// Remembers a request durably, before it has an effect.
    private mutating func remember(_ request: ExecutedRequests.Request, _ outcome: CommandResult.Outcome?) throws(FlashError) {
        let executed = executed
        try settingsStore.change(in: &flash) { executed.remember(request, outcome, in: &$0) }
        self.executed.began(isInProgress: outcome == nil)
    }

    /// Starts or stops tracking, durably, as the button of the collar does.
    public mutating func setTracking(_ isOn: Bool, now: Instant) throws(FlashError) {
        if isOn != isTracking { try setTracking(isOn, by: nil, now: now) }
    }

    private mutating func setTracking(_ isOn: Bool, by request: ExecutedRequests.Request?, now: Instant) throws(FlashError) {
        let executed = executed
        let wasOn = isTracking
        let time = condition?.unixMilliseconds(atUptimeMilliseconds: uptimeMilliseconds(now: now)) ?? 0
        let since = UInt32(truncatingIfNeeded: time / 1000)
        try settingsStore.change(in: &flash) {
            if let request { executed.remember(request, .ok, in: &$0) }
            if isOn != wasOn { $0[.tracking] = (isOn ? 1 &<< 32 : 0) | UInt64(widening: since) }
        }
        if request != nil { self.executed.began(isInProgress: false) }
        obeyHeartbeat(now: now)
        isStatusWanted = true
    }

    /// Whether positions are logged. The value is kept across a reboot and is true in a new collar.
    /// ``log(_:)-(Fix)`` accepts fixes in either case.
    public var isTracking: Bool { settingsStore.value(of: .tracking).map { $0 &>> 32 != 0 } ?? true }

    /// Since when ``isTracking`` has its value, in seconds since 1970; 0 if the time of day was not known.
    public var trackingSinceUnixSeconds: UInt32 { UInt32(truncatingIfNeeded: settingsStore.value(of: .tracking) ?? 0) }

    private mutating func changeReceiver(
        to receiverID: UInt32, _ request: ExecutedRequests.Request, now: Instant
    ) throws(FlashError) {
        guard receiverID != pairedReceiverID else { return try remember(request, .ok) }
        let executed = executed
        let logID = UInt64(widening: log.logID.rawValue) &<< 32
        let delivered = max(delivery.acknowledgedEnd, formerlyDelivered)
        let former = pairedReceiverID
        try settingsStore.change(in: &flash) {
            executed.remember(request, .ok, in: &$0)
            $0[.pairedReceiverID] = UInt64(widening: receiverID)
            $0[.firstUndelivered] = logID
            $0[.formerlyDelivered] = logID | UInt64(widening: delivered)
            $0[.releasedReceiverID] = UInt64(widening: receiverID == 0 ? former : 0)
        }
        self.executed.began(isInProgress: false)
        pairedReceiverID = receiverID
        formerlyDelivered = delivered
        delivery.receiverChanged(now: now)
    }

    mutating func accept(_ update: Settings, now: Instant) throws(FlashError) -> Reception {
        delivery.requestReceived(now: now)
        let id = update.requestID
        guard pairedReceiverID != 0 else { return refuse(id) }
        guard replies.room > 0 else { return .requestNotTaken(requestID: id) }
        // A repeat of the update in force changes nothing.
        if update.version == settings.version, settings.applying(update.entries) == settings {
            repeatedRequestCount &+= 1
            reply(.settings(requestID: id, SettingKeys(of: update.entries)))
            return .repeatedRequest(requestID: id)
        }
        guard update.version > settings.version else { return answer(id, .conflict) }
        guard update.version.isPlausible(after: settings.version), var new = settings.applying(update.entries) else {
            return answer(id, .invalid)
        }
        new.version = update.version
        let wereLost = isSettingsLost
        try settingsStore.change(in: &flash) { new.store(in: &$0) }
        settings = new
        obeyHeartbeat(now: now)
        if wereLost { isStatusWanted = true }
        reply(.settings(requestID: id, SettingKeys(of: update.entries)))
        return .settingsChanged
    }

    /// Puts the heartbeat and the longest wait of the settings in force.
    @inline(never) mutating func obeyHeartbeat(now: Instant) {
        let seconds =
            isFinding
            ? Self.findHeartbeatSeconds
            : settings.heartbeatInForce(
                defaultSeconds: configuration.delivery.heartbeatSeconds, isTracking: isTracking, isAtRest: isAtRest)
        let longest = settings[.outOfReachSeconds]
        delivery.setLongestWait(
            microseconds: isFinding || longest == 0
                ? configuration.delivery.maximumTimeoutMicroseconds : Int64(widening: longest) * 1_000_000)
        guard seconds != heartbeatSeconds else { return }
        heartbeatSeconds = seconds
        delivery.setHeartbeat(microseconds: Int64(widening: seconds) * 1_000_000, now: now)
    }

    mutating func accept(_ request: SettingsRequest, now: Instant) -> Reception {
        delivery.requestReceived(now: now)
        guard replies.room >= Int(SettingKeys.partCount) else { return .requestNotTaken(requestID: request.requestID) }
        for part in 0..<SettingKeys.partCount { reply(.settings(requestID: request.requestID, SettingKeys(part: part))) }
        return .settingsRequest
    }

    /// The longest silence of a collar while *find* is in force, in seconds.
    private static var findHeartbeatSeconds: UInt32 { 10 }

    /// Notes whether *find* is in force, and whether the collar is at rest: both change the heartbeat, and *find* the longest time
    /// between unanswered polls.
    public mutating func paceChanged(isFinding: Bool, isAtRest: Bool, now: Instant) {
        guard isFinding != self.isFinding || isAtRest != self.isAtRest else { return }
        self.isFinding = isFinding
        self.isAtRest = isAtRest
        obeyHeartbeat(now: now)
    }

    /// A refused request gets a reply only if no other reply is queued.
    private mutating func refuse(_ requestID: UInt16) -> Reception {
        guard replies.count == 0 else { return .requestNotTaken(requestID: requestID) }
        return answer(requestID, .refused)
    }

    private mutating func answer(_ requestID: UInt16, _ outcome: CommandResult.Outcome) -> Reception {
        reply(.result(CommandResult(requestID: requestID, outcome: outcome)))
        return .requestNotExecuted(requestID: requestID, outcome)
    }

    /// Queues a reply. If there is no room, the reply is dropped; the host will repeat its request.
    mutating func reply(_ reply: Reply) {
        guard replies.room > 0, !replies.contains(reply) else { return }
        replies.append(reply)
        delivery.replyWaits(frameCount: 1)
    }
}

/// A frame of a host to a collar, in clear. A decoder of every message would need four times as much program memory.
enum HostFrame {
    case acknowledgement(Acknowledgement)
    case identityRequest
    case settingsRequest(SettingsRequest)
    case settingsUpdate(Settings)
    case command(Command)
    case message(HostMessage)

    /// Decodes a frame of a host.
    /// - Throws: ``DecodeError``; ``DecodeError/unknownType(_:)`` also for a frame of a collar or a base radio.
    init(decoding frame: Span<UInt8>, log: LogIdentity) throws(DecodeError) {
        let header = try FrameHeader(frame)
        guard let type = header.type, !type.isFromCollar else { throw .unknownType(header.typeCode) }
        guard FrameCRC.isValid(frame, log: type.isBoundToLog ? log : nil) else { throw .crcMismatch }
        switch type {
        case .acknowledgement: self = .acknowledgement(try Acknowledgement(decoding: frame, header: header))
        case .identityRequest:
            _ = try IdentityRequest(decoding: frame)
            self = .identityRequest
        case .settingsRequest: self = .settingsRequest(try SettingsRequest(decoding: frame))
        case .settingsUpdate: self = .settingsUpdate(try Settings(decoding: frame, direction: .update))
        case .command: self = .command(try Command(decoding: frame))
        case .hostMessage: self = .message(try HostMessage(decoding: frame))
        case .identity, .absoluteFix, .liveFix, .batch, .probe, .status, .settingsReport, .commandResult, .collarMessage,
            .radioIdentity, .modemSettings, .signalReport, .tombstone, .powerReport:
            throw .unknownType(header.typeCode)
        }
    }
}

/// A frame that waits to be sent in reply to a request of the host.
enum Reply: Equatable {
    /// The result of a request.
    case result(CommandResult)
    /// One of the frames that report the settings in force.
    case settings(requestID: UInt16, SettingKeys)
    /// The status of the collar.
    case status
    /// How the collar spends its battery.
    case powerReport
}

/// Up to five frames of replies, oldest first. A reply that is lost on the air is not sent again; the host repeats its
/// request.
struct ReplyQueue {
    static let capacity = 5
    private var replies = InlineArray<5, Reply>(repeating: .status)
    private(set) var count = 0

    var room: Int { ReplyQueue.capacity - count }

    func contains(_ reply: Reply) -> Bool {
        for index in 0..<count where replies[index] == reply { return true }
        return false
    }

    func containsResult(ofRequest requestID: UInt16) -> Bool {
        for index in 0..<count {
            if case .result(let result) = replies[index], result.requestID == requestID { return true }
        }
        return false
    }

    /// Adds a reply at the end; there must be room.
    mutating func append(_ reply: Reply) {
        replies[count] = reply
        count += 1
    }

    mutating func removeFirst() -> Reply? {
        guard count > 0 else { return nil }
        let first = replies[0]
        for index in 1..<count { replies[index - 1] = replies[index] }
        count -= 1
        return first
    }
}
