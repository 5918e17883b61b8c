import CollarARQ
import CollarWire

/// What a collar does between its GNSS receiver and its radio, without either: fixes and received frames go in,
/// frames to send come out.
public struct Collar<Flash: FlashDevice> {
    let configuration: Configuration
    var flash: Flash
    var settingsStore: SettingsStore<Flash>
    var fixLog: FixLog<Flash>
    var delivery: CollarDelivery
    var executed: ExecutedRequests
    var replies = ReplyQueue()
    var pairingWindowEnd: Instant?
    /// Below it everything was acknowledged by a former receiver.
    var formerlyDelivered: UInt32 = 0
    let bootInstant: Instant
    var isStatusWanted = false
    var lastStatus: Instant?
    var fixesSentCount: UInt32 = 0
    var dropCount: UInt32 = 0
    var repeatedRequestCount: UInt32 = 0
    private var lastFrameByteCount = 0

    /// The collar and its log.
    public let log: LogIdentity
    /// Boots since manufacture, this one included; more where flash was lost. It is higher in every boot than in the one
    /// before.
    public let bootCount: UInt32
    /// Id of the receiver the collar is paired with; 0 where it is not paired.
    public internal(set) var pairedReceiverID: UInt32
    /// The settings in force.
    public internal(set) var settings: CollarSettings
    /// What the firmware knows of how the collar is doing; nil where it does not tell: then no status is sent.
    public var condition: CollarCondition?

    /// Boots: mounts the flash, formats the log where there is none, counts the boot durably.
    /// - Parameter randomLogID: what a new log is called; its low 26 bits are used. Ignored where a log is there.
    public init(
        booting configuration: Configuration, flash: consuming Flash, randomLogID: UInt32, now: Instant
    ) throws(FlashError) {
        self.configuration = configuration
        self.flash = flash
        settingsStore = try SettingsStore(mounting: &self.flash)
        let bootCount = min(settingsStore.value(of: .bootCount) ?? 0, 0xFFFF_FFFE) + 1
        // Together, so that a new log is in both blocks of the store from the start.
        try settingsStore.change(in: &self.flash) {
            $0[.bootCount] = bootCount
            $0[.logID] = $0[.logID] ?? UInt64(widening: randomLogID)
        }
        self.bootCount = UInt32(truncatingIfNeeded: bootCount)
        let logID = UInt32(truncatingIfNeeded: settingsStore.value(of: .logID) ?? 0) & LogIdentity.maximumLogID
        guard let log = LogIdentity(deviceID: configuration.deviceID, logID: logID) else {
            preconditionFailure("the log id was cut to 26 bits")
        }
        self.log = log
        pairedReceiverID = UInt32(truncatingIfNeeded: settingsStore.value(of: .pairedReceiverID) ?? 0)
        let firstUndelivered = settingsStore.sequence(of: .firstUndelivered, logID: logID)
        formerlyDelivered = settingsStore.sequence(of: .formerlyDelivered, logID: logID)
        executed = ExecutedRequests(stored: settingsStore)
        settings = CollarSettings(
            stored: settingsStore, defaultHeartbeatSeconds: configuration.delivery.heartbeatSeconds)
        bootInstant = now
        fixLog = try FixLog(
            mounting: &self.flash, firstBlock: SettingsStore<Flash>.blockCount, logID: logID,
            usedSequences: max(firstUndelivered, formerlyDelivered))
        delivery = CollarDelivery(
            configuration: configuration.delivery, oldestSequence: fixLog.oldestSequence,
            nextSequence: fixLog.nextSequence, firstUndelivered: firstUndelivered, now: now)
        if settings.version > 0 { obeyHeartbeat(now: now) }
        if configuration.isPoweredOn { openPairingWindow(now: now) }
    }

    /// The sequence the next fix will get.
    public var nextSequence: UInt32 { fixLog.nextSequence }

    /// Every fix below this sequence is acknowledged. It goes back where the receiver has lost fixes.
    public var firstUndelivered: UInt32 { delivery.delivered.firstMissing }

    /// Whether everything in the log is acknowledged.
    public var isEverythingDelivered: Bool { firstUndelivered >= nextSequence }

    /// When ``nextFrame(now:into:)`` is worth calling again if nothing else happens; nil while an ask is on the air.
    public var nextDeadline: Instant? { delivery.nextDeadline }

    /// Logs a fix durably; only then may it be sent.
    /// - Returns: the sequence it got; the one it has is ignored.
    public mutating func log(_ fix: Fix) throws(FixLogError) -> UInt32 {
        let oldest = fixLog.oldestSequence
        // A sequence that a failed write used up must be reported too.
        defer {
            for gone in oldest..<fixLog.oldestSequence where !delivery.delivered.contains(gone) { dropCount &+= 1 }
            delivery.logChanged(oldestSequence: fixLog.oldestSequence, nextSequence: fixLog.nextSequence)
        }
        return try fixLog.append(fix, to: &flash)
    }

    /// Takes in one bare frame from the radio.
    /// - Throws: where the flash does not keep what the frame brought.
    public mutating func received(_ frame: Span<UInt8>, now: Instant) throws(FlashError) -> Reception {
        let message: Message
        do throws(DecodeError) {
            let header = try FrameHeader(frame)
            guard header.address == configuration.address || header.address == Frame.broadcastAddress else {
                return .notForThisCollar
            }
            // Decoding what other collars say would cost flash for nothing.
            if let type = header.type, type.isFromCollar { return .notForThisCollar }
            message = try Message.decode(frame, log: log, reference: 0)
        } catch { return .rejected(error) }
        switch message {
        case .acknowledgement(let acknowledgement):
            return try accept(acknowledgement, now: now)
        case .identityRequest:
            delivery.identityRequested()
            isStatusWanted = true
            return .identityRequest
        case .identity, .fix, .batch, .probe, .tombstone, .status, .commandResult, .radioIdentity, .modemSettings, .signalReport:
            return .notForThisCollar
        case .command(let command):
            return try execute(command, now: now)
        case .settings(let order):
            return try accept(order, now: now)
        case .settingsRequest(let request):
            return accept(request, now: now)
        case .application:
            return .unsupported
        }
    }

