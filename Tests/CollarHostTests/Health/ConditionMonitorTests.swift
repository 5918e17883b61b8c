import CollarJournal
import CollarWire
import Testing

@testable import CollarHost

/// Each restart of a collar is told once, with its cause.
@Suite struct RestartTests {
    private let bench: HostBench
    private let link: LinkID
    private let collar: PaperCollar

    init() throws {
        bench = try HostBench()
        link = bench.openLink()
        collar = try PaperCollar()
        bench.receive(try collar.identity(boot: 5), on: link)
    }

    /// What is told of restarts and faults.
    private func told() -> [String] {
        bench.notices().compactMap { notice in
            switch notice {
            case .collar(_, .restarted(let cause)): "restarted \(cause.map { "\($0.rawValue)" } ?? "-")"
            case .collar(_, .fault(let fault)): "fault \(fault.rawValue)"
            default: nil
            }
        }
    }

    private func boot(_ count: UInt32, _ lastError: CollarFault? = nil, of collar: PaperCollar? = nil) throws {
        bench.receive(try (collar ?? self.collar).identity(boot: count), on: link)
        if let lastError { bench.receive(try (collar ?? self.collar).status(lastError: lastError), on: link) }
    }

    private func wait(seconds: Double) {
        bench.wait(seconds: seconds)
        bench.host.deadlineReached(at: bench.time)
    }

    @Test func theFirstIdentityIsNoRestart() throws {
        try boot(5, CollarFault.none)
        try boot(4, CollarFault.none)
        #expect(told().isEmpty)
    }

    @Test func theCauseComesWithTheStatus() throws {
        try boot(6, CollarFault.none)
        #expect(told() == ["restarted 0"])
        // Each restart by the watchdog is told, although the last error stays the same, and it is told once.
        for count in 7...8 as ClosedRange<UInt32> {
            try boot(count, .watchdogReset)
            try boot(count, .watchdogReset)
            #expect(told() == ["restarted 6"])
        }
        // Lost settings hide the cause.
        try boot(9, .settingsLost)
        #expect(told() == ["restarted -", "fault 8"])
    }

    @Test func aStatusThatDoesNotCome() throws {
        try boot(6)
        wait(seconds: 59)
        #expect(told().isEmpty)
        wait(seconds: 1)
        #expect(told() == ["restarted -"])
        bench.receive(try collar.status(lastError: .lowVoltageReset), on: link)
        #expect(told() == ["fault 5"])
        // The next boot ends the wait for the cause of the one before.
        try boot(7)
        try boot(8, CollarFault.none)
        #expect(told() == ["restarted -", "restarted 0"])
    }

    @Test func whileTheReceiverDoesNotRun() throws {
        bench.commit()
        try bench.restart()
        let link = bench.openLink()
        bench.receive(try collar.identity(boot: 5), on: link)
        bench.receive(try collar.identity(boot: 6), on: link)
        bench.receive(try collar.status(lastError: .firmwareReset), on: link)
        #expect(told() == ["restarted 7"])
        bench.commit()
        try bench.restart()
        bench.receive(try collar.identity(boot: 6), on: bench.openLink())
        wait(seconds: 100)
        #expect(told().isEmpty)
    }

    /// A collar whose memory was erased counts from the start again.
    @Test func anErasedMemory() throws {
        let erased = try PaperCollar(logID: 78)
        try boot(1, CollarFault.none, of: erased)
        #expect(told().isEmpty)
        try boot(2, CollarFault.none, of: erased)
        #expect(told() == ["restarted 0"])
    }
}

/// A low and an almost empty battery are told once each.
@Suite struct BatteryTests {
    private let bench: HostBench
    private let collar: PaperCollar

    init() throws {
        bench = try HostBench()
        collar = try PaperCollar()
    }

    private func warnings() -> [String] {
        bench.notices().compactMap { if case .collar(_, .battery(let warning, let percent)) = $0 { "\(warning) \(percent)" } else { nil } }
    }

    /// The warnings while fixes with these charges come in.
    private func warnings(_ charges: [UInt8?], from sequence: UInt32 = 0) throws -> [String] {
        let link = bench.openLink()
        bench.receive(try collar.identity(), on: link)
        for (index, charge) in charges.enumerated() {
            bench.receive(try collar.fix(sequence + UInt32(index), seconds: Int64(index), battery: charge), on: link)
            bench.wait(seconds: 1)
        }
        bench.commit()
        return warnings()
    }

    @Test(arguments: [
        ([21, 20, 19, 11, 10, 9, 0], ["low 20", "critical 10"]), ([100, 5, 4], ["critical 5"]), ([nil, 21, nil], []),
        // Noise ends no warning, a charger does.
        ([20, 21, 20, 25, 20], ["low 20"]), ([20, 26, 20], ["low 20", "low 20"]), ([10, 15, 10], ["critical 10"]),
        ([10, 16, 10], ["critical 10", "critical 10"]), ([10, 26, 19], ["critical 10", "low 19"]), ([10, 16, 19], ["critical 10"]),
    ] as [([UInt8?], [String])])
    func once(charges: [UInt8?], expected: [String]) throws {
        #expect(try warnings(charges) == expected)
    }

    @Test func notAgainAfterARestart() throws {
        #expect(try warnings([30, 18]) == ["low 18"])
        try bench.restart()
        #expect(try warnings([18, 17, 10], from: 2) == ["critical 10"])
        try bench.restart()
        #expect(try warnings([9, 90, 20], from: 5) == ["low 20"])
    }

    @Test func anOldFixSaysNothing() throws {
        let link = bench.openLink()
        bench.receive(try collar.identity(next: 10), on: link)
        bench.receive(try collar.fix(9, battery: 80), on: link)
        bench.receive(try collar.fix(3, battery: 5), on: link)
        #expect(warnings().isEmpty)
        // Nor does one that was made before the status.
        bench.receive(try collar.status(battery: 90, seconds: 100), on: link)
        bench.receive(try collar.fix(10, seconds: 99, battery: 5), on: link)
        #expect(warnings().isEmpty)
        bench.receive(try collar.fix(11, seconds: 100, battery: 5), on: link)
        #expect(warnings() == ["critical 5"])
    }

    @Test func aStatusCounts() throws {
        let link = bench.openLink()
        bench.receive(try collar.identity(), on: link)
        bench.receive(try collar.status(), on: link)
        bench.receive(try collar.status(battery: 20), on: link)
        bench.receive(try collar.status(battery: 20), on: link)
        #expect(warnings() == ["low 20"])
    }
}
