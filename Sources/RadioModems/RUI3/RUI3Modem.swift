import CheckedNumbers
import CollarARQ
import CollarWire

/// A stick with RAK's RUI3 firmware in its point-to-point mode. It takes one command at a time. Since 4.0.4 it reports when a packet
/// was sent.
struct RUI3Modem: StickModem {
    /// A command whose answer is awaited.
    private enum Step: Int, CaseIterable, Sendable {
        case greeting, stopReceiving, mode, version
        case encryption, syncWord, inversion, fixedLength, symbolTimeout, channelActivity
        case frequency, spreadingFactor, bandwidth, codingRate, preamble, power
        case readBack, receive
    }

    private enum State: Sendable {
        /// Answers to earlier commands come in. A status does not name its command, so the setup begins when there are none left, or
        /// at this time: packets come in, too.
        case draining(attempt: Int, until: Instant)
        case settingUp(Step, attempt: Int)
        /// The stick restarts in its other mode.
        case changingMode
        case ready
        case refused
    }

    private enum Transmission: Sendable {
        case none
        /// The stick was asked whether it still receives. This many statuses are to come: its answer, after those of commands whose time
        /// was over. A status does not name its command. `isAnswered` tells whether one of them has come.
        case checking(unansweredCount: Int, isAnswered: Bool)
        /// The first of these packets is with the stick, which has taken it or not yet.
        case sending([[UInt8]], since: Instant, isTaken: Bool)
        /// The stick was busy; the packets are offered again.
        case offeringAgain([[UInt8]], since: Instant)
    }

    private static let answerTime: Int64 = 1_000_000
    /// The silence after which no answer to an earlier command is expected, in microseconds.
    private static let quietTime: Int64 = 200_000
    /// The longest wait for such a silence, in microseconds.
    private static let drainingTime: Int64 = 5_000_000
    /// How often a busy stick is asked the same question again. It is busy while it sends: at SF12 and 62.5 kHz, for up to 18 s.
    private static let busyLimit = 20
    /// Time that the stick needs to start in another mode, in microseconds.
    private static let startTime: Int64 = 3_000_000
    private static let busyTime: Int64 = 50_000
    private static let modeChangeLimit = 2
    /// How long after its airtime a packet counts as sent where the firmware does not report it, in microseconds.
    private static let unreportedTime: Int64 = 150_000
    /// The powers that the firmware takes, in dBm. Source: `At_P2pTP`.
    private static let powerRange: ClosedRange<Int8> = 5...22
    /// The first release that can receive and send without a command in between, major and minor. Source: CHANGELOG of RUI3, 3.4.0.
    private static let firstRelease = [3, 4]
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
    /// What may be written for the bandwidth: those that the firmware has not refused.
    private var bandwidthForms: [UInt32] = []
    /// Whether the firmware has reported that a packet was sent.
    private var reportsSent = false
    /// The value that the answer in progress has given.
    private var value: String?
    private var answers = AnswerMonitor(of: .rui3)
    /// The last question of the setup without an answer. The setup begins at its start again, and the answers to the questions before
    /// this one do not end the silence.
    private var missedStep: Step?
    /// How often in a row the setup has failed at something that every RUI3 firmware does.
    private var failureCount = 0
    /// Whether the stick has answered the present question with being busy, and how often it has done so in this attempt.
    private var isBusy = false
    private var busyCount = 0
    /// How often the mode was changed since the setup began.
    private var modeChangeCount = 0
    /// Whether the stick has confirmed the settings before.
    private var wasReady = false

    init(_ settings: RadioSettings, limits: TransmitLimits?, isRested: Bool, delay: LineDelay, at now: Instant) {
        self.settings = settings
        self.delay = delay
        var profile = settings.profile(of: .rui3)
        profile.turnaroundMicroseconds += delay.roundTripMicroseconds
        self.profile = profile
        queue = AnswerQueue(limits: limits, frequencyHertz: settings.frequencyHertz, profile: profile, isRested: isRested, at: now)
    }

    var nextDeadline: Instant? { deadline }

    var isReady: Bool { if case .ready = state { true } else { false } }

    var isSending: Bool {
        switch transmission {
        case .none, .checking: !queue.isEmpty
        case .sending, .offeringAgain: true
        }
    }

    mutating func start(at now: Instant) {
        transmission = .none
        missedStep = nil
        setUp(attempt: 0, at: now)
    }

