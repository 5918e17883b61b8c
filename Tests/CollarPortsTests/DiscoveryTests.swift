import CollarARQ
import CollarPorts
import CollarWorld
import Testing

@Suite("Radios that udev marks") struct DiscoveryTests {
    private func bench(reconnects: Bool = true) -> SimulatedPorts {
        var bench = SimulatedPorts(reconnects: reconnects)
        bench.discover()
        return bench
    }

    @Test func aMarkedRadioIsOpened() {
        var bench = bench()
        bench.plug(SimulatedPorts.device())
        #expect(bench.takeNotices() == ["\(node) opened"])
    }

    @Test func allMarkedRadiosAreOpened() {
        var bench = bench()
        bench.plug(SimulatedPorts.device())
        bench.plug(SimulatedPorts.device("/dev/ttyUSB1", serial: "B2"))
        #expect(bench.open == [node, "/dev/ttyUSB1"])
    }

    @Test func twoRadiosOfOneSerialNumberAreBothOpened() {
        var bench = bench()
        bench.plug(SimulatedPorts.device(serial: "0001", socket: "usb-1"))
        bench.plug(SimulatedPorts.device("/dev/ttyUSB1", serial: "0001", socket: "usb-2"))
        #expect(bench.open == [node, "/dev/ttyUSB1"])
    }

    @Test func anUnmarkedDeviceIsLeftAlone() {
        var bench = bench()
        bench.plug(SimulatedPorts.device(isMarked: false))
        bench.run(seconds: 60)
        #expect(bench.attemptCount == 0)
        #expect(bench.takeNotices() == [])
    }

    @Test func aDeviceThatIsMarkedLaterIsOpened() {
        var bench = bench()
        bench.plug(SimulatedPorts.device(isMarked: false))
        bench.plug(SimulatedPorts.device())
        #expect(bench.open == [node])
    }

    @Test func aDeviceThatLosesItsMarkIsClosed() {
        var bench = bench()
        bench.plug(SimulatedPorts.device())
        bench.nodes[node]?.device = SimulatedPorts.device(isMarked: false)
        bench.udev()
        #expect(bench.open == [])
        #expect(bench.takeNotices() == ["\(node) opened", "\(node) unmarked"])
        bench.run(seconds: 60)
        #expect(bench.opened == [node])
    }

    @Test func aNamedPortTakesOverTheLineOfARadioThatLosesItsMark() {
        var bench = SimulatedPorts()
        bench.links["/dev/radio"] = node
        bench.name("/dev/radio")
        bench.discover()
        bench.plug(SimulatedPorts.device())
        bench.run(seconds: 2)
        bench.nodes[node]?.device = SimulatedPorts.device(isMarked: false)
        bench.udev()
        bench.run(seconds: 2)
        #expect(bench.open == [node])
        #expect(bench.takeNotices() == ["/dev/radio waiting", "\(node) opened", "\(node) unmarked", "/dev/radio opened"])
    }

    @Test func aNamedPortIsLookedForAfterTheLineThatItSharedLostItsMark() {
        var bench = SimulatedPorts()
        bench.links["/dev/radio"] = node
        bench.name("/dev/radio")
        bench.discover()
        bench.plug(SimulatedPorts.device(serial: nil, socket: nil))
        bench.run(seconds: 2)
        bench.links["/dev/radio"] = "/dev/nothing"
        bench.nodes[node]?.device = SimulatedPorts.device(serial: nil, isMarked: false, socket: nil)
        bench.udev()
        bench.links["/dev/radio"] = node
        bench.run(seconds: 2)
        #expect(bench.open == [node])
    }

    @Test func aMarkThatReturnsOpensTheDeviceAgain() {
        var bench = bench()
        bench.plug(SimulatedPorts.device())
        bench.nodes[node]?.device = SimulatedPorts.device(isMarked: false)
        bench.udev()
        bench.plug(SimulatedPorts.device())
        #expect(bench.takeNotices() == ["\(node) opened", "\(node) unmarked", "\(node) opened"])
    }

