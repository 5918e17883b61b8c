import CollarARQ
import CollarSimulator
import CollarWire

@testable import RadioModems

/// A modem and an emulated stick at the two ends of a line, in virtual time.
struct StickBench {
    static let settings = RadioSettings(
        frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 5, powerDBm: 14)
    static let unlimited = TransmitLimits()

    private(set) var modem: RadioModem
    var stick: any BaseStick
    private(set) var now = Instant(microseconds: 0)
    /// The packets and notices of the modem, oldest first.
    private(set) var events: [ModemEvent] = []
    /// The packets on the air, oldest first, and when each began.
    private(set) var sent: [(packet: [UInt8], start: Instant)] = []
    /// What the radio was set to when each of these packets began.
    private(set) var settingsOfSent: [StickRadio] = []
    private var transmissionEnd: Instant?
    /// Bytes of the host that the stick has not taken.
    private var waiting: [UInt8] = []
    /// Half of the time that bytes take to the stick and back, in microseconds, and the bytes under way in each direction.
    private let halfDelay: Int64
    private var toStick: [(bytes: [UInt8], due: Instant)] = []
    private var toModem: [(bytes: [UInt8], due: Instant)] = []
    /// Whether what the stick writes is lost.
    var losesOutput = false
    /// Replaces bytes that arrive: the first `damageSkips` matches stay, and the next `damageCount` are replaced.
    var damage: (of: [UInt8], into: [UInt8])?
    var damageSkips = 0
    var damageCount = 1

    init(
        _ stick: any BaseStick, settings: RadioSettings? = StickBench.settings, limits: TransmitLimits? = StickBench.unlimited,
        dialect: Dialect? = nil, remembered: Dialect? = nil, kind: RadioModem.PortKind = .remote, isRested: Bool = false,
        delayMilliseconds: Int64 = 0, roundTripMilliseconds: Int64 = 0
    ) {
        self.stick = stick
        halfDelay = delayMilliseconds * 500
        modem = RadioModem(
            ModemConfiguration(dialect: dialect, settings: settings, limits: limits), kind: kind, remembered: remembered,
            isRested: isRested, roundTripMicroseconds: roundTripMilliseconds * 1000, at: now)
        exchange()
    }

    var notices: [ModemNotice] { events.compactMap { if case .notice(let notice) = $0 { notice } else { nil } } }

    var packets: [[UInt8]] { events.compactMap { if case .packet(let packet, _) = $0 { packet } else { nil } } }

    var signals: [RadioSignal?] { events.compactMap { if case .packet(_, let signal) = $0 { signal } else { nil } } }

    var isReady: Bool { events.contains { if case .ready = $0 { true } else { false } } }

    /// Sends the packets of one answer.
    mutating func answer(_ packets: [UInt8]...) {
        for packet in packets { modem.send(packet) }
        modem.flush(at: now)
        exchange()
    }

    /// A collar's packet ends now.
    mutating func hear(_ packet: [UInt8], strengthDBm: Int16 = -97, signalToNoiseTenthsDB: Int16 = 70) {
        stick.hear(
            packet, signal: RadioSignal(strengthDBm: strengthDBm, signalToNoiseTenthsDB: signalToNoiseTenthsDB), now: now)
        exchange()
    }

    mutating func write(_ bytes: [UInt8]) {
        stick.receive(bytes, now: now)
        exchange()
    }

    mutating func cause(_ fault: StickFault) {
        stick.cause(fault, now: now)
        exchange()
    }

    /// Lets time pass.
    mutating func run(milliseconds: Int64) {
        let end = now.advanced(byMicroseconds: milliseconds * 1000)
        while true {
            let next = [modem.nextDeadline, stick.nextDeadline, transmissionEnd, toStick.first?.due, toModem.first?.due].compactMap { $0 }.min() ?? end
            guard next < end else { break }
            // A step of at least a microsecond, so that a deadline that does not move cannot stop time.
            now = max(next, now.advanced(byMicroseconds: 1))
            step()
        }
        now = end
        step()
    }

    /// The host does nothing for a while, such as wait for its disk.
    mutating func stall(milliseconds: Int64) {
        now = now.advanced(byMicroseconds: milliseconds * 1000)
        stick.advance(to: now)
    }

    private mutating func step() {
        if let end = transmissionEnd, now >= end {
            transmissionEnd = nil
            stick.transmissionEnded(now: now)
        }
        stick.advance(to: now)
        if let due = modem.nextDeadline, now >= due { modem.deadlineReached(at: now) }
        exchange()
    }

    private mutating func received(_ bytes: [UInt8]) -> [UInt8] {
        if losesOutput { return [] }
        guard let damage, let start = bytes.indices.first(where: { bytes[$0...].starts(with: damage.of) }) else { return bytes }
        guard damageSkips == 0 else {
            damageSkips -= 1
            return bytes
        }
        if damageCount > 1 { damageCount -= 1 } else { self.damage = nil }
        return Array(bytes[..<start]) + damage.into + Array(bytes[(start + damage.of.count)...])
    }

    private mutating func exchange() {
        for _ in 0..<64 {
            let output = modem.takeBytes()
            if !output.isEmpty { toStick.append((output, now.advanced(byMicroseconds: halfDelay))) }
            while let first = toStick.first, first.due <= now { waiting += toStick.removeFirst().bytes }
            if stick.isTakingInput, !waiting.isEmpty {
                stick.receive(waiting, now: now)
                waiting = []
            }
            if transmissionEnd == nil, let transmission = stick.nextTransmission(now: now) {
                sent.append((transmission.packet, now))
                settingsOfSent.append(stick.radio)
                transmissionEnd = now.advanced(byMicroseconds: transmission.airtimeMicroseconds)
            }
            let answered = received(stick.takeOutput(now: now))
            if !answered.isEmpty { toModem.append((answered, now.advanced(byMicroseconds: halfDelay))) }
            var input: [UInt8] = []
            while let first = toModem.first, first.due <= now { input += toModem.removeFirst().bytes }
            if !input.isEmpty { modem.receive(input.span, at: now) }
            while let event = modem.nextEvent() { events.append(event) }
            if output.isEmpty, input.isEmpty { return }
        }
    }
}