    private mutating func setUp(attempt: Int, at now: Instant) {
        bandwidthForms = RUI3Bandwidth.forms(of: settings.bandwidthHertz)
        busyCount = 0
        state = .draining(
            attempt: attempt, until: now.advanced(byMicroseconds: RUI3Modem.drainingTime + delay.answerMicroseconds))
        // An unfinished command of an earlier program ends here.
        write("")
        deadline = now.advanced(byMicroseconds: RUI3Modem.quietTime + delay.answerMicroseconds)
    }

    private mutating func ask(_ step: Step, at now: Instant) {
        isBusy = false
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
        // In the older releases nothing can be set during reception, in the newer ones the status is an error.
        case .stopReceiving: "AT+PRECV=0"
        // The settings of an earlier owner are kept in flash. Releases that lack a command say so.
        case .encryption: "AT+ENCRY=0"
        // Collars use the sync word of private networks.
        case .syncWord: "AT+SYNCWORD=1424"
        case .inversion: "AT+IQINVER=0"
        case .fixedLength: "AT+FIXLENGTHPAYLOAD=0"
        case .symbolTimeout: "AT+SYMBOLTIMEOUT=0"
        case .channelActivity: "AT+CAD=0"
        case .frequency: "AT+PFREQ=\(settings.frequencyHertz)"
        case .spreadingFactor: "AT+PSF=\(settings.spreadingFactor)"
        case .bandwidth: "AT+PBW=\(bandwidthForms.first ?? settings.bandwidthHertz / 1000)"
        case .codingRate: "AT+PCR=\(settings.codingRateDenominator - 5)"
        case .preamble: "AT+PPL=\(RadioSettings.ordinaryPreambleSymbols)"
        case .power: "AT+PTP=\(power)"
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

    /// The power to which the stick is set, in dBm.
    private var power: Int8 { min(max(settings.powerDBm, RUI3Modem.powerRange.lowerBound), RUI3Modem.powerRange.upperBound) }

    /// The values of `AT+P2P`, in this order.
    private var wantedValues: [(setting: ModemSetting, value: Int64)] {
        [
            (.frequency, Int64(settings.frequencyHertz)), (.spreadingFactor, Int64(settings.spreadingFactor)),
            (.bandwidth, Int64(settings.bandwidthHertz)), (.codingRate, Int64(settings.codingRateDenominator)),
            (.preamble, Int64(RadioSettings.ordinaryPreambleSymbols)), (.power, Int64(power)),
        ]
    }

    // MARK: Input

    mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
        if case .draining(_, let until) = state {
            deadline = min(until, now.advanced(byMicroseconds: RUI3Modem.quietTime + delay.answerMicroseconds))
        }
        for index in bytes.indices {
            if let line = decoder.take(bytes[index]) { receive(RUI3Line(line), at: now) }
        }
    }

    private mutating func receive(_ line: RUI3Line, at now: Instant) {
        switch (line, state) {
        case (.packet(let bytes, let strength, let noise), _):
            guard wasReady else { return }
            output.events.append(.packet(bytes, RadioSignal(strengthDBm: strength, signalToNoiseTenthsDB: noise)))
        case (.started, .ready): restarted(at: now)
        case (.started, .changingMode): start(at: now)
        case (.value(let name, let text), .settingUp(let step, _)): if name == valueName(step) { value = text }
        case (.value(_, let text), _): value = text
        case (.ok, .settingUp(let step, let attempt)): accept(step, attempt: attempt, at: now)
        case (.failed(let status), .settingUp(let step, let attempt)): fail(step, status: status, attempt: attempt, at: now)
        case (_, .ready): receiveWhenReady(line, at: now)
        default: break
        }
    }

    private mutating func accept(_ step: Step, attempt: Int, at now: Instant) {
        // A status without the value is that of an earlier command.
        guard value != nil || valueName(step) == nil else { return }
        switch step {
        // Modems of other makers say OK to these, too.
        case .greeting, .stopReceiving: return askNext(after: step, attempt: attempt, at: now)
        case .mode:
            // An echo of the question is no answer.
            guard let mode = UInt8(value ?? "", in: 0...9) else { return }
            noteAnswer(to: step)
            guard mode == 0 else { return changeMode(from: mode, at: now) }
        case .version:
            version = value
            guard canReceiveAndSend else {
                output.report(.firmwareTooOld(.rui3, version: version ?? ""), kind: "release", at: now)
                return leaveAlone(at: now)
            }
        case .readBack: guard checkReadBack(at: now) else { return }
        default: break
        }
        noteAnswer(to: step)
        askNext(after: step, attempt: attempt, at: now)
    }

    private mutating func noteAnswer(to step: Step) {
        if let missedStep, step.rawValue < missedStep.rawValue { return }
        missedStep = nil
        answers.noteAnswer(reportingTo: &output)
    }

