import CollarARQ
import CollarJournal
import CollarWire

/// A received frame without its bytes.
struct HeardFrame {
    var header: FrameHeader
    let link: Link
    let signal: RadioSignal?
    let time: HostTime
    /// The last three bytes as they came in: of a sealed frame, not of its clear form.
    let crc: UInt32
    /// The number of a sealed frame; nil of a frame in clear.
    var number: FrameNumber?

    init(_ frame: Span<UInt8>, _ header: FrameHeader, on link: Link, signal: RadioSignal?, at time: HostTime) {
        self.header = header
        self.link = link
        self.signal = signal
        self.time = time
        crc = FrameCRC.sent(in: frame)
    }
}

/// Cuts the bytes received on links into frames and gives each frame to its collar.
final class Dispatcher {
    private let receiverID: UInt32
    private let collars: CollarTable
    private let output: HostOutput
    /// Whether several links are open, so that more than one of them can receive the same frame.
    var hasSeveralLinks = false
    private var pollsOfCollars = RecentPolls()
    /// Polls in frames whose CRC fits no known log. They are separate, so that a damaged frame does not suppress the answer to
    /// an intact one.
    private var pollsOfStrangers = RecentPolls()
    /// The last tombstone that led to an identity request, by its CRC.
    private var unknownLoss: (crc: UInt32, link: LinkID, time: Instant)?
    private let sealed: SealedReceiver
    /// Notices about attempts to pass for a collar with a key, and about such a collar whose count went back.
    private var forgeryNotices = NoticeLimiter<DeviceID>()
    private var restartNotices = NoticeLimiter<DeviceID>()

    init(receiverID: UInt32, collars: CollarTable, output: HostOutput) {
        self.receiverID = receiverID
        self.collars = collars
        self.output = output
        sealed = SealedReceiver(collars.ring, collars: collars)
    }

    /// Bytes came in on an open link.
    ///
    /// Complexity: linear in the bytes. No system call, unless fixes come in much faster than ``Host/commitNext(at:)`` is
    /// called.
    func receive(_ bytes: Span<UInt8>, on link: Link, at time: HostTime) {
        guard var stream = link.session?.stream else { return }
        // A key may have been added, changed or removed: what comes in must be judged with it.
        _ = collars.readKeys(at: time.instant)
        var position = 0
        while true {
            if takeCommonFix(from: &stream, in: bytes, at: &position, on: link, time) { continue }
            guard let event = stream.next(in: bytes, at: &position) else { break }
            switch event {
            case .frame: receive(frame: stream.frame, on: link, at: time)
            case .rejected: output.statistics.damagedFrames += 1
            }
        }
        link.session?.stream = stream
    }

    /// A bare frame came in on an open link as a packet of its own.
    func receive(packet: Span<UInt8>, signal: RadioSignal?, on link: Link, at time: HostTime) {
        guard link.session != nil else { return }
        _ = collars.readKeys(at: time.instant)
        dispatch(packet, signal: signal, on: link, at: time)
        guard link.session?.lastCollar == nil, let kind = link.session?.foreign.take(packet, signal: signal) else { return }
        output.report(.link(link.name, .foreignPackets(kind)))
    }

    /// Receives the next fix on a fast path, if it has the commonest form and belongs to the current log of the collar heard
    /// last on this link. This holds for nearly all single fixes of a backlog.
    private func takeCommonFix(
        from stream: inout StreamDecoder, in bytes: Span<UInt8>, at position: inout Int, on link: Link, _ time: HostTime
    ) -> Bool {
        guard link.session?.held.isReporting == false, let collar = link.session?.lastCollar, collar.keyed == nil,
            !collar.isKeyLost, let log = collar.currentLog
        else { return false }
        var fix = Fix(sequence: 0, unixMilliseconds: 0, latitudeSteps: 0, longitudeSteps: 0)
        guard
            stream.nextFix(in: bytes, at: &position, log: log.log, reference: log.highestStored, into: &fix)
        else { return false }
        do throws(DecodeError) {
            let header = try FrameHeader(stream.frame)
            guard header.address == collar.address else {
                receive(frame: stream.frame, on: link, at: time)
                return true
            }
            note(HeardFrame(stream.frame, header, on: link, signal: nil, at: time), of: collar, log)
            collar.store(fix, log: log, signal: nil, at: time)
        } catch { output.statistics.malformedFrames += 1 }
        return true
    }

