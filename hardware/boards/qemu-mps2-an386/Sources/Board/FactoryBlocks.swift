import CBoard
import CollarWire

/// The two blocks before the flash. `Tools/firmware flash` writes into block 0 what a factory gives a device; the emulator
/// writes random words into block 1 each time power comes on.
///
/// Block 0, most significant byte first: 0x434C4642, device id (8 bytes), address (1), spreading factor of LoRa or 0 for a serial
/// line (1), duty cycle in thousandths or 0 for no limit (2), key (16), and the CRC-24 of these 32 bytes.
public struct FactoryBlocks {
    /// Bytes of both blocks.
    static var byteCount: Int { 2 * blockByteCount }
    private static var blockByteCount: Int { 4096 }
    private static var contentByteCount: Int { 32 }
    private static var mark: UInt32 { 0x434C_4642 }

    /// Factory id of the device, 64 bits.
    public let deviceID: UInt64
    /// Address on the air, 1 … 254; 0 for a base radio.
    public let address: UInt8
    /// The key of a collar. That of a base radio has no meaning.
    public let key: CollarKey
    /// The part of every hour in which the device may send, in millionths; nil for no limit.
    public let dutyCyclePartsPerMillion: Int64?
    private let spreadingFactor: UInt8

    /// Reads block 0.
    /// - Returns: nil if it was never written, or is damaged.
    public init?() {
        let bytes = InlineArray<32, UInt8> { Memory[$0] }
        var crc = CRC24()
        crc.update(bytes.span, from: 0, to: Self.contentByteCount)
        guard Self.number(at: 0, byteCount: 4) == Self.mark,
            Self.number(at: Self.contentByteCount, byteCount: CRC24.byteCount) == crc.checksum
        else { return nil }
        deviceID = UInt64(widening: Self.number(at: 4, byteCount: 4)) &<< 32
            | UInt64(widening: Self.number(at: 8, byteCount: 4))
        address = bytes[12]
        spreadingFactor = bytes[13]
        let thousandths = Self.number(at: 14, byteCount: 2)
        dutyCyclePartsPerMillion = thousandths == 0 ? nil : Int64(widening: thousandths) * 1000
        key = CollarKey(bytes.span.extracting(16..<32))
    }

    /// The next of the random words; after a reset the words go on. When all are used up, the first one comes again.
    public static func randomWord() -> UInt32 {
        let place = Int(next_random_position() % UInt32(blockByteCount / 4)) * 4
        return number(at: blockByteCount + place, byteCount: 4)
    }

    private static func number(at offset: Int, byteCount: Int) -> UInt32 {
        var number: UInt32 = 0
        for place in offset..<(offset + byteCount) { number = number &<< 8 | UInt32(Memory[place]) }
        return number
    }
}

extension FactoryBlocks {
    /// The settings of the radio. A device whose radio is a serial line answers within 100 ms; LoRa has the settings of the
    /// region EU868, and 300 ms, because the emulator shares its processor.
    public var modem: ModemSettings {
        guard spreadingFactor > 0 else {
            return ModemSettings(modulation: .serial(bitsPerSecond: 115_200), turnaroundMilliseconds: 100)
        }
        let settings = LoRaSettings(
            frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: spreadingFactor, codingRateDenominator: 5,
            preambleSymbols: 8, hasExplicitHeader: true, hasCRC: true, optimizesLowDataRate: spreadingFactor > 10, powerDBm: 14)
        return ModemSettings(modulation: .lora(settings), turnaroundMilliseconds: 300)
    }
}
