import CollarARQ
import CollarWire

/// A stick with MeshCore's KISS modem.
///
/// It takes one packet at a time and reports when the packet is sent. A restart resets its radio to settings of its own, and it
/// does not announce that, so each answer is preceded by a question for the settings.
struct MeshCoreModem: StickModem {
    private enum State: Sendable {
        /// The answer to a question is awaited.
        case settingUp(MeshCoreSetup, attempt: Int)
        case ready
        /// The modem does not hold a setting; it is set up again after a while.
        case refused
        /// The modem was told to restart.
        case restarting
    }

    private enum Transmission: Sendable {
        case none
        /// Before these packets are sent, the modem is asked for its settings. Without packets this is only a check. `since` is when
        /// they were first offered, if they are offered again.
        case confirming([[UInt8]], since: Instant?)
        /// The first of these packets is with the modem.
        case sending([[UInt8]], since: Instant)
        /// The modem was busy; the packets are offered again.
        case offeringAgain([[UInt8]], since: Instant)
    }

    /// Time that the modem has to answer a question, in microseconds.
    private static let answerTime: Int64 = 500_000
    /// Time that the modem has to confirm its settings before a transmission, in microseconds.
    private static let confirmationTime: Int64 = 250_000
    /// Time until a packet is offered again to a busy modem, in microseconds.
    private static let busyTime: Int64 = 20_000
    /// The longest wait of a packet for the report of its signal, in microseconds.
    private static let signalTime: Int64 = 25_000
    /// The number of packets, and the time in microseconds, after which a modem that sent none of them is stuck. Up to release 1.15 it
    /// could lock up.
    private static let stuckPacketCount = 3
    private static let stuckTime: Int64 = 15_000_000
    /// Time that a board needs for its restart, in microseconds.
    private static let startTime: Int64 = 3_000_000

    var output = ModemOutput()
    private let settings: RadioSettings
    private let delay: LineDelay
    private var profile: ModemProfile
    private var queue: AnswerQueue
    private var decoder = KISSFrame.Decoder()
    private var state: State
    private var transmission = Transmission.none
    /// When the question or the transmission in progress has failed, or the next check is due.
    private var deadline: Instant?
    /// A packet whose signal report has not come yet, and when it is passed on without one.
    private var held: (packet: [UInt8], deadline: Instant)?
    private var answers = AnswerMonitor(of: .kiss)
    /// The name of the board; nil until the modem has told it. Its gain must hold in each setup, also if one answer is lost.
    private var boardName: String?
    /// Whether the modem has confirmed the settings before.
    private var wasReady = false
    /// The packets in a row that the modem has not sent, and when it was given the first of them.
    private var unsent: (count: Int, since: Instant)?
    /// Whether the setup is repeated because of an answer that may have been damaged: KISS has no checksum.
    private var isRepeated = false
    /// Whether the restart after which the modem is being set up was reported.
    private var isRestartReported = false

    init(_ settings: RadioSettings, limits: TransmitLimits?, isRested: Bool, delay: LineDelay, at now: Instant) {
        self.settings = settings
        self.delay = delay
        profile = settings.profile(of: .kiss)
        profile.turnaroundMicroseconds += delay.roundTripMicroseconds
        queue = AnswerQueue(limits: limits, frequencyHertz: settings.frequencyHertz, profile: profile, isRested: isRested, at: now)
        state = .settingUp(MeshCoreSetup(settings), attempt: 0)
    }

    var nextDeadline: Instant? { [deadline, held?.deadline].compactMap { $0 }.min() }

    var isReady: Bool { if case .ready = state { true } else { false } }

    var isSending: Bool {
        switch transmission {
        case .none: !queue.isEmpty
        case .confirming(let packets, _): !packets.isEmpty || !queue.isEmpty
        case .sending, .offeringAgain: true
        }
    }

    mutating func start(at now: Instant) {
        transmission = .none
        setUp(attempt: 0, at: now)
    }

    private mutating func setUp(attempt: Int, at now: Instant) {
        let setup = MeshCoreSetup(settings, name: boardName)
        state = .settingUp(setup, attempt: attempt)
        ask(setup, at: now)
    }

    private mutating func ask(_ setup: MeshCoreSetup, at now: Instant) {
        for frame in setup.question { output.write(frame) }
        deadline = now.advanced(byMicroseconds: MeshCoreModem.answerTime + delay.answerMicroseconds)
    }

    // MARK: Input

    mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
        for index in bytes.indices {
            guard let frame = decoder.take(bytes[index]) else { continue }
            switch frame.type {
            case MeshCoreCommand.data:
                releasePacket(signal: nil)
                held = (frame.data, now.advanced(byMicroseconds: MeshCoreModem.signalTime))
            case MeshCoreCommand.hardware: receiveHardware(frame.data, at: now)
            default: break
            }
        }
    }

    private mutating func releasePacket(signal: RadioSignal?) {
        guard let packet = held?.packet else { return }
        held = nil
        // Before the settings are confirmed, the modem may listen with others.
        if wasReady { output.events.append(.packet(packet, signal)) }
    }

    private mutating func receiveHardware(_ data: [UInt8], at now: Instant) {
        if data.count >= 3, data[0] == MeshCoreCommand.signal {
            // The strength has 8 bits: values below -128 dBm become positive.
            let strength = Int16(Int8(bitPattern: data[2]))
            let quarters = Int16(Int8(bitPattern: data[1]))
            releasePacket(
                signal: RadioSignal(
                    strengthDBm: strength > 0 ? strength - 256 : strength, signalToNoiseTenthsDB: quarters * 10 / 4))
            return
        }
        switch state {
        case .settingUp(var setup, let attempt):
            let result = setup.take(data)
            if result != .unrelated { answers.noteAnswer(reportingTo: &output) }
            if setup.hasForgotten, wasReady, !isRestartReported {
                isRestartReported = true
                output.report(.restarted(.kiss))
            }
            proceed(setup, attempt: attempt, after: result, at: now)
        case .ready: receiveWhenReady(data, at: now)
        case .refused, .restarting: break
        }
    }

    private mutating func proceed(_ setup: MeshCoreSetup, attempt: Int, after result: MeshCoreSetup.Result, at now: Instant) {
        boardName = setup.name
        switch result {
        case .unrelated: break
        case .next:
            state = .settingUp(setup, attempt: attempt)
            ask(setup, at: now)
        case .complete: becomeReady(setup, at: now)
        case .refused(_, _, _) where !isRepeated:
            isRepeated = true
            start(at: now)
        case .refused(let setting, let wanted, let actual):
            isRepeated = false
            output.report(.refused(setting, wanted: wanted, actual: actual), kind: "refused \(setting.rawValue)", at: now)
            state = .refused
            deadline = now.advanced(byMicroseconds: StickTiming.refusalTime)
        }
    }

    private mutating func becomeReady(_ setup: MeshCoreSetup, at now: Instant) {
        state = .ready
        profile = setup.profile
        profile.turnaroundMicroseconds += delay.roundTripMicroseconds
        if !wasReady {
            queue.profile = profile
            output.report(.found(.kiss, version: setup.version))
        }
        isRepeated = false
        let power = setup.power
        var held = settings
        held.powerDBm = power.outputDBm
        output.report(.ready(.kiss, held, turnaroundMicroseconds: profile.turnaroundMicroseconds))
        output.reportPower(wanted: settings.powerDBm, actual: power.outputDBm, at: now)
        if let board = setup.board {
            output.report(
                .amplified(board: board.name, chipDBm: Int64(power.chipDBm), outputDBm: Int64(power.outputDBm)), kind: "amplified",
                at: now)
        }
        if setup.name == nil { output.report(.boardUnknown(.kiss), kind: "board", at: now) }
        if !wasReady { output.events.append(.ready(profile)) }
        wasReady = true
        isRestartReported = false
        transmission = .none
        deadline = now.advanced(byMicroseconds: StickTiming.checkInterval)
        sendNext(at: now)
    }

    private mutating func receiveWhenReady(_ data: [UInt8], at now: Instant) {
        switch (data.first, transmission) {
        case (MeshCoreCommand.getRadio | MeshCoreCommand.answerBit, .confirming(let packets, let since)):
            answers.noteAnswer(reportingTo: &output)
            guard MeshCoreSetup.holds(settings, answer: Array(data.dropFirst())) else {
                queue.removeAll()
                return start(at: now)
            }
            // The stick may have restarted since it gave an answer that is read late, and the packets are too late now.
            if let due = deadline, now > due { return sendNext(at: now) }
            transmit(packets, since: since ?? now, at: now)
        // The modem had no room for the answer. It is asked once more; then the deadline counts a miss.
        case (MeshCoreCommand.error, .confirming(let packets, nil))
            where data.count > 1 && data[1] == MeshCoreCommand.busyError && !packets.isEmpty:
            transmission = .offeringAgain(packets, since: now)
            deadline = now.advanced(byMicroseconds: MeshCoreModem.busyTime)
        case (MeshCoreCommand.sent, .sending(let packets, _)):
            unsent = nil
            if data.count > 1, data[1] == 0 { output.report(.fault(.kiss, code: 0), kind: "fault", at: now) }
            transmit(Array(packets.dropFirst()), since: now, at: now)
        case (MeshCoreCommand.error, .sending(let packets, let since)):
            guard data.count > 1, data[1] == MeshCoreCommand.busyError else { break }
            output.report(.busy(.kiss), kind: "busy", at: now)
            guard now.microseconds(since: since) < profile.turnaroundMicroseconds else { return giveUpPackets(since: since, at: now) }
            transmission = .offeringAgain(packets, since: since)
            deadline = now.advanced(byMicroseconds: MeshCoreModem.busyTime)
        default: break
        }
    }

    // MARK: Output

    mutating func send(_ answer: [[UInt8]], at now: Instant) {
        guard case .ready = state else { return }
        queue.add(answer, at: now)
        if case .none = transmission { sendNext(at: now) }
    }

    private mutating func sendNext(at now: Instant) {
        guard let packets = queue.next(at: now, reportingTo: &output) else {
            transmission = .none
            deadline = now.advanced(byMicroseconds: StickTiming.checkInterval)
            return
        }
        confirm(packets, at: now)
    }

    private mutating func confirm(_ packets: [[UInt8]], since: Instant? = nil, at now: Instant) {
        output.write(MeshCoreSetup.readBackQuestion)
        transmission = .confirming(packets, since: since)
        deadline = now.advanced(byMicroseconds: MeshCoreModem.confirmationTime + delay.answerMicroseconds)
    }

    private mutating func transmit(_ packets: [[UInt8]], since start: Instant, at now: Instant) {
        guard let packet = packets.first else { return sendNext(at: now) }
        output.write(KISSFrame(MeshCoreCommand.data, packet))
        transmission = .sending(packets, since: start)
        // The modem first waits for the end of a reception, which may just have begun.
        let reception = profile.airtimeMicroseconds(frameByteCount: 255)
        let airtime = profile.airtimeMicroseconds(frameByteCount: packet.count)
        deadline = now.advanced(byMicroseconds: reception + airtime + MeshCoreModem.answerTime + delay.answerMicroseconds)
    }

    // MARK: Time

    mutating func deadlineReached(at now: Instant) {
        if let due = held?.deadline, now >= due { releasePacket(signal: nil) }
        guard let due = deadline, now >= due else { return }
        switch state {
        case .settingUp(var setup, let attempt):
            if let result = setup.skip() { return proceed(setup, attempt: attempt, after: result, at: now) }
            answers.noteMiss(reportingTo: &output)
            guard answers.isSilent || setup.step == .ping else { return ask(setup, at: now) }
            setUp(attempt: attempt + 1, at: now)
            deadline = AnswerMonitor.nextAttempt(after: attempt, at: now)
        case .refused, .restarting: start(at: now)
        case .ready: transmissionDeadlineReached(at: now)
        }
    }

    private mutating func noteMiss(at now: Instant) {
        answers.noteMiss(reportingTo: &output)
        guard answers.isSilent else { return confirm([], at: now) }
        queue.removeAll()
        start(at: now)
    }

    /// Notes that the modem has not sent a packet that it was given at a time.
    /// - Returns: whether it is stuck.
    private mutating func noteUnsent(since: Instant, at now: Instant) -> Bool {
        unsent = ((unsent?.count ?? 0) + 1, unsent?.since ?? since)
        guard let unsent else { return false }
        return unsent.count >= MeshCoreModem.stuckPacketCount && now.microseconds(since: unsent.since) >= MeshCoreModem.stuckTime
    }

    /// The packets have waited too long for a busy modem.
    private mutating func giveUpPackets(since: Instant, at now: Instant) {
        transmission = .none
        noteUnsent(since: since, at: now) ? restart(at: now) : sendNext(at: now)
    }

    /// Restarts a modem that sends nothing.
    private mutating func restart(at now: Instant) {
        unsent = nil
        output.report(.notSending(.kiss), kind: "stuck", at: now)
        // The loss of its settings is no news then.
        isRestartReported = true
        queue.removeAll()
        transmission = .none
        output.write(MeshCoreCommand.frame(MeshCoreCommand.reboot))
        state = .restarting
        deadline = now.advanced(byMicroseconds: MeshCoreModem.startTime)
    }

    private mutating func transmissionDeadlineReached(at now: Instant) {
        switch transmission {
        case .none: confirm([], at: now)
        case .offeringAgain(let packets, let since):
            // The host may have been busy for seconds, in which the stick can have restarted.
            guard now.microseconds(since: since) < profile.turnaroundMicroseconds else { return giveUpPackets(since: since, at: now) }
            confirm(packets, since: since, at: now)
        // It is unknown whether the packets were sent.
        case .sending(_, let since): noteUnsent(since: since, at: now) ? restart(at: now) : noteMiss(at: now)
        // The packets are too late now.
        case .confirming: noteMiss(at: now)
        }
    }
}
