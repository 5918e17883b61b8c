import CollarARQ
import CollarWire

/// The part of a collar between its GNSS receiver and its radio: fixes and received frames go in, frames to send come out.
public struct Collar<Flash: FlashDevice> {
    /// The identity of a collar, and how it communicates.
    public struct Configuration: Sendable {
        /// Factory id, 64 bits.
        public var deviceID: DeviceID
        /// Address on the air, 1 … 254.
        public var address: UInt8
        /// The largest frame the radio carries, 51 … 253 bytes.
        public var maximumFrameByteCount: Int
        /// The firmware version that the collar reports.
        public var firmwareVersion: FirmwareVersion
        /// The capabilities that the collar reports.
        public var capabilities: Capabilities
        /// Parameters of the traffic.
        public var delivery: CollarDelivery.Configuration
        /// The key that the collar gets where it is made; nil for none. It is stored at the first boot with it, if the flash has
        /// never held a key. From then on the stored key counts.
        public var factoryKey: CollarKey?
        /// Whether the boot is a power-on. After a power-on the collar obeys the command *pair* of any receiver for 60 s.
        public var isPoweredOn: Bool

        /// Creates a configuration.
        public init(
            deviceID: DeviceID, address: UInt8, maximumFrameByteCount: Int = Frame.maximumByteCount,
            firmwareVersion: FirmwareVersion, capabilities: Capabilities = Capabilities(rawValue: 0),
            delivery: CollarDelivery.Configuration, factoryKey: CollarKey? = nil, isPoweredOn: Bool = false
        ) {
            self.deviceID = deviceID
            self.address = address
            self.maximumFrameByteCount = maximumFrameByteCount
            self.firmwareVersion = firmwareVersion
            self.capabilities = capabilities
            self.delivery = delivery
            self.factoryKey = factoryKey
            self.isPoweredOn = isPoweredOn
        }
    }

    /// The kind of a received frame.
    public enum Reception: Equatable, Sendable {
        /// An acknowledgement from the collar's receiver.
        case acknowledgement(CollarDelivery.AcknowledgementResult)
        /// An acknowledgement from a receiver that the collar does not obey; it is ignored.
        case otherReceiver(UInt32)
        /// A request for the identity.
        case identityRequest
        /// A frame in clear that a collar with a key does not obey.
        case notSealed
        /// The collar obeys nothing on its radio: it has lost its key, or it must be booted again, with its new key.
        case silent
        /// A frame for another collar, or one that only a collar or a radio sends.
        case notForThisCollar
        /// A message for the application. The collar already remembers its ids durably, but not its content. Call
        /// ``Collar/finish(requestID:outcome:)`` once the application has the message; after a reboot before that call, the
        /// result is *failed*, and a repeat does not bring the message again. A reply with data is another message, see
        /// ``Collar/log(_:)-(ApplicationMessage)``.
        case message(HostMessage)
        /// An action to carry out now; the command is already stored durably. After a locate or a sound, call
        /// ``Collar/finish(requestID:outcome:)``. For the other actions the core has done its part and queued the reply.
        case command(requestID: UInt16, Command.Action)
        /// New settings are in force; see ``Collar/settings``.
        case settingsChanged
        /// A request for the settings.
        case settingsRequest
        /// A repeated request: it has no further effect. It gets its reply again, unless the collar is still executing it.
        case repeatedRequest(requestID: UInt16)
        /// A request that had no effect; a reply with this outcome waits to be sent.
        case requestNotExecuted(requestID: UInt16, CommandResult.Outcome)
        /// A request that had no effect and gets no reply: too many replies wait, or an earlier reply to the same request waits.
        case requestNotTaken(requestID: UInt16)
        /// Not a frame that this collar can use.
        case rejected(DecodeError)
    }

