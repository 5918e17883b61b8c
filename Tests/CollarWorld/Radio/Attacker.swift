import CollarARQ
import CollarSimulator
import CollarWire

/// The kind of frames that a hostile sender forges in the names of collars that it has heard. There is only one kind in a
/// world, because two together could make fixes disappear: a host believes a loss of fixes that the collar has announced, and
/// once invented logs have used up all ranges, a loss is permanent.
enum Forging { case sequences, losses, logs, acknowledgements, settings }

extension WorldPlan {
    /// Logs are not invented in worlds in which collars change their receivers: a forged identity names the receiver of an older one,
    /// and so could end a *pair* or *unpair* by mistake.
    var forging: Forging {
        if seed % 20 == 13 { return .settings }
        return switch seed % 5 {
        case 0: .losses
        case 1: .acknowledgements
        case 2: .sequences
        default: !faults.contains(.repairing) ? .logs : .sequences
        }
    }
}

/// A sender without secrets. It hears every frame on the air, and sends the frames that PROTOCOL.md lets anyone send in clear.
/// It does nothing that makes fixes disappear; section 20 of PROTOCOL.md lists what it could do.
final class Attacker {
    private var random: SeededRandom
    /// The frame that waits to be sent or is on the air.
    var outgoing: [UInt8]?
    /// Identities of collars that it has heard.
    private var identities: [Identity] = []
    /// Logs of the collars that it has invented.
    private var invented: [LogIdentity] = []
    private var sequence: UInt32 = 0
    private let forging: Forging
    private let isSealed: Bool
    /// Frames that it has heard, in a world with keys.
    private var recorded: [[UInt8]] = []
    private static let recordLimit = 400
    /// How many more logs of heard collars it can invent.
    private var logsLeft = Attacker.floodLimit
    /// Fixes of the last invented log that it has still to send.
    private var floodFixes: [(log: LogIdentity, sequence: UInt32)] = []

    /// The most collars that it invents: more would use up the collars that a host accepts.
    private static let inventionLimit = 3
    /// The most logs of heard collars that it invents: many times as many as a host keeps track of in a world.
    private static let floodLimit = 60

    init(_ plan: WorldPlan) {
        random = SeededRandom(seed: plan.seed ^ 0xA77A_C4E5)
        forging = plan.forging
        isSealed = plan.isSealed
    }

    /// An attack with one frame.
    enum Sealed {
        /// Sends a frame again that it has heard.
        case repeated([UInt8])
        /// Sends a frame that nobody must accept.
        case forged([UInt8])
        /// Asks a collar for its identity, as anybody may.
        case request([UInt8])
    }

    /// The next frame that it sends in a world with keys: a frame that it has heard, changed or not, or a frame in clear in the
    /// name of a collar or a host.
    func makeSealedFrame() -> Sealed {
        switch random.below(8) {
        case 0, 1, 2:
            if let frame = recorded.randomElement(using: &random) { return .repeated(frame) }
        case 3, 4:
            if var frame = recorded.randomElement(using: &random) {
                let bit = random.below(8 * frame.count)
                frame[bit / 8] ^= 1 << UInt8(bit % 8)
                return .forged(frame)
            }
        case 5:
            // A frame of one type under the name of another, and a sealed frame that is said to be in clear.
            if var frame = recorded.randomElement(using: &random) {
                if random.chance(0.5) { frame[0] = frame[0] & 0xE0 | UInt8(random.below(32)) } else { frame[1] ^= 0x80 }
                if recorded.contains(frame) { return .repeated(frame) }
                return .forged(frame)
            }
        default: break
        }
        if random.chance(0.3) {
            let request = IdentityRequest(receiverID: 0xBAD)
            return .request(.frame { output throws(EncodeError) in try request.encode(address: address, into: &output) })
        }
        let forgery: Forgery? =
            switch random.below(7) {
            case 0: lossOfFuture()
            case 1: lossOfPast()
            case 2: sequenceOfFuture()
            case 3: acknowledgement()
            case 4: settings(.update)
            case 5: settings(.report)
            default: command()
            }
        return .forged((forgery ?? probe()).frame)
    }

    /// The least time between two frames, in microseconds. Invented logs come faster, to use up what a host keeps track of
    /// before the world is calm.
    var leastPause: Int64 { forging == .logs ? 10_000 : 50_000 }

    /// Hears a frame on the air.
    /// - Parameter clear: its clear form. Of a sealed frame, the sender uses only what the collar said before it had a key.
    func overheard(_ frame: [UInt8], clear: [UInt8]) {
        if isSealed {
            if recorded.count < Attacker.recordLimit { recorded.append(frame) } else {
                recorded[random.below(recorded.count)] = frame
            }
        }
        do throws(DecodeError) {
            guard case .identity(let identity) = try Message.decode(clear.span, log: nil, reference: 0) else { return }
            identities.removeAll { $0.log == identity.log }
            identities.append(identity)
        } catch {
            // A frame that is bound to a log does not decode without the log.
        }
    }