    @Test func anUnpluggedRadioIsNotLookedFor() {
        var bench = bench()
        bench.plug(SimulatedPorts.device())
        bench.unplug()
        #expect(bench.machine.nextRetry == nil)
        #expect(bench.takeNotices() == ["\(node) opened", "\(node) unplugged"])
    }

    @Test func aHundredReplugsOpenItEachTime() {
        var bench = bench()
        for _ in 0..<100 {
            bench.plug(SimulatedPorts.device())
            bench.unplug()
        }
        #expect(bench.opened.count == 100)
        #expect(bench.closed.count == 100)
        #expect(bench.machine.ports.count == 1)
    }

    @Test func anotherRadioAtTheNodeIsOpened() {
        var bench = bench()
        bench.plug(SimulatedPorts.device())
        bench.unplug()
        bench.plug(SimulatedPorts.device(serial: "B2"))
        #expect(bench.opened == [node, node])
    }

    @Test func aStrangerAtTheNodeIsNotOpened() {
        var bench = bench()
        bench.plug(SimulatedPorts.device())
        bench.unplug()
        bench.plug(SimulatedPorts.device(serial: "B2", isMarked: false))
        bench.run(seconds: 30)
        #expect(bench.opened == [node])
    }

    @Test func aBusyRadioIsTriedAgainAndReportedOnce() {
        var bench = bench()
        bench.plug(SimulatedPorts.device(), error: busy)
        bench.run(seconds: 30)
        #expect(bench.end == nil)
        bench.nodes[node]?.error = nil
        bench.run(seconds: 9)
        #expect(bench.takeNotices() == ["\(node) busy with cat", "\(node) opened"])
    }

    @Test func anotherHolderIsReported() {
        var bench = bench()
        bench.plug(SimulatedPorts.device(), error: busy)
        bench.nodes[node]?.error = .busy(path: node, holder: ProcessHolder(processID: 8, name: "tio"))
        bench.run(seconds: 30)
        #expect(bench.takeNotices() == ["\(node) busy with cat", "\(node) busy with tio"])
    }

    @Test func aBusyRadioThatIsUnpluggedIsForgotten() {
        var bench = bench()
        bench.plug(SimulatedPorts.device(), error: busy)
        bench.unplug()
        #expect(bench.machine.nextRetry == nil)
        bench.plug(SimulatedPorts.device(), error: busy)
        #expect(bench.takeNotices() == ["\(node) busy with cat", "\(node) busy with cat"])
    }

    @Test func aStrangerInPlaceOfABusyRadioIsNotOpened() {
        var bench = bench()
        bench.plug(SimulatedPorts.device(), error: busy)
        bench.nodes[node] = .init(device: SimulatedPorts.device(serial: "B2", isMarked: false))
        bench.run(seconds: 30)
        #expect(bench.opened == [])
    }

    @Test func permissionsThatComeLateAreNoError() {
        var bench = bench()
        bench.plug(SimulatedPorts.device(), error: notSetYet)
        bench.run(seconds: 20)
        bench.nodes[node]?.error = nil
        bench.run(seconds: 1)
        #expect(bench.takeNotices() == ["\(node) opened"])
    }

    @Test func permissionsThatDoNotComeAreReportedOnceAndLookedAt() {
        var bench = bench()
        bench.plug(SimulatedPorts.device(), error: denied)
        bench.run(seconds: 20)
        #expect(bench.takeNotices() == ["\(node) denied"])
        bench.nodes[node]?.error = nil
        bench.run(seconds: 1)
        #expect(bench.takeNotices() == ["\(node) opened"])
    }

    @Test func aRadioThatGoesWhileItIsOpenedIsNotReported() {
        var bench = bench()
        bench.isSlow = true
        bench.plug(SimulatedPorts.device())
        bench.nodes[node] = nil
        bench.answer()
        #expect(bench.takeNotices() == [])
        bench.udev()
        #expect(bench.machine.nextRetry == nil)
        bench.plug(SimulatedPorts.device())
        #expect(bench.open == [node])
    }

