import CollarARQ
import CollarWire

/// The links that simulations know by name.
package enum SimulatedModem: Hashable, Sendable {
    /// A serial line of 57,600 bit/s, or a radio that behaves like one.
    case serial
    /// BLE used as a serial cable: about 100 kbit/s, and an answer within 200 ms. Of these, up to 50 ms in each direction are
    /// the wait for the next connection event.
    case ble
    /// LoRa at 125 kHz and coding rate 4/5, preamble of 8 symbols, explicit header, CRC; spreading factor 7 … 12.
    case lora(spreadingFactor: UInt8)

    package static let serialBitsPerSecond: Int64 = 57_600

    private static let known = [.serial, .ble] + (7...12).map { SimulatedModem.lora(spreadingFactor: $0) }

    /// The names that ``init(name:)`` accepts.
    package static let names = known.map(\.name)

    /// The modem of a name: `serial`, `ble`, or `lora:SF7` … `lora:SF12`, in upper or lower case; nil for any other name.
    package init?(name: String) {
        guard let modem = SimulatedModem.known.first(where: { $0.name.lowercased() == name.lowercased() }) else { return nil }
        self = modem
    }

    package var name: String {
        switch self {
        case .serial: "serial"
        case .ble: "ble"
        case .lora(let spreadingFactor): "lora:SF\(spreadingFactor)"
        }
    }

    /// The timing of the link. A LoRa base radio answers within 50 ms.
    package var profile: ModemProfile { profile(timesFaster: 1) }

    /// The timing of the link with airtimes divided by a factor. The turnaround stays the same, because the host
    /// runs in real time.
    /// - Parameter factor: at least 1; a LoRa modem is made faster by a factor of about 34,000 at most.
    package func profile(timesFaster factor: Double) -> ModemProfile {
        switch self {
        case .serial: .serial(bitsPerSecond: Int64(Double(SimulatedModem.serialBitsPerSecond) * factor))
        case .ble:
            ModemProfile(
                nanosecondsPerByte: Int64(80_000 / factor), frameOverheadMicroseconds: 0,
                turnaroundMicroseconds: 200_000)
        case .lora(let spreadingFactor):
            ModemProfile(
                lora: LoRaSettings(
                    frequencyHertz: 868_100_000, bandwidthHertz: UInt32(min(125_000 * factor, 4_294_967_295)), spreadingFactor: spreadingFactor,
                    codingRateDenominator: 5, preambleSymbols: 8, hasExplicitHeader: true, hasCRC: true,
                    optimizesLowDataRate: spreadingFactor > 10, powerDBm: 14),
                turnaroundMicroseconds: 50_000)
        }
    }
}

/// A radio link that loses frames and damages bytes, in the same way for the same seed.
package struct LossyRadio: Sendable {
    package enum Outcome: Equatable, Sendable {
        /// Nothing arrived.
        case lost
        /// These bytes arrived, as they were sent.
        case intact([UInt8])
        /// These bytes arrived; at least one is not what was sent.
        case damaged([UInt8])
    }

    /// Probability that a frame is lost, 0 … 1.
    package let lossProbability: Double
    /// Probability that a byte is changed, 0 … 1.
    package let corruptionProbability: Double
    /// The average number of frames that are lost in a row; nil if each loss is independent of the others.
    package let meanBurstLength: Double?
    private var isInBurst = false
    private var random: SeededRandom

    /// Creates a link.
    /// - Parameter meanBurstLength: nil, or at least 1 and at least p ÷ (1 − p), where p is the loss probability, which must be
    ///   below 1. Losses then follow a Markov chain of a good state, in which every frame arrives, and a bad state, in which
    ///   none does (E. N. Gilbert, "Capacity of a Burst-Noise Channel", 1960). Both directions share the state.
    package init(lossProbability: Double, corruptionProbability: Double, meanBurstLength: Double? = nil, seed: UInt64) {
        self.lossProbability = lossProbability
        self.corruptionProbability = corruptionProbability
        self.meanBurstLength = meanBurstLength
        random = SeededRandom(seed: seed)
    }

    package mutating func send(_ bytes: [UInt8]) -> Outcome {
        if losesNext() { return .lost }
        var received = bytes
        var isDamaged = false
        for index in received.indices where random.chance(corruptionProbability) {
            received[index] ^= UInt8(1 + random.next() % 255)
            isDamaged = true
        }
        return isDamaged ? .damaged(received) : .intact(received)
    }

    private mutating func losesNext() -> Bool {
        guard let length = meanBurstLength else { return random.chance(lossProbability) }
        // On average, p / (1 - p) frames are lost for each frame that arrives, and `length` frames in each burst. The
        // quotient of the two is the probability that a burst begins.
        isInBurst = isInBurst ? !random.chance(1 / length) : random.chance(lossProbability / (length * (1 - lossProbability)))
        return isInBurst
    }
}
