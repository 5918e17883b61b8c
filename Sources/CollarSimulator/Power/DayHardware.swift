import CollarARQ
import CollarFirmware
import CollarWire

/// The parts of a simulated board, and the base at the other end of its radio, in virtual time.
final class DayHardware {
    /// A frame of the base on the air.
    private struct Downlink {
        let start: Instant
        let end: Instant
        let frame: [UInt8]
    }

    private let plan: DayPlan
    private let modem: ModemProfile
    private let lossProbability: Double
    let hasAccelerometer: Bool
    let sensesChannel: Bool
    /// The time of two channel activity detections of four symbols each. A chip receives for so long in each sensing; in the time between
    /// them it sleeps.
    private let detectionMicroseconds: Int64
    /// Time in which the radio has sensed the channel for the frame that it sends next.
    private var sensedMicroseconds: Int64 = 0
    private var random: SeededRandom
    private(set) var now = Instant(microseconds: 0)
    private(set) var gnss: DayGNSS
    var base: DayReceiver
    var statistics = DayStatistics()
    private(set) var surroundings: Surroundings
    /// For how long the animal has moved.
    private var movingMicroseconds: Int64 = 0
    private var hasMoved = false
    /// The frame of the collar on the air.
    private var uplink: (end: Instant, frame: [UInt8])?
    private var downlinks: [Downlink] = []
    /// The packet whose beginning the radio has heard.
    private var reception: Downlink?
    /// The packets that the radio has received whole.
    private var received: [[UInt8]] = []
    private var listeningEnd: Instant?
    private var use = FrameUse.report
    private var windowEnd = Instant(microseconds: 0)
    private var lastAnswer: Instant?
    /// Whether something happened that ends a sleep.
    private var isAwoken = false

    init(_ setup: DaySetup, modem: ModemProfile, base: DayReceiver) {
        plan = setup.plan
        self.modem = modem
        lossProbability = setup.lossProbability
        hasAccelerometer = setup.hasAccelerometer
        sensesChannel = setup.sensesChannel
        detectionMicroseconds = 2 * 4 * 1_000_000 << Int64(setup.spreadingFactorInForce) / 125_000
        random = SeededRandom(seed: setup.seed)
        self.base = base
        gnss = DayGNSS(
            times: setup.timesToFix, noise: SimulatedNoise(meters: setup.noiseMeters, seed: random.next()),
            tellsSatellites: setup.tellsSatellites, unixStart: DaySetup.unixStartMilliseconds)
        surroundings = plan.surroundings(at: now)
        hasMoved = surroundings.isMoving
    }

    var randomWord: UInt32 { UInt32(truncatingIfNeeded: random.next()) }

    // MARK: The calls of the program

    /// Lets the time pass until a deadline, or until something happens for the program.
    func sleep(until deadline: Instant) {
        isAwoken = false
        while !isAwoken, gnss.output.isEmpty, received.isEmpty {
            let next = nextEvent.map { min($0, deadline) } ?? deadline
            pass(to: max(now, next))
            happen()
            if now >= deadline { return }
        }
    }

    func send(_ frame: [UInt8]) {
        (reception, listeningEnd) = (nil, nil)
        uplink = (now.advanced(byMicroseconds: modem.airtimeMicroseconds(frameByteCount: frame.count)), frame)
        let header = try? FrameHeader(frame.span)
        use = FrameUse(header?.type)
        statistics[use].frames += 1
        statistics[use].bytes += frame.count
        statistics[use].listeningMicroseconds += sensedMicroseconds
        sensedMicroseconds = 0
        if header?.flags.poll != nil { statistics.exchanges += 1 }
    }

    var isSending: Bool { uplink != nil }

    func listen(until end: Instant?) { listeningEnd = end }

    func senseChannel() { sensedMicroseconds += detectionMicroseconds }

    func nextFrame() -> [UInt8]? { received.isEmpty ? nil : received.removeFirst() }

    func setGNSS(_ supply: GNSSSupply) { gnss.switchSupply(to: supply, now: now) }

