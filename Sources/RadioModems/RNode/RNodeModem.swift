import CollarARQ
import CollarWire

/// A stick with RNode firmware.
///
/// It echoes each setting; while its radio is on, the echo is the value that holds. It listens before it sends, reports nothing when
/// a packet is sent, and does not hear the host while it sends. The frames of an answer are written together: up to 14,000 bit/s
/// they go out one after the other after one wait for a free channel, else each of them after a wait of its own.
///
/// Its radio is off while it gets its settings. Otherwise a board with an amplifier would not echo a power below the lowest one of
/// its amplifier's table, but that lowest one (`setTXPower` in `Utilities.h` of RNode_Firmware 1.86). Of the frequency, the
/// bandwidth and the power the radio may hold other values than it was told, so they are asked for once the radio is on.
struct RNodeModem: StickModem {
    /// A question to the stick; its answer repeats the command.
    private enum Step: Int, CaseIterable, Sendable {
        case detect, version, radioOff, frequency, bandwidth, power, spreadingFactor, codingRate, radioOn
        case heldFrequency, heldBandwidth, heldPower
    }

    private enum State: Sendable {
        case settingUp(Step, attempt: Int)
        case ready
        case refused
    }

    /// Time that the stick has to answer a question, in microseconds. It does not hear the host while it sends a packet.
    private static let answerTime: Int64 = 500_000
    /// A confirmation of the radio's state holds for this long, in microseconds.
    private static let confirmationTime: Int64 = 10_000_000
    /// The most that the stick's frequency may differ, in hertz.
    private static let frequencyToleranceHertz: Int64 = 200
    /// The least power of the chip in front of an amplifier, in dBm. For less than the lowest power of the amplifier's table, which is
    /// that with 0 dBm, the firmware sets the chip to less than 0 dBm, and tells the lowest power all the same. Source: RNode_Firmware
    /// 1.86, `Utilities.h`, `map_target_power_to_modem_output` and `map_modem_output_to_target_power`; `sx126x.cpp`, `setTxPower`.
    private static let leastChipDBm: Int64 = -9
    /// The number that the stick adds to a signal strength in dBm.
    private static let strengthOffset: Int16 = 157
    /// The slots, fixed waits, preambles and windows that are believed, the first two in milliseconds. They contain all that the
    /// firmware can compute.
    private static let slotRange: ClosedRange<Int64> = 1...1000
    private static let fixedWaitRange: ClosedRange<Int64> = 0...2000
    private static let preambleRange: ClosedRange<UInt16> = 6...1000
    private static let windowRange: ClosedRange<Int64> = 0...4 * RNodeTiming.windowSlots

    var output = ModemOutput()
    private let settings: RadioSettings
    private let delay: LineDelay
    private var profile: ModemProfile
    /// The stick's own figures, or what follows from its settings until it tells them.
    private var timing: RNodeTiming
    /// The most slots for which the stick waits.
    private var mostSlots = RNodeTiming.usualSlots
    private var queue: AnswerQueue
    private var decoder = KISSFrame.Decoder()
    private var state = State.settingUp(.detect, attempt: 0)
    private var deadline: Instant?
    private var version: String?
    private var strengthDBm: Int16?
    private var signalToNoiseTenthsDB: Int16?
    /// When the stick confirmed last that its radio is on.
    private var confirmedAt: Instant?
    /// Whether the stick was asked whether its radio is on.
    private var isConfirming = false
    private var answers = AnswerMonitor(of: .rnode)
    /// Whether the stick has confirmed the settings before.
    private var wasReady = false
    /// Whether the setup is repeated because of an answer that may have been damaged: KISS has no checksum.
    private var isRepeated = false
    /// The power with which the stick sends, in dBm, as far as it tells that.
    private var heldPowerDBm: Int8

    init(_ settings: RadioSettings, limits: TransmitLimits?, isRested: Bool, delay: LineDelay, at now: Instant) {
        self.settings = settings
        self.delay = delay
        heldPowerDBm = settings.powerDBm
        timing = RNodeTiming(settings)
        profile = settings.profile(of: .rnode)
        profile.turnaroundMicroseconds += delay.roundTripMicroseconds
        queue = AnswerQueue(limits: limits, frequencyHertz: settings.frequencyHertz, profile: profile, isRested: isRested, at: now)
    }

    var nextDeadline: Instant? { deadline }

