import CollarARQ
import Testing

@testable import RadioModems

/// The bands of every region, as their sources say, and the edges of each.
@Suite struct RegionTableTests {
    /// Name, edges in kilohertz, duty cycle in parts per million, highest power in dBm.
    private static let bands: [(String, UInt32, UInt32, Int64?, Int8)] = [
        ("EU868", 863_000, 865_000, 1000, 14), ("EU868", 865_000, 868_000, 10_000, 14), ("EU868", 868_000, 868_600, 10_000, 14),
        ("EU868", 868_700, 869_200, 1000, 14), ("EU868", 869_400, 869_650, 100_000, 27), ("EU868", 869_700, 870_000, 10_000, 14),
        ("EU433", 433_050, 434_790, 100_000, 10), ("US915", 902_000, 928_000, nil, 21), ("AU915", 915_000, 928_000, nil, 21),
        ("AS923", 920_000, 925_000, 10_000, 13), ("IN865", 865_000, 867_000, nil, 27), ("KR920", 920_900, 922_000, 10_000, 7),
        ("KR920", 922_000, 923_300, 10_000, 11), ("RU864", 864_000, 865_000, 1000, 13), ("RU864", 868_700, 869_200, 10_000, 13),
        ("CN470", 470_000, 510_000, nil, 17),
    ]

    private func settings(_ frequencyHertz: UInt32, bandwidthHertz: UInt32 = 125_000) -> RadioSettings {
        RadioSettings(
            frequencyHertz: frequencyHertz, bandwidthHertz: bandwidthHertz, spreadingFactor: 7, codingRateDenominator: 5, powerDBm: 7)
    }

    @Test func everyBandIsThatOfItsSource() {
        let actual = Region.all.flatMap { region in
            region.bands.map {
                "\(region.name) \($0.lowerHertz) \($0.upperHertz) \($0.dutyCyclePartsPerMillion ?? 0) \($0.maximumPowerDBm)"
            }
        }
        #expect(actual == Self.bands.map { "\($0) \($1 * 1000) \($2 * 1000) \($3 ?? 0) \($4)" })
    }