    @Test func aRadioThatLosesItsMarkWhileItIsOpenedIsClosed() {
        var bench = bench()
        bench.isSlow = true
        bench.plug(SimulatedPorts.device())
        bench.nodes[node]?.device = SimulatedPorts.device(isMarked: false)
        bench.udev()
        bench.nodes[node]?.device = SimulatedPorts.device()
        bench.answer()
        #expect(bench.open == [])
        bench.udev()
        #expect(bench.open == [node])
    }

    @Test func eventsDuringAnAttemptDoNotBeginAnother() {
        var bench = bench()
        bench.isSlow = true
        bench.plug(SimulatedPorts.device())
        bench.udev()
        bench.udev()
        #expect(bench.attemptCount == 1)
        bench.answer()
        #expect(bench.opened == [node])
    }

    @Test func eventsOfAnOpenRadioChangeNothing() {
        var bench = bench()
        bench.plug(SimulatedPorts.device())
        for _ in 0..<10 { bench.udev() }
        #expect(bench.attemptCount == 1)
    }

    @Test func aMarkedRadioThatIsNamedTooIsOneLine() {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: SimulatedPorts.device())
        bench.links["/dev/radio"] = node
        bench.name("/dev/radio")
        bench.discover()
        #expect(bench.opened == [node])
    }
}

@Suite("A receiver that does not reconnect") struct WithoutReconnectionTests {
    @Test func endsIfANamedPortIsAbsent() {
        var bench = SimulatedPorts(reconnects: false)
        bench.name(node)
        #expect(bench.end == .port(.notFound(path: node)))
    }

    @Test func endsIfNoRadioIsThere() {
        var bench = SimulatedPorts(reconnects: false)
        bench.discover()
        #expect(bench.end == .noDevice(path: nil))
    }

    @Test func endsWhenARadioIsUnplugged() {
        var bench = SimulatedPorts(reconnects: false)
        bench.nodes[node] = .init(device: SimulatedPorts.device())
        bench.discover()
        bench.vanish()
        #expect(bench.end == .noDevice(path: node))
        #expect(bench.takeNotices() == ["\(node) opened", "\(node) unplugged at the end"])
    }

    @Test func endsWithTheCauseIfTheOnlyRadioIsBusy() {
        var bench = SimulatedPorts(reconnects: false)
        bench.nodes[node] = .init(device: SimulatedPorts.device(), error: busy)
        bench.discover()
        #expect(bench.end == .port(busy))
        #expect(bench.takeNotices() == [], "the end reports it")
    }

    @Test func goesOnIfOneOfTwoRadiosIsOpen() {
        var bench = SimulatedPorts(reconnects: false)
        bench.nodes[node] = .init(device: SimulatedPorts.device(), error: busy)
        bench.nodes["/dev/ttyUSB1"] = .init(device: SimulatedPorts.device("/dev/ttyUSB1", serial: "B2"))
        bench.discover()
        #expect(bench.end == nil)
        #expect(bench.open == ["/dev/ttyUSB1"])
    }

    @Test func waitsForPermissionsThatMayCome() {
        var bench = SimulatedPorts(reconnects: false)
        bench.nodes[node] = .init(device: SimulatedPorts.device(), error: notSetYet)
        bench.discover()
        #expect(bench.end == nil)
        bench.run(seconds: 31)
        #expect(bench.end == .port(notSetYet))
    }

    @Test func waitsForPermissionsThatMayComeBesideABusyRadio() {
        var bench = SimulatedPorts(reconnects: false)
        bench.nodes[node] = .init(device: SimulatedPorts.device(), error: notSetYet)
        bench.nodes["/dev/ttyUSB1"] = .init(device: SimulatedPorts.device("/dev/ttyUSB1", serial: "B2"), error: busy)
        bench.discover()
        #expect(bench.end == nil)
        bench.nodes[node]?.error = nil
        bench.run(seconds: 2)
        #expect(bench.end == nil)
        #expect(bench.open == [node])
    }

    @Test func endsIfAMachineCannotBeReached() {
        var bench = SimulatedPorts(reconnects: false)
        bench.unreachable["tcp://base:1"] = "refused"
        bench.name("tcp://base:1", isNetwork: true)
        #expect(bench.end == .connection(path: "tcp://base:1", reason: "refused"))
    }
}
