import CollarARQ
import CollarJournal
import CollarWire

/// Cuts what comes in on links into frames and gives each frame to its collar.
final class Dispatcher {
    private let receiverID: UInt32
    private let collars: CollarTable
    private let output: HostOutput
    /// Whether several links are open, so that one frame may come in twice.
    var hasSeveralLinks = false
    private var asksOfCollars = RecentAsks()
    /// Asks in frames that cannot be checked. A damaged one must not keep the true one from being answered.
    private var asksOfStrangers = RecentAsks()

    init(receiverID: UInt32, collars: CollarTable, output: HostOutput) {
        self.receiverID = receiverID
        self.collars = collars
        self.output = output
    }

    /// Bytes came in on an open link.
    ///
    /// Complexity: linear in the bytes. No system call, unless fixes come in much faster than ``commitNext(at:)`` is called.
    func received(_ bytes: Span<UInt8>, on link: Link, at time: HostTime) {
        guard var stream = link.session?.stream else { return }
        var position = 0
        while true {
            if takeCommonFix(from: &stream, in: bytes, at: &position, on: link, time) { continue }
            guard let event = stream.next(in: bytes, at: &position) else { break }
            switch event {
            case .frame: received(frame: stream.frame, on: link, at: time)
            case .rejected: output.statistics.damagedFrames += 1
            }
        }
        link.session?.stream = stream
    }

    /// Takes in the next fix by the short way, if it is of the commonest form and of the log heard last on this link: so are
    /// nearly all fixes of a backlog in single frames.
    private func takeCommonFix(
        from stream: inout StreamDecoder, in bytes: Span<UInt8>, at position: inout Int, on link: Link, _ time: HostTime
    ) -> Bool {
        guard link.session?.held.isReporting == false, let collar = link.session?.lastCollar, let log = collar.currentLog
        else { return false }
        var fix = Fix(sequence: 0, unixMilliseconds: 0, latitudeSteps: 0, longitudeSteps: 0)
        guard
            stream.nextFix(
                in: bytes, at: &position, log: log.log, reference: log.highestStored, into: &fix)
        else { return false }
        do throws(DecodeError) {
            heard(collar, log, stream.frame, header: try FrameHeader(stream.frame), on: link, at: time)
            collar.store(fix, log: log, signal: nil, at: time)
        } catch { output.statistics.malformedFrames += 1 }
        return true
    }

    /// Takes in one bare frame. A frame with fixes waits for its signal report if the base radio makes such reports: until the
    /// next frame, or a short time.
    private func received(frame: Span<UInt8>, on link: Link, at time: HostTime) {
        let signal = link.session?.held.signal(in: frame)
        releaseHeldFrame(of: link, signal: signal, at: time)
        guard link.session?.held.isReporting == true, HeldFrame.mayHoldFixes(frame) else {
            dispatch(frame, signal: nil, on: link, at: time)
            return
        }
        let turnaround = link.session?.turnaroundMicroseconds
        link.session?.held.hold(frame, now: time.instant, turnaroundMicroseconds: turnaround)
    }

    /// Takes in the frame that waits for its report.
    func releaseHeldFrame(of link: Link, signal: RadioSignal? = nil, at time: HostTime) {
        guard link.session?.held.deadline != nil, let bytes = link.session?.held.bytes else { return }
        link.session?.held.release(isReported: signal != nil)
        dispatch(bytes.span, signal: signal, on: link, at: time)
    }

    private func dispatch(_ frame: Span<UInt8>, signal: RadioSignal?, on link: Link, at time: HostTime) {
        let header: FrameHeader
        do throws(DecodeError) { header = try FrameHeader(frame) } catch {
            countRejected(error)
            return
        }
        guard let type = header.type else {
            output.statistics.unsupportedFrames += 1
            return
        }
        do throws(DecodeError) {
            if !type.isBoundToLog {
                try receivedUnbound(frame, header: header, type: type, on: link, at: time)
            } else if type.isFromCollar {
                // What other hosts send is not for this one.
                try receivedBound(frame, header: header, type: type, signal: signal, on: link, at: time)
            }
        } catch { output.statistics.malformedFrames += 1 }
    }

    private func receivedUnbound(
        _ frame: Span<UInt8>, header: FrameHeader, type: MessageType, on link: Link, at time: HostTime
    ) throws(DecodeError) {
        guard FrameCheck.isValid(frame, log: nil) else {
            output.statistics.damagedFrames += 1
            return
        }
        switch type {
        case .identity: received(try Identity(decoding: frame), frame, header: header, on: link, at: time)
        case .probe: received(try Probe(decoding: frame), frame, header: header, on: link, at: time)
        case .radioIdentity:
            let radio = try RadioIdentity(decoding: frame)
            link.session?.held.radioSpoke()
            guard link.session?.radioIdentity != radio else { return }
            link.session?.radioIdentity = radio
            if link.isNoticeDue(.radio, at: time.instant) { output.report(.radio(link: link.name, radio)) }
        case .modemSettings:
            let settings = try ModemSettings(decoding: frame)
            link.session?.held.radioSpoke()
            guard link.session?.modemSettings != settings else { return }
            link.session?.modemSettings = settings
            if link.isNoticeDue(.modem, at: time.instant) { output.report(.modem(link: link.name, settings)) }
        case .signalReport:
            _ = try SignalReport(decoding: frame)
            link.session?.held.reportCame()
        default:
            // What other receivers say.
            _ = try Message.decodePayload(of: frame, header: header, type: type, reference: 0)
        }
    }

