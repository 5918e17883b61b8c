import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// Up to 16 collars and a host on one half-duplex channel, in virtual time: collars start together or late, their clocks differ, the host
/// is restarted, packets collide and are lost. Every fix must be acknowledged soon, and each frame comes at a time that PROTOCOL.md allows.
package struct CompanyTrial {
    private struct Downlink {
        let frame: [UInt8]
        let start: Int64
        let end: Int64
        /// The collars for which another packet destroys it.
        var isDestroyed: [Bool]
    }

    /// How a trial ended.
    package struct Result: Equatable, Sendable {
        /// The rule that did not hold; nil if all did.
        package var violation: String?
        package var waits = WaitStatistics()
        /// The frames of collars that collided.
        package var collisionCount = 0
        /// The new fixes whose time was compared with a turn.
        package var checkedTurns = 0
    }

    private static let receiverID: UInt32 = 88
    private static let patienceIntervals: Int64 = 10
    /// Where intervals are short, the time-outs count: until a host knows a collar, it can use only the identity, which every fourth
    /// unanswered poll repeats, and after twenty of them a repeat comes after 30 s and more.
    private static let leastPatience: Int64 = 600_000_000
    /// With losses and hidden collars, two in 27,000 trials take longer than that.
    private static let patienceFactorWithLosses: Int64 = 2
    private static let mostSteps = 300_000

    private let plan: CompanyPlan
    private var members: [CompanyMember]
    private var random: SeededRandom
    private var host: ChannelHost
    private var answers = StreamDecoder()
    private var count: CompanyCount
    private var senses: ChannelSenses
    private var now: Int64 = 0
    private var nextDisturbance = 0
    private var disturbances: [(time: Int64, kind: CompanyPlan.Disturbance)]
    private var downlink: Downlink?
    private var outbox: [[UInt8]] = []
    private var result = Result()

    package init(seed: UInt64) { self.init(CompanyPlan(seed: seed)) }

    init(_ plan: CompanyPlan) {
        self.plan = plan
        random = SeededRandom(seed: plan.seed ^ 0x434F_4D50_414E_5902)
        members = plan.members.indices.map { CompanyMember(plan, index: $0) }
        disturbances = plan.disturbances.sorted { $0.time < $1.time }
        var keys: [DeviceID: CollarKey] = [:]
        for member in members { keys[member.deviceID] = member.key }
        host = ChannelHost(receiverID: Self.receiverID, keys: keys, at: Instant(microseconds: 0))
        count = CompanyCount(collarCount: members.count, heartbeat: plan.heartbeat)
        senses = ChannelSenses(collarCount: members.count, modem: plan.modem, seed: plan.seed)
    }

    /// Runs until everything is acknowledged, or to the first violation.
    package static func result(of seed: UInt64) -> Result {
        var trial = CompanyTrial(seed: seed)
        return trial.run()
    }

    private var patience: Int64 {
        max(Self.leastPatience, Self.patienceIntervals * plan.interval) * (plan.hasLosses ? Self.patienceFactorWithLosses : 1)
    }

    mutating func run() -> Result {
        let end = plan.fixesEnd + plan.interval + patience
        var steps = 0
        while result.violation == nil, now <= end, !isOver {
            now = max(now, nextTime)
            step()
            steps += 1
            if steps == Self.mostSteps { broken("\(steps) steps, and still no end") }
        }
        for index in members.indices where result.violation == nil { judgeDelay(of: index) }
        for member in members {
            result.waits.add(member.waits)
            result.checkedTurns += member.turnRule.checkedCount
        }
        return result
    }

    private mutating func broken(_ rule: String) { result.violation = result.violation ?? "\(rule), at \(now) us" }

    private var isOver: Bool { now > plan.fixesEnd && members.allSatisfy { $0.unacknowledged.isEmpty } }

    private var nextTime: Int64 {
        var next = members.reduce(Int64.max) { min($0, $1.nextTime) }
        if let downlink { next = min(next, downlink.end) }
        if nextDisturbance < disturbances.count { next = min(next, disturbances[nextDisturbance].time) }
        if let due = host.nextDeadline { next = min(next, due.microseconds) }
        return next
    }

    private mutating func step() {
        endTransmissions()
        if nextDisturbance < disturbances.count, now >= disturbances[nextDisturbance].time { disturb() }
        senseChannel()
        for index in members.indices where members[index].nextTime <= now {
            if let rule = members[index].advance(to: now) { broken("collar \(index): \(rule)") }
            senses.note(senseEnd: members[index].senseEnd, of: index, now: Instant(microseconds: now))
        }
        letHostWork([])
        destroyOverlaps()
    }

    // MARK: Faults

    private mutating func disturb() {
        switch disturbances[nextDisturbance].kind {
        case .hostRestart:
            host.restart(at: Instant(microseconds: now))
            count.hostStarted(at: now)
            (answers, outbox) = (StreamDecoder(), [])
        case .powerCut:
            for index in members.indices where members[index].isRunning {
                members[index].boot(at: now)
                senses.note(senseEnd: nil, of: index, now: Instant(microseconds: now))
            }
        }
        nextDisturbance += 1
    }

    // MARK: The channel

    private mutating func endTransmissions() {
        if let ended = downlink, ended.end <= now {
            downlink = nil
            senses.ended(from: nil, start: Instant(microseconds: ended.start), end: Instant(microseconds: ended.end))
            deliver(ended)
        }
        for index in members.indices {
            guard let packet = members[index].endTransmission(at: now) else { continue }
            senses.ended(from: index, start: Instant(microseconds: packet.start), end: Instant(microseconds: packet.end))
            if packet.isDestroyed { result.collisionCount += 1 }
            guard !packet.isDestroyed, !random.chance(plan.loss) else { continue }
            count.arrived(from: index, at: now)
            letHostWork(Channel.stuffed(packet.frame))
        }
    }

    private mutating func deliver(_ downlink: Downlink) {
        let address = downlink.frame[2]
        for index in members.indices where address == Frame.broadcastAddress || address == members[index].address {
            guard !downlink.isDestroyed[index], !random.chance(plan.loss) else { continue }
            if let rule = members[index].receive(downlink.frame, since: downlink.start, at: now) { broken("collar \(index): \(rule)") }
            // An answer ends the sensing.
            senses.note(senseEnd: members[index].senseEnd, of: index, now: Instant(microseconds: now))
            judgeDelay(of: index)
        }
    }

    /// No fix waits longer than ten intervals, since it was made or since the last fault.
    private mutating func judgeDelay(of index: Int) {
        var delays = members[index].removeAcknowledged(at: now, since: plan.lastFault)
        // A collar that has left can be heard no more.
        if members[index].isRunning, let made = members[index].unacknowledged.first?.made { delays.append(now - max(made, plan.lastFault)) }
        for delay in delays where delay > patience {
            broken("collar \(index) starves: a fix waits for \(delay) us, and the interval is \(plan.interval) us")
        }
    }

    private mutating func letHostWork(_ bytes: [UInt8]) {
        let instant = Instant(microseconds: now)
        if bytes.isEmpty, host.nextDeadline.map({ $0 > instant }) ?? true { return sendNext() }
        host.receive(bytes, at: instant)
        for frame in answers.frames(in: host.takeBytes(at: instant)) {
            outbox.append(frame)
            guard (try? FrameHeader(ofAny: frame.span).type) == .acknowledgement,
                let index = members.firstIndex(where: { $0.address == frame[2] })
            else { continue }
            if let rule = count.answered(index, Company(of: frame), at: now) { broken(rule) }
        }
        sendNext()
    }

    /// The base waits for packets that it receives, and sends one frame after the other.
    private mutating func sendNext() {
        guard downlink == nil, !outbox.isEmpty, members.allSatisfy({ $0.onAir == nil }) else { return }
        let frame = outbox.removeFirst()
        downlink = Downlink(
            frame: frame, start: now, end: now + plan.modem.airtimeMicroseconds(frameByteCount: frame.count),
            isDestroyed: members.map { _ in false })
    }

    /// Packets that are on the air at once destroy each other. The base hears all collars; a collar does not hear each of the others.
    private mutating func destroyOverlaps() {
        let sending = members.indices.filter { members[$0].onAir != nil }
        guard sending.count + (downlink == nil ? 0 : 1) > 1 else { return }
        for index in sending {
            members[index].destroyTransmission()
            for listener in members.indices where plan.hearing.hears(listener, index) { downlink?.isDestroyed[listener] = true }
        }
    }

    private mutating func senseChannel() {
        guard senses.isAny else { return }
        let instant = Instant(microseconds: now)
        for index in members.indices where senses.isSensing(index) {
            let isBusy =
                senses.hasEndedPacket(heardBy: index, in: plan.hearing)
                || members.indices.contains { other in
                    guard other != index, plan.hearing.hears(index, other), let packet = members[other].onAir else { return false }
                    return senses.notices(index, Instant(microseconds: packet.start), min(Instant(microseconds: packet.end), instant))
                }
                || downlink.map { senses.notices(index, Instant(microseconds: $0.start), min(Instant(microseconds: $0.end), instant)) } ?? false
            guard isBusy else { continue }
            members[index].channelIsBusy(at: now)
            senses.end(index)
        }
    }
}
