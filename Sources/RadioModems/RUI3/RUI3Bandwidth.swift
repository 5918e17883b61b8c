import CheckedNumbers

/// A bandwidth as RUI3 writes it.
///
/// Releases up to 3.4 take kilohertz, 3.5.1 … 3.5.3 an index, and later ones both. They give back kilohertz or the index. Only the
/// index has the bandwidths below 125 kHz. Source: RAK-STM32-RUI, `service_lora_p2p.c` and the help text of `AT+PBW`.
enum RUI3Bandwidth {
    /// The bandwidths that belong to the indices from 0 on, in hertz.
    private static let indexedHertz: [UInt32] = [
        125_000, 250_000, 500_000, 7800, 10_400, 15_600, 20_800, 31_250, 41_700, 62_500,
    ]

    /// What may be written for a bandwidth, in hertz: first what most releases take.
    static func forms(of hertz: UInt32) -> [UInt32] {
        let index = indexedHertz.firstIndex(of: hertz).map { UInt32($0) }
        return [index, hertz >= 125_000 ? hertz / 1000 : nil].compactMap { $0 }
    }

    /// The bandwidth that a stick gives back, in hertz.
    /// - Parameter value: an index or kilohertz.
    static func hertz(_ value: Int64) -> Int64 {
        indexedHertz.indices.contains(Int(clamping: value)) ? Int64(indexedHertz[Int(value)]) : value * 1000
    }
}
