import CollarARQ
import CollarWire

/// The frames of a collar with a key.
extension Collar {
    /// Seals the frame that is sent next, if the collar has a key. A probe replaces a frame that does not fit the link when sealed.
    /// - Throws: ``FlashError`` if the counter is used up and the next boot count cannot be stored; nothing may be sent then.
    mutating func seal(_ frame: inout OutputSpan<UInt8>) throws(FlashError) {
        guard let sealing else { return }
        if sealing.isCounterUsedUp {
            let next = bootCount + 1
            try settingsStore.set(.bootCount, to: UInt64(widening: next), in: &flash)
            bootCount = next
            self.sealing?.restart(bootCount: next)
        }
        if !isRoomToSeal(frame) {
            // With the whole counter, a report or a status may not fit the smallest limit of a link. The host asks for a report
            // again.
            let flags = FrameFlags(rawValue: frame.span[1] & FrameFlags.pollMask)
            frame.removeAll()
            frameBinding = .none
            encodeProbe(flags: flags, into: &frame)
        }
        self.sealing?.seal(&frame, binding: frameBinding)
    }

    /// Whether the sealed form of a frame fits the link.
    mutating func isRoomToSeal(_ frame: borrowing OutputSpan<UInt8>) -> Bool {
        guard let sealing else { return true }
        return frame.count + sealing.overheadByteCount(of: frame.span) <= configuration.maximumFrameByteCount
    }

    /// Receives a frame, sealed or not, that is for this collar.
    mutating func receive(_ frame: Span<UInt8>, header: FrameHeader, now: Instant) throws(FlashError) -> Reception {
        guard let type = header.type else { return .rejected(.unknownType(header.typeCode)) }
        guard header.flags.isSealed else {
            guard sealing != nil else { return try receiveClear(frame, now: now) }
            guard type == .identityRequest else { return .notSealed }
            return try receiveClear(frame, now: now)
        }
        var isOpen = false
        var byteCount = 0
        let bytes = InlineArray<64, UInt8> { (output: inout OutputSpan<UInt8>) in
            isOpen = sealing?.open(frame, header: header, type: type, receiverID: pairedReceiverID, into: &output) ?? false
            byteCount = output.count
            while output.freeCapacity > 0 { output.append(0) }
        }
        guard isOpen else { return .rejected(.sealed) }
        return try receiveClear(bytes.span.extracting(0..<byteCount), now: now)
    }

    mutating func receiveIdentityRequest(now: Instant) -> Reception {
        if sealing != nil {
            // Anybody can send this request, so it must not end an open poll.
            guard clearRequests.take(at: now) else { return .notSealed }
            delivery.identityRequested(endsPoll: false)
        } else {
            delivery.identityRequested()
        }
        isStatusWanted = true
        return .identityRequest
    }
}

/// Seals the frames of a collar, and opens the frames that answer them (PROTOCOL.md, section 22).
struct FrameSealing {
    private struct SentPoll {
        let counter: UInt32
        let number: PollNumber
        /// Bit n: the frame with index n was accepted.
        var acceptedIndices: UInt8 = 0
    }

    /// The highest index: two requests come before an answer.
    private static let highestIndex: UInt8 = 2
    /// A frame holds its whole counter if no poll is confirmed, or if its counter is more than this above the confirmed one.
    private static let shortLead: UInt32 = 127

    private let keys: SealingKeys
    private let log: LogIdentity
    /// The boot count in the numbers of the frames.
    private(set) var bootCount: UInt32
    private var nextCounter: UInt32 = 0
    private var latestPoll: SentPoll?
    private var pollBefore: SentPoll?
    /// The highest counter of a poll for which a frame of the host was accepted; nil if there is none in this boot.
    private var confirmedCounter: UInt32?

    init(_ key: CollarKey, log: LogIdentity, bootCount: UInt32) {
        keys = SealingKeys(key, deviceID: log.deviceID)
        self.log = log
        self.bootCount = bootCount
    }

    /// Whether the counter has reached its end: the boot count must be raised before the next frame is sealed.
    var isCounterUsedUp: Bool { nextCounter == .max }

    /// Begins again at counter 0. The new boot count is already durable.
    mutating func restart(bootCount: UInt32) { self = FrameSealing(keys: keys, log: log, bootCount: bootCount) }

    private init(keys: SealingKeys, log: LogIdentity, bootCount: UInt32) {
        self.keys = keys
        self.log = log
        self.bootCount = bootCount
    }

    /// Bytes by which sealing makes the next frame longer, at most.
    var overheadByteCount: Int { isNextLong ? SealedFrame.maximumOverheadByteCount : SealedFrame.shortOverheadByteCount }

    /// Bytes by which sealing makes this frame longer if it is sealed next.
    func overheadByteCount(of frame: Span<UInt8>) -> Int { SealedFrame.overheadByteCount(of: frame, isLong: isNextLong) }

    private var isNextLong: Bool { confirmedCounter.map { nextCounter - $0 > FrameSealing.shortLead } ?? true }

    /// Seals a clear frame in place. This is the last step before the frame is sent: each call uses up a counter.
    /// - Precondition: ``isCounterUsedUp`` is false.
    mutating func seal(_ frame: inout OutputSpan<UInt8>, binding: SealedBinding) {
        precondition(!isCounterUsedUp, "no counter is used twice")
        let number = FrameNumber(bootCount: bootCount, counter: nextCounter)
        if let poll = FrameFlags(rawValue: frame.span[1]).poll {
            pollBefore = latestPoll
            latestPoll = SentPoll(counter: nextCounter, number: poll)
        }
        SealedFrame.seal(&frame, number: number, isLong: isNextLong, binding: binding, log: log, keys: keys)
        nextCounter += 1
    }

    /// Opens a frame of the host: one for the latest poll or, until one is accepted for that poll, for the poll before it. For
    /// each poll, each index is accepted once.
    /// - Parameter receiverID: the collar's receiver; 0 if it has none.
    /// - Returns: whether the frame is authentic and new; if not, `clear` remains empty.
    mutating func open(
        _ frame: Span<UInt8>, header: FrameHeader, type: MessageType, receiverID: UInt32,
        into clear: inout OutputSpan<UInt8>
    ) -> Bool {
        let index = header.flags.rawValue & FrameFlags.pollMask
        guard index <= FrameSealing.highestIndex, (index == 0) == (type == .acknowledgement) else { return false }
        if open(frame, header, type, index, latestPoll, receiverID, into: &clear) {
            latestPoll?.acceptedIndices |= 1 &<< index
        } else if latestPoll?.acceptedIndices == 0,
            open(frame, header, type, index, pollBefore, receiverID, into: &clear)
        {
            pollBefore?.acceptedIndices |= 1 &<< index
        } else {
            return false
        }
        return true
    }

    private mutating func open(
        _ frame: Span<UInt8>, _ header: FrameHeader, _ type: MessageType, _ index: UInt8, _ poll: SentPoll?,
        _ receiverID: UInt32, into clear: inout OutputSpan<UInt8>
    ) -> Bool {
        guard let poll, UInt8(truncatingIfNeeded: poll.counter) == header.lowByte, poll.acceptedIndices & (1 &<< index) == 0
        else { return false }
        let isOpen = SealedHostFrame.open(
            frame, header: header, type: type, poll: FrameNumber(bootCount: bootCount, counter: poll.counter),
            pollNumber: poll.number, receiverID: receiverID, log: log, keys: keys, into: &clear)
        if isOpen { confirmedCounter = max(confirmedCounter ?? 0, poll.counter) }
        return isOpen
    }
}
