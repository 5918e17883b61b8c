import CollarARQ
import CollarWire
import Testing

@testable import CollarHost

/// A collar falls silent: what is told, and whether its radio is set up again.
@Suite struct SilentCollarTests {
    private let bench: HostBench
    private let link: LinkID
    /// Its heartbeat is 60 seconds.
    private let collar: PaperCollar

    init() throws {
        bench = try HostBench()
        link = bench.openLink()
        collar = try PaperCollar()
        bench.receive(try collar.identity(), on: link)
    }

    /// The notices about the health of links within a number of seconds.
    private func told(within seconds: Double) -> [HostNotice] {
        let end = bench.now.advanced(byMicroseconds: Int64(seconds * 1e6))
        while let due = bench.host.nextDeadline, due <= end {
            bench.wait(until: due)
            bench.host.deadlineReached(at: bench.time)
        }
        bench.wait(until: end)
        return bench.notices().filter { if case .collar(_, .health) = $0 { true } else { false } }
    }

    private func health(_ events: LinkHealth.Event...) -> [HostNotice] { events.map { .collar(collar.log.deviceID, .health($0)) } }

    @Test func onlyTheSilentCollarIsTold() throws {
        let other = try PaperCollar(deviceID: 0xC1)
        bench.receive(try other.identity(heartbeat: 600), on: link)
        #expect(told(within: 74.9).isEmpty)
        #expect(told(within: 0.1) == health(.late(silentMicroseconds: 75_000_000)))
        #expect(told(within: 119.9).isEmpty)
        #expect(told(within: 0.1) == health(.unreachable(silentMicroseconds: 195_000_000), .condition(.degraded)))
        bench.receive(try collar.probe(next: 0), on: link)
        #expect(told(within: 1) == health(.reachable(silentMicroseconds: 195_000_000), .condition(.healthy)))
    }

    @Test func noCollarIsLateAtAClosedLink() {
        bench.host.linkClosed(link, at: bench.time)
        #expect(told(within: 10_000).isEmpty)
    }

    /// The identity request of the opening and two heartbeats fail before the third heartbeat does.
    @Test func aRadioThatReturnsWithoutItsCollarHasADegradedLink() {
        bench.host.linkClosed(link, at: bench.time)
        bench.wait(seconds: 10)
        bench.host.linkOpened(link, at: bench.time)
        #expect(
            told(within: 200)
                == health(
                    .late(silentMicroseconds: 75_000_000), .condition(.degraded), .unreachable(silentMicroseconds: 195_000_000)))
    }

    /// The radio may be the cause only while no other collar is heard at it. It is set up again once.
    @Test(arguments: [false, true])
    func theRadioOfAnUnhealthyCollarIsSetUpAgain(isAnotherHeard: Bool) throws {
        let other = try PaperCollar(deviceID: 0xC1)
        if isAnotherHeard { bench.receive(try other.identity(heartbeat: 10_000), on: link) }
        #expect(told(within: 614.9).last == health(.condition(.degraded)).last)
        #expect(told(within: 0.1) == health(.condition(.unhealthy)))
        #expect(bench.host.linkToRenew(for: collar.log.deviceID) == (isAnotherHeard ? nil : link))
        bench.host.linkClosed(link, at: bench.time)
        #expect(bench.host.linkToRenew(for: collar.log.deviceID) == nil)
        _ = bench.frames()
        bench.host.linkOpened(link, at: bench.time)
        #expect(try bench.frames().map { try FrameHeader($0.bytes.span).type } == [.identityRequest])
        #expect(!told(within: 5000).contains(health(.condition(.unhealthy))[0]))
        bench.receive(try collar.probe(next: 0), on: link)
        #expect(told(within: 1).last == health(.condition(.healthy)).last)
    }
}
