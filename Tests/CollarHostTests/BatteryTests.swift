import CollarJournal
import CollarWire
import Testing

@testable import CollarHost

/// A low and an almost empty battery are told once each.
@Suite struct BatteryTests {
    private let bench: HostBench
    private let collar: PaperCollar

    init() throws {
        bench = try HostBench()
        collar = try PaperCollar()
    }

    private func warnings() -> [String] {
        bench.notices().compactMap { if case .battery(_, let warning, let percent) = $0 { "\(warning) \(percent)" } else { nil } }
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
