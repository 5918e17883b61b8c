import CollarARQ
import CollarFirmware
import CollarWire
import LinkSimulator
import Testing

/// What delivery costs on the air beside the bound, for loss × modem.
@Suite struct AirtimeTests {
    static func lora(_ spreadingFactor: UInt8) -> ModemProfile {
        .lora(
            LoRaSettings(
                frequencyHertz: 868_100_000, bandwidthHertz: 125_000, spreadingFactor: spreadingFactor,
                codingRateDenominator: 5, preambleSymbols: 8, hasExplicitHeader: true, hasCRC: true,
                optimizesLowDataRate: spreadingFactor > 10, powerDBm: 14),
            turnaroundMicroseconds: 50_000)
    }

    /// A walk in a straight line with small deviations; what a watch records: no course, no heading.
    static func walk(_ count: Int, seconds: Int64) -> [Fix] {
        var random = SeededRandom(seed: 9)
        var latitude: Int32 = 4_737_690
        var longitude: Int32 = 854_170
        return (0..<count).map { index in
            latitude += 1 + Int32(random.next() % 2)
            longitude += 1 + Int32(random.next() % 2)
            return Fix(
                sequence: UInt32(index), unixMilliseconds: 1_700_000_000_000 + Int64(index) * seconds * 1000,
                latitudeSteps: latitude, longitudeSteps: longitude, altitudeSteps: 400 + Int32(index / 60),
                horizontalAccuracy: AccuracyCode(rawValue: 41), verticalAccuracy: AccuracyCode(rawValue: 44),
                speedDecimetersPerSecond: 14 + UInt32(random.next() % 2), batteryPercent: UInt8(90 - index / 500))
        }
    }

    /// Means over seeds.
    static func mean(
        _ modem: ModemProfile, loss: Double, fixes: [Fix], batches: Bool, seeds: ClosedRange<UInt64>
    ) throws -> (overBound: Double, acknowledgementShare: Double) {
        let delivery = CollarDelivery.Configuration(
            modem: modem, sendsLiveFixes: batches, batchFrameByteLimit: batches ? Frame.maximumByteCount : nil)
        var overBound = 0.0
        var share = 0.0
        for seed in seeds {
            let result = try AirtimeTrial(
                fixes: fixes, modem: modem, lossProbability: loss, delivery: delivery, seed: seed
            ).run()
            overBound += result.overBound
            share += result.acknowledgementShare
        }
        return (overBound / Double(seeds.count), share / Double(seeds.count))
    }

    @Test(arguments: [7, 9, 12] as [UInt8], [(0.0, 1.05), (0.05, 1.05), (0.1, 1.05), (0.2, 1.05), (0.3, 1.05), (0.5, 1.10)])
    func oneFixAFrame(spreadingFactor: UInt8, row: (loss: Double, limit: Double)) throws {
        let fixes = Self.walk(2000, seconds: 1)
        let measured = try Self.mean(
            Self.lora(spreadingFactor), loss: row.loss, fixes: fixes, batches: false, seeds: 1...10)
        #expect(measured.overBound >= 0.99 && measured.overBound <= row.limit)
        // A burst without loss is long, and one answer serves it.
        if row.loss == 0 { #expect(measured.acknowledgementShare <= 0.03) }
    }

    @Test(arguments: [0.0, 0.05, 0.1])
    func aBacklogInBatches(loss: Double) throws {
        let dense = try Self.mean(
            Self.lora(7), loss: loss, fixes: Self.walk(4000, seconds: 1), batches: true, seeds: 1...5)
        #expect(dense.overBound <= 0.06)
        #expect(dense.acknowledgementShare <= 0.03)
        let sparse = try Self.mean(
            Self.lora(7), loss: loss, fixes: Self.walk(2000, seconds: 180), batches: true, seeds: 1...5)
        #expect(sparse.overBound <= 0.2)
    }
}