    func readGNSS(into bytes: inout OutputSpan<UInt8>) {
        let count = min(gnss.output.count, bytes.freeCapacity)
        for index in 0..<count { bytes.append(gnss.output[index]) }
        gnss.output.removeFirst(count)
    }

    func writeGNSS(_ command: [UInt8]) { gnss.receive(command) }

    /// Whether the animal has moved since the last call; nil without an accelerometer.
    func takeMotion() -> Bool? {
        guard hasAccelerometer else { return nil }
        defer { hasMoved = surroundings.isMoving }
        return hasMoved
    }

    // MARK: Time

    private var nextEvent: Instant? {
        var next = plan.nextChange(after: now)
        for event in [uplink?.end, reception?.end, downlinks.first?.start, gnss.nextTick] {
            if let event { next = min(next ?? event, event) }
        }
        return next
    }

    /// Lets the time pass in which nothing happens but the end of listening.
    private func pass(to end: Instant) {
        let elapsed = end.microseconds(since: now)
        statistics.microseconds += elapsed
        if surroundings.isMoving { movingMicroseconds += elapsed }
        if !surroundings.isInReach { statistics.outOfReachMicroseconds += elapsed }
        if uplink != nil {
            statistics[use].sendingMicroseconds += elapsed
        } else if let last = [listeningEnd, reception?.end].compactMap(\.self).max() {
            let stop = min(end, last)
            let listened = max(0, stop.microseconds(since: now))
            statistics[use].listeningMicroseconds += listened
            statistics.strayListeningMicroseconds += min(listened, max(0, stop.microseconds(since: windowEnd)))
        }
        now = end
    }

    /// Does what is due now.
    private func happen() {
        let before = surroundings
        surroundings = plan.surroundings(at: now)
        if surroundings.isMoving, !before.isMoving {
            hasMoved = true
            if hasAccelerometer { isAwoken = true }
        }
        if !surroundings.isInReach { lastAnswer = nil }
        if let sent = uplink, sent.end <= now {
            uplink = nil
            isAwoken = true
            arrive(sent.frame)
        }
        while let next = downlinks.first, next.start <= now {
            downlinks.removeFirst()
            begin(next)
        }
        if let heard = reception, heard.end <= now {
            reception = nil
            received.append(heard.frame)
            noteAnswer()
        }
        if let tick = gnss.nextTick, tick <= now { gnss.tick(now: now, in: surroundings, movingMicroseconds: movingMicroseconds) }
    }

    /// The base receives a frame of the collar, and answers after the turnaround.
    private func arrive(_ frame: [UInt8]) {
        let answer = modem.turnaroundMicroseconds + modem.airtimeMicroseconds(frameByteCount: Frame.minimumLimitByteCount)
        if (try? FrameHeader(frame.span))?.flags.poll != nil {
            // Two requests of the host can come before the answer, each of which lets the collar wait for another answer.
            windowEnd = now.advanced(byMicroseconds: 3 * answer)
        }
        guard surroundings.isInReach, !random.chance(lossProbability) else { return }
        var start = now.advanced(byMicroseconds: modem.turnaroundMicroseconds)
        for answer in base.receive(frame, now: now) {
            let end = start.advanced(byMicroseconds: modem.airtimeMicroseconds(frameByteCount: answer.count))
            downlinks.append(Downlink(start: start, end: end, frame: answer))
            start = end
        }
    }

    /// A packet of the base begins. The radio receives it only if it listens at this moment.
    private func begin(_ packet: Downlink) {
        guard surroundings.isInReach, !random.chance(lossProbability), uplink == nil, reception == nil || reception?.end == packet.start,
            let listeningEnd, listeningEnd >= packet.start
        else { return }
        if let whole = reception {
            received.append(whole.frame)
            noteAnswer()
        }
        reception = packet
    }

    private func noteAnswer() {
        if let lastAnswer {
            statistics.longestSilenceMicroseconds = max(statistics.longestSilenceMicroseconds, now.microseconds(since: lastAnswer))
        }
        lastAnswer = now
    }
}