    /// Receives one bare frame. If the base radio sends signal reports, a frame with fixes or a message is held for a short time,
    /// at most until the next frame comes, which may be its report.
    private func receive(frame: Span<UInt8>, on link: Link, at time: HostTime) {
        let signal = link.session?.held.signal(in: frame)
        releaseHeldFrame(of: link, signal: signal, at: time)
        guard link.session?.held.isReporting == true, HeldFrame.isSignalStored(of: frame) else {
            return dispatch(frame, signal: nil, on: link, at: time)
        }
        let turnaround = link.session?.turnaroundMicroseconds
        link.session?.held.hold(frame, now: time.instant, turnaroundMicroseconds: turnaround)
    }

    /// Dispatches the held frame, with the signal of its report if the report came.
    func releaseHeldFrame(of link: Link, signal: RadioSignal? = nil, at time: HostTime) {
        guard link.session?.held.deadline != nil, let bytes = link.session?.held.bytes else { return }
        link.session?.held.release(isReported: signal != nil)
        dispatch(bytes.span, signal: signal, on: link, at: time)
    }

    private func dispatch(_ frame: Span<UInt8>, signal: RadioSignal?, on link: Link, at time: HostTime) {
        let header: FrameHeader
        do throws(DecodeError) { header = try FrameHeader(ofAny: frame) } catch {
            return countRejected(error, frame, on: link, at: time)
        }
        guard let type = header.type else {
            if header.flags.isSealed {
                output.statistics.unopenedFrames += 1
            } else {
                countUnsupported(frame, on: link, at: time)
            }
            return
        }
        let heard = HeardFrame(frame, header, on: link, signal: signal, at: time)
        guard !header.flags.isSealed else { return open(frame, heard, type) }
        do throws(DecodeError) {
            if !type.isBoundToLog {
                try decodeUnbound(frame, heard, type)
            } else if type.isFromCollar {
                try decodeBound(frame, heard, type, opened: nil)
            }
            // All other frames that are bound to a log are from other hosts. They are ignored.
        } catch { output.statistics.malformedFrames += 1 }
    }

    /// Opens a sealed frame, and receives its clear form.
    private func open(_ frame: Span<UInt8>, _ heard: HeardFrame, _ type: MessageType) {
        var heard = heard
        let (link, time) = (heard.link, heard.time)
        // Sealed frames of other hosts are ignored.
        guard type.isFromCollar else { return }
        do throws(DecodeError) {
            switch sealed.receive(frame, header: heard.header, type: type, on: link, at: time) {
            case .identity(let keyed, let number):
                let bytes = sealed.clear
                let clear = bytes.span
                let identity = try Identity(decoding: clear)
                let isKnown = keyed.window != nil
                guard let collar = collars.takeUp(keyed.deviceID, link: link.name, at: time),
                    isKnown || keyed.isUsable(number, logID: identity.log.logID)
                else { return }
                keyed.noteReceived(number, logID: identity.log.logID)
                heard.header = try FrameHeader(clear)
                heard.number = number
                accept(identity, of: collar, heard)
            case .opened(let opened):
                let bytes = sealed.clear
                let clear = bytes.span
                heard.header = try FrameHeader(clear)
                heard.number = opened.number
                if opened.isLate {
                    heard.header.flags = FrameFlags(poll: nil, isDeliveredElsewhere: heard.header.flags.isDeliveredElsewhere)
                }
                try decodeBound(clear, heard, type, opened: opened)
            case .repeated(let collar):
                if pollsOfCollars.isCopy(heard.crc, on: link, at: time.instant) {
                    collar.offerAnswer(at: link, signal: heard.signal, time: time)
                } else if collar.keyed?.noteRepeated() == true, restartNotices.isDue(collar.deviceID, at: time.instant) {
                    output.report(.collar(collar.deviceID, .onlyRepeats))
                }
            case .outdated: break
            case .restarted(let deviceID, let bootCount, let logID, let isStored):
                guard restartNotices.isDue(deviceID, at: time.instant) else { return }
                output.report(.collar(deviceID, .restartedBelow(bootCount: bootCount, logID: logID, isStored: isStored)))
            case .notOpened: countUnopened(heard.header, on: link, at: time)
            }
        } catch { output.statistics.malformedFrames += 1 }
    }

