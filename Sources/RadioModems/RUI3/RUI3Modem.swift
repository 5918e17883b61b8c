import CheckedNumbers
import CollarARQ
import CollarWire

/// A stick with RAK's RUI3 firmware in its point-to-point mode. It takes one command at a time and reports when a packet is sent.
struct RUI3Modem: StickModem {
    /// A command whose answer is awaited.
    private enum Step: Int, CaseIterable, Sendable {
        case greeting, mode, version, stopReceiving, syncWord
        case frequency, spreadingFactor, bandwidth, codingRate, preamble, power
        case readBack, receive
    }

    private enum State: Sendable {
        /// Answers to earlier commands come in. A status does not name its command, so the setup begins when there are none left.
        case draining(attempt: Int)
        case settingUp(Step, attempt: Int)
        /// The stick restarts in its other mode.
        case changingMode
        case ready
        case refused
    }

    private enum Transmission: Sendable {
        case none
        /// The stick was asked whether it still receives.
        case checking
        /// The first of these packets is with the stick.
        case sending([[UInt8]], since: Instant)
        /// The stick was busy; the packets are offered again.
        case offeringAgain([[UInt8]], since: Instant)
    }

    private static let answerTime: Int64 = 1_000_000
    /// The silence after which no answer to an earlier command is expected, in microseconds.
    private static let quietTime: Int64 = 200_000
    /// Time that the stick needs to start in another mode, in microseconds.
    private static let startTime: Int64 = 3_000_000
    private static let busyTime: Int64 = 50_000
    /// The argument of `AT+PRECV` that keeps the stick receiving and allows it to send.
    private static let receivesAlways = "65533"
    /// What any of the values of `AT+P2P` can be: the largest are frequencies, the least are powers.
    private static let heldRange: ClosedRange<Int64> = -128...Int64(UInt32.max)

    var output = ModemOutput()
    private let settings: RadioSettings
    private let delay: LineDelay
    private let profile: ModemProfile
    private var queue: AnswerQueue
    private var decoder = RUI3Line.Decoder()
    private var state = State.settingUp(.greeting, attempt: 0)
    private var transmission = Transmission.none
    private var deadline: Instant?
    private var version: String?
    /// The value that the answer in progress has given.
    private var value: String?
    private var answers = AnswerMonitor(of: .rui3)
    /// Failures in a row of commands that every RUI3 firmware has.
    private var neededFailureCount = 0
    /// Whether the stick has confirmed the settings before.
    private var wasReady = false

    init(_ settings: RadioSettings, limits: TransmitLimits?, isRested: Bool, delay: LineDelay, at now: Instant) {
        self.settings = settings
        self.delay = delay
        var profile = settings.profile(of: .rui3)
        profile.turnaroundMicroseconds += delay.roundTripMicroseconds
        self.profile = profile
        queue = AnswerQueue(limits: limits, profile: profile, isRested: isRested, delay: delay, at: now)
    }

    var nextDeadline: Instant? { deadline }

    mutating func start(at now: Instant) {
        transmission = .none
        setUp(attempt: 0, at: now)
    }

    private mutating func setUp(attempt: Int, at now: Instant) {
        state = .draining(attempt: attempt)
        // An unfinished command of an earlier program ends here.
        write("")
        deadline = now.advanced(byMicroseconds: RUI3Modem.quietTime + delay.answerMicroseconds)
    }

    private mutating func ask(_ step: Step, at now: Instant) {
        value = nil
        write(command(step))
        deadline = now.advanced(byMicroseconds: RUI3Modem.answerTime + delay.answerMicroseconds)
    }

    private mutating func write(_ command: String) { output.bytes += Array((command + "\r\n").utf8) }

    private func command(_ step: Step) -> String {
        switch step {
        case .greeting: "AT"
        case .mode: "AT+NWM=?"
        case .version: "AT+VER=?"
        case .stopReceiving: "AT+PRECV=0"
        // Collars use the sync word of private networks. Older firmware has no such command.
        case .syncWord: "AT+SYNCWORD=1424"
        case .frequency: "AT+PFREQ=\(wantedValues[0])"
        case .spreadingFactor: "AT+PSF=\(wantedValues[1])"
        case .bandwidth: "AT+PBW=\(wantedValues[2])"
        case .codingRate: "AT+PCR=\(wantedValues[3])"
        case .preamble: "AT+PPL=\(wantedValues[4])"
        case .power: "AT+PTP=\(wantedValues[5])"
        case .readBack: "AT+P2P=?"
        case .receive: "AT+PRECV=" + RUI3Modem.receivesAlways
        }
    }