    let configuration: Configuration
    var flash: Flash
    var settingsStore: SettingsStore<Flash>
    var keyStore: KeyStore<Flash>
    var fixLog: FixLog<Flash>
    var delivery: CollarDelivery
    var executed: ExecutedRequests
    var replies = ReplyQueue()
    var pairingWindowEnd: Instant?
    /// Whether the pairing window was opened by the button.
    var isButtonWindow = false
    /// A former receiver acknowledged everything below this sequence.
    var formerlyDelivered: UInt32 = 0
    let bootInstant: Instant
    var isStatusWanted = false
    var isPowerReportWanted = false
    var lastPowerReport: Instant?
    var isFinding = false
    var isAtRest = false
    var heartbeatSeconds: UInt32
    var lastStatus: Instant?
    var fixesSentCount: UInt32 = 0
    var dropCount: UInt32 = 0
    var repeatedRequestCount: UInt32 = 0
    private var lastFrameByteCount = 0
    /// The horizontal accuracy of the fix that was logged last.
    var newestAccuracy: AccuracyCode?
    /// The horizontal accuracy of the newest fix that was sent.
    var sentAccuracy: AccuracyCode?
    /// Seals and opens frames; nil if the collar has no key.
    var sealing: FrameSealing?
    /// Limits the identity requests in clear that a collar with a key obeys, because anybody can send them.
    var clearRequests = TokenBucket(capacity: 2, microsecondsPerToken: 600_000_000)
    /// The value that the tag of the next frame covers in addition to the frame.
    var frameBinding = SealedBinding.none
    /// Why the collar sends nothing and obeys nothing on its radio; nil if it does.
    var silence: Silence?
    /// The exchange of keys that has begun on the cable.
    var exchange: KeyExchange?
    var cableReply: CableReply?

    /// The collar and its log.
    public let log: LogIdentity
    /// Number of boots since manufacture, including this one. If a block of flash is lost, the count continues above every
    /// count that the block could have held, so it can be too high. It grows with every boot.
    public internal(set) var bootCount: UInt32
    /// Id of the receiver with which the collar is paired; 0 if it is not paired.
    public internal(set) var pairedReceiverID: UInt32
    /// The settings in force.
    public internal(set) var settings: CollarSettings
    /// The part of the status that only the program around this type knows. While it is nil, the collar sends no status. After
    /// a change, call ``nextFrame(now:into:)``: if the change matters, a status is due.
    public var condition: CollarCondition? {
        didSet {
            if let old = oldValue, condition?.isWorthAStatus(after: old) == true { isStatusWanted = true }
        }
    }

    /// How the collar spends its battery, as only the program around this type knows it; the core itself fills in the uptime and the
    /// listening. While it is nil, the collar sends no power report. A report is due when the mode changes, at most one in ten minutes,
    /// every six hours, and when the host asks for one.
    public var power: PowerReport? {
        didSet { if let old = oldValue, power?.mode != old.mode { isPowerReportWanted = true } }
    }

    /// Boots: mounts the flash, formats the log if there is none, and counts the boot durably.
    ///
    /// The id of a new log is the low 26 bits of `randomLogID`, with another last bit if the log before has this id; a log that
    /// exists keeps its id.
    /// - Throws: ``FlashError``; nothing may be sent then, and the boot must be tried again.
    public init(
        booting configuration: Configuration, flash: consuming Flash, randomLogID: UInt32, now: Instant
    ) throws(FlashError) {
        self.init(try Boot(mounting: flash, configuration, randomLogID: randomLogID), configuration: configuration, now: now)
    }

    @inline(never) init(_ boot: Boot, configuration: Configuration, now: Instant) {
        self.configuration = configuration
        flash = boot.flash
        settingsStore = boot.settingsStore
        keyStore = boot.keyStore
        fixLog = boot.fixLog
        silence = boot.silence
        log = boot.log
        bootCount = boot.bootCount
        bootInstant = now
        pairedReceiverID = UInt32(truncatingIfNeeded: settingsStore.value(of: .pairedReceiverID) ?? 0)
        formerlyDelivered = settingsStore.sequence(of: .formerlyDelivered, logID: log.logID)
        executed = ExecutedRequests(stored: settingsStore)
        settings = CollarSettings(stored: settingsStore, defaultHeartbeatSeconds: configuration.delivery.heartbeatSeconds)
        sealing = keyStore.key.map { FrameSealing($0, log: boot.log, bootCount: boot.bootCount) }
        heartbeatSeconds = configuration.delivery.heartbeatSeconds
        var deliveryConfiguration = configuration.delivery
        if settings[.turnaroundMilliseconds] > 0 {
            deliveryConfiguration.modem.turnaroundMicroseconds = Int64(widening: settings[.turnaroundMilliseconds]) &* 1000
        }
        delivery = CollarDelivery(
            configuration: deliveryConfiguration, oldestSequence: fixLog.oldestSequence, nextSequence: fixLog.nextSequence,
            firstUndelivered: settingsStore.sequence(of: .firstUndelivered, logID: log.logID), now: now)
        obeyHeartbeat(now: now)
        isStatusWanted = isSettingsLost
        if configuration.isPoweredOn { openPairingWindow(now: now, byButton: false) }
    }