    /// Counts a sealed frame that no key opens. Its sender may be a collar whose last boot was not heard, so it is asked for its
    /// identity from time to time.
    private func countUnopened(_ header: FrameHeader, on link: Link, at time: HostTime) {
        output.statistics.unopenedFrames += 1
        // A damaged frame of a collar in clear can look like a sealed one.
        let sender = collars.heardLast(at: header.address)
        let isSealed = link.unopened.failed(from: header.address, at: time.instant) && (sender == nil || sender?.keyed != nil)
        if isSealed, link.notices.isDue(.unopenedFrame, at: time.instant) {
            output.report(.link(link.name, sealed.hasKeys ? .keyRejected(deviceID: sender?.keyed?.window == nil ? nil : sender?.deviceID) : .keyMissing))
        }
        guard sealed.hasKeys, link.unopened.isRequestDue(at: header.address, now: time.instant) else { return }
        requestIdentity(on: link, address: header.address, isAnswer: false, at: time)
    }

    /// Drops a frame in clear that should come from a collar with a key, and reports it.
    /// - Returns: whether the collar has a key, or had one that is lost.
    private func dropsClearFrame(of deviceID: DeviceID, on link: Link, at time: HostTime) -> Bool {
        let hasKey = collars.ring.collar(deviceID) != nil
        guard hasKey || collars.session(deviceID)?.isKeyLost == true else { return false }
        output.statistics.unopenedFrames += 1
        if forgeryNotices.isDue(deviceID, at: time.instant) {
            output.report(.collar(deviceID, hasKey ? .forgeryAttempted(link: link.name) : .keyLost))
        }
        return true
    }

    private func dropsClearFrame(of collar: CollarSession, on link: Link, at time: HostTime) -> Bool {
        guard collar.keyed != nil || collar.isKeyLost else { return false }
        return dropsClearFrame(of: collar.deviceID, on: link, at: time)
    }

    private func decodeUnbound(_ frame: Span<UInt8>, _ heard: HeardFrame, _ type: MessageType) throws(DecodeError) {
        let (link, time) = (heard.link, heard.time)
        guard FrameCRC.isValid(frame, log: nil) else {
            output.statistics.damagedFrames += 1
            return
        }
        switch type {
        case .identity:
            let identity = try Identity(decoding: frame)
            guard !dropsClearFrame(of: identity.log.deviceID, on: link, at: time),
                let collar = collars.takeUp(identity.log.deviceID, link: link.name, at: time),
                // Its journal was perhaps opened just now.
                !dropsClearFrame(of: collar, on: link, at: time)
            else { return }
            accept(identity, of: collar, heard)
        case .probe: accept(try Probe(decoding: frame), heard)
        case .radioIdentity:
            let radio = try RadioIdentity(decoding: frame)
            link.session?.held.radioSpoke()
            guard link.session?.radioIdentity != radio else { return }
            link.session?.radioIdentity = radio
            if link.notices.isDue(.radio, at: time.instant) { output.report(.link(link.name, .radio(radio))) }
        case .modemSettings:
            let settings = try ModemSettings(decoding: frame)
            link.session?.held.radioSpoke()
            guard link.session?.modemSettings != settings else { return }
            link.session?.modemSettings = settings
            if link.notices.isDue(.modem, at: time.instant) { output.report(.link(link.name, .modem(settings))) }
        case .signalReport:
            _ = try SignalReport(decoding: frame)
            link.session?.held.reportCame()
        default:
            // An identity request of another host: it is only checked for errors.
            _ = try Message.decodePayload(of: frame, header: heard.header, type: type, reference: 0)
        }
    }

