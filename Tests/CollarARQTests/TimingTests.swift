import CollarARQ
import Testing

/// Time and what a frame costs of it.
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
}