    @Test(arguments: [
        ("EU868", 869_525_000, 9, 14, nil), ("EU433", 434_665_000, 9, 10, nil), ("US915", 915_000_000, 8, 14, 400_000),
        ("AU915", 917_000_000, 8, 14, 400_000), ("AS923", 923_200_000, 8, 13, 400_000), ("IN865", 866_550_000, 9, 14, nil),
        ("KR920", 922_500_000, 9, 11, nil), ("RU864", 868_900_000, 9, 13, nil), ("CN470", 505_300_000, 9, 14, 1_000_000),
    ] as [(String, UInt32, UInt8, Int8, Int64?)])
    func theSettingsOfARegionAre(name: String, frequency: UInt32, spreadingFactor: UInt8, power: Int8, dwell: Int64?) throws {
        let region = try #require(Region.named(name))
        #expect(region.defaults == RadioSettings(
            frequencyHertz: frequency, bandwidthHertz: 125_000, spreadingFactor: spreadingFactor, codingRateDenominator: 5,
            powerDBm: power))
        #expect(region.dwellMicroseconds == dwell)
    }

    /// A channel may touch the edge of its band, and not cross it, also not by half a hertz.
    @Test(arguments: bands.indices) func aChannelLiesWithinItsBandOnBothSides(index: Int) throws {
        let (name, lower, upper, _, _) = Self.bands[index]
        let region = try #require(Region.named(name))
        let band = region.bands.first { $0.lowerHertz == lower * 1000 }
        for half in [62_500, 100_000] as [UInt32] {
            let (lowest, highest) = (lower * 1000 + half, upper * 1000 - half)
            #expect(region.band(of: settings(lowest, bandwidthHertz: 2 * half)) == band)
            #expect(region.band(of: settings(highest, bandwidthHertz: 2 * half)) == band)
            #expect(region.band(of: settings(lowest - 1, bandwidthHertz: 2 * half)) == nil)
            #expect(region.band(of: settings(highest + 1, bandwidthHertz: 2 * half)) == nil)
            #expect(region.band(of: settings(lowest, bandwidthHertz: 2 * half + 1)) == nil)
            #expect(region.band(of: settings(highest, bandwidthHertz: 2 * half + 1)) == nil)
            #expect(region.band(of: settings(lowest + 1, bandwidthHertz: 2 * half + 1)) == band)
        }
    }

    @Test func theLongestFrameOfTheRegionIsThatOfTheStickWithTheLongestPreamble() throws {
        let region = try #require(Region.named("US915"))
        var settings = region.defaults
        // At SF9 and 4/8 an RNode takes more than 400 ms for 51 bytes, and a stick with RUI3 does not.
        settings.spreadingFactor = 9
        settings.codingRateDenominator = 6
        let longest = Dialect.allCases.map { settings.profile(of: $0).airtimeMicroseconds(frameByteCount: 51) }
        #expect(longest.contains { $0 <= 400_000 } && longest.contains { $0 > 400_000 }, "\(longest)")
        #expect(throws: RegionError.framesTooLong(
            region: region, settings: settings, airtimeMicroseconds: longest.max() ?? 0, limitMicroseconds: 400_000)
        ) { try region.limits(for: settings) }
    }

    @Test(arguments: [(.serial, 50_000), (.kiss, 100_000), (.rui3, 200_000)] as [(Dialect, Int64)])
    func theTurnaroundOfADialectIs(dialect: Dialect, microseconds: Int64) {
        #expect(settings(869_525_000).turnaroundMicroseconds(of: dialect) == microseconds)
        #expect(settings(869_525_000).profile(of: dialect).turnaroundMicroseconds == microseconds)
    }

    /// 8 bytes at SF7, 125 kHz and 4/5 by AN1200.13: 8 + ⌈(64 − 28 + 44) / 28⌉ · 5 = 23 symbols of 1.024 ms, after 4.25 and
    /// the preamble.
    @Test(arguments: [(.kiss, 7, 32), (.kiss, 8, 32), (.kiss, 9, 16), (.kiss, 12, 16), (.rui3, 7, 8), (.serial, 12, 8)]
        as [(Dialect, UInt8, Int64)])
    func thePreambleOfADialectIs(dialect: Dialect, spreadingFactor: UInt8, symbols: Int64) {
        var settings = settings(869_525_000)
        settings.spreadingFactor = spreadingFactor
        let symbol = (1_000_000 << Int64(spreadingFactor)) / 125_000 as Int64
        let overhead = settings.profile(of: dialect).frameOverheadMicroseconds
        #expect(overhead == (4 * symbols + 17 + 32) * symbol / 4)
        guard spreadingFactor == 7 else { return }
        #expect(settings.profile(of: dialect).airtimeMicroseconds(frameByteCount: 8) == overhead + 15 * symbol)
    }

    /// Low data rate optimisation takes two bits of each symbol. By hand for SF11 and 51 bytes: ⌈(408 − 44 + 44) / (4 · 11)⌉ = 10 blocks
    /// without it and ⌈408 / (4 · 9)⌉ = 12 with it.
    @Test(arguments: [(125_000, 12), (128_000, 12), (128_001, 10), (250_000, 10)] as [(UInt32, Int64)])
    func symbolsOf16MillisecondsAreOptimized(bandwidth: UInt32, blocks: Int64) {
        var settings = settings(869_525_000, bandwidthHertz: bandwidth)
        settings.spreadingFactor = 11
        let profile = settings.profile(of: .rui3)
        let payload = profile.airtimeMicroseconds(frameByteCount: 51) - profile.frameOverheadMicroseconds
        #expect((payload + settings.symbolMicroseconds) / (5 * settings.symbolMicroseconds) == blocks)
    }
}
