import CollarARQ
import CollarPorts
import CollarWorld
import Testing

/// The end of a receiver that does not reconnect, and the cause that it reports.
@Suite("The end of a receiver that does not reconnect") struct EndWithoutReconnectionTests {
    private let second = "/dev/ttyUSB1"

    /// Two marked radios, with their obstacles.
    private func bench(_ first: SerialPortError?, _ other: SerialPortError?) -> SimulatedPorts {
        var bench = SimulatedPorts(reconnects: false)
        bench.nodes[node] = .init(device: SimulatedPorts.device(), error: first)
        bench.nodes[second] = .init(device: SimulatedPorts.device(second, serial: "B2"), error: other)
        bench.discover()
        return bench
    }

    @Test func anObstacleIsTheCauseAndNotAnAbsence() {
        let other = SerialPortError.busy(path: second, holder: nil)
        #expect(bench(.notFound(path: node), other).end == .port(other))
        #expect(bench(busy, other).end == .port(busy))
    }

    /// udev tells that a radio is gone which was not there any more when it was opened.
    @Test(arguments: [busy, nil]) func radiosThatGoWhileTheyAreOpenedAreNoCause(error: SerialPortError?) {
        var bench = bench(error ?? .notFound(path: node), .notFound(path: second))
        if error == nil { bench.nodes[node] = nil }
        bench.unplug(second)
        #expect(bench.end == error.map { .port($0) } ?? .noDevice(path: nil))
    }

    @Test func aBusyRadioBesideAnOpenOneIsReportedAndTriedAgain() {
        var bench = bench(busy, nil)
        bench.run(seconds: 4)
        #expect(bench.takeNotices() == ["\(second) opened", "\(node) busy with cat"])
        bench.nodes[node]?.error = nil
        bench.run(seconds: 9)
        #expect(bench.open == [node, second] && bench.end == nil)
    }

    @Test func theLossOfOneOfTwoRadiosIsTheEnd() {
        var bench = bench(nil, nil)
        bench.vanish(second)
        #expect(bench.end == .noDevice(path: second))
        #expect(bench.open == [node])
    }

    @Test func theLossOfTheMarkOfTheLastRadioIsTheEnd() {
        var bench = bench(nil, nil)
        bench.nodes[node]?.device = SimulatedPorts.device(isMarked: false)
        bench.udev()
        #expect(bench.end == nil)
        bench.nodes[second]?.device = SimulatedPorts.device(second, serial: "B2", isMarked: false)
        bench.udev()
        #expect(bench.end == .noDevice(path: nil))
    }

    @Test(arguments: [dead, .replaced(path: node, by: "x")]) func whatMayPassAtANamedPortEndsItOnlyIfItStays(error: SerialPortError) {
        var bench = SimulatedPorts(reconnects: false)
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false), error: error)
        bench.name(node)
        bench.run(seconds: 0.9)
        #expect(bench.end == nil)
        bench.run(seconds: 0.3)
        #expect(bench.end == .port(error))
    }

    @Test func aDenialMayPassUntilItsTimeIsOver() {
        var bench = SimulatedPorts(reconnects: false)
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false), error: denied)
        bench.name(node)
        bench.run(seconds: 0.299_999)
        #expect(bench.end == nil)
        bench.run(seconds: 0.000_001)
        #expect(bench.end == .port(denied))
    }

    @Test func theNumberOfATerminalEndsToo() {
        var bench = SimulatedPorts(reconnects: false)
        bench.nodes["/dev/pts/3"] = .init(isPseudoTerminal: true)
        bench.name("/dev/pts/3")
        bench.hangUp("/dev/pts/3")
        #expect(bench.takeNotices() == ["/dev/pts/3 opened", "/dev/pts/3 unplugged at the end"])
    }

    /// A line that is closed to be opened again is no loss.
    @Test func aRadioThatIsRenewedMayStillCarryBytes() {
        var bench = SimulatedPorts(reconnects: false)
        bench.nodes[node] = .init()
        bench.name(node)
        bench.discover()
        bench.renew()
        bench.udev()
        #expect(bench.end == nil)
        bench.run(seconds: 0)
        #expect(bench.open == [node] && bench.end == nil)
    }

    /// Only a receiver that looks for marked radios waits for none.
    @Test func aNamedMachineIsNotLookedForAmongDevices() {
        var bench = SimulatedPorts(reconnects: false)
        bench.name("tcp://base:1", isNetwork: true)
        bench.udev()
        #expect(bench.end == nil)
        bench.discover()
        #expect(bench.end == nil, "a connection carries bytes, too")
    }
}
