import CollarSimulator
import Testing

/// A link that loses and damages frames.
@Suite struct LossyRadioTests {
    private func outcomes(loss: Double, corruption: Double, seed: UInt64, count: Int) -> [LossyRadio.Outcome] {
        var radio = LossyRadio(lossProbability: loss, corruptionProbability: corruption, seed: seed)
        return (0..<count).map { radio.send([UInt8](repeating: UInt8($0 % 256), count: 30)) }
    }

    @Test func theSameSeedGivesTheSameOutcomes() {
        let first = outcomes(loss: 0.3, corruption: 0.02, seed: 42, count: 500)
        #expect(first == outcomes(loss: 0.3, corruption: 0.02, seed: 42, count: 500))
        #expect(first != outcomes(loss: 0.3, corruption: 0.02, seed: 43, count: 500))
    }

    @Test func aPerfectLinkChangesNothingAndADeadOneDeliversNothing() {
        let sent = (0..<100).map { LossyRadio.Outcome.intact([UInt8](repeating: UInt8($0), count: 30)) }
        #expect(outcomes(loss: 0, corruption: 0, seed: 1, count: 100) == sent)
        #expect(outcomes(loss: 1, corruption: 0, seed: 1, count: 100).allSatisfy { $0 == .lost })
    }

    /// The limit is six standard deviations.
    @Test(arguments: [0.05, 0.2, 0.5])
    func framesAreLostAtTheRateGiven(rate: Double) {
        let count = 20_000
        let lost = outcomes(loss: rate, corruption: 0, seed: 7, count: count).count { $0 == .lost }
        let deviation = (Double(count) * rate * (1 - rate)).squareRoot()
        #expect(abs(Double(lost) - Double(count) * rate) < 6 * deviation)
    }

    @Test(arguments: [0.001, 0.01, 0.2])
    func bytesAreChangedAtTheRateGiven(rate: Double) {
        var radio = LossyRadio(lossProbability: 0, corruptionProbability: rate, seed: 9)
        let frame = [UInt8](0..<100)
        var changed = 0
        for _ in 0..<2000 {
            switch radio.send(frame) {
            case .lost: Issue.record("a link without loss lost a frame")
            case .intact(let bytes): #expect(bytes == frame)
            case .damaged(let bytes):
                let differences = zip(bytes, frame).count { $0 != $1 }
                #expect(bytes.count == frame.count && differences > 0)
                changed += differences
            }
        }
        let deviation = (200_000 * rate * (1 - rate)).squareRoot()
        #expect(abs(Double(changed) - 200_000 * rate) < 6 * deviation)
    }

    @Test func lossAndDamageAreIndependentOfOneAnother() {
        let result = outcomes(loss: 0.5, corruption: 0.01, seed: 3, count: 20_000)
        let arrived = result.filter { $0 != .lost }
        let damaged = arrived.count { if case .damaged = $0 { true } else { false } }
        // 1 − 0.99^30 = 26.0 %
        #expect(abs(Double(damaged) / Double(arrived.count) - 0.26) < 0.03)
    }

    @Test(arguments: [(0.1, 1.5), (0.3, 5.0), (0.5, 1.0)])
    func lossesComeInRuns(loss: Double, length: Double) {
        var radio = LossyRadio(lossProbability: loss, corruptionProbability: 0, meanBurstLength: length, seed: 3)
        var lost = 0
        var runs = 0
        var isInRun = false
        for _ in 0..<200_000 {
            let isLost = radio.send([1]) == .lost
            lost += isLost ? 1 : 0
            if isLost, !isInRun { runs += 1 }
            isInRun = isLost
        }
        #expect(abs(Double(lost) / 200_000 - loss) < 0.02)
        #expect(abs(Double(lost) / Double(runs) - length) < 0.05 * length)
    }
}
