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
    /// Whether what the stick writes is lost.
    var losesOutput = false
    /// Bytes that arrive in place of the first others that are these.
    var damage: (of: [UInt8], into: [UInt8])?

    init(
        _ stick: any BaseStick, settings: RadioSettings? = StickBench.settings, limits: TransmitLimits? = StickBench.unlimited,
        dialect: Dialect? = nil, remembered: Dialect? = nil, kind: RadioModem.PortKind = .remote, isRested: Bool = false
    ) {
        self.stick = stick
        modem = RadioModem(
            ModemConfiguration(dialect: dialect, settings: settings, limits: limits), kind: kind, remembered: remembered,
            isRested: isRested, at: now)
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
            let next = [modem.nextDeadline, stick.nextDeadline, transmissionEnd].compactMap { $0 }.min() ?? end
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
        self.damage = nil
        return Array(bytes[..<start]) + damage.into + Array(bytes[(start + damage.of.count)...])
    }

    private mutating func exchange() {
        for _ in 0..<64 {
            let output = modem.takeBytes()
            waiting += output
            if stick.isTakingInput, !waiting.isEmpty {
                stick.receive(waiting, now: now)
                waiting = []
            }
            if transmissionEnd == nil, let transmission = stick.nextTransmission(now: now) {
                sent.append((transmission.packet, now))
                settingsOfSent.append(stick.radio)
                transmissionEnd = now.advanced(byMicroseconds: transmission.airtimeMicroseconds)
            }
            let input = received(stick.takeOutput(now: now))
            if !input.isEmpty { modem.receive(input.span, at: now) }
            while let event = modem.nextEvent() { events.append(event) }
            if output.isEmpty, input.isEmpty { return }
        }
    }
}