    var isReady: Bool { if case .ready = state { true } else { false } }

    var isSending: Bool { !queue.isEmpty }

    mutating func start(at now: Instant) {
        isConfirming = false
        confirmedAt = nil
        setUp(attempt: 0, at: now)
    }

    private mutating func setUp(attempt: Int, at now: Instant) {
        state = .settingUp(.detect, attempt: attempt)
        ask(.detect, at: now)
    }

    private mutating func ask(_ step: Step, at now: Instant) {
        output.write(question(step))
        // A packet may be on the air, which the stick sends to its end first.
        let airtime = profile.airtimeMicroseconds(frameByteCount: 255)
        deadline = now.advanced(byMicroseconds: max(RNodeModem.answerTime, wasReady ? airtime : 0) + delay.answerMicroseconds)
    }

    private func question(_ step: Step) -> KISSFrame {
        switch step {
        case .detect: RNodeCommand.detection
        case .version: KISSFrame(RNodeCommand.firmwareVersion, [0])
        case .radioOff: KISSFrame(RNodeCommand.radioState, [RNodeCommand.radioOff])
        case .frequency: KISSFrame(RNodeCommand.frequency, .bigEndian(settings.frequencyHertz))
        case .bandwidth: KISSFrame(RNodeCommand.bandwidth, .bigEndian(settings.bandwidthHertz))
        case .power: KISSFrame(RNodeCommand.power, [UInt8(bitPattern: settings.powerDBm)])
        case .spreadingFactor: KISSFrame(RNodeCommand.spreadingFactor, [settings.spreadingFactor])
        case .codingRate: KISSFrame(RNodeCommand.codingRate, [settings.codingRateDenominator])
        case .radioOn: KISSFrame(RNodeCommand.radioState, [RNodeCommand.radioOn])
        // A zero sets nothing.
        case .heldFrequency: KISSFrame(RNodeCommand.frequency, .bigEndian(0))
        case .heldBandwidth: KISSFrame(RNodeCommand.bandwidth, .bigEndian(0))
        // This value sets nothing.
        case .heldPower: KISSFrame(RNodeCommand.power, [0xFF])
        }
    }

    // MARK: Input

    mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
        for index in bytes.indices {
            if let frame = decoder.take(bytes[index]) { receive(frame, at: now) }
        }
    }

    private mutating func receive(_ frame: KISSFrame, at now: Instant) {
        switch (frame.type, frame.data.first) {
        case (RNodeCommand.data, _):
            let signal = strengthDBm.map { RadioSignal(strengthDBm: $0, signalToNoiseTenthsDB: signalToNoiseTenthsDB) }
            strengthDBm = nil
            signalToNoiseTenthsDB = nil
            if wasReady { output.events.append(.packet(frame.data, signal)) }
        case (RNodeCommand.signalStrength, .some(let value)): strengthDBm = Int16(value) - RNodeModem.strengthOffset
        case (RNodeCommand.signalToNoise, .some(let value)): signalToNoiseTenthsDB = Int16(Int8(bitPattern: value)) * 10 / 4
        case (RNodeCommand.physicalParameters, _): takeTiming(frame.data)
        case (RNodeCommand.contention, _): takeWindow(frame.data)
        case (RNodeCommand.reset, RNodeCommand.hasStarted):
            if wasReady { output.report(.restarted(.rnode)) }
            queue.removeAll()
            start(at: now)
        case (RNodeCommand.error, .some(let code)):
            let isFull = code == RNodeCommand.queueFullError
            output.report(isFull ? .queueFull(.rnode) : .fault(.rnode, code: code), kind: "fault \(code)", at: now)
        case (RNodeCommand.radioState, .some(let value)) where isReady: receiveConfirmation(value, at: now)
        default: receiveAnswer(frame, at: now)
        }
    }

    private mutating func receiveConfirmation(_ value: UInt8, at now: Instant) {
        isConfirming = false
        answers.noteAnswer(reportingTo: &output)
        guard value == RNodeCommand.radioOn else {
            output.report(.restarted(.rnode))
            queue.removeAll()
            return start(at: now)
        }
        confirmedAt = now
        deadline = now.advanced(byMicroseconds: StickTiming.checkInterval)
        sendNext(at: now)
    }

    private mutating func receiveAnswer(_ frame: KISSFrame, at now: Instant) {
        guard case .settingUp(let step, let attempt) = state, frame.type == question(step).type else { return }
        let wanted: Int64
        let actual: Int64?
        switch step {
        case .detect:
            guard frame.data.first == RNodeCommand.detectAnswer else { return }
            answers.noteAnswer(reportingTo: &output)
            return ask(after: step, attempt: attempt, at: now)
        case .version:
            if frame.data.count >= 2 { version = "version \(frame.data[0]).\(frame.data[1])" }
            return ask(after: step, attempt: attempt, at: now)
        case .radioOff: (wanted, actual) = (Int64(RNodeCommand.radioOff), frame.data.first.map(Int64.init))
        case .frequency, .heldFrequency:
            (wanted, actual) = (Int64(settings.frequencyHertz), frame.data.bigEndian().map(Int64.init))
        case .bandwidth, .heldBandwidth:
            (wanted, actual) = (Int64(settings.bandwidthHertz), frame.data.bigEndian().map(Int64.init))
        case .power:
            (wanted, actual) = (Int64(settings.powerDBm), frame.data.first.map { Int64(Int8(bitPattern: $0)) })
            // It is reported when the radio is on.
            if let actual, actual < wanted { return ask(after: step, attempt: attempt, at: now) }
        case .heldPower:
            (wanted, actual) = (Int64(settings.powerDBm), frame.data.first.map { Int64(Int8(bitPattern: $0)) })
            if let actual {
                heldPowerDBm = Int8(clamping: actual > wanted ? max(wanted, actual + RNodeModem.leastChipDBm) : actual)
                return ask(after: step, attempt: attempt, at: now)
            }
        case .spreadingFactor: (wanted, actual) = (Int64(settings.spreadingFactor), frame.data.first.map(Int64.init))
        case .codingRate: (wanted, actual) = (Int64(settings.codingRateDenominator), frame.data.first.map(Int64.init))
        case .radioOn: (wanted, actual) = (Int64(RNodeCommand.radioOn), frame.data.first.map(Int64.init))
        }
        let tolerance = frame.type == RNodeCommand.frequency ? RNodeModem.frequencyToleranceHertz : 0
        guard let actual, abs(actual - wanted) <= tolerance else { return refuse(step, wanted: wanted, actual: actual, at: now) }
        ask(after: step, attempt: attempt, at: now)
    }

    /// The stick tells its preamble and how it waits for a free channel.
    private mutating func takeTiming(_ data: [UInt8]) {
        guard let preamble = data.bigEndian(at: 4, byteCount: 2).map(UInt16.init(clamping:)),
            let slot = data.bigEndian(at: 8, byteCount: 2).map(Int64.init), let fixed = data.bigEndian(at: 10, byteCount: 2).map(Int64.init),
            RNodeModem.preambleRange.contains(preamble), RNodeModem.slotRange.contains(slot), RNodeModem.fixedWaitRange.contains(fixed)
        else { return }
        timing.preambleSymbols = preamble
        (timing.slotMicroseconds, timing.fixedMicroseconds) = (slot * 1000, fixed * 1000)
        correctProfile()
    }

    /// The stick tells the window from which it draws the slots for which it waits: its number, the least and the most.
    private mutating func takeWindow(_ data: [UInt8]) {
        guard data.count >= 3, RNodeModem.windowRange.contains(Int64(data[2])) else { return }
        mostSlots = max(RNodeTiming.usualSlots, Int64(data[2]) - 1)
        correctProfile()
    }

    private mutating func correctProfile() {
        let expected = RNodeTiming(settings)
        let former = profile
        profile = settings.profile(of: .rnode)
        profile.frameOverheadMicroseconds +=
            (Int64(timing.preambleSymbols) - Int64(expected.preambleSymbols)) * settings.symbolMicroseconds
        profile.turnaroundMicroseconds =
            settings.turnaroundMicroseconds(waiting: timing.longestWait(slots: mostSlots)) + delay.roundTripMicroseconds
        queue.profile = profile
        if wasReady, profile != former { output.events.append(.timing(profile)) }
    }

    /// The stick does not hold a setting. Its answer may have been damaged on the line, so the setup is repeated once.
    private mutating func refuse(_ step: Step, wanted: Int64, actual: Int64?, at now: Instant) {
        guard isRepeated else {
            isRepeated = true
            return start(at: now)
        }
        isRepeated = false
        let setting: ModemSetting =
            switch step {
            case .detect, .version, .radioOff, .radioOn: .radioState
            case .frequency, .heldFrequency: .frequency
            case .bandwidth, .heldBandwidth: .bandwidth
            case .power, .heldPower: .power
            case .spreadingFactor: .spreadingFactor
            case .codingRate: .codingRate
            }
        output.report(.refused(setting, wanted: wanted, actual: actual), kind: "refused \(setting.rawValue)", at: now)
        state = .refused
        deadline = now.advanced(byMicroseconds: StickTiming.refusalTime)
    }

    private mutating func ask(after step: Step, attempt: Int, at now: Instant) {
        guard let next = Step(rawValue: step.rawValue + 1) else { return becomeReady(at: now) }
        state = .settingUp(next, attempt: attempt)
        ask(next, at: now)
    }

    private mutating func becomeReady(at now: Instant) {
        state = .ready
        confirmedAt = now
        if !wasReady { output.report(.found(.rnode, version: version)) }
        isRepeated = false
        var held = settings
        held.powerDBm = heldPowerDBm
        output.report(.ready(.rnode, held, turnaroundMicroseconds: profile.turnaroundMicroseconds))
        output.reportPower(wanted: settings.powerDBm, actual: heldPowerDBm, at: now)
        if !wasReady { output.events.append(.ready(profile)) }
        wasReady = true
        deadline = now.advanced(byMicroseconds: StickTiming.checkInterval)
        sendNext(at: now)
    }

    // MARK: Output

    mutating func send(_ answer: [[UInt8]], at now: Instant) {
        guard isReady else { return }
        queue.add(answer, at: now)
        sendNext(at: now)
    }

    private mutating func sendNext(at now: Instant) {
        guard !isConfirming, !queue.isEmpty else { return }
        // A stick whose radio is off would keep the packets and send them later.
        guard let confirmedAt, now.microseconds(since: confirmedAt) < RNodeModem.confirmationTime else { return confirm(at: now) }
        while let packets = queue.next(at: now, reportingTo: &output) {
            for packet in packets { output.write(KISSFrame(RNodeCommand.data, packet)) }
        }
    }

    private mutating func confirm(at now: Instant) {
        isConfirming = true
        ask(.radioOn, at: now)
    }

    // MARK: Time

    mutating func deadlineReached(at now: Instant) {
        guard let due = deadline, now >= due else { return }
        switch state {
        case .refused: start(at: now)
        case .ready:
            if isConfirming { answers.noteMiss(reportingTo: &output) }
            guard answers.isSilent else { return confirm(at: now) }
            queue.removeAll()
            start(at: now)
        case .settingUp(let step, let attempt):
            answers.noteMiss(reportingTo: &output)
            guard answers.isSilent || step == .detect else { return ask(step, at: now) }
            setUp(attempt: attempt + 1, at: now)
            deadline = AnswerMonitor.nextAttempt(after: attempt, at: now)
        }
    }
}