    private func accept(_ identity: Identity, of collar: CollarSession, _ heard: HeardFrame) {
        let log = collar.accept(identity, at: heard.time)
        note(heard, of: collar, log)
        collar.learn(from: identity, log: log, at: heard.time)
    }

    private func accept(_ probe: Probe, _ heard: HeardFrame) {
        for collar in collars.sessions {
            guard let log = collar.logs.log(tag: probe.logTag) else { continue }
            guard !dropsClearFrame(of: collar, on: heard.link, at: heard.time) else { return }
            note(heard, of: collar, log)
            return collar.learn(from: probe, log: log, at: heard.time)
        }
        answerUnknown(heard)
    }

    private func decodeBound(
        _ frame: Span<UInt8>, _ heard: HeardFrame, _ type: MessageType, opened: OpenedFrame?
    ) throws(DecodeError) {
        let (header, link, time) = (heard.header, heard.link, heard.time)
        if type == .liveFix {
            guard let (fix, collar, log) = try liveFix(of: frame, header: header, opened: opened, on: link, at: time) else {
                return countUnverified(heard)
            }
            guard opened != nil || !dropsClearFrame(of: collar, on: link, at: time) else { return }
            note(heard, of: collar, log)
            return collar.store(fix, log: log, signal: heard.signal, at: time)
        }
        let collar: CollarSession
        let log: LogSession
        var reference: UInt32 = 0
        if let opened {
            (collar, log) = (opened.collar, opened.log)
            // Every short sequence with this upper half is nearest to the middle of that half.
            if case .sequence(let sequence) = opened.binding { reference = sequence & 0xFFFF_0000 | 0x8000 }
        } else {
            guard let found = collars.sender(of: frame, address: header.address, on: link, at: time.instant) else {
                return countUnverified(heard)
            }
            guard !dropsClearFrame(of: found.session, on: link, at: time) else { return }
            (collar, log, reference) = found
        }
        switch type {
        case .absoluteFix:
            let fix = try collar.decoding(at: time) { () throws(DecodeError) in
                try AbsoluteFix.decode(frame, header: header, reference: reference)
            }
            note(heard, of: collar, log)
            collar.store(fix, log: log, signal: heard.signal, at: time)
        case .batch:
            let batch = try collar.decoding(at: time) { () throws(DecodeError) in try Batch(decoding: frame, header: header) }
            note(heard, of: collar, log)
            batch.forEach { collar.store($0, log: log, signal: heard.signal, at: time) }
        case .probe:
            let probe = try Probe(decoding: frame)
            note(heard, of: collar, log)
            collar.learn(from: probe, log: log, at: time)
        case .collarMessage:
            let message = try CollarMessage(decoding: frame)
            note(heard, of: collar, log)
            collar.store(message, log: log, signal: heard.signal, at: time)
        case .tombstone:
            let tombstone = try Tombstone(decoding: frame)
            note(heard, of: collar, log)
            let reason: LossReason = header.flags.isDeliveredElsewhere ? .deliveredElsewhere : .overwritten
            var isShown = true
            for position in 0..<tombstone.ranges.count {
                // A tombstone that is authentic shows by itself that its sequences exist.
                if opened != nil { collar.learn(of: tombstone.ranges[position].last, log: log, at: time) }
                let isRecorded = collar.recordLoss(of: tombstone.ranges[position], reason: reason, log: log, at: time)
                isShown = isShown && isRecorded
            }
            // The requested identity names the collar's next sequence. Every loss below that sequence can then be recorded.
            if !isShown, isFirstCopy(ofUnknownLoss: heard) {
                requestIdentity(on: link, address: header.address, isAnswer: true, at: time)
            }
        default:
            let message = try Message.decodePayload(of: frame, header: header, type: type, reference: 0)
            note(heard, of: collar, log)
            collar.accept(message, log: log, at: time)
        }
    }

