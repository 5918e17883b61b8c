import CollarARQ
import CollarWire
import Testing

/// Instants, and the airtime of frames.
@Suite struct TimingTests {
    @Test func airtimeIsOverheadPlusBytes() {
        let modem = ModemProfile(
            nanosecondsPerByte: 1500, frameOverheadMicroseconds: 20, turnaroundMicroseconds: 7)
        #expect(modem.airtimeMicroseconds(frameByteCount: 0) == 20)
        #expect(modem.airtimeMicroseconds(frameByteCount: 1) == 21)
        #expect(modem.airtimeMicroseconds(frameByteCount: 253) == 20 + 379)
    }

    @Test func aSerialByteTakesTenBits() {
        let modem = ModemProfile.serial(bitsPerSecond: 9600)
        #expect(modem.airtimeMicroseconds(frameByteCount: 96) == 99_999)
        #expect(ModemProfile.serial(bitsPerSecond: 1_000_000).airtimeMicroseconds(frameByteCount: 100) == 1000)
        #expect(modem.turnaroundMicroseconds == 100_000)
    }

    @Test func instantsAreOrderedAndApart() {
        let early = Instant(microseconds: -5)
        let late = early.advanced(byMicroseconds: 12)
        #expect(late == Instant(microseconds: 7))
        #expect(early < late)
        #expect(!(late < early))
        #expect(late.microseconds(since: early) == 12)
        #expect(early.microseconds(since: late) == -12)
    }

    /// The expected times were computed in floating point with the formula of AN1200.13; for spreading factor 5, with that of the
    /// SX1262 data sheet.
    @Test(arguments: [
        (7, 125_000, 8, true, true, false, 27, 66_816), (9, 125_000, 8, true, true, false, 250, 1_229_824),
        (12, 125_000, 8, true, true, true, 51, 2_465_792), (5, 500_000, 12, false, false, false, 10, 2640),
    ])
    func airtimeOfLoRa(
        spreadingFactor: UInt8, bandwidth: UInt32, preamble: UInt16, header: Bool, crc: Bool, slow: Bool, bytes: Int,
        microseconds: Int64
    ) {
        let settings = LoRaSettings(
            frequencyHertz: 868_100_000, bandwidthHertz: bandwidth, spreadingFactor: spreadingFactor,
            codingRateDenominator: 5, preambleSymbols: preamble, hasExplicitHeader: header, hasCRC: crc,
            optimizesLowDataRate: slow, powerDBm: 14)
        let modem = ModemProfile(lora: settings, turnaroundMicroseconds: 0)
        #expect(modem.airtimeMicroseconds(frameByteCount: bytes) == microseconds)
        #expect(modem.isHalfDuplex)
        let reported = ModemSettings(modulation: .lora(settings), turnaroundMilliseconds: 5)
        #expect(ModemProfile(reported).airtimeMicroseconds(frameByteCount: bytes) == microseconds)
        #expect(ModemProfile(reported).turnaroundMicroseconds == 5000)
    }
}
