import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// A ``DutyCycleTrial`` under way.
struct DutyCycleTrialState {
    private static let never = Instant(microseconds: .max)

    private let trial: DutyCycleTrial
    private let modem: ModemProfile
    private let delivery: CollarDelivery.Configuration
    private let flash: NORFlash
    private let question: [UInt8]
    private var collar: Collar<NORFlash>
    private let host: InstantHost
    private var requests: DutyCycleRequests
    private var random: SeededRandom
    private var hour = HourOfAirtime()
    private var result = DutyCycleTrial.Result()
    private var now = Instant(microseconds: 0)
    private var onAir: (start: Instant, end: Instant, frame: [UInt8])?
    private var downlinks: [(arrival: Instant, frame: [UInt8])] = []
    private var fixes: [Fix]
    private var fixCount = 0
    private var nextFix = Instant(microseconds: 0)
    private var nextQuestion = never
    private var nextReboot = never
    private var stormEnd = Instant(microseconds: 0)

    init(_ trial: DutyCycleTrial) throws(StationError) {
        self.trial = trial
        modem = trial.modem.profile
        random = SeededRandom(seed: trial.seed)
        delivery = .ofTrial(modem, dutyCyclePartsPerMillion: trial.dutyCyclePartsPerMillion, seed: trial.seed)
        let count = Int(trial.hours * 3600 / trial.secondsApart) + 1
        fixes = SimulatedWalk.fixes(count, secondsApart: trial.secondsApart)
        flash = NORFlash(blockByteCount: 4096, blockCount: count / 100 + 8, seed: trial.seed)
        question = [UInt8].frame { output throws(EncodeError) in
            try IdentityRequest(receiverID: 99).encode(address: Frame.broadcastAddress, into: &output)
        }
        collar = try Collar(sending: delivery, flash: flash, now: now)
        collar.condition = CollarCondition()
        host = InstantHost(knowing: collar.log)
        requests = DutyCycleRequests(meanSeconds: trial.meanRequestSeconds)
        if trial.meanQuestionMilliseconds != nil {
            nextQuestion = now.advanced(byMicroseconds: trial.questionsBeginAfterSeconds * 1_000_000)
        }
        planReboot()
    }

    var isOver: Bool { now.microseconds >= trial.hours * HourOfAirtime.microseconds }

    var finished: DutyCycleTrial.Result {
        var result = result
        result.deliveredCount = collar.firstUndelivered
        return result
    }

    /// Up to twice the mean, in microseconds.
    private mutating func pause(mean microseconds: Int64) -> Int64 {
        1 + Int64(random.next() % UInt64(2 * microseconds))
    }

    private mutating func planReboot() {
        switch trial.reboots {
        case .none: nextReboot = DutyCycleTrialState.never
        case .meanSeconds(let seconds): nextReboot = now.advanced(byMicroseconds: pause(mean: seconds * 1_000_000))
        case .storms(let seconds):
            nextReboot = now.advanced(byMicroseconds: pause(mean: seconds * 1_000_000))
            guard nextReboot >= stormEnd else { return }
            nextReboot = now.advanced(byMicroseconds: pause(mean: 1_800_000_000))
            stormEnd = nextReboot.advanced(byMicroseconds: pause(mean: 1_800_000_000))
        }
    }

    mutating func step() throws(StationError) {
        if onAir == nil, let frame = try collar.nextFrame(now: now) {
            let airtime = modem.airtimeMicroseconds(frameByteCount: frame.count)
            onAir = (now, now.advanced(byMicroseconds: airtime), frame)
            if random.chance(trial.cutProbability) {
                let part = Int64(random.next() % UInt64(airtime))
                nextReboot = min(nextReboot, now.advanced(byMicroseconds: part))
            }
        }
        let due = onAir?.end ?? collar.nextDeadline ?? DutyCycleTrialState.never
        let next = downlinks.reduce(min(nextFix, nextQuestion, nextReboot, due)) { min($0, $1.arrival) }
        now = max(next, now.advanced(byMicroseconds: 1))
        // The power is cut first: what happens at the same moment finds nobody.
        if nextReboot <= now { try reboot() }
        if let sent = onAir, sent.end <= now { try finish(sent.frame, start: sent.start, end: sent.end) }
        try makeFixes()
        if nextQuestion <= now { try ask() }
        try deliverDownlinks()
    }

    private mutating func count(start: Instant, end: Instant) {
        result.frameCount += 1
        result.airtimeMicroseconds += end.microseconds(since: start)
        let airtime = hour.add(start: start.microseconds, end: end.microseconds)
        if airtime > result.mostMicroseconds {
            result.mostMicroseconds = airtime
            result.mostAt = end.microseconds
        }
    }

    private mutating func reboot() throws(StationError) {
        if let cut = onAir {
            count(start: cut.start, end: min(now, cut.end))
            result.cutFrameCount += 1
            onAir = nil
        }
        result.rebootCount += 1
        collar = try Collar(sending: delivery, flash: flash, now: now)
        collar.condition = CollarCondition()
        planReboot()
    }

    private mutating func finish(_ frame: [UInt8], start: Instant, end: Instant) throws(StationError) {
        onAir = nil
        count(start: start, end: end)
        collar.frameSent(now: now)
        guard !random.chance(trial.lossProbability) else { return }
        if let request = requests.next(now: now, random: &random) { host.submit(request, at: now) }
        var arrival = now.advanced(byMicroseconds: modem.turnaroundMicroseconds)
        for frame in host.answers(to: frame, at: now) {
            arrival = arrival.advanced(byMicroseconds: modem.airtimeMicroseconds(frameByteCount: frame.count))
            if !random.chance(trial.lossProbability) { downlinks.append((arrival, frame)) }
        }
    }

    private mutating func makeFixes() throws(StationError) {
        while nextFix <= now, fixCount < fixes.count {
            do throws(FixLogError) { _ = try collar.log(fixes[fixCount]) } catch { throw .log(error, index: fixCount) }
            fixCount += 1
            nextFix = nextFix.advanced(byMicroseconds: trial.secondsApart * 1_000_000)
        }
        if fixCount == fixes.count { nextFix = DutyCycleTrialState.never }
    }

    private mutating func ask() throws(StationError) {
        if let mean = trial.meanQuestionMilliseconds {
            nextQuestion = now.advanced(byMicroseconds: pause(mean: mean * 1000))
        }
        if !random.chance(trial.lossProbability) { try hear(question) }
    }

    private mutating func deliverDownlinks() throws(StationError) {
        let arrived = downlinks.filter { $0.arrival <= now }
        downlinks.removeAll { $0.arrival <= now }
        for downlink in arrived { try hear(downlink.frame) }
    }

    private mutating func hear(_ frame: [UInt8]) throws(StationError) {
        // Who sends is deaf.
        guard onAir == nil else { return }
        do throws(FlashError) {
            switch try collar.received(frame.span, now: now) {
            case .acknowledgement: break
            case .command(_, .reboot): nextReboot = min(nextReboot, now.advanced(byMicroseconds: 5_000_000))
            case .command(let id, _): try collar.finish(requestID: id, outcome: .ok)
            default: result.heardCount += 1
            }
        } catch { throw .flash(error) }
    }
}