    /// The module restarts in the mode for packets of LoRa.
    private mutating func changeMode(from mode: UInt8, at now: Instant) {
        modeChangeCount += 1
        guard modeChangeCount <= RUI3Modem.modeChangeLimit else { return refuse(.mode, actual: Int64(mode), at: now) }
        write("AT+NWM=0")
        state = .changingMode
        deadline = now.advanced(byMicroseconds: RUI3Modem.startTime + delay.answerMicroseconds)
    }

    /// Whether the release can receive and send without a command in between; true if the version has no such number.
    private var canReceiveAndSend: Bool {
        let numbers = (version ?? "").split { !$0.isNumber }.prefix(2).map { Int($0, in: 0...1000) ?? 0 }
        return numbers.count < 2 || !numbers.lexicographicallyPrecedes(RUI3Modem.firstRelease)
    }

    private mutating func fail(_ step: Step, status: String, attempt: Int, at now: Instant) {
        // A busy stick is asked again at the deadline.
        guard status != RUI3Line.busyError else {
            isBusy = true
            return
        }
        switch step {
        // The end of an unfinished line was taken for a command.
        case .greeting: return
        // In another mode than that for packets, there is no reception.
        case .stopReceiving: return askNext(after: step, attempt: attempt, at: now)
        case .mode: return failMode(at: now)
        default: noteAnswer(to: step)
        }
        switch step {
        case .bandwidth where bandwidthForms.count > 1:
            bandwidthForms.removeFirst()
            ask(step, at: now)
        case .frequency: refuse(.frequency, actual: nil, at: now)
        case .spreadingFactor: refuse(.spreadingFactor, actual: nil, at: now)
        case .bandwidth: refuse(.bandwidth, actual: nil, at: now)
        case .codingRate: refuse(.codingRate, actual: nil, at: now)
        case .preamble: refuse(.preamble, actual: nil, at: now)
        case .power: refuse(.power, actual: nil, at: now)
        case .readBack, .receive: refuse(.mode, actual: nil, at: now)
        case .greeting, .stopReceiving, .mode, .version, .encryption, .syncWord, .inversion, .fixedLength, .symbolTimeout,
            .channelActivity:
            askNext(after: step, attempt: attempt, at: now)
        }
    }

    /// The modem answers to AT and does not tell its mode, which every RUI3 firmware does. A command may have been damaged on the
    /// line, so it is asked once more.
    private mutating func failMode(at now: Instant) {
        failureCount += 1
        guard failureCount > 1 else { return setUp(attempt: 0, at: now) }
        output.report(.stranger(.otherModem), kind: "stranger", at: now)
        leaveAlone(at: now)
    }

    private mutating func askNext(after step: Step, attempt: Int, at now: Instant) {
        guard let next = Step(rawValue: step.rawValue + 1) else { return becomeReady(at: now) }
        state = .settingUp(next, attempt: attempt)
        ask(next, at: now)
    }

    private mutating func checkReadBack(at now: Instant) -> Bool {
        let held = (value ?? "").split(separator: ":").map { Int64($0, in: RUI3Modem.heldRange) }
        for (index, wanted) in wantedValues.enumerated() {
            guard let number = index < held.count ? held[index] : nil else {
                refuse(wanted.setting, actual: nil, at: now)
                return false
            }
            let actual =
                switch wanted.setting {
                case .bandwidth: RUI3Bandwidth.hertz(number)
                case .codingRate: number + 5
                default: number
                }
            guard actual == wanted.value else {
                refuse(wanted.setting, actual: actual, at: now)
                return false
            }
        }
        return true
    }

    /// The stick does not hold a setting. Its command or its answer may have been damaged on the line, so the setup is repeated once.
    private mutating func refuse(_ setting: ModemSetting, actual: Int64?, at now: Instant) {
        failureCount += 1
        guard failureCount > 1 else { return setUp(attempt: 0, at: now) }
        let wanted = wantedValues.first { $0.setting == setting }?.value ?? 0
        output.report(.refused(setting, wanted: wanted, actual: actual), kind: "refused \(setting.rawValue)", at: now)
        leaveAlone(at: now)
    }

    private mutating func leaveAlone(at now: Instant) {
        failureCount = 0
        modeChangeCount = 0
        state = .refused
        deadline = now.advanced(byMicroseconds: StickTiming.refusalTime)
    }

    private mutating func becomeReady(at now: Instant) {
        state = .ready
        failureCount = 0
        modeChangeCount = 0
        if !wasReady { output.report(.found(.rui3, version: version)) }
        var held = settings
        held.powerDBm = power
        output.report(.ready(.rui3, held, turnaroundMicroseconds: profile.turnaroundMicroseconds))
        output.reportPower(wanted: settings.powerDBm, actual: power, at: now)
        if !wasReady { output.events.append(.ready(profile)) }
        wasReady = true
        rest(at: now)
    }

