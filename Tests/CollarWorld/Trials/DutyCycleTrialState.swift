import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// The state of a running ``DutyCycleTrial``.
struct DutyCycleTrialState {
    private static let never = Instant(microseconds: .max)

    private let trial: DutyCycleTrial
    private let link: TrialLink
    private let question: [UInt8]
    private var random: SeededRandom
    private var hour = HourOfAirtime()
    private var result = DutyCycleTrial.Result()
    private var nextRequest = Instant(microseconds: 0)
    private var nextQuestion = never
    private var nextReboot = never
    private var stormEnd = Instant(microseconds: 0)

    init(_ trial: DutyCycleTrial) throws(StationError) {
        self.trial = trial
        // A seed that differs from that of the losses.
        random = SeededRandom(seed: ~trial.seed)
        let modem = trial.modem.profile
        let count = Int(trial.hours * 3600 / trial.secondsApart) + 1
        link = try TrialLink(
            SimulatedWalk.fixes(count, secondsApart: trial.secondsApart), secondsApart: trial.secondsApart, modem: modem,
            lossProbability: trial.lossProbability,
            delivery: .ofTrial(modem, dutyCyclePartsPerMillion: trial.dutyCyclePartsPerMillion, seed: trial.seed),
            condition: CollarCondition(), seed: trial.seed)
        question = [UInt8].frame { output throws(EncodeError) in
            try IdentityRequest(receiverID: 99).encode(address: Frame.broadcastAddress, into: &output)
        }
        if trial.meanQuestionMilliseconds != nil {
            nextQuestion = link.now.advanced(byMicroseconds: trial.questionsBeginAfterSeconds * 1_000_000)
        }
        planReboot()
    }

    var isOver: Bool { link.now.microseconds >= trial.hours * HourOfAirtime.microseconds }

    var finished: DutyCycleTrial.Result {
        var result = result
        result.deliveredCount = link.collar.firstUndelivered
        return result
    }

    mutating func step() throws(StationError) {
        if nextReboot <= link.now {
            result.rebootCount += 1
            try link.reboot()
            planReboot()
        }
        if nextQuestion <= link.now {
            planQuestion()
            if !random.chance(trial.lossProbability) { note(try link.hear(question)) }
        }
        makeRequest()
        let limit = min(nextReboot, nextQuestion)
        guard let sent = try link.sendFrame(limit: limit, powerCut: { planCut(in: $0) }) else { return }
        count(sent)
        // A station that sends hears nothing: an identity request that came meanwhile is lost.
        if nextQuestion <= link.now { planQuestion() }
        for answer in sent.answers ?? [] {
            if let reception = try link.send(answer).reception { note(reception) }
        }
    }

    /// A random time after `start` or now, at most twice the mean later.
    private mutating func later(mean microseconds: Int64, than start: Instant? = nil) -> Instant {
        (start ?? link.now).advanced(byMicroseconds: 1 + Int64(random.next() % UInt64(2 * microseconds)))
    }

    private mutating func planReboot() {
        switch trial.reboots {
        case .none: nextReboot = DutyCycleTrialState.never
        case .meanSeconds(let seconds): nextReboot = later(mean: seconds * 1_000_000)
        case .storms(let seconds):
            nextReboot = later(mean: seconds * 1_000_000)
            guard nextReboot >= stormEnd else { return }
            nextReboot = later(mean: 1_800_000_000)
            stormEnd = later(mean: 1_800_000_000, than: nextReboot)
        }
    }

    /// May cut the power at a random moment of a frame.
    /// - Returns: when the collar reboots.
    private mutating func planCut(in airtime: Int64) -> Instant {
        if random.chance(trial.cutProbability) {
            nextReboot = min(nextReboot, link.now.advanced(byMicroseconds: Int64(random.next() % UInt64(airtime))))
        }
        return nextReboot
    }

    private mutating func planQuestion() {
        if let mean = trial.meanQuestionMilliseconds { nextQuestion = later(mean: mean * 1000) }
    }

    /// Submits a settings request, a settings update or a command, perhaps *reboot*, if one is due.
    private mutating func makeRequest() {
        guard let meanSeconds = trial.meanRequestSeconds, nextRequest <= link.now else { return }
        nextRequest = later(mean: meanSeconds * 1_000_000)
        let request: HostRequest
        switch random.next() % 8 {
        case 0: request = .command(.reboot)
        case 1: request = .command(.locateNow)
        case 2: request = .command(.sound(milliseconds: 500))
        case 3: request = .command(.startTracking)
        case 4, 5:
            var settings = SettingList()
            // The shortest heartbeat makes the most frames.
            settings.append(Setting(key: SettingKey.heartbeatSeconds.rawValue, value: 5 + UInt32(random.next() % 56)))
            request = .settingsUpdate(version: .defaults, settings)
        default: request = .settingsRequest
        }
        link.host.submit(request, at: link.now)
    }

    private mutating func count(_ sent: TrialLink.SentFrame) {
        result.frameCount += 1
        if sent.isCut { result.cutFrameCount += 1 }
        result.airtimeMicroseconds += sent.airtime
        let airtime = hour.add(start: sent.start.microseconds, end: sent.end.microseconds)
        guard airtime > result.mostMicroseconds else { return }
        result.mostMicroseconds = airtime
        result.mostAt = sent.end.microseconds
    }

    private mutating func note(_ reception: Collar<FaultyFlash>.Reception) {
        switch reception {
        case .command(_, .reboot): nextReboot = min(nextReboot, link.now.advanced(byMicroseconds: 5_000_000))
        case .acknowledgement, .command: break
        default: result.heardCount += 1
        }
    }
}
