import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire
import Sweeps
import Testing

@testable import CollarWorld


/// The airtime of delivery compared with the bound, by loss and modem.
@Suite struct AirtimeTests {
    /// Means over seeds.
    static func mean(
        _ modem: SimulatedModem, loss: Double, fixes: [Fix], batches: Bool, seeds: ClosedRange<UInt64>
    ) throws -> (overBound: Double, acknowledgementShare: Double) {
        let delivery = CollarDelivery.Configuration(
            modem: modem.profile, sendsLiveFixes: batches, batchFrameByteLimit: batches ? Frame.maximumByteCount : nil)
        var overBound = 0.0
        var share = 0.0
        for seed in seeds {
            let result = try AirtimeTrial(
                fixes: fixes, modem: modem.profile, lossProbability: loss, delivery: delivery, seed: seed
            ).run()
            overBound += result.overBound
            share += result.acknowledgementShare
        }
        return (overBound / Double(seeds.count), share / Double(seeds.count))
    }

    @Test(arguments: [7, 9, 12] as [UInt8], [(0.0, 1.05), (0.05, 1.05), (0.1, 1.05), (0.2, 1.05), (0.3, 1.05), (0.5, 1.10)])
    func oneFixAFrame(spreadingFactor: UInt8, row: (loss: Double, limit: Double)) throws {
        let fixes = SimulatedWalk.fixes(2000, secondsApart: 1)
        let measured = try Self.mean(
            .lora(spreadingFactor: spreadingFactor), loss: row.loss, fixes: fixes, batches: false, seeds: 1...(sweepsAreLong ? 5 : 2))
        #expect(measured.overBound >= 0.99 && measured.overBound <= row.limit)
        // A burst without loss is long, and one answer serves it.
        if row.loss == 0 { #expect(measured.acknowledgementShare <= 0.03) }
    }

    @Test(arguments: [0.0, 0.05, 0.1])
    func aBacklogInBatches(loss: Double) throws {
        let dense = try Self.mean(
            .lora(spreadingFactor: 7), loss: loss, fixes: SimulatedWalk.fixes(4000, secondsApart: 1), batches: true, seeds: 1...5)
        #expect(dense.overBound <= 0.06)
        #expect(dense.acknowledgementShare <= 0.03)
        let sparse = try Self.mean(
            .lora(spreadingFactor: 7), loss: loss, fixes: SimulatedWalk.cat(2000), batches: true, seeds: 1...5)
        #expect(sparse.overBound <= 0.2)
    }

    @Test(arguments: [7, 9, 12] as [UInt8], [0.0, 0.1, 0.3, 0.5])
    func acknowledgementsOfLongBursts(spreadingFactor: UInt8, loss: Double) throws {
        let modem = SimulatedModem.lora(spreadingFactor: spreadingFactor).profile
        let delivery = CollarDelivery.Configuration(
            modem: modem, sendsLiveFixes: true, batchFrameByteLimit: Frame.maximumByteCount)
        var long: Int64 = 0
        var answers: Int64 = 0
        for seed in 1...5 as ClosedRange<UInt64> {
            let result = try AirtimeTrial(
                fixes: SimulatedWalk.cat(2000), modem: modem, lossProbability: loss, delivery: delivery, seed: seed
            ).run()
            long += result.longBurstMicroseconds
            answers += result.longBurstAnswerMicroseconds
        }
        #expect(long > 0 && answers > 0)
        #expect(Double(answers) <= 0.03 * Double(long + answers))
    }
}
