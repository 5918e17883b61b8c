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

    /// A place among the frames that answer one poll under one receiver id.
    private struct AnswerPlace: Hashable {
        let deviceID: DeviceID
        let receiverID: UInt32
        let bootCount: UInt32
        let counter: UInt32
        let index: UInt8
    }

    /// A frame in a place, and the first machine that made it. Place and salt together are its nonce.
    private struct HostFrame {
        let bytes: [UInt8]
        let salt: [UInt8]
        let machine: Int
    }

    /// The number that each collar must give its next frame.
    private var expected: [DeviceID: FrameNumber] = [:]
    /// The highest boot count of each log, which must grow.
    private var bootCounts: [DeviceID: [LogID: UInt32]] = [:]
    private var polls: [SentPoll] = []
    /// The different frames in each place, in their order.
    private var hostFrames: [AnswerPlace: [HostFrame]] = [:]
    /// Polls to which two machines made an answer.
    private(set) var pollsAnsweredTwice = 0
    /// Those of them for which the two answers differ.
    private(set) var pollsAnsweredDifferently = 0
    /// The pairs of different frames in one place.
    private(set) var nonces = NonceStatistics()
    /// The clear form of each sealed frame that was handed out.
    private var clearForms: [[UInt8]: [UInt8]] = [:]
    /// The collar of each sealed frame of a collar.
    private var senders: [[UInt8]: DeviceID] = [:]

    /// How many polls are remembered, to open the answers to them.
    private static let pollLimit = 4096

    /// How often all of the flash of a collar was erased.
    private var eraseCounts: [DeviceID: UInt64] = [:]
    /// The key that the users know of each collar, if it is not the one that the collar was made with.
    private var exchangedKeys: [DeviceID: CollarKey] = [:]
    /// The keys of which a collar has one; absent if it has the one that it was made with.
    private var possibleKeys: [DeviceID: [CollarKey]] = [:]

    /// The key that the users know of a collar.
    func knownKey(of deviceID: DeviceID) -> CollarKey { exchangedKeys[deviceID] ?? factoryKey(of: deviceID) }

    /// The key that a collar was made with.
    func factoryKey(of deviceID: DeviceID) -> CollarKey {
        var random = SeededRandom(seed: deviceID.rawValue &+ (eraseCounts[deviceID] ?? 0))
        return SealedFrames.randomKey(&random)
    }

    static func randomKey(_ random: inout SeededRandom) -> CollarKey {
        let bytes = (0..<CollarKey.byteCount).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        return CollarKey(bytes.span)
    }

    /// All of the flash of a collar was erased: it gets another key.
    mutating func erased(_ deviceID: DeviceID) {
        eraseCounts[deviceID, default: 0] += 1
        exchangedKeys[deviceID] = nil
        possibleKeys[deviceID] = nil
    }

    /// A collar may have taken a key over. Its next frame tells.
    mutating func mayHaveChanged(_ key: CollarKey, of deviceID: DeviceID) {
        possibleKeys[deviceID] = keys(of: deviceID) + [key]
    }

    /// Whether a collar may have a key.
    func isInForce(_ key: CollarKey, of deviceID: DeviceID) -> Bool { keys(of: deviceID).contains(key) }

    /// A user has found the key of a collar in the state directory of a host.
    mutating func learned(_ key: CollarKey, of deviceID: DeviceID) { exchangedKeys[deviceID] = key }

    private func keys(of deviceID: DeviceID) -> [CollarKey] { possibleKeys[deviceID] ?? [factoryKey(of: deviceID)] }

    /// The clear form of a frame of a collar that one of its possible keys opens, and these keys. From then on the collar has this
    /// key.
    private mutating func openWithPossibleKey(
        _ deviceID: DeviceID, _ open: (SealingKeys) -> [UInt8]?
    ) -> (clear: [UInt8], keys: SealingKeys)? {
        for key in keys(of: deviceID) {
            let sealing = SealingKeys(key, deviceID: deviceID)
            guard let clear = open(sealing) else { continue }
            possibleKeys[deviceID] = [key]
            return (clear, sealing)
        }
        return nil
    }

    /// A collar hands out a frame on its cable.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func handsOutOnCable(_ frame: [UInt8], _ deviceID: DeviceID) -> String? {
        guard let header = try? FrameHeader(ofAny: frame.span), let number = expected[deviceID] else { return "a frame before a boot" }
        guard header.flags.isSealed else {
            return CableFrame(header) == .keyOffer ? nil : "a frame that is no offer is in clear"
        }
        expected[deviceID]?.counter += 1
        let opened = openWithPossibleKey(deviceID) { SealedFrames.openIdentity(frame, header, number, deviceID, $0) }
        return opened == nil ? "a frame is not sealed as number \(number)" : nil
    }

    /// The clear form of an identity or an offer with this number; nil if it does not open.
    private static func openIdentity(
        _ frame: [UInt8], _ header: FrameHeader, _ number: FrameNumber, _ deviceID: DeviceID, _ keys: SealingKeys
    ) -> [UInt8]? {
        var found: FrameNumber?
        let clear = [UInt8](capacity: Frame.maximumByteCount) { output in
            found = SealedFrame.openIdentity(frame.span, header: header, deviceID: deviceID, keys: keys, into: &output)
        }
        return found == number ? clear : nil
    }

    /// The collar that handed out a sealed frame.
    func sender(of frame: [UInt8]) -> DeviceID? { senders[frame] }

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
        let opened = openWithPossibleKey(log.deviceID) {
            SealedFrames.open(frame, record, number, newest: newest, keys: $0)
        }
        guard let (clear, keys) = opened else { return "a frame is not sealed as number \(number)" }
        clearForms[frame] = clear
        senders[frame] = log.deviceID
        if let poll = FrameFlags(rawValue: clear[1]).poll {
            polls.append(SentPoll(log: log, keys: keys, number: number, poll: poll))
            if polls.count > SealedFrames.pollLimit { polls.removeFirst() }
        }
        return nil
    }

    private static func open(
        _ frame: [UInt8], _ record: LogRecord, _ number: FrameNumber, newest: UInt32, keys: SealingKeys
    ) -> [UInt8]? {
        guard let header = try? FrameHeader(ofAny: frame.span), header.flags.isSealed, let type = header.type else { return nil }
        if type == .identity { return openIdentity(frame, header, number, record.log.deviceID, keys) }
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

    /// A machine hands out a frame.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func handsOut(_ frame: [UInt8], receiverID: UInt32, by machine: Int) -> String? {
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
            let place = AnswerPlace(
                deviceID: sent.log.deviceID, receiverID: receiverID, bootCount: sent.number.bootCount,
                counter: sent.number.counter, index: header.flags.rawValue & 7)
            let salt = Array(frame[saltStart..<(saltStart + 3)])
            return note(HostFrame(bytes: frame, salt: salt, machine: machine), in: place)
        }
        return "a frame answers no poll that was sent"
    }

    /// Notes a frame of a machine.
    /// - Returns: what is wrong; nil if nothing is.
    private mutating func note(_ frame: HostFrame, in place: AnswerPlace) -> String? {
        let earlier = hostFrames[place] ?? []
        if place.index == 0, let first = earlier.first, first.machine != frame.machine {
            pollsAnsweredTwice += 1
            if first.bytes != frame.bytes { pollsAnsweredDifferently += 1 }
        }
        guard !earlier.contains(where: { $0.bytes == frame.bytes }) else { return nil }
        hostFrames[place] = earlier + [frame]
        for other in earlier {
            nonces.add(other.salt, frame.salt)
            // Two machines that answer a poll differently use one nonce once in 2^24 times. Twice in a run is no chance.
            guard other.salt == frame.salt, other.machine == frame.machine || nonces.equalSalts > 1 else { continue }
            return "two frames for poll \(place.counter) of boot \(place.bootCount) have index \(place.index) and salt \(frame.salt)"
        }
        return nil
    }
}
