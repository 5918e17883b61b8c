import CollarARQ
@testable import RadioModems
import Testing

@Suite("Regions")
struct RegionTests {
    private func region(_ name: String) throws -> Region { try #require(Region.named(name)) }

    /// Settings at a frequency; the bandwidth is 125 kHz unless it is given.
    private func settings(
        _ frequencyHertz: UInt32, bandwidthHertz: UInt32 = 125_000, spreadingFactor: UInt8 = 7, powerDBm: Int8 = 7
    ) -> RadioSettings {
        RadioSettings(
            frequencyHertz: frequencyHertz, bandwidthHertz: bandwidthHertz, spreadingFactor: spreadingFactor,
            codingRateDenominator: 5, powerDBm: powerDBm)
    }

    @Test("a region is found by its name, in upper or lower case")
    func names() {
        #expect(Region.named("eu868")?.name == "EU868")
        #expect(Region.named("Us915")?.name == "US915")
        #expect(Region.named("EU86") == nil)
        #expect(Region.named("") == nil)
        #expect(Set(Region.all.map(\.name)).count == Region.all.count)
    }

    @Test("the default settings of every region obey its rules")
    func defaults() throws {
        for region in Region.all {
            let limits = try region.limits(for: region.defaults)
            #expect(limits.dwellMicroseconds == region.dwellMicroseconds)
        }
        let european = try region("EU868").defaults
        #expect(european == settings(869_525_000, spreadingFactor: 9, powerDBm: 14))
    }

    @Test("bands are in order and do not overlap")
    func bands() {
        for region in Region.all {
            for band in region.bands { #expect(band.lowerHertz < band.upperHertz) }
            for (band, next) in zip(region.bands, region.bands.dropFirst()) { #expect(band.upperHertz <= next.lowerHertz) }
        }
    }

    /// EN 300 220-2: 0.1 % is 3.6 s an hour, 1 % is 36 s, 10 % is 6 minutes.
    @Test(
        "the duty cycle in Europe is that of the band",
        arguments: [
            (864_000_000, 1000), (866_000_000, 10_000), (868_100_000, 10_000), (868_300_000, 10_000), (868_500_000, 10_000),
            (868_950_000, 1000), (869_525_000, 100_000), (869_850_000, 10_000),
        ] as [(UInt32, Int64)])
    func dutyCycle(frequencyHertz: UInt32, partsPerMillion: Int64) throws {
        let limits = try region("EU868").limits(for: settings(frequencyHertz))
        #expect(limits == TransmitLimits(dutyCyclePartsPerMillion: partsPerMillion, dwellMicroseconds: nil))
    }

    @Test("a channel that reaches the edge of a band is inside, and one that is a hertz beyond it is not")
    func edges() throws {
        let region = try region("EU868")
        for (inside, outside) in [(868_062_500, 868_062_499), (868_537_500, 868_537_501), (869_462_500, 869_462_499)]
            as [(UInt32, UInt32)]
        {
            _ = try region.limits(for: settings(inside))
            #expect(throws: RegionError.frequencyOutsideBands(region: region, settings: settings(outside))) {
                try region.limits(for: settings(outside))
            }
        }
        // The whole band of 250 kHz.
        _ = try region.limits(for: settings(869_525_000, bandwidthHertz: 250_000))
        // Half a hertz too wide on each side.
        #expect(throws: RegionError.self) { try region.limits(for: settings(869_525_000, bandwidthHertz: 250_001)) }
        #expect(throws: RegionError.self) { try region.limits(for: settings(0)) }
        #expect(throws: RegionError.self) { try region.limits(for: settings(.max)) }
    }

    @Test("a channel in two bands that touch is refused, as their rules differ")
    func channelInTwoBands() throws {
        let region = try region("EU868")
        #expect(throws: RegionError.self) { try region.limits(for: settings(865_000_000)) }
    }

    @Test(
        "the power is limited by the band",
        arguments: [
            ("EU868", 868_100_000, 14), ("EU868", 869_525_000, 27), ("EU433", 433_775_000, 10), ("US915", 910_525_000, 21),
            ("AU915", 917_000_000, 21), ("AS923", 923_200_000, 13), ("IN865", 866_550_000, 27), ("KR920", 921_500_000, 7),
            ("KR920", 922_500_000, 11), ("RU864", 864_500_000, 13), ("RU864", 868_900_000, 13), ("CN470", 505_300_000, 17),
        ] as [(String, UInt32, Int8)])
    func power(name: String, frequencyHertz: UInt32, maximumDBm: Int8) throws {
        let region = try region(name)
        _ = try region.limits(for: settings(frequencyHertz, powerDBm: maximumDBm))
        let tooHigh = settings(frequencyHertz, powerDBm: maximumDBm + 1)
        #expect(throws: RegionError.powerTooHigh(region: region, settings: tooHigh, maximumDBm: maximumDBm)) {
            try region.limits(for: tooHigh)
        }
    }

    /// By hand, from AN1200.13, for 51 bytes at SF9 and 125 kHz (a symbol takes 4.096 ms) through an RNode, whose preamble has 18
    /// symbols and which adds a byte: 18 + 4.25 + 8 + ⌈(8·52 − 36 + 44) / 36⌉ · 5 = 90.25 symbols = 369.664 ms. At SF10
    /// (8.192 ms): 18 + 4.25 + 8 + ⌈(416 − 40 + 44) / 40⌉ · 5 = 85.25 symbols = 698.368 ms.
    @Test("a spreading factor with which 51 bytes take longer than 400 ms is refused", arguments: ["US915", "AU915", "AS923"])
    func dwell(name: String) throws {
        let region = try region(name)
        let frequencyHertz = region.defaults.frequencyHertz
        let nine = settings(frequencyHertz, spreadingFactor: 9)
        #expect(nine.profile(of: .rnode).airtimeMicroseconds(frameByteCount: 51) == 369_664)
        #expect(try region.limits(for: nine).dwellMicroseconds == 400_000)
        let ten = settings(frequencyHertz, spreadingFactor: 10)
        #expect(
            throws: RegionError.framesTooLong(
                region: region, settings: ten, airtimeMicroseconds: 698_368, limitMicroseconds: 400_000)
        ) { try region.limits(for: ten) }
        #expect(throws: RegionError.self) { try region.limits(for: settings(frequencyHertz, spreadingFactor: 12)) }
        // With four times the bandwidth, a symbol of SF11 takes as long as one of SF9.
        _ = try region.limits(for: settings(frequencyHertz, bandwidthHertz: 500_000, spreadingFactor: 11))
    }

    @Test("China's limit of one second allows spreading factor 10, and 11 not")
    func chineseDwell() throws {
        let region = try region("CN470")
        #expect(try region.limits(for: settings(505_300_000, spreadingFactor: 10)).dwellMicroseconds == 1_000_000)
        #expect(throws: RegionError.self) { try region.limits(for: settings(505_300_000, spreadingFactor: 11)) }
    }

    @Test("Europe has no limit of one frame")
    func noDwell() throws {
        #expect(try region("EU868").limits(for: settings(869_525_000, spreadingFactor: 12)).dwellMicroseconds == nil)
    }
}
