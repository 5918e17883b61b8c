import CollarARQ
import Testing

@testable import CollarSimulator

/// What the simulated collars notice while they sense the channel, and which collars hear each other.
@Suite struct ChannelSensesTests {
    private static let modem = SimulatedModem.lora(spreadingFactor: 9).profile
    private static let symbol: Int64 = 4096

    private func at(_ microseconds: Int64) -> Instant { Instant(microseconds: microseconds) }

    /// Collar 0 senses from 1 s on, for a tenth of a second. The seed is one with which it misses nothing.
    private func senses(seed: UInt64 = 0) -> ChannelSenses {
        var senses = ChannelSenses(collarCount: 3, modem: Self.modem, seed: seed)
        senses.note(senseEnd: at(1_100_000), of: 0, now: at(1_000_000))
        return senses
    }

    @Test func aPacketIsNoticedAfterASymbol() {
        let senses = senses()
        #expect(senses.isSensing(0) && !senses.isSensing(1) && senses.isAny)
        #expect(senses.notices(0, at(1_010_000), at(1_010_000 + Self.symbol)))
        #expect(!senses.notices(0, at(1_010_000), at(1_010_000 + Self.symbol - 1)))
        // Only the part counts that falls into the time of the sensing.
        #expect(senses.notices(0, at(0), at(1_000_000 + Self.symbol)))
        #expect(!senses.notices(0, at(0), at(1_000_000 + Self.symbol - 1)))
        #expect(senses.notices(0, at(1_100_000 - Self.symbol), at(9_000_000)))
        #expect(!senses.notices(0, at(1_100_001 - Self.symbol), at(9_000_000)))
        #expect(!senses.notices(1, at(0), at(9_000_000)))
    }

    @Test func packetsThatHaveEndedAreNoticedByThoseThatHearThem() {
        let all = CollarHearing(collarCount: 3)
        let hidden = CollarHearing(collarCount: 3, hiddenProbability: 1, seed: 1)
        for (sender, isNoticed) in [(0, false), (1, true), (nil, true)] as [(Int?, Bool)] {
            var senses = senses()
            #expect(!senses.hasEndedPacket(heardBy: 0, in: all))
            senses.ended(from: sender, start: at(1_010_000), end: at(1_060_000))
            #expect(senses.hasEndedPacket(heardBy: 0, in: all) == isNoticed)
            #expect(senses.hasEndedPacket(heardBy: 0, in: hidden) == (sender == nil))
        }
    }

    @Test func sensingEnds() {
        var senses = senses()
        senses.note(senseEnd: at(1_100_000), of: 0, now: at(1_050_000))
        // It has gone on since its beginning.
        #expect(senses.notices(0, at(1_000_000), at(1_000_000 + Self.symbol)))
        senses.note(senseEnd: nil, of: 0, now: at(1_100_000))
        senses.end(0)
        #expect(!senses.isSensing(0) && !senses.isAny && !senses.notices(0, at(0), at(9_000_000)))
    }

    @Test func aRadioMissesEverythingNowAndThen() {
        let missed = (0..<1000).filter { !senses(seed: $0).notices(0, at(1_000_000), at(1_100_000)) }.count
        #expect((30...70).contains(missed))
    }

    @Test(arguments: [0, 0.5, 1]) func partOfThePairsIsHidden(part: Double) {
        let hearing = CollarHearing(collarCount: 40, hiddenProbability: part, seed: 7)
        var hidden = 0
        for first in 0..<40 {
            #expect(hearing.hears(first, first))
            for second in 0..<first {
                #expect(hearing.hears(first, second) == hearing.hears(second, first))
                if !hearing.hears(first, second) { hidden += 1 }
            }
        }
        #expect(abs(Double(hidden) / 780 - part) < 0.06)
        #expect(hearing == CollarHearing(collarCount: 40, hiddenProbability: part, seed: 7))
    }
}
