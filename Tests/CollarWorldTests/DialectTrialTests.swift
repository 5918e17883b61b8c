import CollarWorld
import RadioModems
import Testing

/// What delivery costs through base sticks of each dialect.
@Suite struct DialectTrialTests {
    private static let seeds: ClosedRange<UInt64> = 1...20

    /// Trials of 20 fixes, one for each seed.
    private func trials(
        _ dialect: Dialect, spreadingFactor: UInt8, turnaroundMilliseconds: Int64? = nil,
        _ change: (inout DialectTrial) -> Void = { _ in }
    ) throws -> [DialectTrial.Result] {
        try Self.seeds.map { seed in
            var trial = DialectTrial(dialect, settings: .ofTrial(spreadingFactor: spreadingFactor), seed: seed)
            trial.collarTurnaroundMicroseconds = turnaroundMilliseconds.map { $0 * 1000 }
            change(&trial)
            let result = try trial.run()
            #expect(result.isComplete, "seed \(seed)")
            return result
        }
    }

    private func frames(_ results: [DialectTrial.Result]) -> Int {
        results.reduce(0) { $0 + $1.uplinkFrames + $1.downlinkFrames }
    }

    /// Measured: 43 frames of both ends for 20 fixes and a status through either stick, at both spreading factors. Where a fix is made each
    /// second at spreading factor 9, it is 35 through an RNode: while an answer waits, further fixes gather.
    @Test(arguments: [7, 9] as [UInt8], [1, 10] as [Int64])
    func twentyFixesThroughAnRNodeCostAtMostAFifthMoreFramesThanThroughASerialStick(
        spreadingFactor: UInt8, secondsApart: Int64
    ) throws {
        let own = try trials(.serial, spreadingFactor: spreadingFactor) { $0.secondsApart = secondsApart }
        let rnode = try trials(.rnode, spreadingFactor: spreadingFactor) { $0.secondsApart = secondsApart }
        for (own, rnode) in zip(own, rnode) {
            #expect(5 * rnode.uplinkFrames <= 6 * own.uplinkFrames)
            #expect(5 * (rnode.uplinkFrames + rnode.downlinkFrames) <= 6 * (own.uplinkFrames + own.downlinkFrames))
        }
    }

    /// A fix each second for a minute: at SF9 the RNode sends for more than 7 % of the time, so that it waits for 17 to 30 slots.
    /// Measured: 62 frames of the collar at SF7, as through a serial stick, and 56 to 61 at SF9.
    @Test(arguments: [7, 9] as [UInt8])
    func sixtyFixesASecondApartThroughAnRNodeCostAtMostAFifthMoreFrames(spreadingFactor: UInt8) throws {
        func minute(_ dialect: Dialect) throws -> [DialectTrial.Result] {
            try trials(dialect, spreadingFactor: spreadingFactor) {
                $0.secondsApart = 1
                $0.fixCount = 60
            }
        }
        for (own, rnode) in zip(try minute(.serial), try minute(.rnode)) {
            #expect(5 * rnode.uplinkFrames <= 6 * own.uplinkFrames)
            #expect(5 * (rnode.uplinkFrames + rnode.downlinkFrames) <= 6 * (own.uplinkFrames + own.downlinkFrames))
            #expect(rnode.collisions == 0)
        }
    }

    /// The losses of the two sticks differ, so that only sums can be compared. Measured: 0.97 at both spreading factors.
    @Test(arguments: [7, 9] as [UInt8])
    func withLossesTooAnRNodeCostsAtMostAFifthMoreFrames(spreadingFactor: UInt8) throws {
        let own = try trials(.serial, spreadingFactor: spreadingFactor) { $0.lossProbability = 0.1 }
        let rnode = try trials(.rnode, spreadingFactor: spreadingFactor) { $0.lossProbability = 0.1 }
        #expect(5 * frames(rnode) <= 6 * frames(own))
    }

    /// The turnaround of the dialect is what keeps the number of frames low: a collar that waits for 50 ms sends again before the
    /// stick has found the channel free. Measured: 3.2 times as many frames at SF7, 4.1 times at SF9.
    @Test(arguments: [7, 9] as [UInt8])
    func aCollarThatWaitsTooShortForAnRNodeSendsManyMoreFrames(spreadingFactor: UInt8) throws {
        let patient = try trials(.rnode, spreadingFactor: spreadingFactor)
        let impatient = try trials(.rnode, spreadingFactor: spreadingFactor, turnaroundMilliseconds: 50)
        #expect(2 * frames(impatient) > 5 * frames(patient))
        #expect(impatient.allSatisfy { $0.collisions > 0 } && patient.allSatisfy { $0.collisions == 0 })
    }
}
