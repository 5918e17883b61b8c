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
            case .restarted(_, let cause): "restarted \(cause.map { "\($0.rawValue)" } ?? "-")"
            case .fault(_, let fault): "fault \(fault.rawValue)"
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