    private mutating func receiveWhenReady(_ line: RUI3Line, at now: Instant) {
        switch (line, transmission) {
        case (.ok, .checking(let count, _)) where count > 1, (.failed, .checking(let count, _)) where count > 1:
            answers.noteAnswer(reportingTo: &output)
            transmission = .checking(unansweredCount: count - 1, isAnswered: true)
        // Reception goes on: a second one is refused.
        case (.failed(RUI3Line.busyError), .checking):
            answers.noteAnswer(reportingTo: &output)
            rest(at: now)
        // There was none, or the stick has another mode.
        case (.ok, .checking), (.failed, .checking):
            answers.noteAnswer(reportingTo: &output)
            restarted(at: now)
        case (.ok, .sending(let packets, let since, false)):
            transmission = .sending(packets, since: since, isTaken: true)
            deadline = now.advanced(
                byMicroseconds: airtime(packets) + (reportsSent ? RUI3Modem.answerTime + delay.answerMicroseconds : RUI3Modem.unreportedTime))
        case (.sent, .sending(let packets, _, _)):
            reportsSent = true
            goOn(after: packets, at: now)
        case (.failed(let status), .sending(let packets, let since, _)):
            guard status == RUI3Line.busyError, now.microseconds(since: since) < profile.turnaroundMicroseconds else {
                if status != RUI3Line.busyError {
                    output.report(
                        .packetRefused(.rui3, byteCount: packets.first?.count ?? 0, status: status), kind: "packet", at: now)
                }
                return rest(at: now)
            }
            output.report(.busy(.rui3), kind: "busy", at: now)
            transmission = .offeringAgain(packets, since: since)
            deadline = now.advanced(byMicroseconds: RUI3Modem.busyTime)
        default: break
        }
    }

    private mutating func restarted(at now: Instant) {
        output.report(.restarted(.rui3))
        queue.removeAll()
        start(at: now)
    }

    /// The first of these packets was sent.
    private mutating func goOn(after packets: [[UInt8]], at now: Instant) {
        answers.noteAnswer(reportingTo: &output)
        transmit(Array(packets.dropFirst()), since: now, at: now)
    }

    private func airtime(_ packets: [[UInt8]]) -> Int64 { profile.airtimeMicroseconds(frameByteCount: packets.first?.count ?? 0) }

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
        transmission = .sending(packets, since: start, isTaken: false)
        deadline = now.advanced(byMicroseconds: RUI3Modem.answerTime + delay.answerMicroseconds)
    }

    // MARK: Time

    mutating func deadlineReached(at now: Instant) {
        guard let due = deadline, now >= due else { return }
        switch state {
        case .refused, .changingMode: start(at: now)
        case .draining(let attempt, _):
            state = .settingUp(.greeting, attempt: attempt)
            ask(.greeting, at: now)
        case .settingUp(let step, _) where isBusy && busyCount < RUI3Modem.busyLimit:
            busyCount += 1
            ask(step, at: now)
        // It has answered to AT, but not to this.
        case .settingUp(.stopReceiving, _) where !wasReady && !isBusy, .settingUp(.mode, _) where !wasReady && !isBusy: failMode(at: now)
        case .settingUp(let step, let attempt):
            missedStep = step
            answers.noteMiss(reportingTo: &output)
            setUp(attempt: attempt + 1, at: now)
            deadline = AnswerMonitor.nextAttempt(after: attempt, at: now)
        case .ready:
            var lateCount = 0
            switch transmission {
            case .offeringAgain(let packets, let since): return transmit(packets, since: since, at: now)
            case .sending(let packets, _, true) where !reportsSent: return goOn(after: packets, at: now)
            // The others are lost.
            case .checking(_, isAnswered: true): return rest(at: now)
            case .checking(let count, isAnswered: false):
                lateCount = count
                answers.noteMiss(reportingTo: &output)
            case .sending(_, _, let isTaken):
                lateCount = isTaken ? 0 : 1
                answers.noteMiss(reportingTo: &output)
            case .none: break
            }
            guard !answers.isSilent else {
                queue.removeAll()
                return start(at: now)
            }
            // Only a stick that receives already refuses this, in every release. What `AT+PRECV=?` gives depends on the release.
            transmission = .checking(unansweredCount: lateCount + 1, isAnswered: false)
            value = nil
            write(command(.receive))
            deadline = now.advanced(byMicroseconds: RUI3Modem.answerTime + delay.answerMicroseconds)
        }
    }
}
