import CollarARQ
import CollarWire

/// The protocol that a base stick speaks at its port. The raw values are the names that a person types.
package enum Dialect: String, CaseIterable, Sendable {
    /// The serial line of the Collar Link Protocol: a stick with this project's firmware, a cable to the collar, or a bridge that
    /// carries bytes unchanged.
    case serial
    /// The KISS modem of MeshCore.
    case kiss
    /// RNode firmware.
    case rnode
    /// The AT commands of RAK's RUI3, in point-to-point mode.
    case rui3
}

/// How a stick is used.
package struct ModemConfiguration: Equatable, Sendable {
    /// The dialect that a person named; nil to find it out.
    package var dialect: Dialect?
    /// The settings of the stick's radio; nil if they are not chosen. A stick that needs settings is then not used.
    package var settings: RadioSettings?
    /// The limits to the transmissions of the radio; nil if no region is set, so that nothing is sent. They do not apply to the
    /// dialect ``Dialect/serial``, where the stick's own firmware keeps the limits.
    package var limits: TransmitLimits?
    /// The region; nil if none is set. A stick with this project's firmware has settings of its own, so that its limits follow from them.
    package var region: Region?

    package init(dialect: Dialect? = nil, settings: RadioSettings? = nil, limits: TransmitLimits? = nil, region: Region? = nil) {
        self.dialect = dialect
        self.settings = settings
        self.limits = limits
        self.region = region
    }
}

