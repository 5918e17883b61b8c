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

extension AirtimeBudget {
    /// Whether a frame may be sent at once.
    fileprivate func allows(airtimeMicroseconds: Int64) -> Bool {
        let now = Instant(microseconds: 0)
        return earliest(airtimeMicroseconds: airtimeMicroseconds, now: now) == now
    }
}

/// The duty cycle.
@Suite struct AirtimeBudgetTests {
    private let start = Instant(microseconds: 1_000_000)

    @Test func itIsEmptyAtBoot() {
        var budget = AirtimeBudget(partsPerMillion: 10_000, largestFrameMicroseconds: 100_000, now: start)
        budget.refill(now: start)
        #expect(!budget.allows(airtimeMicroseconds: 1))
        #expect(budget.allows(airtimeMicroseconds: 0))
        let earliest = budget.earliest(airtimeMicroseconds: 75, now: start)
        #expect(earliest == start.advanced(byMicroseconds: 10_001))
        budget.refill(now: earliest)
        #expect(budget.allows(airtimeMicroseconds: 75))
    }

    @Test func itHoldsAQuarterOfAnHoursWorth() {
        var budget = AirtimeBudget(partsPerMillion: 10_000, largestFrameMicroseconds: 100_000, now: start)
        #expect(budget.depthMicroseconds == 9_000_000)
        budget.refill(now: start.advanced(byMicroseconds: 1 << 50))
        #expect(budget.allows(airtimeMicroseconds: 9_000_000))
        #expect(!budget.allows(airtimeMicroseconds: 9_000_001))
    }

    @Test func itHoldsOneFrameThatIsLargerThanThatAndFillsWithTheRest() {
        var budget = AirtimeBudget(partsPerMillion: 1000, largestFrameMicroseconds: 2_500_000, now: start)
        #expect(budget.depthMicroseconds == 2_500_000)
        budget.refill(now: start.advanced(byMicroseconds: 3_600_000_000))
        #expect(budget.allows(airtimeMicroseconds: 1_098_000))
        #expect(!budget.allows(airtimeMicroseconds: 1_100_001))
    }

    @Test func aFrameThatNoHourAllowsIsNeverSent() {
        var budget = AirtimeBudget(partsPerMillion: 100, largestFrameMicroseconds: 2_500_000, now: start)
        for day in 1...100 as ClosedRange<Int64> {
            budget.refill(now: start.advanced(byMicroseconds: day * 86_400_000_000))
            #expect(!budget.allows(airtimeMicroseconds: 2_500_000))
        }
    }

    /// Frames and pauses are random. No window of an hour holds more airtime than the duty cycle allows.
    @Test func noWindowOfAnHourHoldsMore() {
        var random = SystemRandomNumberGenerator()
        var budget = AirtimeBudget(partsPerMillion: 10_000, largestFrameMicroseconds: 100_000, now: start)
        var now = start
        var sent: [(at: Int64, airtime: Int64)] = []
        while now < start.advanced(byMicroseconds: 6 * 3_600_000_000) {
            let airtime = Int64.random(in: 1000...1_500_000, using: &random)
            budget.refill(now: now)
            now = max(now, budget.earliest(airtimeMicroseconds: airtime, now: now))
            budget.refill(now: now)
            #expect(budget.allows(airtimeMicroseconds: airtime))
            budget.spend(airtimeMicroseconds: airtime)
            sent.append((now.microseconds, airtime))
            let pause = Bool.random(using: &random) ? 0 : Int64.random(in: 0...60_000_000, using: &random)
            now = now.advanced(byMicroseconds: airtime + pause)
        }
        var first = 0
        var sum: Int64 = 0
        var most: Int64 = 0
        for element in sent {
            sum += element.airtime
            while sent[first].at <= element.at - 3_600_000_000 {
                sum -= sent[first].airtime
                first += 1
            }
            most = max(most, sum)
        }
        #expect(most <= 36_000_000)
        #expect(most > 20_000_000)
    }
}