    private func received(
        _ identity: Identity, _ frame: Span<UInt8>, header: FrameHeader, on link: Link, at time: HostTime
    ) {
        guard let collar = collars.takeUp(identity.log.deviceID, link: link.name, at: time) else { return }
        guard let log = collar.introduced(identity, at: time) else { return }
        heard(collar, log, frame, header: header, on: link, at: time)
        collar.learned(from: identity, log: log, at: time)
    }

    private func received(
        _ probe: Probe, _ frame: Span<UInt8>, header: FrameHeader, on link: Link, at time: HostTime
    ) {
        for collar in collars.sessions {
            guard let log = collar.log(tag: probe.logTag) else { continue }
            heard(collar, log, frame, header: header, on: link, at: time)
            if probe.nextSequence > 0 { collar.learned(of: probe.nextSequence - 1, log: log, at: time) }
            return
        }
        receivedUnknown(frame, header, on: link, at: time)
    }

    private func receivedBound(
        _ frame: Span<UInt8>, header: FrameHeader, type: MessageType, signal: RadioSignal?, on link: Link,
        at time: HostTime
    ) throws(DecodeError) {
        if type == .liveFix {
            for collar in collars.sessions {
                guard let found = collar.liveFix(of: frame, header: header, at: time.instant) else { continue }
                heard(collar, found.log, frame, header: header, signal: signal, on: link, at: time)
                collar.store(found.fix, log: found.log, signal: signal, at: time)
                return
            }
            return receivedUnchecked(frame, header, on: link, at: time)
        }
        guard
            let (collar, log, reference) = collars.sender(of: frame, address: header.address, at: time.instant)
        else { return receivedUnchecked(frame, header, on: link, at: time) }
        switch type {
        case .absoluteFix:
            let fix = try AbsoluteFix.decode(frame, header: header, reference: reference)
            heard(collar, log, frame, header: header, signal: signal, on: link, at: time)
            collar.store(fix, log: log, signal: signal, at: time)
        case .batch:
            let batch = try Batch(decoding: frame, header: header)
            heard(collar, log, frame, header: header, signal: signal, on: link, at: time)
            batch.forEach { collar.store($0, log: log, signal: signal, at: time) }
        case .tombstone:
            let tombstone = try Tombstone(decoding: frame)
            heard(collar, log, frame, header: header, on: link, at: time)
            let reason: LossReason = header.flags.isDeliveredElsewhere ? .deliveredElsewhere : .overwritten
            var isShown = true
            for position in 0..<tombstone.ranges.count {
                let isRecorded = collar.recordLoss(of: tombstone.ranges[position], reason: reason, log: log, at: time)
                isShown = isShown && isRecorded
            }
            // The identity tells how many fixes the collar has made.
            if !isShown { requestIdentity(on: link, address: header.address, isAnswer: true, at: time) }
        default:
            let message = try Message.decodePayload(of: frame, header: header, type: type, reference: 0)
            heard(collar, log, frame, header: header, on: link, at: time)
            collar.received(message, log: log)
        }
    }

    /// Notes a valid frame of a collar.
    private func heard(
        _ collar: CollarSession, _ log: LogSession, _ frame: Span<UInt8>, header: FrameHeader, signal: RadioSignal? = nil,
        on link: Link, at time: HostTime
    ) {
        collars.heard(collar, address: header.address)
        link.heard(collar)
        let ask = asksOfCollars.heard(frame, header: header, on: link, isShared: hasSeveralLinks, at: time.instant)
        collar.heard(log, header: header, ask: ask, signal: signal, on: link, at: time)
    }

    private func countRejected(_ error: DecodeError) {
        switch error {
        case .unsupportedVersion, .unknownCriticalFlags, .unknownType: output.statistics.unsupportedFrames += 1
        case .tooShort, .tooLong, .checkFailed, .anchorNeeded, .truncated, .trailingBytes, .nonzeroPadding, .invalidField:
            output.statistics.damagedFrames += 1
        }
    }

    /// A frame whose CRC fits no known log: damaged where its address is known, else perhaps from a collar that has not said
    /// who it is.
    private func receivedUnchecked(_ frame: Span<UInt8>, _ header: FrameHeader, on link: Link, at time: HostTime) {
        guard !collars.isKnown(address: header.address) else {
            output.statistics.damagedFrames += 1
            return
        }
        receivedUnknown(frame, header, on: link, at: time)
    }

    private func receivedUnknown(_ frame: Span<UInt8>, _ header: FrameHeader, on link: Link, at time: HostTime) {
        output.statistics.unknownFrames += 1
        switch asksOfStrangers.heard(frame, header: header, on: link, isShared: hasSeveralLinks, at: time.instant) {
        case .none: requestIdentity(on: link, address: header.address, isAnswer: false, at: time)
        case .new: requestIdentity(on: link, address: header.address, isAnswer: true, at: time)
        case .copy: break
        }
    }

    func requestIdentity(on link: Link, address: UInt8, isAnswer: Bool, at time: HostTime) {
        guard link.mayRequestIdentity(isAnswer: isAnswer, at: time.instant) else {
            if isAnswer, link.isNoticeDue(.ignoredAsks, at: time.instant) {
                output.report(.unknownAsksIgnored(link: link.name))
            }
            return
        }
        let request = IdentityRequest(receiverID: receiverID)
        output.frames.add(for: link.id) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try request.encode(address: address, into: &output)
        }
    }
}
