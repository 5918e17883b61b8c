import CollarSimulator
import CollarWire
import Testing

/// A collar and a host over a bad link, with reboots and crashes, from seeds.
@Suite struct TwoEndedSimulationTests {
    /// Everything the track made is durable with exactly its codes, and what was promised is there.
    private func check(_ outcome: Outcome, _ scenario: Scenario, seed: UInt64) -> Bool {
        let disk = outcome.host.disk
        let track = Scenario.track(scenario.fixCount, seed: seed)
        var faults: [String] = []
        if !outcome.isDelivered { faults.append("not delivered") }
        if !outcome.host.conflicts.isEmpty { faults.append("two contents: \(outcome.host.conflicts)") }
        for (index, fix) in track.enumerated() {
            let sequence = UInt32(index)
            if let stored = disk.fixes[sequence] {
                if stored != fix { faults.append("\(sequence) is not what was logged") }
            } else if !disk.gone.contains(sequence) || !outcome.torn.contains(sequence) {
                faults.append("\(sequence) is missing")
            }
            if outcome.host.promised.contains(sequence), !disk.covered.contains(sequence) {
                faults.append("\(sequence) was acknowledged and is missing")
            }
        }
        if disk.fixes.keys.contains(where: { $0 >= track.count }) { faults.append("fixes of no track") }
        guard !faults.isEmpty else { return true }
        Issue.record("seed \(seed), \(scenario): \(faults.prefix(5)) after \(outcome.steps) steps")
        return false
    }

    private func run(_ scenarios: [Scenario], seeds: Range<UInt64>) throws {
        for seed in seeds {
            let scenario = scenarios[Int(seed) % scenarios.count]
            let outcome = try scenario.run(seed: seed)
            guard check(outcome, scenario, seed: seed) else { return }
        }
    }

    @Test func everyFixArrivesOverALossyLink() throws {
        let scenarios = [0, 0.05, 0.2, 0.35, 0.5].map { Scenario(fixCount: 60, loss: $0, corruption: 0) }
        try run(scenarios, seeds: 0..<500)
    }

    @Test func everyFixArrivesOverALinkThatDamagesBytes() throws {
        let scenarios = [0.001, 0.01, 0.02].map { Scenario(fixCount: 60, loss: 0.2, corruption: $0) }
        try run(scenarios, seeds: 1000..<1500)
    }

    @Test func everyFixArrivesWhileTheCollarReboots() throws {
        let scenarios = [0.1, 0.3, 0.5].map { Scenario(fixCount: 60, loss: $0, corruption: 0.005, reboot: 0.02) }
        try run(scenarios, seeds: 2000..<2500)
    }

    @Test func everyFixButATornOneArrivesWhileThePowerFails() throws {
        let scenarios = [0.1, 0.3].map {
            Scenario(fixCount: 60, loss: $0, corruption: 0.005, powerCut: 0.05, lateAnswer: 0.1)
        }
        try run(scenarios, seeds: 3000..<3500)
    }

    @Test func everyFixArrivesWhileTheHostCrashes() throws {
        let scenarios = [0, 0.2, 0.5].map {
            Scenario(
                fixCount: 60, loss: $0, corruption: 0.002, hostCrash: 0.03, lateCommit: 0.5, lateAnswer: 0.2)
        }
        try run(scenarios, seeds: 4000..<4500)
    }

    @Test func everyFixArrivesWithEverythingAtOnce() throws {
        let scenarios = [0.1, 0.3, 0.5].map {
            Scenario(
                fixCount: 50, loss: $0, corruption: 0.005, reboot: 0.01, powerCut: 0.02, hostCrash: 0.01,
                lateCommit: 0.3, lateAnswer: 0.2)
        }
        try run(scenarios, seeds: 5000..<6000)
    }

    @Test func whatTheHostLosesIsSentAgain() throws {
        let scenarios = [0, 0.3].map { Scenario(fixCount: 60, loss: $0, corruption: 0, damage: true) }
        try run(scenarios, seeds: 6000..<6200)
    }

    @Test func theSameSeedGivesTheSameRun() throws {
        let scenario = Scenario(fixCount: 50, loss: 0.3, corruption: 0.01, reboot: 0.01, lateAnswer: 0.2)
        let first = try scenario.run(seed: 9)
        let again = try scenario.run(seed: 9)
        #expect(first.isDelivered && again.isDelivered)
        #expect(first.steps == again.steps)
        #expect(first.now == again.now)
        #expect(first.host.duplicates == again.host.duplicates)
        #expect(first.host.disk.fixes == again.host.disk.fixes)
    }

    /// The scenarios do what their names say.
    @Test func theDisturbancesHappen() throws {
        let reboots = try Scenario(fixCount: 60, loss: 0.1, corruption: 0, reboot: 0.02).run(seed: 2000)
        #expect(reboots.reboots > 0)
        let cuts = try (3000..<3020 as Range<UInt64>).map {
            try Scenario(fixCount: 60, loss: 0.1, corruption: 0, powerCut: 0.05).run(seed: $0)
        }
        #expect(cuts.contains { !$0.torn.isEmpty && !$0.host.disk.gone.isEmpty })
        let crashes = try Scenario(fixCount: 60, loss: 0.1, corruption: 0, hostCrash: 0.03, lateCommit: 0.5)
            .run(seed: 4000)
        #expect(crashes.crashes > 0)
        #expect(crashes.host.duplicates > 0)
    }

    @Test func aRingThatIsTooSmallSaysWhatIsGone() throws {
        // Two blocks of 13 fixes, and a host that hears nothing before the ring is over.
        let scenario = Scenario(
            fixCount: 100, loss: 0.2, corruption: 0, blockCount: 4, interval: .interval(microseconds: 100))
        for seed in 7000..<7020 as Range<UInt64> {
            let outcome = try scenario.run(seed: seed)
            let disk = outcome.host.disk
            let track = Scenario.track(scenario.fixCount, seed: seed)
            #expect(outcome.isDelivered, "seed \(seed)")
            #expect(disk.covered.firstMissing == 100, "seed \(seed)")
            #expect(disk.fixes.count + disk.gone.count == 100, "seed \(seed)")
            #expect(disk.gone.count > 50, "seed \(seed)")
            #expect(disk.fixes.allSatisfy { track[Int($0.key)] == $0.value }, "seed \(seed)")
        }
    }
}