    /// A forged frame, and what it makes a receiver believe.
    struct Forgery {
        var frame: [UInt8]
        /// The invented log that the frame shows.
        var log: LogIdentity?
        /// A range of fixes that the frame reports as lost, although the collar has made them.
        var loss: (log: LogIdentity, range: SequenceRange)?

        init(_ encode: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void) { frame = .frame(encode) }
    }

    /// The next frame that it sends: a probe by chance, or if it has not heard what another frame needs.
    /// - Parameter delivered: the sequences of a log that every host has for certain.
    func makeFrame(delivered: (LogIdentity) -> Range<UInt32>) -> Forgery {
        if forging == .logs, random.chance(0.7) { return flood() ?? probe() }
        let forgery: Forgery? =
            switch random.below(8) {
            case 0 where invented.count < Attacker.inventionLimit: identityOfInvention()
            case 1, 2: fixOfInvention()
            // An update counts only while the collar waits for an answer, so most of them have no effect.
            case 3 where forging == .settings, 7 where forging == .settings: settings(.update)
            case 3: nil
            case 4: otherContent(delivered)
            case 5 where forging == .losses: lossOfFuture()
            case 6 where forging == .losses: lossOfPast()
            case 5 where forging == .sequences, 6 where forging == .sequences: sequenceOfFuture()
            case 5 where forging == .acknowledgements, 6 where forging == .acknowledgements: acknowledgement()
            case 5 where forging == .settings: settings(.update)
            case 6 where forging == .settings: settings(.report)
            default: command()
            }
        return forgery ?? probe()
    }

    /// Shows another log of a collar that it has heard, and then sends fixes of that log: one, or six with gaps between them.
    /// These use up the logs and ranges that a host keeps track of.
    private func flood() -> Forgery? {
        if let next = floodFixes.popLast() { return fix(next.sequence, of: next.log) }
        guard logsLeft > 0, let heard = identities.randomElement(using: &random) else { return nil }
        let log = LogIdentity(deviceID: heard.log.deviceID, logID: LogID(lowBitsOf: UInt32(random.below(1 << 26))))
        logsLeft -= 1
        floodFixes = (0..<(random.below(3) == 0 ? 6 : 1)).map { (log, 7 * UInt32($0)) }
        return identity(
            Identity(
                log: log, bootCount: 1, oldestSequence: 0, nextSequence: 50, pairedReceiverID: heard.pairedReceiverID,
                maximumFrameByteCount: heard.maximumFrameByteCount, firmwareVersion: heard.firmwareVersion,
                capabilities: heard.capabilities, heartbeatSeconds: heard.heartbeatSeconds))
    }

    private var address: UInt8 { UInt8(9 + random.below(6)) }

    private func poll() -> PollNumber? { PollNumber(rawValue: UInt8(1 + random.below(7))) }