    /// The name of the value that answers a command; nil if the answer is a status alone.
    private func valueName(_ step: Step) -> String? {
        switch step {
        case .mode: "NWM"
        case .version: "VER"
        case .readBack: "P2P"
        default: nil
        }
    }

    /// The values of `AT+P2P`, and of the commands for one each: hertz, spreading factor, kilohertz, coding rate from 0 on, symbols of preamble, dBm.
    private var wantedValues: [Int64] {
        [
            Int64(settings.frequencyHertz), Int64(settings.spreadingFactor), Int64(settings.bandwidthHertz) / 1000,
            Int64(settings.codingRateDenominator) - 5, Int64(RadioSettings.ordinaryPreambleSymbols), Int64(settings.powerDBm),
        ]
    }

    // MARK: Input

    mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
        if case .draining = state { deadline = now.advanced(byMicroseconds: RUI3Modem.quietTime + delay.answerMicroseconds) }
        for index in bytes.indices {
            guard let line = decoder.take(bytes[index]) else { continue }
            receive(RUI3Line(line), at: now)
        }
    }

    private mutating func receive(_ line: RUI3Line, at now: Instant) {
        switch (line, state) {
        case (.packet(let bytes, let strength, let noise), _):
            guard wasReady else { return }
            output.events.append(
                .packet(bytes, RadioSignal(strengthDBm: strength, signalToNoiseTenthsDB: noise)))
        case (.started, .ready):
            output.report(.restarted(.rui3))
            queue.removeAll()
            start(at: now)
        case (.started, .changingMode): start(at: now)
        case (.value(let name, let text), .settingUp(let step, _)): if name == valueName(step) { value = text }
        case (.value(_, let text), _): value = text
        case (.ok, .settingUp(let step, let attempt)): accept(step, attempt: attempt, at: now)
        case (.failed(let status), .settingUp(let step, let attempt)):
            fail(step, status: status, attempt: attempt, at: now)
        case (_, .ready): receiveWhenReady(line, at: now)
        default: break
        }
    }

    private mutating func accept(_ step: Step, attempt: Int, at now: Instant) {
        answers.noteAnswer(reportingTo: &output)
        // A status without the value is that of an earlier command.
        guard value != nil || valueName(step) == nil else { return }
        switch step {
        case .mode where value == "1":
            // The stick restarts in the other mode.
            write("AT+NWM=0")
            state = .changingMode
            deadline = now.advanced(byMicroseconds: RUI3Modem.startTime)
            return
        case .version: version = value
        case .readBack: guard checkReadBack(at: now) else { return }
        default: break
        }
        askNext(after: step, attempt: attempt, at: now)
    }

    /// A command failed.
    private mutating func fail(_ step: Step, status: String, attempt: Int, at now: Instant) {
        answers.noteAnswer(reportingTo: &output)
        // A busy stick is asked again at the deadline.
        guard status != RUI3Line.busyError else { return }
        switch step {
        case .version, .stopReceiving, .syncWord: askNext(after: step, attempt: attempt, at: now)
        // The end of an unfinished line was taken for a command.
        case .greeting: break
        case .frequency: refuse(.frequency, wanted: Int64(settings.frequencyHertz), actual: nil, at: now)
        case .spreadingFactor: refuse(.spreadingFactor, wanted: Int64(settings.spreadingFactor), actual: nil, at: now)
        case .bandwidth: refuse(.bandwidth, wanted: Int64(settings.bandwidthHertz), actual: nil, at: now)
        case .codingRate: refuse(.codingRate, wanted: Int64(settings.codingRateDenominator), actual: nil, at: now)
        case .preamble: refuse(.preamble, wanted: wantedValues[4], actual: nil, at: now)
        case .power: refuse(.power, wanted: Int64(settings.powerDBm), actual: nil, at: now)
        case .mode, .readBack, .receive: failNeededCommand(step, at: now)
        }
    }

    /// A command failed that every RUI3 firmware has. A command that is damaged on the line fails, too, so it is repeated once.
    private mutating func failNeededCommand(_ step: Step, at now: Instant) {
        neededFailureCount += 1
        guard neededFailureCount > 1 else { return setUp(attempt: 0, at: now) }
        neededFailureCount = 0
        guard step == .mode else { return refuse(.mode, wanted: 0, actual: nil, at: now) }
        output.report(.stranger(.otherModem), kind: "stranger", at: now)
        state = .refused
        deadline = now.advanced(byMicroseconds: StickTiming.refusalTime)
    }

    private mutating func askNext(after step: Step, attempt: Int, at now: Instant) {
        guard let next = Step(rawValue: step.rawValue + 1) else { return becomeReady(at: now) }
        state = .settingUp(next, attempt: attempt)
        ask(next, at: now)
    }

    private mutating func checkReadBack(at now: Instant) -> Bool {
        let actual = (value ?? "").split(separator: ":").map { Int64($0, in: RUI3Modem.heldRange) }
        let names: [ModemSetting] = [.frequency, .spreadingFactor, .bandwidth, .codingRate, .preamble, .power]
        for (index, wanted) in wantedValues.enumerated() {
            let held = index < actual.count ? actual[index] : nil
            if let held, held == wanted { continue }
            if names[index] == .power, let held, held < wanted {
                output.report(.powerReduced(wantedDBm: wanted, actualDBm: held), kind: "power", at: now)
                continue
            }
            let unit: Int64 = names[index] == .bandwidth ? 1000 : 1
            let rate: Int64 = names[index] == .codingRate ? 5 : 0
            refuse(names[index], wanted: wanted * unit + rate, actual: held.map { $0 * unit + rate }, at: now)
            return false
        }
        return true
    }

    private mutating func refuse(_ setting: ModemSetting, wanted: Int64, actual: Int64?, at now: Instant) {
        output.report(.refused(setting, wanted: wanted, actual: actual), kind: "refused \(setting.rawValue)", at: now)
        state = .refused
        deadline = now.advanced(byMicroseconds: StickTiming.refusalTime)
    }

    private mutating func becomeReady(at now: Instant) {
        state = .ready
        neededFailureCount = 0
        if !wasReady { output.report(.found(.rui3, version: version)) }
        output.report(.ready(.rui3, settings, turnaroundMicroseconds: profile.turnaroundMicroseconds))
        if !wasReady { output.events.append(.ready(profile)) }
        wasReady = true
        rest(at: now)
    }

    private mutating func receiveWhenReady(_ line: RUI3Line, at now: Instant) {
        switch (line, transmission) {
        case (.ok, .checking):
            answers.noteAnswer(reportingTo: &output)
            guard value == RUI3Modem.receivesAlways else {
                output.report(.restarted(.rui3))
                return start(at: now)
            }
            rest(at: now)
        case (.sent, .sending(let packets, _)):
            answers.noteAnswer(reportingTo: &output)
            transmit(Array(packets.dropFirst()), since: now, at: now)
        case (.failed(let status), .sending(let packets, let since)):
            guard status == RUI3Line.busyError, now.microseconds(since: since) < profile.turnaroundMicroseconds else {
                if status != RUI3Line.busyError { output.report(.fault(.rui3, code: 0), kind: "fault", at: now) }
                return rest(at: now)
            }
            output.report(.busy(.rui3), kind: "busy", at: now)
            transmission = .offeringAgain(packets, since: since)
            deadline = now.advanced(byMicroseconds: RUI3Modem.busyTime)
        default: break
        }
    }

    // MARK: Output

    mutating func send(_ answer: [[UInt8]], at now: Instant) {
        guard case .ready = state else { return }
        queue.add(answer, at: now)
        if case .none = transmission { rest(at: now) }
    }

    /// Sends the next answer; if there is none, waits until the next check.
    private mutating func rest(at now: Instant) {
        transmission = .none
        deadline = now.advanced(byMicroseconds: StickTiming.checkInterval)
        guard let packets = queue.next(at: now, reportingTo: &output) else { return }
        transmit(packets, since: now, at: now)
    }

    private mutating func transmit(_ packets: [[UInt8]], since start: Instant, at now: Instant) {
        guard let packet = packets.first else { return rest(at: now) }
        write(RUI3Line.sending(packet))
        transmission = .sending(packets, since: start)
        let airtime = profile.airtimeMicroseconds(frameByteCount: packet.count)
        deadline = now.advanced(byMicroseconds: airtime + RUI3Modem.answerTime + delay.answerMicroseconds)
    }

    // MARK: Time

    mutating func deadlineReached(at now: Instant) {
        guard let due = deadline, now >= due else { return }
        switch state {
        case .refused, .changingMode: start(at: now)
        case .draining(let attempt):
            state = .settingUp(.greeting, attempt: attempt)
            ask(.greeting, at: now)
        case .settingUp(_, let attempt):
            answers.noteMiss(reportingTo: &output)
            setUp(attempt: attempt + 1, at: now)
            deadline = AnswerMonitor.nextAttempt(after: attempt, at: now)
        case .ready:
            switch transmission {
            case .offeringAgain(let packets, let since): return transmit(packets, since: since, at: now)
            case .checking, .sending: answers.noteMiss(reportingTo: &output)
            case .none: break
            }
            guard !answers.isSilent else {
                queue.removeAll()
                return start(at: now)
            }
            transmission = .checking
            value = nil
            write("AT+PRECV=?")
            deadline = now.advanced(byMicroseconds: RUI3Modem.answerTime + delay.answerMicroseconds)
        }
    }
}