    /// The live fix in a frame, and its sender; nil if no known collar sent the frame.
    private func liveFix(
        of frame: Span<UInt8>, header: FrameHeader, opened: OpenedFrame?, on link: Link, at time: HostTime
    ) throws(DecodeError) -> (Fix, CollarSession, LogSession)? {
        if let opened {
            guard case .anchor(let anchor) = opened.binding,
                let named = LiveFix.sequences(of: frame, header: header, reference: anchor.sequence)
            else { return nil }
            let fix = try opened.collar.decoding(at: time) { () throws(DecodeError) in
                try LiveFix.decode(frame, sequence: named.sequence, anchor: anchor, log: opened.log.log)
            }
            return (fix, opened.collar, opened.log)
        }
        return collars.liveFix(of: frame, header: header, on: link, at: time.instant)
    }

    private func note(_ heard: HeardFrame, of collar: CollarSession, _ log: LogSession) {
        collars.noteFrame(of: collar, address: heard.header.address)
        heard.link.noteFrame(of: collar)
        collar.note(heard, of: log, poll: pollsOfCollars.examine(heard, isShared: hasSeveralLinks))
    }

    /// Whether a tombstone that leads to an identity request is heard for the first time. The requests of several radios at once
    /// would collide at the collar.
    private func isFirstCopy(ofUnknownLoss heard: HeardFrame) -> Bool {
        let now = heard.time.instant
        if let last = unknownLoss, last.crc == heard.crc, last.link != heard.link.id,
            now.microseconds(since: last.time) <= RecentPolls.copyTime
        {
            return false
        }
        unknownLoss = (heard.crc, heard.link.id, now)
        return true
    }

    private func countRejected(_ error: DecodeError, _ frame: Span<UInt8>, on link: Link, at time: HostTime) {
        switch error {
        case .unsupportedVersion, .unknownCriticalFlags, .unknownType, .sealed: countUnsupported(frame, on: link, at: time)
        case .tooShort, .tooLong, .crcMismatch, .anchorNeeded, .truncated, .trailingBytes, .nonzeroPadding, .invalidField:
            output.statistics.damagedFrames += 1
        }
    }

    /// A damaged frame can look like one of another version. Only a frame whose CRC is valid without a log is certainly
    /// intact, so only such a frame causes a notice.
    private func countUnsupported(_ frame: Span<UInt8>, on link: Link, at time: HostTime) {
        output.statistics.unsupportedFrames += 1
        guard FrameCRC.isValid(frame, log: nil), link.notices.isDue(.unsupportedFrame, at: time.instant) else { return }
        output.report(.link(link.name, .unsupportedFrame))
    }

    /// Counts a frame whose CRC fits no known log: as damaged if a known collar uses its address, otherwise as
    /// unknown, because the sender may be a collar that has not sent its identity yet.
    private func countUnverified(_ heard: HeardFrame) {
        guard collars.heardLast(at: heard.header.address) != nil else { return answerUnknown(heard) }
        output.statistics.damagedFrames += 1
    }

    private func answerUnknown(_ heard: HeardFrame) {
        output.statistics.unknownFrames += 1
        let poll = pollsOfStrangers.examine(heard, isShared: hasSeveralLinks)
        if case .copy = poll { return }
        let isAnswer = heard.header.flags.poll != nil
        requestIdentity(on: heard.link, address: heard.header.address, isAnswer: isAnswer, at: heard.time)
    }

    func requestIdentity(on link: Link, address: UInt8, isAnswer: Bool, at time: HostTime) {
        guard link.mayRequestIdentity(isAnswer: isAnswer, at: time.instant) else {
            if isAnswer, link.notices.isDue(.ignoredPolls, at: time.instant) {
                output.report(.link(link.name, .unknownPollsIgnored))
            }
            return
        }
        let request = IdentityRequest(receiverID: receiverID)
        output.frames.add(for: link.id) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try request.encode(address: address, into: &output)
        }
    }
}