    /// The identity of an invented collar.
    private func identityOfInvention() -> Forgery? {
        let deviceID = DeviceID(rawValue: 0xBAD0_0000_0000_0000 | random.next() >> 16)
        let log = LogIdentity(deviceID: deviceID, logID: LogID(lowBitsOf: UInt32(random.below(1 << 26))))
        invented.append(log)
        return identity(
            Identity(
                log: log, bootCount: 1, oldestSequence: 0, nextSequence: UInt32(random.below(1 << 30)),
                pairedReceiverID: UInt32(random.below(3)), maximumFrameByteCount: 51,
                firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0), capabilities: .sounder,
                heartbeatSeconds: UInt16(random.below(65_536))))
    }

    /// An identity that shows a log which no collar has.
    private func identity(_ identity: Identity) -> Forgery {
        var forgery = Forgery { output throws(EncodeError) in
            try identity.encode(address: address, flags: FrameFlags(poll: poll()), into: &output)
        }
        forgery.log = identity.log
        return forgery
    }

    private func fixOfInvention() -> Forgery? {
        guard !invented.isEmpty else { return nil }
        let log = invented[random.below(invented.count)]
        // On average, every second fix leaves a gap before it.
        sequence += 1 + UInt32(random.below(2))
        return fix(sequence, of: log)
    }

    private func fix(_ sequence: UInt32, of log: LogIdentity) -> Forgery {
        let fix = Fix(
            sequence: sequence, unixMilliseconds: 1_700_000_000_000, latitudeSteps: Int32(random.below(1_000_000)),
            longitudeSteps: 666)
        return Forgery { output throws(EncodeError) in
            try AbsoluteFix.encode(
                fix, address: address, flags: FrameFlags(poll: poll()), log: log, reference: nil, into: &output)
        }
    }

    private func probe() -> Forgery {
        let probe = Probe(logTag: UInt32(random.below(1 << 24)), nextSequence: UInt32(random.below(1 << 30)))
        return Forgery { output throws(EncodeError) in
            try probe.encode(address: address, flags: FrameFlags(poll: poll()), into: &output)
        }
    }

    /// A fix that every host has, with another content.
    private func otherContent(_ delivered: (LogIdentity) -> Range<UInt32>) -> Forgery? {
        guard !identities.isEmpty else { return nil }
        let log = identities[random.below(identities.count)].log
        let range = delivered(log)
        return range.isEmpty ? nil : fix(range.lowerBound + UInt32(random.below(range.count)), of: log)
    }

    /// A tombstone of some of the newest fixes that the collar has made.
    private func lossOfPast() -> Forgery? {
        guard let identity = identities.randomElement(using: &random), identity.nextSequence > 0 else { return nil }
        let last = identity.nextSequence - 1 - UInt32(random.below(Int(min(identity.nextSequence, 20))))
        let first = last - min(last, UInt32(random.below(10)))
        var forgery = loss(first, last, log: identity.log)
        forgery?.loss = SequenceRange(first, last).map { (identity.log, $0) }
        return forgery
    }

    /// A tombstone of fixes that the collar has not made yet.
    private func lossOfFuture() -> Forgery? {
        guard let identity = identities.randomElement(using: &random) else { return nil }
        // So far ahead that the collar has not made these fixes when the frame arrives.
        let first = identity.nextSequence + 2000 + UInt32(random.below(1000))
        return loss(first, first + UInt32(random.below(1000)), log: identity.log)
    }

    private func loss(_ first: UInt32, _ last: UInt32, log: LogIdentity) -> Forgery? {
        guard let range = SequenceRange(first, last) else { return nil }
        var ranges = SequenceRangeList()
        ranges.append(range)
        return Forgery { output throws(EncodeError) in
            try Tombstone(ranges: ranges).encode(
                address: address, flags: FrameFlags(poll: poll()), log: log, into: &output)
        }
    }

    /// An acknowledgement of everything in the name of the collar's receiver, perhaps while that receiver is off.
    private func acknowledgement() -> Forgery? {
        guard let identity = identities.randomElement(using: &random), identity.pairedReceiverID != 0 else { return nil }
        let answer = Acknowledgement(receiverID: identity.pairedReceiverID, poll: poll(), firstMissing: identity.nextSequence)
        return Forgery { output throws(EncodeError) in
            try answer.encode(address: address, log: identity.log, into: &output)
        }
    }

    /// Settings of a version that leaves no higher one, or almost none.
    private func settings(_ direction: Settings.Direction) -> Forgery? {
        guard let identity = identities.randomElement(using: &random) else { return nil }
        // One above the highest version that a collar with the defaults believes, or up to the last one.
        let lowest: UInt64 = 1 << 42 + 1 << 20 + 1
        let number = random.chance(0.5) ? lowest + UInt64(random.below(1000)) : (1 << 44) - 1 - UInt64(random.below(2))
        var entries = SettingList()
        entries.append(Setting(key: SettingKey.intervalMilliseconds.rawValue, value: 666))
        let settings = Settings(
            direction: direction, requestID: 0, version: SettingsVersion(rawValue: number << 20 | 0xBAD), entries: entries)
        return Forgery { output throws(EncodeError) in
            try settings.encode(address: address, flags: FrameFlags(poll: nil), log: identity.log, into: &output)
        }
    }

    /// A probe or an identity of a collar, with a next sequence far above the true one.
    private func sequenceOfFuture() -> Forgery? {
        guard let heard = identities.randomElement(using: &random),
            var identity = identities.last(where: { $0.log.deviceID == heard.log.deviceID })
        else { return nil }
        identity.nextSequence = max(identity.nextSequence, UInt32(truncatingIfNeeded: random.next()))
        let flags = FrameFlags(poll: poll())
        let isIdentity = random.chance(0.5)
        let probe = Probe(logTag: identity.log.tag, nextSequence: identity.nextSequence)
        return Forgery { output throws(EncodeError) in
            if isIdentity { return try identity.encode(address: address, flags: flags, into: &output) }
            try probe.encode(address: address, flags: flags, into: &output)
        }
    }

    /// A command in the name of a receiver that does not exist.
    private func command() -> Forgery? {
        guard let identity = identities.randomElement(using: &random), identity.pairedReceiverID != 0 else { return nil }
        let actions: [Command.Action] = [.reboot, .stopTracking, .unpair, .pair(receiverID: 0xBAD), .locateNow]
        let command = Command(
            requestID: UInt16(truncatingIfNeeded: random.next()) | 1, receiverID: 0xBAD,
            action: actions[random.below(actions.count)])
        return Forgery { output throws(EncodeError) in
            try command.encode(address: Frame.broadcastAddress, log: identity.log, into: &output)
        }
    }
}