/// The commands of RNode firmware; numbers are sent most significant byte first.
///
/// Source: the host protocol of RNode_Firmware 1.86.
enum RNodeCommand {
    static let data: UInt8 = 0x00
    static let frequency: UInt8 = 0x01
    static let bandwidth: UInt8 = 0x02
    static let power: UInt8 = 0x03
    static let spreadingFactor: UInt8 = 0x04
    static let codingRate: UInt8 = 0x05
    static let radioState: UInt8 = 0x06
    static let detect: UInt8 = 0x08
    static let signalStrength: UInt8 = 0x23
    static let signalToNoise: UInt8 = 0x24
    static let physicalParameters: UInt8 = 0x26
    static let contention: UInt8 = 0x28
    static let firmwareVersion: UInt8 = 0x50
    static let reset: UInt8 = 0x55
    static let error: UInt8 = 0x90

    /// The data of the question ``detect``, and of its answer.
    static let detectQuestion: UInt8 = 0x73
    static let detectAnswer: UInt8 = 0x46
    /// The data of ``reset`` in the frame with which a board starts.
    static let hasStarted: UInt8 = 0xF8
    static let radioOff: UInt8 = 0x00
    static let radioOn: UInt8 = 0x01
    static let queueFullError: UInt8 = 0x04

    static let detection = KISSFrame(detect, [detectQuestion])
}
