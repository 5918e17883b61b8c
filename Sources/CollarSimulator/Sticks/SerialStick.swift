import CollarARQ
import CollarWire
import RadioModems

/// A stick of this project's protocol, or a line: frames of the host go on the air at once, and the bytes on the air go to the
/// host unchanged. What a collar sends to it has the stuffing of the serial line already.
package struct SerialStick: BaseStick {
    private let modem: ModemProfile
    private var line = StickLine(timing: .immediate)
    private var random: SeededRandom
    private var stream = StreamDecoder()
    private var frames: [[UInt8]] = []

    package init(modem: ModemProfile, seed: UInt64 = 0) {
        self.modem = modem
        random = SeededRandom(seed: seed)
    }

    package var dialect: Dialect { .serial }
    package var radio: StickRadio { .line }
    package var isTakingInput: Bool { line.isTakingInput }
    package var nextDeadline: Instant { line.nextOutput }

    package mutating func receive(_ bytes: [UInt8], now: Instant) {
        var index = 0
        while let event = stream.next(in: bytes.span, at: &index) {
            guard case .frame = event else { continue }
            let frame = stream.frame
            frames.append(frame.indices.map { frame[$0] })
        }
    }

    package mutating func hear(_ packet: [UInt8], signal: RadioSignal, now: Instant) {
        guard !line.isDown(at: now) else { return }
        line.send(packet, now: now)
    }

    package mutating func noteChannel(isBusy: Bool, now: Instant) {}
    package mutating func advance(to now: Instant) {}
    package mutating func takeOutput(now: Instant) -> [UInt8] { line.takeOutput(now: now) }

    package mutating func nextTransmission(now: Instant) -> StickTransmission? {
        guard !frames.isEmpty else { return nil }
        let frame = frames.removeFirst()
        return StickTransmission(packet: frame, airtimeMicroseconds: modem.airtimeMicroseconds(frameByteCount: frame.count))
    }

    package mutating func transmissionEnded(now: Instant) {}

    package mutating func cause(_ fault: StickFault, now: Instant) {
        switch fault {
        case .stall: line.stall(now: now)
        case .garbage: line.sendGarbage(&random, now: now)
        case .reset, .refuse, .busy, .full, .amplifier, .stuck: break
        }
    }
}
