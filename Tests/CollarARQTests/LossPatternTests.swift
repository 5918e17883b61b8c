import CollarARQ
import CollarWire
import Testing

/// Every pattern of losses among the first frames of both directions, with a host that stores every fix at once.
@Suite struct LossPatternTests {
    private struct Run {
        var frames = 0
        var lost = 0
        var arrivals: [UInt32: Int] = [:]
        var isDelivered = false
    }

    /// If bit n of `uplinkLosses` or `downlinkLosses` is set, frame n of that direction is lost.
    private func run(
        uplinkLosses: UInt32, downlinkLosses: UInt32, fixes: UInt32, arrivingEvery interval: Int
    ) -> Run {
        let atBoot: UInt32 = interval == 0 ? fixes : 1
        var bench = Bench(log: 0..<atBoot)
        var nextSequence = atBoot
        var host = HostDelivery(log: .sample, receiverID: 7, highestSequence: 0)
        var stored = SetOfDurable()
        var answers: UInt32 = 0
        var result = Run()
        while result.frames < 200 {
            guard let transmission = bench.send() else {
                if bench.delivery.delivered.firstMissing == fixes { break }
                _ = bench.waitForDeadline()
                continue
            }
            let frame = UInt32(result.frames)
            result.frames += 1
            if interval > 0, result.frames % interval == 0, nextSequence < fixes {
                nextSequence += 1
                bench.delivery.logChanged(oldestSequence: 0, nextSequence: nextSequence)
            }
            if frame < 32, uplinkLosses >> frame & 1 == 1 {
                result.lost += 1
                continue
            }
            if case .logEntry(let sequence) = transmission.content {
                #expect(sequence < nextSequence, "a fix that is not in the log")
                result.arrivals[sequence, default: 0] += 1
                stored.insert(sequence)
            }
            host.receive(flags: FrameFlags(poll: transmission.poll))
            guard let answer = host.takeAnswer(from: stored) else { continue }
            answers += 1
            if answers <= 32, downlinkLosses >> (answers - 1) & 1 == 1 {
                result.lost += 1
                continue
            }
            _ = bench.receive(answer)
        }
        result.isDelivered =
            bench.delivery.delivered.firstMissing == fixes && stored.sequences == Set(0..<fixes)
        return result
    }

    /// Checks that every fix arrives, and that each lost frame costs at most two more frames.
    private func checkEveryPattern(arrivingEvery interval: Int) {
        let fixes: UInt32 = 6
        for pattern in 0..<UInt32(1 << 14) {
            let run = run(
                uplinkLosses: pattern & 0xFF, downlinkLosses: pattern >> 8, fixes: fixes, arrivingEvery: interval)
            let bound = 2 + Int(fixes) + 2 * run.lost + (interval == 0 ? 0 : 2 * Int(fixes))
            guard run.isDelivered, run.frames <= bound else {
                Issue.record("pattern \(pattern): \(run), at most \(bound) frames")
                return
            }
        }
    }

    @Test func aBacklogArrivesWhateverIsLost() { checkEveryPattern(arrivingEvery: 0) }

    @Test func fixesMadeOnTheWayArriveWhateverIsLost() { checkEveryPattern(arrivingEvery: 2) }

    @Test func withoutLossEveryFixIsSentOnce() {
        let run = run(uplinkLosses: 0, downlinkLosses: 0, fixes: 6, arrivingEvery: 0)
        #expect(run.isDelivered)
        #expect(run.arrivals.allSatisfy { $0.value == 1 })
        #expect(run.frames == 7)
    }
}
