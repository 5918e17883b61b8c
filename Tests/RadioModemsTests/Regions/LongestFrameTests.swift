import Testing

@testable import RadioModems

/// The limit of one frame's airtime, at its edge and for the stick that needs the most.
@Suite struct LongestFrameTests {
    private func settings(bandwidthHertz: UInt32) -> RadioSettings {
        RadioSettings(
            frequencyHertz: 915_000_000, bandwidthHertz: bandwidthHertz, spreadingFactor: 8, codingRateDenominator: 8, powerDBm: 14)
    }

    /// At SF8 a MeshCore modem sends 32 symbols of preamble and an RNode 18. By hand for 51 bytes at 4/8: 32 + 4.25 + 8 + ⌈(8·51 − 32
    /// + 44) / 32⌉ · 8 = 156.25 symbols, which take 400 ms at 100 kHz.
    @Test func aFrameThatTakesExactlyTheLimitIsAllowed() throws {
        let region = try #require(Region.named("US915"))
        let settings = settings(bandwidthHertz: 100_000)
        #expect(settings.profile(of: .kiss).airtimeMicroseconds(frameByteCount: 51) == 400_000)
        #expect(try region.limits(for: settings) == TransmitLimits(dutyCyclePartsPerMillion: nil, dwellMicroseconds: 400_000))
    }

    @Test func theStickWithTheLongestPreambleDecidesAlsoIfItIsNotAnRNode() throws {
        let region = try #require(Region.named("US915"))
        let settings = settings(bandwidthHertz: 99_000)
        let airtimes = [Dialect.serial, .kiss, .rnode, .rui3].map { settings.profile(of: $0).airtimeMicroseconds(frameByteCount: 51) }
        #expect(airtimes.map { $0 > 400_000 } == [false, true, false, false])
        #expect(throws: RegionError.framesTooLong(
            region: region, settings: settings, airtimeMicroseconds: airtimes[1], limitMicroseconds: 400_000)
        ) { try region.limits(for: settings) }
    }

    @Test func aRegionMayLimitBothTheHourAndTheFrame() throws {
        let region = try #require(Region.named("AS923"))
        #expect(try region.limits(for: region.defaults) == TransmitLimits(dutyCyclePartsPerMillion: 10_000, dwellMicroseconds: 400_000))
    }

    /// 50 ms for the line and two symbols of 2.048 ms at SF8.
    @Test(arguments: [(45_904, 100_000), (45_905, 200_000), (145_904, 200_000), (0, 100_000)] as [(Int64, Int64)])
    func aTurnaroundIsRoundedUpToATenthOfASecond(wait: Int64, turnaround: Int64) {
        #expect(settings(bandwidthHertz: 125_000).turnaroundMicroseconds(waiting: wait) == turnaround)
    }
}