    /// The sequence that the next entry of the log will get.
    public var nextSequence: UInt32 { fixLog.nextSequence }

    /// The newest fix in the log, with the number of fixes before it as its sequence; nil if the log holds no fix. Entries that
    /// were overwritten count as fixes.
    /// - Throws: ``FlashError`` if the flash cannot be read.
    ///
    /// Complexity: reads every entry of the log.
    public mutating func newestFix() throws(FlashError) -> Fix? {
        var newest: Fix?
        var messageCount: UInt32 = 0
        for sequence in fixLog.oldestSequence..<fixLog.nextSequence {
            switch try fixLog.entry(sequence, in: &flash) {
            case .fix(let fix):
                newest = fix
                newest?.sequence = sequence - messageCount
            case .message: messageCount += 1
            case nil: break
            }
        }
        return newest
    }

    /// Every fix below this sequence is acknowledged. It goes back if the receiver has lost fixes.
    public var firstUndelivered: UInt32 { delivery.delivered.firstMissing }

    /// Whether everything in the log is acknowledged.
    public var isEverythingDelivered: Bool { firstUndelivered >= nextSequence }

    /// When to call ``nextFrame(now:into:)`` again if nothing else happens; nil while a poll is on the air, and while the collar
    /// is silent.
    public var nextDeadline: Instant? {
        guard silence == nil else { return nil }
        guard let delivery = delivery.nextDeadline, isStatusWanted, isStatusPossible, let lastStatus else {
            return self.delivery.nextDeadline
        }
        return min(delivery, lastStatus.advanced(byMicroseconds: Self.statusMicroseconds))
    }

    /// Until when the radio must receive; nil if it need not. A packet that has begun by then is received to its end.
    public func listeningEnd(now: Instant) -> Instant? { silence == nil ? delivery.listeningEnd(now: now) : nil }

    /// Until when the radio must look for packets of others on its channel, before the next frame; nil if it need not.
    public var senseEnd: Instant? { delivery.senseEnd }

    /// Notes that the radio has noticed a packet of another radio in the time of ``senseEnd``.
    public mutating func channelIsBusy(now: Instant) { delivery.channelIsBusy(now: now) }

    /// Logs a fix durably; it is sent only after that.
    /// - Returns: the sequence that the fix got; the one that it had is ignored.
    public mutating func log(_ fix: Fix) throws(FixLogError) -> UInt32 {
        let sequence = try log(.fix(fix))
        newestAccuracy = fix.horizontalAccuracy
        if isAccuracyChanged { delivery.newestIsUrgent() }
        return sequence
    }

    /// Logs a message of the application durably, as a fix is logged. The host gets it as it gets fixes: the newest entry of
    /// the log comes first, then the others, oldest first.
    ///
    /// A reply to ``Reception/message(_:)`` names the request id of that message.
    /// - Returns: the sequence that the message got. A reply of the host names this sequence.
    public mutating func log(_ message: ApplicationMessage) throws(FixLogError) -> UInt32 {
        let sequence = try log(.message(message))
        delivery.newestIsUrgent()
        return sequence
    }

    private mutating func log(_ entry: LogEntry) throws(FixLogError) -> UInt32 {
        let oldest = fixLog.oldestSequence
        // `delivery` must also learn of a sequence that a failed write used up.
        defer {
            for gone in oldest..<fixLog.oldestSequence where !delivery.delivered.contains(gone) { dropCount &+= 1 }
            delivery.logChanged(oldestSequence: fixLog.oldestSequence, nextSequence: fixLog.nextSequence)
        }
        return try fixLog.append(entry, to: &flash)
    }

