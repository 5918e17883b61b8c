import CollarARQ
import CollarSimulator
import CollarWire

/// What a hostile sender forges in the names of collars that it has heard. Two of them together would take fixes away: a host
/// believes a loss of what the collar has shown, and where logs have used up all ranges a loss is for good.
enum Forging { case sequences, losses, logs, acknowledgements }

extension WorldPlan {
    /// No logs are invented of collars that are paired anew: the pairing may end with what an old identity says, and a host
    /// closes a log with few fixes for forged ones that have more.
    var forging: Forging {
        switch seed % 5 {
        case 0: .losses
        case 1: .acknowledgements
        case 2: .sequences
        default: faults.isDisjoint(with: [.repairing, .stateRemoval]) ? .logs : .sequences
        }
    }
}

/// A sender without secrets: it hears everything on the air, and sends what PROTOCOL.md lets everybody send in clear. It does
/// nothing that takes a fix away; see section 20 there for what it could do.
final class Attacker {
    private var random: SeededRandom
    /// The frame that waits for the air or is on it.
    var outgoing: [UInt8]?
    /// Identities of collars that it has heard.
    private var identities: [Identity] = []
    /// Collars that it has invented.
    private var invented: [LogIdentity] = []
    private var sequence: UInt32 = 0
    private let forging: Forging
    /// Logs of collars it has heard that it may still invent.
    private var logsLeft = Attacker.floodLimit
    /// Fixes of the last of them that it is about to send.
    private var floodFixes: [(log: LogIdentity, sequence: UInt32)] = []

    /// Collars that it invents at most: more use up the places of a host.
    private static let inventionLimit = 3
    /// Logs of other collars that it invents at most: many times what a host keeps track of in a world.
    private static let floodLimit = 60

    init(_ plan: WorldPlan) {
        random = SeededRandom(seed: plan.seed ^ 0xA77A_C4E5)
        forging = plan.forging
    }

    /// The least time from one frame to the next, in microseconds: logs use up what a host keeps track of before it is calm.
    var leastPause: Int64 { forging == .logs ? 10_000 : 50_000 }

    /// Hears a frame on the air.
    func overheard(_ frame: [UInt8]) {
        do throws(DecodeError) {
            guard case .identity(let identity) = try Message.decode(frame.span, log: nil, reference: 0) else { return }
            identities.removeAll { $0.log == identity.log }
            identities.append(identity)
        } catch {
            // It is bound to a log, or damaged.
        }
    }

    /// A frame that it sends, and what it makes a receiver believe.
    struct Forgery {
        var frame: [UInt8] = []
        /// A log that it invents.
        var log: LogIdentity?
        /// A loss of fixes that a collar has made.
        var loss: (log: LogIdentity, range: SequenceRange)?
    }

    /// The next frame it sends.
    /// - Parameter delivered: sequences that are with every receiver of that collar for certain.
    func makeFrame(delivered: (LogIdentity) -> Range<UInt32>) -> Forgery {
        var forgery = Forgery()
        forgery.frame = [UInt8].frame { output throws(EncodeError) in
            if forging == .logs, random.chance(0.7) {
                forgery.log = try encodeFlood(into: &output)
                return
            }
            switch random.below(8) {
            case 0 where invented.count < Attacker.inventionLimit:
                guard let log = inventLog() else { return }
                forgery.log = log
                try encodeIdentity(of: log, into: &output)
            case 1, 2: try encodeFixOfInvention(into: &output)
            case 3: try encodeProbe(into: &output)
            case 4: try encodeOtherContent(delivered, into: &output)
            case 5 where forging == .losses: try encodeLossOfFuture(into: &output)
            case 6 where forging == .losses: forgery.loss = try encodeLossOfPast(into: &output)
            case 5 where forging == .sequences, 6 where forging == .sequences: try encodeSequenceOfFuture(into: &output)
            case 5 where forging == .acknowledgements, 6 where forging == .acknowledgements:
                try encodeForgedAcknowledgement(into: &output)
            default: try encodeForgedCommand(into: &output)
            }
        }
        return forgery
    }

    /// Another log of a collar that it has heard, and then fixes of it: one, or some with gaps between them. They use up what a
    /// host keeps track of.
    /// - Returns: the log, where it is new.
    private func encodeFlood(into output: inout OutputSpan<UInt8>) throws(EncodeError) -> LogIdentity? {
        if let next = floodFixes.popLast() {
            try encodeFix(next.sequence, of: next.log, into: &output)
            return nil
        }
        guard logsLeft > 0, let heard = identities.randomElement(using: &random),
            let log = LogIdentity(deviceID: heard.log.deviceID, logID: UInt32(random.below(1 << 26)))
        else {
            try encodeProbe(into: &output)
            return nil
        }
        logsLeft -= 1
        floodFixes = (0..<(random.below(3) == 0 ? 6 : 1)).map { (log, 7 * UInt32($0)) }
        let identity = Identity(
            log: log, bootCount: 1, oldestSequence: 0, nextSequence: 50, pairedReceiverID: heard.pairedReceiverID,
            maximumFrameByteCount: heard.maximumFrameByteCount, firmwareVersion: heard.firmwareVersion,
            capabilities: heard.capabilities, heartbeatSeconds: heard.heartbeatSeconds)
        try identity.encode(address: address, flags: FrameFlags(ask: ask()), into: &output)
        return log
    }

