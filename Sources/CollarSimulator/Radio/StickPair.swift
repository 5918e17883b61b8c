import CollarARQ
import CollarWire
import RadioModems

/// Two sticks within reach of each other, with a channel between them that loses packets. The owner has the clock and the two ports.
package struct StickPair: Sendable {
    /// One of the two sticks.
    package enum End: Int, CaseIterable, Sendable {
        case collar, host

        fileprivate var other: End { self == .collar ? .host : .collar }
    }

    private struct Transmission: Sendable {
        let sender: End
        let packet: [UInt8]
        let settings: StickRadio
        let end: Instant
        var isDestroyed: Bool
    }

    private var sticks: [any BaseStick]
    private var channel: LossyRadio
    private var onAir: [Transmission] = []
    private var signals: SeededRandom
    /// Packets that began to be sent, of the collar's stick and of the host's.
    package private(set) var sentCounts = [0, 0]

    /// - Parameter loss: the probability that a packet is lost, in each direction, 0 … 1.
    package init(_ collar: any BaseStick, _ host: any BaseStick, loss: Double, seed: UInt64) {
        sticks = [collar, host]
        channel = LossyRadio(lossProbability: loss, corruptionProbability: 0, seed: seed)
        signals = SeededRandom(seed: seed)
    }

    package subscript(end: End) -> any BaseStick {
        get { sticks[end.rawValue] }
        set {
            sticks[end.rawValue] = newValue
            onAir.removeAll { $0.sender == end }
        }
    }

    /// When to call ``advance(to:)`` again if no bytes come in.
    package var nextDeadline: Instant { ([Instant.never] + sticks.map(\.nextDeadline) + onAir.map(\.end)).min() ?? .never }

    /// Accepts bytes that were written to the port of a stick.
    package mutating func receive(_ bytes: [UInt8], at end: End, now: Instant) {
        sticks[end.rawValue].receive(bytes, now: now)
        beginTransmissions(now: now)
    }

    /// Does everything that is due.
    package mutating func advance(to now: Instant) {
        let finished = onAir.filter { $0.end <= now }
        onAir.removeAll { $0.end <= now }
        for transmission in finished {
            sticks[transmission.sender.rawValue].transmissionEnded(now: now)
            let listener = transmission.sender.other
            guard !transmission.isDestroyed, case .intact(let packet) = channel.send(transmission.packet),
                sticks[listener.rawValue].radio.hears(transmission.settings)
            else { continue }
            let signal = RadioSignal(strengthDBm: -100 - Int16(signals.next() % 10), signalToNoiseTenthsDB: Int16(signals.next() % 80))
            sticks[listener.rawValue].hear(
                sticks[listener.rawValue].dialect == .serial ? packet.stuffed : packet, signal: signal, now: now)
        }
        for end in End.allCases {
            let isBusy = onAir.contains { $0.sender != end && sticks[end.rawValue].radio.hears($0.settings) }
            sticks[end.rawValue].noteChannel(isBusy: isBusy, now: now)
            sticks[end.rawValue].advance(to: now)
        }
        beginTransmissions(now: now)
    }

    /// Removes and returns the bytes that a stick has written to its port.
    package mutating func takeOutput(of end: End, now: Instant) -> [UInt8] { sticks[end.rawValue].takeOutput(now: now) }

    private mutating func beginTransmissions(now: Instant) {
        for end in End.allCases {
            while let next = sticks[end.rawValue].nextTransmission(now: now) {
                sentCounts[end.rawValue] += 1
                let settings = sticks[end.rawValue].radio
                // A stick that sends hears nothing; a line carries both directions at once.
                let overlaps = settings != .line && onAir.contains { $0.sender != end }
                if overlaps { for index in onAir.indices where onAir[index].sender != end { onAir[index].isDestroyed = true } }
                let start = onAir.last { $0.sender == end }?.end ?? now
                onAir.append(
                    Transmission(
                        sender: end, packet: next.packet, settings: settings,
                        end: start.advanced(byMicroseconds: next.airtimeMicroseconds), isDestroyed: overlaps))
            }
        }
    }
}

extension StickRadio {
    /// Whether this radio hears one with these settings.
    fileprivate func hears(_ sender: StickRadio) -> Bool {
        switch sender {
        case .line: self == .line
        case .off: false
        case .on(let settings): hears(settings)
        }
    }
}

extension [UInt8] {
    /// A bare frame as a serial line carries it.
    fileprivate var stuffed: [UInt8] {
        [UInt8](capacity: StreamEncoder.encodedByteCount(for: count)) { output in StreamEncoder.encode(span, into: &output) }
    }
}
