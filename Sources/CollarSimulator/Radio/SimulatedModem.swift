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

    /// Bits per second of ``serial``.
    package static let serialBitsPerSecond: Int64 = 57_600

    private static let known = [.serial, .ble] + (7...12).map { SimulatedModem.lora(spreadingFactor: $0) }

    /// The names that ``init(name:)`` accepts.
    package static let names = known.map(\.name)

    /// The modem of a name: `serial`, `ble`, or `lora:SF7` … `lora:SF12`, in upper or lower case; nil for any other name.
    package init?(name: String) {
        guard let modem = SimulatedModem.known.first(where: { $0.name.lowercased() == name.lowercased() }) else { return nil }
        self = modem
    }

    /// The name that ``init(name:)`` accepts.
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
