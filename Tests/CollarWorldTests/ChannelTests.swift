import CollarWire
import Testing

@testable import CollarWorld

/// The radio has the faults that its plan names, at their rates.
@Suite struct ChannelTests {
    private let frame = (0..<40).map { UInt8($0) }

    /// For each of `count` frames, the copies of it that arrive.
    private func carry(_ count: Int, isStream: Bool = false, _ plan: (inout ChannelPlan) -> Void) -> [[Channel
        .Delivery]]
    {
        var radio = ChannelPlan()
        plan(&radio)
        var channel = Channel(plan: radio, isStream: isStream)
        var streams = FaultStreams(seed: 5)
        return (0..<count).map { _ in channel.carry(frame, &streams) }
    }

    @Test(arguments: [0.05, 0.3, 0.6])
    func framesAreLostAtTheRate(_ rate: Double) {
        let lost = carry(20_000) { $0.loss = rate }.filter(\.isEmpty).count
        #expect(abs(Double(lost) / 20_000 - rate) < 0.015)
    }

    @Test func lossesComeInBursts() {
        let lost = carry(50_000) {
            $0.burstStart = 0.02
            $0.burstEnd = 0.2
            $0.burstLoss = 1
        }.map(\.isEmpty)
        let share = Double(lost.filter { $0 }.count) / 50_000
        // In the long run 0.02 ÷ (0.02 + 0.2) of the frames are in bursts, whose mean length is 5 frames.
        #expect(abs(share - 0.0909) < 0.015)
        let runs = zip(lost.dropFirst(), lost).filter { $0 && !$1 }.count
        #expect(abs(Double(lost.filter { $0 }.count) / Double(runs) - 5) < 0.7)
    }

    @Test func framesAreDoubledAndDelayedAtTheRate() {
        let arrived = carry(20_000) {
            $0.duplication = 0.1
            $0.delay = 0.2
            $0.maximumDelay = 1000
        }
        #expect(abs(Double(arrived.filter { $0.count == 2 }.count) / 20_000 - 0.1) < 0.01)
        #expect(abs(Double(arrived.filter { $0[0].delay > 0 }.count) / 20_000 - 0.2) < 0.015)
        #expect(arrived.allSatisfy { $0[0].delay <= 1000 && $0[0].bytes == frame })
    }

    @Test func atMostFiveBitsAreFlipped() {
        let arrived = carry(5000) { $0.flips = 1 }
        for delivery in arrived.joined() {
            let flipped = zip(delivery.bytes, frame).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
            #expect(flipped <= 5 && delivery.bytes.count == frame.count)
        }
    }

    @Test func truncationShortensAndNoiseComesBetweenFrames() {
        #expect(carry(500) { $0.truncation = 1 }.joined().allSatisfy { $0.bytes.count < 40 })
        let noisy = carry(500, isStream: true) { $0.noise = 1 }.joined()
        #expect(noisy.allSatisfy { $0.bytes.count > 43 && $0.bytes.suffix(43) == Channel.stuffed(frame)[...] })
    }
}
