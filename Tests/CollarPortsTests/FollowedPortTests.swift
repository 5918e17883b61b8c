import CollarARQ
import CollarPorts
import CollarWorld
import Testing

/// A named port whose device has returned at another node: the nodes that are tried next.
@Suite("Ports that follow their devices") struct FollowedPortTests {
    private let second = "/dev/ttyUSB1"
    private let third = "/dev/ttyUSB2"
    private let link = "/dev/radio"

    private func device(_ node: String, _ serial: String = "A1") -> SerialDevice {
        SimulatedPorts.device(node, serial: serial, isMarked: false)
    }

    private func bench(_ path: String = node) -> SimulatedPorts {
        var bench = SimulatedPorts()
        bench.links[link] = node
        bench.nodes[node] = .init(device: device(node))
        bench.name(path)
        return bench
    }

    /// The port, open at the second node.
    private func followed() -> SimulatedPorts {
        var bench = bench()
        bench.unplug()
        bench.plug(device(second))
        _ = bench.takeNotices()
        return bench
    }

    @Test func aLinkThatLeadsToTheNewNodeIsOpenedByItsName() {
        var bench = bench(link)
        bench.unplug()
        bench.links[link] = second
        bench.plug(device(second))
        #expect(bench.open == [second])
        #expect(bench.takeNotices() == ["\(link) opened", "\(link) unplugged", "\(link) opened"])
    }

    @Test func aLinkThatLeadsNowhereYetIsOpenedByTheNode() {
        var bench = bench(link)
        bench.unplug()
        bench.plug(device(second))
        #expect(bench.takeNotices().last == "\(link) opened at \(second)")
    }

    @Test func ofTwoEqualDevicesTheOneAtTheEndOfItsLinkIsOpened() {
        var bench = bench(link)
        bench.unplug()
        bench.links[link] = third
        bench.nodes[second] = .init(device: device(second))
        bench.nodes[third] = .init(device: device(third))
        bench.udev()
        #expect(bench.open == [third])
        #expect(bench.takeNotices().last == "\(link) opened")
    }

    @Test func aDeviceThatIsBusyElsewhereIsTriedThereAgain() {
        var bench = bench()
        bench.unplug()
        bench.plug(device(second), error: .busy(path: second, holder: nil))
        bench.nodes[second]?.error = nil
        bench.run(seconds: 1)
        #expect(bench.open == [second])
    }

    @Test func aStrangerAtTheNewNodeLeadsBackToThePath() {
        var bench = followed()
        bench.vanish(second)
        bench.nodes[second] = .init(device: device(second, "B2"))
        bench.run(seconds: 3)
        // udev is silent, so only the looks find it.
        bench.nodes[node] = .init(device: device(node))
        bench.run(seconds: 1)
        #expect(bench.open == [node])
    }

    @Test func anAbsentDeviceIsAbsentFromThePathThatWasNamed() {
        var bench = followed()
        bench.vanish(second)
        #expect(bench.machine.ports.map(\.failure?.error) == [.notFound(path: node)])
        #expect(bench.machine.ports.map(\.node) == [node])
    }

    /// The report of the loss has told already that the port is waited for.
    @Test func aDeviceThatGoesWhileItIsOpenedElsewhereIsAbsentFromThePath() {
        var bench = followed()
        bench.unplug(second)
        bench.isSlow = true
        bench.plug(device(third))
        bench.nodes[third] = nil
        bench.answer()
        #expect(bench.machine.ports.map(\.failure?.error) == [.notFound(path: node)])
        #expect(bench.takeNotices() == ["\(node) unplugged"])
    }

    @Test func aRenewedLineIsLeftToItsOtherNameWhereItsOwnLeadsElsewhere() {
        var bench = bench(link)
        bench.name(node)
        bench.links[link] = "/dev/nothing"
        bench.renew()
        bench.run(seconds: 1)
        #expect(bench.open == [node])
        #expect(bench.machine.ports.map { $0.line != nil } == [false, true])
    }

    @Test func aMarkedRadioThatIsNamedByItsNodeIsOnePort() {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: SimulatedPorts.device())
        bench.name(node)
        bench.discover()
        bench.unplug()
        bench.plug(SimulatedPorts.device())
        #expect(bench.machine.ports.map(\.path) == [node])
        #expect(bench.opened == [node, node])
    }

    /// Nobody has named the port that loses the line, so only the other one waits for the radio.
    @Test func aNamedPortTakesOverTheLineOfARadioThatIsUnplugged() {
        var bench = SimulatedPorts()
        bench.links[link] = node
        bench.name(link)
        bench.discover()
        bench.plug(SimulatedPorts.device())
        bench.run(seconds: 2)
        bench.vanish()
        bench.run(seconds: 2)
        bench.nodes[node] = .init(device: SimulatedPorts.device())
        bench.run(seconds: 1)
        #expect(bench.open == [node])
        #expect(bench.takeNotices() == ["\(link) waiting", "\(node) opened", "\(node) unplugged", "\(link) opened"])
    }
}