    /// Receives one bare frame from the radio.
    /// - Throws: ``FlashError`` if the flash could not store what the frame changes.
    public mutating func receive(_ frame: Span<UInt8>, now: Instant) throws(FlashError) -> Reception {
        let header: FrameHeader
        do throws(DecodeError) { header = try FrameHeader(ofAny: frame) } catch { return .rejected(error) }
        guard isForThisCollar(header) else { return .notForThisCollar }
        guard silence == nil else { return .silent }
        // Code that decodes frames of other collars would waste program memory.
        if let type = header.type, type.isFromCollar { return .notForThisCollar }
        return try receive(frame, header: header, now: now)
    }

    func isForThisCollar(_ header: FrameHeader) -> Bool {
        header.address == configuration.address || header.address == Frame.broadcastAddress
    }

    /// Receives a frame in clear, or the clear form of a sealed frame.
    @inline(never) mutating func receiveClear(_ frame: Span<UInt8>, now: Instant) throws(FlashError) -> Reception {
        let content: HostFrame
        do throws(DecodeError) { content = try HostFrame(decoding: frame, log: log) } catch { return .rejected(error) }
        switch content {
        case .acknowledgement(let acknowledgement): return try accept(acknowledgement, now: now)
        case .identityRequest: return receiveIdentityRequest(now: now)
        case .command(let command): return try execute(command, now: now)
        case .settingsUpdate(let update): return try accept(update, now: now)
        case .settingsRequest(let request): return accept(request, now: now)
        case .message(let message): return try accept(message, now: now)
        }
    }

    private mutating func accept(_ acknowledgement: Acknowledgement, now: Instant) throws(FlashError) -> Reception {
        guard pairedReceiverID == 0 || acknowledgement.receiverID == pairedReceiverID else {
            return .otherReceiver(acknowledgement.receiverID)
        }
        guard delivery.isPossible(acknowledgement) else { return .acknowledgement(.impossible) }
        if pairedReceiverID == 0 {
            // A receiver that told the collar to unpair is not paired again by an acknowledgement.
            guard settingsStore.value(of: .releasedReceiverID) != UInt64(widening: acknowledgement.receiverID) else {
                return .otherReceiver(acknowledgement.receiverID)
            }
            // The pairing is stored first: the flash must not hold a watermark that comes from a receiver with which no pairing
            // is stored.
            try settingsStore.change(in: &flash) {
                $0[.pairedReceiverID] = UInt64(widening: acknowledgement.receiverID)
                if $0[.releasedReceiverID] != nil { $0[.releasedReceiverID] = 0 }
            }
            pairedReceiverID = acknowledgement.receiverID
        }
        let result = delivery.receive(acknowledgement, now: now)
        try keepWatermark()
        return .acknowledgement(result)
    }

    /// Stores the first undelivered sequence when it is at least 64 above the stored one, or when everything is delivered. After
    /// a reboot, the collar sends acknowledged fixes again, from the stored sequence on. That costs less than wearing out the
    /// flash.
    private mutating func keepWatermark() throws(FlashError) {
        let stored = settingsStore.value(of: .firstUndelivered) ?? 0
        let isSameLog = UInt32(truncatingIfNeeded: stored &>> 32) == log.logID.rawValue
        let kept = isSameLog ? UInt32(truncatingIfNeeded: stored) : 0
        guard firstUndelivered >= kept + 64 || (isEverythingDelivered && firstUndelivered > kept) else { return }
        let value = UInt64(widening: log.logID.rawValue) &<< 32 | UInt64(widening: firstUndelivered)
        try settingsStore.set(.firstUndelivered, to: value, in: &flash)
    }

    /// Writes the next frame to send, if one is due. After sending it, call ``frameSent(now:)``.
    ///
    /// `output` is empty and has room for the largest frame.
    /// - Returns: whether a frame was written.
    @inline(never) public mutating func nextFrame(now: Instant, into output: inout OutputSpan<UInt8>) throws(FlashError) -> Bool {
        guard silence == nil else { return false }
        queueStatusIfDue(now: now)
        queuePowerReportIfDue(now: now)
        guard let transmission = delivery.nextTransmission(now: now) else { return false }
        frameBinding = .none
        do throws(FlashError) {
            try encode(transmission, now: now, into: &output)
            try seal(&output)
        } catch {
            output.removeAll()
            // Nothing was sent. If the frame had a poll, the poll times out as if the frame were lost.
            delivery.transmitted(frameByteCount: 0, now: now)
            throw error
        }
        lastFrameByteCount = output.count
        if delivery.isNewestSent { sentAccuracy = newestAccuracy }
        return true
    }

