/// A board with an amplifier behind its radio chip, as MeshCore's modem names it.
///
/// The modem passes a power to the chip as it is (`KissModem.cpp`, `handleSetTxPower`), so the antenna gets more. The gain of an
/// amplifier falls as its input grows: the table has the largest that a source gives, so that the antenna never gets more than
/// wanted. Not measured.
struct MeshCoreBoard: Equatable, Sendable {
    /// How the name of the board begins (`getManufacturerName`).
    let name: String
    /// The largest gain of the amplifier, in decibels.
    let gainDecibels: Int8
    /// The highest power that the chip may be set to, in dBm.
    let maximumInputDBm: Int8

    /// The powers of the chips: the SX1262 and its relatives take -9 … 22 dBm and ignore others. Source: RadioLib, `SX1262::setOutputPower`.
    static let chipPowerDBm: ClosedRange<Int8> = -9...22

    /// Source: MeshCore, `variants/*/platformio.ini`, at `LORA_TX_POWER` and `MAX_LORA_TX_POWER` (heltec_v4, heltec_t096,
    /// station_g2, meshnology_w12, lilygo_tbeam_1w, rak3401 and others).
    private static let amplified = [
        // "9dBm + ~13dB KCT8103L gain"; the older GC1109 has 12 ("configured as 10 … final output will be 22 dbm").
        MeshCoreBoard("Heltec V4", gain: 13), MeshCoreBoard("Heltec Tracker V2", gain: 13), MeshCoreBoard("Heltec T096", gain: 13),
        MeshCoreBoard("Heltec Tower V2", gain: 13),
        // 7 dBm become 27, and 19 is the most "without burning out the PA".
        MeshCoreBoard("Station G2", gain: 20, maximumInput: 19),
        // The input of its GC1109 bears 5 dBm. (H: the gain; 4 dBm are said to become 28 to 30.)
        MeshCoreBoard("Meshnology W12", gain: 26, maximumInput: 4),
        // "22dBm to SX1262, PA module adds ~10dB".
        MeshCoreBoard("LilyGo T-Beam 1W", gain: 10),
        // The booster RAK13302 gives 1 W at 22 dBm. (H: the gain with less input.)
        MeshCoreBoard("RAK 3401", gain: 9),
        // Its module gives 30 dBm at 22. (H: the gain with less input.)
        MeshCoreBoard("GAT562 30S", gain: 9),
    ]

    private init(_ name: String, gain: Int8, maximumInput: Int8 = MeshCoreBoard.chipPowerDBm.upperBound) {
        (self.name, gainDecibels, maximumInputDBm) = (name, gain, maximumInput)
    }

    /// The board with a name; nil if it is not known to have an amplifier.
    static func named(_ name: String) -> MeshCoreBoard? {
        amplified.first { name.lowercased().hasPrefix($0.name.lowercased()) }
    }

    /// What the chip is set to so that the antenna gets a power, and what the antenna then gets, in dBm.
    /// - Parameter board: the board; nil for one without an amplifier.
    static func power(of board: MeshCoreBoard?, wanted: Int8) -> (chipDBm: Int8, outputDBm: Int8) {
        let gain = Int(board?.gainDecibels ?? 0)
        let highest = board?.maximumInputDBm ?? chipPowerDBm.upperBound
        let chip = min(max(Int8(clamping: Int(wanted) - gain), chipPowerDBm.lowerBound), highest)
        return (chip, Int8(clamping: Int(chip) + gain))
    }
}