    private mutating func accept(
        _ acknowledgement: Acknowledgement, now: Instant
    ) throws(FlashError) -> Reception {
        guard pairedReceiverID == 0 || acknowledgement.receiverID == pairedReceiverID else {
            return .otherReceiver(acknowledgement.receiverID)
        }
        guard delivery.isPossible(acknowledgement) else { return .acknowledgement(.impossible) }
        if pairedReceiverID == 0 {
            // Who let the collar go does not get it back by habit.
            guard settingsStore.value(of: .releasedReceiverID) != UInt64(widening: acknowledgement.receiverID) else {
                return .otherReceiver(acknowledgement.receiverID)
            }
            // Kept first: what a receiver says must not outlive the pairing with it.
            try settingsStore.change(in: &flash) {
                $0[.pairedReceiverID] = UInt64(widening: acknowledgement.receiverID)
                if $0[.releasedReceiverID] != nil { $0[.releasedReceiverID] = 0 }
            }
            pairedReceiverID = acknowledgement.receiverID
        }
        let result = delivery.received(acknowledgement, now: now)
        try keepWatermark()
        return .acknowledgement(result)
    }

    /// Keeps the watermark when it is a block ahead: what is acknowledged above it is sent again after a reboot, which
    /// costs less than wearing out the flash.
    private mutating func keepWatermark() throws(FlashError) {
        let stored = settingsStore.value(of: .firstUndelivered) ?? 0
        let isSameLog = UInt32(truncatingIfNeeded: stored &>> 32) == log.logID
        let kept = isSameLog ? UInt32(truncatingIfNeeded: stored) : 0
        guard firstUndelivered >= kept + 64 || (isEverythingDelivered && firstUndelivered > kept) else { return }
        let value = UInt64(widening: log.logID) &<< 32 | UInt64(widening: firstUndelivered)
        try settingsStore.set(.firstUndelivered, to: value, in: &flash)
    }

    /// The next frame to send, if one is due. After sending it, call ``frameSent(now:)``.
    /// - Parameter output: empty, with room for the largest frame.
    /// - Returns: whether a frame was written.
    public mutating func nextFrame(
        now: Instant, into output: inout OutputSpan<UInt8>
    ) throws(FlashError) -> Bool {
        queueStatusIfDue(now: now)
        guard let transmission = delivery.nextTransmission(now: now) else { return false }
        do throws(FlashError) { try encode(transmission, now: now, into: &output) } catch {
            // Nothing was sent; the open ask times out as if its frame were lost.
            delivery.transmitted(frameByteCount: 0, now: now)
            throw error
        }
        lastFrameByteCount = output.count
        return true
    }

    private mutating func encode(
        _ transmission: CollarDelivery.Transmission, now: Instant, into output: inout OutputSpan<UInt8>
    ) throws(FlashError) {
        let flags = FrameFlags(ask: transmission.ask)
        switch transmission.content {
        case .logEntry(let sequence):
            try encodeLogEntry(sequence, flags: flags, into: &output)
        case .liveFix(let sequence, let anchor):
            try encodeLiveFix(sequence, anchor: anchor, flags: flags, into: &output)
        case .batch(let first, let frameByteLimit):
            try encodeBatch(from: first, frameByteLimit: frameByteLimit, into: &output)
        case .newestFixes(let first, let last, let frameByteLimit):
            try encodeNewestFixes(
                from: first, through: last, frameByteLimit: frameByteLimit, flags: flags, into: &output)
        case .reply:
            encodeReply(flags: flags, now: now, into: &output)
        case .identity, .probe:
            do throws(EncodeError) {
                if transmission.content == .identity {
                    try identity.encode(address: configuration.address, flags: flags, into: &output)
                } else {
                    let probe = Probe(logTag: log.tag, nextSequence: nextSequence)
                    try probe.encode(address: configuration.address, flags: flags, into: &output)
                }
            } catch { preconditionFailure("what a collar sends of itself fits the smallest frame") }
        }
    }

    /// The frame from ``nextFrame(now:into:)`` has left the antenna.
    public mutating func frameSent(now: Instant) {
        delivery.transmitted(frameByteCount: lastFrameByteCount, now: now)
    }

    /// What the collar says of itself.
    public var identity: Identity {
        Identity(
            log: log, bootCount: bootCount, oldestSequence: fixLog.oldestSequence, nextSequence: nextSequence,
            pairedReceiverID: pairedReceiverID,
            maximumFrameByteCount: UInt8(configuration.maximumFrameByteCount),
            firmwareVersion: configuration.firmwareVersion, capabilities: configuration.capabilities,
            heartbeatSeconds: UInt16(truncatingIfNeeded: settings[.heartbeatSeconds]),
            deliveredElsewhere: formerlyDelivered)
    }
}

extension CollarDelivery.Configuration {
    fileprivate var heartbeatSeconds: UInt32 { UInt32(truncatingIfNeeded: heartbeatMicroseconds / 1_000_000) }
}

extension SettingsStore {
    /// A sequence that is kept with the log it belongs to; 0 where it is another.
    fileprivate func sequence(of key: StoredKey, logID: UInt32) -> UInt32 {
        guard let stored = value(of: key), UInt32(truncatingIfNeeded: stored &>> 32) == logID else { return 0 }
        return UInt32(truncatingIfNeeded: stored)
    }
}