    @inline(never) private mutating func encode(
        _ transmission: CollarDelivery.Transmission, now: Instant, into output: inout OutputSpan<UInt8>
    ) throws(FlashError) {
        let flags = FrameFlags(poll: transmission.poll)
        let overhead = sealing?.overheadByteCount ?? 0
        switch transmission.content {
        case .logEntry(let sequence): try encodeLogEntry(sequence, flags: flags, into: &output)
        case .liveFix(let sequence, let anchor): try encodeLiveFix(sequence, anchor: anchor, flags: flags, into: &output)
        case .batch(let first, let frameByteLimit):
            try encodeBatch(from: first, frameByteLimit: frameByteLimit - overhead, into: &output)
        case .newestFixes(let first, let last, let frameByteLimit):
            try encodeNewestFixes(
                from: first, through: last, frameByteLimit: frameByteLimit - overhead, flags: flags, into: &output)
        case .reply: encodeReply(flags: flags, now: now, into: &output)
        case .identity: encodeIdentity(flags: flags, into: &output)
        case .probe: encodeProbe(flags: flags, into: &output)
        }
    }

    @inline(never) mutating func encodeIdentity(flags: FrameFlags, into output: inout OutputSpan<UInt8>) {
        do throws(EncodeError) {
            try identity.encode(address: configuration.address, flags: flags, into: &output)
        } catch { preconditionFailure("what a collar sends of itself fits the smallest frame") }
    }

    @inline(never) mutating func encodeProbe(flags: FrameFlags, into output: inout OutputSpan<UInt8>) {
        let probe = Probe(logTag: log.tag, nextSequence: nextSequence)
        do throws(EncodeError) {
            try probe.encode(address: configuration.address, flags: flags, into: &output)
        } catch { preconditionFailure("what a collar sends of itself fits the smallest frame") }
    }

    /// Notes that the frame from ``nextFrame(now:into:)`` has been sent.
    public mutating func frameSent(now: Instant) { delivery.transmitted(frameByteCount: lastFrameByteCount, now: now) }

    /// The identity that the collar sends.
    public var identity: Identity {
        var capabilities = configuration.capabilities
        if configuration.delivery.sensesChannel { capabilities.rawValue |= Capabilities.listenBeforeTalk.rawValue }
        return Identity(
            log: log, bootCount: bootCount, oldestSequence: fixLog.oldestSequence, nextSequence: nextSequence,
            pairedReceiverID: pairedReceiverID,
            maximumFrameByteCount: UInt8(configuration.maximumFrameByteCount),
            firmwareVersion: configuration.firmwareVersion, capabilities: capabilities,
            heartbeatSeconds: UInt16(truncatingIfNeeded: heartbeatSeconds),
            deliveredElsewhere: formerlyDelivered)
    }

    // MARK: How often new fixes are sent

    /// Sets the shortest time between two newest fixes that are sent; 0, as after a boot, for no limit. New fixes that wait go
    /// together in a batch. A message of the application does not wait, nor does a fix whose horizontal accuracy differs from that
    /// of the newest fix that was sent by more than the settings say.
    public mutating func setLiveInterval(milliseconds: UInt32) {
        delivery.setLiveInterval(microseconds: Int64(widening: milliseconds) * 1000)
    }

    /// Notes that the newest entry of the log must not wait.
    public mutating func newestIsUrgent() { delivery.newestIsUrgent() }

    /// Whether the horizontal accuracy differs enough from what was sent. A change from or to an unknown accuracy is one.
    var isAccuracyChanged: Bool {
        // Fixes of separate searches always differ.
        guard settings[.fixIntervalMilliseconds] < 10_000 else { return false }
        guard let newest = newestAccuracy, let sent = sentAccuracy else { return newestAccuracy != sentAccuracy }
        let (first, second) = (newest.millimeters, sent.millimeters)
        return max(first, second) - min(first, second) > 10 * settings[.accuracyChangeCentimeters]
    }
}

extension CollarDelivery.Configuration {
    var heartbeatSeconds: UInt32 { UInt32(truncatingIfNeeded: heartbeatMicroseconds / 1_000_000) }
}