/// The modem at a port, as a state machine: it finds out which dialect the stick speaks, sets up the stick's radio, and turns
/// bytes into packets and packets into bytes. It has no clock and opens no port.
///
///     modem.receive(bytes, at: now)      // or send(_:) and flush(at:), or deadlineReached(at:)
///     port.write(modem.takeBytes())
///     while let event = modem.nextEvent() { … }
package struct RadioModem: Sendable {
    /// The kind of port, on which the times of the detection depend.
    package enum PortKind: String, Sendable {
        /// A board's own port. Opening it may restart the board.
        case board
        /// A pseudo-terminal.
        case remote
        /// A connection over a network, which may delay bytes by a second.
        case network
    }

    private enum State: Sendable {
        case detecting(StickDetection)
        /// The bytes are those of the serial line and do not pass through the modem.
        case serial
        /// Nothing answered, so the serial line is assumed. A stick that was not able to answer may do so yet, so it is asked again in
        /// some rounds, until a frame of the serial line comes in. `round` of them have begun.
        case assumedSerial(StickDetection, round: Int)
        case stick(any StickModem)
        /// The stick has a dialect, but nobody has chosen its settings.
        case unused
        /// Something else is at the port; it is examined again at this time, or when it sends a sign of a known dialect.
        case stranger(HeardBytes, until: Instant)
    }

    /// Time until a port with something unknown is examined again, in microseconds.
    private static let examinationInterval: Int64 = 30_000_000
    /// The rounds in which an assumed serial line is asked. The time before each of them is twice that before the last one, so that
    /// they end after eight minutes: a bridge sends the questions on the air.
    private static let roundLimit = 4

    /// The dialect that the stick speaks; nil while that is unknown.
    package private(set) var dialect: Dialect?
    private let configuration: ModemConfiguration
    private let kind: PortKind
    private let delay: LineDelay
    private let remembered: Dialect?
    private let isRested: Bool
    private var state: State
    private var bytes: [UInt8] = []
    private var events: [ModemEvent] = []
    private var answer: [[UInt8]] = []
    private var lastStranger: Stranger?
    /// The airtime of a stick with this project's firmware; nil until it is used.
    private var lineAirtime: RegionAirtime?
    private var lineOutput = ModemOutput()

    /// The modem at a port that has just been opened.
    /// - Parameters:
    ///   - remembered: the dialect that was found at the same stick before.
    ///   - isRested: whether the radio has sent nothing in the last hour. Otherwise it may not send at once where the region limits
    ///     the duty cycle.
    ///   - roundTripMicroseconds: the measured time to the radio's machine and back, in microseconds; 0 if it is not known.
    package init(
        _ configuration: ModemConfiguration, kind: PortKind, remembered: Dialect? = nil, isRested: Bool = false,
        roundTripMicroseconds: Int64 = 0, at now: Instant
    ) {
        delay = LineDelay(kind, roundTripMicroseconds: roundTripMicroseconds)
        self.isRested = isRested
        self.configuration = configuration
        self.kind = kind
        self.remembered = remembered
        state = .serial
        if let named = configuration.dialect { begin(named, at: now) } else { detect(at: now) }
    }

    package enum Condition: Sendable {
        case detecting
        /// It carries packets, or sets up the stick so that it will.
        case carries
        case unused
        /// Something else is at the port.
        case stranger
    }

    package var condition: Condition {
        switch state {
        case .detecting: .detecting
        case .serial, .assumedSerial, .stick: .carries
        case .unused: .unused
        case .stranger: .stranger
        }
    }

    /// Whether the port carries the protocol's serial line, as far as is known.
    package var isSerialLine: Bool {
        switch state {
        case .serial, .assumedSerial: true
        case .detecting, .stick, .unused, .stranger: false
        }
    }

    /// Whether the bytes of the port are certainly those of the serial line, so that they need not pass through the modem.
    package var isTransparent: Bool { if case .serial = state { true } else { false } }

    /// Whether packets can be sent.
    package var isReady: Bool {
        switch state {
        case .serial, .assumedSerial: true
        case .stick(let stick): stick.isReady
        case .detecting, .unused, .stranger: false
        }
    }

    /// Whether a packet waits for the stick, or the stick has one that it has not reported as sent. An RNode reports nothing.
    package var isSending: Bool {
        guard case .stick(let stick) = state else { return false }
        return !answer.isEmpty || stick.isSending
    }

    /// When to call ``deadlineReached(at:)`` next; nil if nothing is expected.
    package var nextDeadline: Instant? {
        switch state {
        case .detecting(let detection): detection.deadline
        case .stick(let stick): stick.nextDeadline
        case .stranger(_, let until): until
        case .assumedSerial(let detection, let round): round <= RadioModem.roundLimit ? detection.deadline : nil
        case .serial, .unused: nil
        }
    }

    private mutating func detect(at now: Instant) {
        state = .detecting(StickDetection(remembered: remembered, after: lastStranger, timing: .of(kind), at: now))
    }

    /// Begins to speak a dialect.
    /// - Parameters:
    ///   - heard: what came in during the detection.
    ///   - isFrameEnded: whether a frame that an earlier program left unfinished was ended.
    private mutating func begin(_ dialect: Dialect, heard: [UInt8] = [], isFrameEnded: Bool = false, at now: Instant) {
        self.dialect = dialect
        switch dialect {
        case .serial:
            state = .serial
            events.append(.serialLine(heard))
        case .kiss: setUp(MeshCoreModem.self, dialect, isFrameEnded: isFrameEnded, at: now)
        case .rnode: setUp(RNodeModem.self, dialect, isFrameEnded: isFrameEnded, at: now)
        // Lines of text end an unfinished command by themselves.
        case .rui3: setUp(RUI3Modem.self, dialect, isFrameEnded: true, at: now)
        }
    }

    /// Begins to set up a stick, unless its settings are not chosen.
    private mutating func setUp(_ type: any StickModem.Type, _ dialect: Dialect, isFrameEnded: Bool, at now: Instant) {
        guard let settings = configuration.settings else {
            state = .unused
            events.append(.notice(.found(dialect, version: nil)))
            return events.append(.notice(.settingsMissing(dialect)))
        }
        if configuration.limits == nil { events.append(.notice(.regionMissing(dialect))) }
        var stick: any StickModem = type.init(settings, limits: configuration.limits, isRested: isRested, delay: delay, at: now)
        if !isFrameEnded { bytes += KISSFrame.abandonment }
        stick.start(at: now)
        take(&stick)
        state = .stick(stick)
    }

    private mutating func take(_ stick: inout any StickModem) {
        bytes += stick.output.bytes
        stick.output.bytes.removeAll(keepingCapacity: true)
        events += stick.output.events
        stick.output.events.removeAll(keepingCapacity: true)
    }

    private mutating func withStick(_ body: (inout any StickModem) -> Void) {
        guard case .stick(var stick) = state else { return }
        // While `state` holds the modem too, each change would copy it.
        state = .unused
        body(&stick)
        take(&stick)
        state = .stick(stick)
    }

    private mutating func finish(_ detection: inout StickDetection, _ result: StickDetection.Result?, at now: Instant) {
        bytes += detection.takeOutput()
        switch result {
        case nil: state = .detecting(detection)
        case .nothingAnswers:
            dialect = .serial
            let heard = detection.heard.bytes
            // A port at which the serial line was found before is asked no more.
            repeatDetection(&detection, round: remembered == .serial ? RadioModem.roundLimit + 1 : 1, at: now)
            events.append(.serialLine(heard))
        case .found(let dialect): begin(dialect, heard: detection.heard.bytes, isFrameEnded: detection.hasAsked, at: now)
        case .stranger(let stranger):
            dialect = nil
            state = .stranger(HeardBytes(), until: now.advanced(byMicroseconds: RadioModem.examinationInterval))
            guard stranger != lastStranger else { return }
            lastStranger = stranger
            events.append(.notice(.stranger(stranger)))
        }
    }

    /// Asks all questions again after a while, unless there were enough rounds.
    private mutating func repeatDetection(_ detection: inout StickDetection, round: Int, at now: Instant) {
        if round <= RadioModem.roundLimit {
            detection.repeat(at: now.advanced(byMicroseconds: RadioModem.examinationInterval << (round - 1)))
        }
        state = .assumedSerial(detection, round: round)
    }

    package mutating func receive(_ new: Span<UInt8>, at now: Instant) {
        switch state {
        case .detecting(var detection):
            let result = detection.receive(new, at: now)
            finish(&detection, result, at: now)
        case .stick: withStick { $0.receive(new, at: now) }
        case .assumedSerial(var detection, let round):
            let result = detection.receive(new, at: now)
            switch result {
            case .found(.serial):
                state = .serial
                events.append(.serialBytes(new.bytes))
            case .found(let dialect): begin(dialect, at: now)
            case .stranger: finish(&detection, result, at: now)
            case .nothingAnswers, nil:
                state = .assumedSerial(detection, round: round)
                events.append(.serialBytes(new.bytes))
            }
        case .stranger(var heard, let until):
            switch heard.take(new) {
            case .rnode: begin(.rnode, at: now)
            case .kiss: begin(.kiss, at: now)
            case .serial: begin(.serial, heard: heard.bytes, at: now)
            case .commandStatus, .nmea, nil: state = .stranger(heard, until: until)
            }
        case .serial, .unused: break
        }
    }

    /// Adds a packet to the answer that ``flush(at:)`` ends.
    package mutating func send(_ packet: [UInt8]) { answer.append(packet) }

    /// Passes the packets added since the last call to the stick, as one answer.
    package mutating func flush(at now: Instant) {
        guard !answer.isEmpty else { return }
        let packets = answer
        answer = []
        withStick { $0.send(packets, at: now) }
    }

    /// Notes that a stick with this project's firmware, which has told its settings, is given a frame to send.
    ///
    /// The stick keeps to its duty cycle by itself, leaves frames out and does not say so. Its budget is not known, so one of the same
    /// size is kept here, which is full at first: the stick may have been on for hours.
    package mutating func noteLineFrame(byteCount: Int, _ settings: ModemSettings, at now: Instant) {
        guard isSerialLine, case .lora(let radio) = settings.modulation,
            let partsPerMillion = configuration.region?.band(of: RadioSettings(radio))?.dutyCyclePartsPerMillion
        else { return }
        let profile = ModemProfile(settings)
        let microseconds = profile.airtimeMicroseconds(frameByteCount: byteCount)
        var airtime = lineAirtime ?? RegionAirtime(
            partsPerMillion: partsPerMillion, frequencyHertz: radio.frequencyHertz,
            largestFrameMicroseconds: profile.airtimeMicroseconds(frameByteCount: Frame.maximumByteCount), isRested: true, at: now)
        airtime.refill(at: now, reportingTo: &lineOutput)
        if airtime.wait(forMicroseconds: microseconds, at: now) == 0 { airtime.spend(microseconds: microseconds, at: now, reportingTo: &lineOutput) }
        lineAirtime = airtime
        events += lineOutput.events
        lineOutput.events.removeAll()
    }

    package mutating func deadlineReached(at now: Instant) {
        switch state {
        case .detecting(var detection):
            let result = detection.deadlineReached(at: now)
            finish(&detection, result, at: now)
        case .stick: withStick { $0.deadlineReached(at: now) }
        case .stranger(_, let until): if now >= until { detect(at: now) }
        case .assumedSerial(var detection, let round):
            switch detection.deadlineReached(at: now) {
            case nil:
                bytes += detection.takeOutput()
                state = .assumedSerial(detection, round: round)
            case .nothingAnswers: repeatDetection(&detection, round: round + 1, at: now)
            case let result: finish(&detection, result, at: now)
            }
        case .serial, .unused: break
        }
    }

    package mutating func takeBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// Removes and returns the oldest event; nil if there is none.
    package mutating func nextEvent() -> ModemEvent? { events.isEmpty ? nil : events.removeFirst() }
}

extension Span<UInt8> {
    var bytes: [UInt8] { indices.map { self[$0] } }
}
