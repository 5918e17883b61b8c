import CollarFirmware
import CollarSimulator
import CollarWire

/// Opens every frame that a collar or a host of a ``World`` sends, with its key, and checks that numbers follow each other and no
/// nonce is used twice.
struct SealedFrames {
    /// A poll that a collar has sent.
    private struct SentPoll {
        let log: LogIdentity
        let keys: SealingKeys
        let number: FrameNumber
        let poll: PollNumber
    }

    /// What distinguishes the nonce of a host's frame from others under the same key.
    private struct HostNonce: Hashable {
        let deviceID: UInt64
        let receiverID: UInt32
        let bootCount: UInt32
        let counter: UInt32
        let index: UInt8
        let salt: [UInt8]
    }

    /// The number that each collar must give its next frame.
    private var expected: [UInt64: FrameNumber] = [:]
    /// The highest boot count of each log, which must grow.
    private var bootCounts: [UInt64: [UInt32: UInt32]] = [:]
    private var polls: [SentPoll] = []
    private var hostNonces: [HostNonce: [UInt8]] = [:]
    /// The clear form of each sealed frame that was handed out.
    private var clearForms: [[UInt8]: [UInt8]] = [:]
    /// The collar of each sealed frame of a collar.
    private var senders: [[UInt8]: UInt64] = [:]

    /// How many polls are remembered, to open the answers to them.
    private static let pollLimit = 4096

    /// How often each collar got another key.
    private var keyChanges: [UInt64: UInt64] = [:]

    /// The present key of a collar.
    func key(of deviceID: UInt64) -> CollarKey { SealedFrames.key(of: deviceID, change: keyChanges[deviceID] ?? 0) }

    /// A collar gets another key, because all of its flash was erased.
    mutating func changeKey(of deviceID: UInt64) { keyChanges[deviceID, default: 0] += 1 }

    private static func key(of deviceID: UInt64, change: UInt64) -> CollarKey {
        var random = SeededRandom(seed: deviceID &+ change)
        let bytes = (0..<CollarKey.byteCount).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        return CollarKey(bytes.span)
    }

    private func keys(of deviceID: UInt64) -> SealingKeys { SealingKeys(key(of: deviceID), deviceID: deviceID) }

    /// The collar that handed out a sealed frame.
    func sender(of frame: [UInt8]) -> UInt64? { senders[frame] }

    /// The clear form of a frame: the frame itself if it is not sealed, or if it was never sent.
    func clearForm(of frame: [UInt8]) -> [UInt8] { clearForms[frame] ?? frame }

    /// A collar has booted.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func booted(_ log: LogIdentity, bootCount: UInt32) -> String? {
        let before = bootCounts[log.deviceID]?[log.logID]
        bootCounts[log.deviceID, default: [:]][log.logID] = bootCount
        expected[log.deviceID] = FrameNumber(bootCount: bootCount, counter: 0)
        if let before, bootCount <= before { return "boot \(bootCount) comes after boot \(before)" }
        return nil
    }

    /// A collar hands out a frame.
    /// - Parameters:
    ///   - record: the collar's log.
    ///   - newest: the newest sequence of the log.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func handsOut(_ frame: [UInt8], _ record: LogRecord, newest: UInt32) -> String? {
        let log = record.log
        guard let number = expected[log.deviceID] else { return "a frame before the first boot" }
        expected[log.deviceID]?.counter += 1
        guard let clear = open(frame, record, number, newest: newest) else { return "a frame is not sealed as number \(number)" }
        clearForms[frame] = clear
        senders[frame] = log.deviceID
        if let poll = FrameFlags(rawValue: clear[1]).poll {
            polls.append(SentPoll(log: log, keys: keys(of: log.deviceID), number: number, poll: poll))
            if polls.count > SealedFrames.pollLimit { polls.removeFirst() }
        }
        return nil
    }

    private func open(_ frame: [UInt8], _ record: LogRecord, _ number: FrameNumber, newest: UInt32) -> [UInt8]? {
        guard let header = try? FrameHeader(ofAny: frame.span), header.flags.isSealed, let type = header.type else { return nil }
        let keys = keys(of: record.log.deviceID)
        if type == .identity {
            var found: FrameNumber?
            let clear = [UInt8](capacity: Frame.maximumByteCount) { output in
                found = SealedFrame.openIdentity(
                    frame.span, header: header, deviceID: record.log.deviceID, keys: keys, into: &output)
            }
            return found == number ? clear : nil
        }
        guard let counter = SealedFrame.counter(in: frame.span) else { return nil }
        guard counter.value == (counter.isWhole ? number.counter : number.counter & 0xFF) else { return nil }
        var bindings: [SealedBinding] = [.none]
        if type == .absoluteFix {
            let both = SealedFrame.upperHalves(around: newest)
            bindings = both.indices.map { .sequence(both[$0] << 16) }
        } else if type == .liveFix {
            let anchor = SealedFrame.anchorSequence(of: frame.span, below: newest).flatMap(record.possibleFix)
            bindings = anchor.map { [.anchor($0)] } ?? []
        }
        for binding in bindings {
            var isOpen = false
            let clear = [UInt8](capacity: Frame.maximumByteCount) { output in
                isOpen = SealedFrame.open(
                    frame.span, header: header, type: type, number: number, binding: binding, log: record.log,
                    keys: keys, into: &output)
            }
            if isOpen { return clear }
        }
        return nil
    }

    /// A host hands out a frame.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func handsOut(_ frame: [UInt8], receiverID: UInt32) -> String? {
        guard let header = try? FrameHeader(ofAny: frame.span), header.flags.isSealed, let type = header.type else {
            return frame[0] & 0x1F == MessageType.identityRequest.rawValue ? nil : "a frame is not sealed"
        }
        for sent in polls.reversed() where UInt8(truncatingIfNeeded: sent.number.counter) == header.lowByte {
            var isOpen = false
            let clear = [UInt8](capacity: Frame.maximumByteCount) { output in
                isOpen = SealedHostFrame.open(
                    frame.span, header: header, type: type, poll: sent.number, pollNumber: sent.poll,
                    receiverID: receiverID, log: sent.log, keys: sent.keys, into: &output)
            }
            guard isOpen else { continue }
            clearForms[frame] = clear
            let saltStart = [.acknowledgement, .command, .hostMessage].contains(type) ? 8 : 4
            let nonce = HostNonce(
                deviceID: sent.log.deviceID, receiverID: receiverID, bootCount: sent.number.bootCount,
                counter: sent.number.counter, index: header.flags.rawValue & 7, salt: Array(frame[saltStart..<(saltStart + 3)]))
            if let other = hostNonces[nonce], other != frame { return "two frames have the nonce \(nonce)" }
            hostNonces[nonce] = frame
            return nil
        }
        return "a frame answers no poll that was sent"
    }
}