    /// A device of its own.
    private func inventLog() -> LogIdentity? {
        let deviceID = 0xBAD0_0000_0000_0000 | random.next() >> 16
        let log = LogIdentity(deviceID: deviceID, logID: UInt32(random.below(1 << 26)))
        if let log { invented.append(log) }
        return log
    }

    private var address: UInt8 { UInt8(9 + random.below(6)) }

    private func ask() -> AskNumber? { AskNumber(rawValue: UInt8(1 + random.below(7))) }

    private func encodeIdentity(of log: LogIdentity, into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        let identity = Identity(
            log: log, bootCount: 1, oldestSequence: 0, nextSequence: UInt32(random.below(1 << 30)),
            pairedReceiverID: UInt32(random.below(3)), maximumFrameByteCount: 51,
            firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0), capabilities: .sounder,
            heartbeatSeconds: UInt16(random.below(65_536)))
        try identity.encode(address: address, flags: FrameFlags(ask: ask()), into: &output)
    }

    private func encodeFixOfInvention(into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        guard !invented.isEmpty else { return try encodeProbe(into: &output) }
        let log = invented[random.below(invented.count)]
        // Every other one is a gap more.
        sequence += 1 + UInt32(random.below(2))
        try encodeFix(sequence, of: log, into: &output)
    }

    private func encodeFix(
        _ sequence: UInt32, of log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        let fix = Fix(
            sequence: sequence, unixMilliseconds: 1_700_000_000_000, latitudeSteps: Int32(random.below(1_000_000)),
            longitudeSteps: 666)
        try AbsoluteFix.encode(
            fix, address: address, flags: FrameFlags(ask: ask()), log: log, reference: nil, into: &output)
    }

    private func encodeProbe(into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        let probe = Probe(logTag: UInt32(random.below(1 << 24)), nextSequence: UInt32(random.below(1 << 30)))
        try probe.encode(address: address, flags: FrameFlags(ask: ask()), into: &output)
    }

    /// A fix that its receivers have, with another content.
    private func encodeOtherContent(
        _ delivered: (LogIdentity) -> Range<UInt32>, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        guard !identities.isEmpty else { return try encodeProbe(into: &output) }
        let log = identities[random.below(identities.count)].log
        let range = delivered(log)
        guard !range.isEmpty else { return try encodeProbe(into: &output) }
        try encodeFix(range.lowerBound + UInt32(random.below(range.count)), of: log, into: &output)
    }

    /// A loss of some of the newest fixes that the collar has made.
    private func encodeLossOfPast(
        into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) -> (log: LogIdentity, range: SequenceRange)? {
        guard let identity = identities.randomElement(using: &random), identity.nextSequence > 0 else {
            try encodeProbe(into: &output)
            return nil
        }
        let last = identity.nextSequence - 1 - UInt32(random.below(Int(min(identity.nextSequence, 20))))
        guard let range = SequenceRange(last - min(last, UInt32(random.below(10))), last) else { return nil }
        try encodeLoss(of: range, log: identity.log, into: &output)
        return (identity.log, range)
    }

    /// A loss of fixes that the collar has still to make.
    private func encodeLossOfFuture(into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        guard let identity = identities.randomElement(using: &random) else { return try encodeProbe(into: &output) }
        // Far enough that it is still to come when this arrives.
        let first = identity.nextSequence + 2000 + UInt32(random.below(1000))
        guard let range = SequenceRange(first, first + UInt32(random.below(1000))) else { return }
        try encodeLoss(of: range, log: identity.log, into: &output)
    }

    private func encodeLoss(
        of range: SequenceRange, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        var ranges = SequenceRangeList()
        ranges.append(range)
        try Tombstone(ranges: ranges).encode(
            address: address, flags: FrameFlags(ask: ask()), log: log, into: &output)
    }

    /// An acknowledgement of everything, in the name of the collar's receiver: perhaps while that is off.
    private func encodeForgedAcknowledgement(into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        guard let identity = identities.randomElement(using: &random), identity.pairedReceiverID != 0 else {
            return try encodeProbe(into: &output)
        }
        let answer = Acknowledgement(receiverID: identity.pairedReceiverID, ask: ask(), firstMissing: identity.nextSequence)
        try answer.encode(address: address, log: identity.log, into: &output)
    }

    /// A probe or an identity of a collar whose sequences are far above those that it has made.
    private func encodeSequenceOfFuture(into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        guard let heard = identities.randomElement(using: &random),
            var identity = identities.last(where: { $0.log.deviceID == heard.log.deviceID })
        else { return try encodeProbe(into: &output) }
        identity.nextSequence = max(identity.nextSequence, UInt32(truncatingIfNeeded: random.next()))
        let flags = FrameFlags(ask: ask())
        if random.chance(0.5) { return try identity.encode(address: address, flags: flags, into: &output) }
        let probe = Probe(logTag: identity.log.tag, nextSequence: identity.nextSequence)
        try probe.encode(address: address, flags: flags, into: &output)
    }

    /// A command of a receiver that is nobody's.
    private func encodeForgedCommand(into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        guard let identity = identities.randomElement(using: &random), identity.pairedReceiverID != 0 else {
            return try encodeProbe(into: &output)
        }
        let orders: [Command.Order] = [.reboot, .stopTracking, .unpair, .pair(receiverID: 0xBAD), .locateNow]
        let command = Command(
            requestID: UInt16(truncatingIfNeeded: random.next()) | 1, receiverID: 0xBAD, order: orders[random.below(orders.count)])
        try command.encode(address: Frame.broadcastAddress, log: identity.log, into: &output)
    }
}
