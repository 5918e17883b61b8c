import CollarARQ
import CollarPorts
import CollarWorld
import Testing

/// Several ports at once, and equal devices: each port keeps its own times, device and reports.
@Suite("Several ports") struct SeveralPortsTests {
    private let second = "/dev/ttyUSB1"
    private let third = "/dev/ttyUSB2"

    private func device(_ node: String, _ serial: String = "A1", isMarked: Bool = false, socket: String = "usb-1") -> SerialDevice {
        SimulatedPorts.device(node, serial: serial, isMarked: isMarked, socket: socket)
    }

    /// A named port, which is open.
    private func oneNamed() -> SimulatedPorts {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: device(node))
        bench.name(node)
        return bench
    }

    /// Two named ports, both open.
    private func twoNamed() -> SimulatedPorts {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: device(node))
        bench.nodes[second] = .init(device: device(second, "B2", socket: "usb-2"))
        bench.name(node)
        bench.name(second)
        return bench
    }

    @Test func aLostPortDoesNotDisturbTheOther() {
        var bench = twoNamed()
        bench.unplug(second)
        #expect(bench.open == [node])
        #expect(bench.closed == [second])
        bench.run(seconds: 5)
        bench.plug(device(second, "B2", socket: "usb-2"))
        #expect(bench.open == [node, second])
        #expect(bench.takeNotices() == ["\(node) opened", "\(second) opened", "\(second) unplugged", "\(second) opened"])
    }

    @Test func twoLostPortsAreEachLookedForOnceASecond() {
        var bench = twoNamed()
        bench.vanish()
        bench.run(seconds: 0.5)
        bench.vanish(second)
        let before = bench.attemptCount
        bench.run(seconds: 10)
        #expect(bench.attemptCount - before == 20)
        bench.nodes[second] = .init(device: device(second, "B2", socket: "usb-2"))
        bench.run(seconds: 1)
        #expect(bench.open == [second])
        bench.nodes[node] = .init(device: device(node))
        bench.run(seconds: 1)
        #expect(bench.open == [node, second])
    }

    /// The radios were plugged in again in another order.
    @Test func twoPortsFollowTheirDevicesToExchangedNodes() {
        var bench = twoNamed()
        bench.vanish()
        bench.vanish(second)
        bench.nodes[node] = .init(device: device(node, "B2", socket: "usb-2"))
        bench.nodes[second] = .init(device: device(second, "A1"))
        bench.udev()
        bench.run(seconds: 3)
        #expect(bench.open == [second, node])
        #expect(bench.violations == [])
        #expect(bench.takeNotices().suffix(2).sorted() == ["\(node) opened at \(second)", "\(second) opened at \(node)"])
    }

    @Test func ofTwoEqualDevicesTheOneAtItsOwnPathIsOpened() {
        var bench = oneNamed()
        bench.unplug()
        bench.nodes[second] = .init(device: device(second))
        bench.nodes[third] = .init(device: device(third))
        bench.udev()
        #expect(bench.open == [], "nobody knows which of them it is")
        bench.nodes[third] = nil
        bench.nodes[node] = .init(device: device(node))
        bench.udev()
        #expect(bench.open == [node])
        #expect(bench.takeNotices().last == "\(node) opened")
    }

    @Test func theLastOfTwoEqualDevicesIsFollowed() {
        var bench = oneNamed()
        bench.unplug()
        bench.nodes[second] = .init(device: device(second))
        bench.nodes[third] = .init(device: device(third))
        bench.udev()
        bench.unplug(second)
        #expect(bench.open == [third])
    }

    @Test func aPortThatWasFollowedIsLookedForAtItsPathAgain() {
        var bench = oneNamed()
        bench.unplug()
        bench.plug(device(second))
        #expect(bench.open == [second])
        // udev is silent, so only the looks find it.
        bench.vanish(second)
        bench.run(seconds: 5)
        bench.nodes[node] = .init(device: device(node))
        bench.run(seconds: 1)
        #expect(bench.open == [node])
        #expect(bench.takeNotices().last == "\(node) opened")
    }

    @Test func aPortIsFollowedAgainAndAgain() {
        var bench = oneNamed()
        var last = node
        for number in 1...5 {
            let next = "/dev/ttyUSB\(number)"
            bench.unplug(last)
            bench.plug(device(next))
            #expect(bench.open == [next])
            last = next
        }
        #expect(bench.machine.ports.count == 1)
    }

    /// A device with two ports: the other one has the same serial number.
    @Test func theOtherInterfaceOfTheDeviceIsNotItsPort() {
        func device(_ node: String, interface: String) -> SerialDevice {
            let properties = [
                "ID_VENDOR_ID": "10c4", "ID_MODEL_ID": "ea70", "ID_SERIAL_SHORT": "A1", "ID_USB_INTERFACE_NUM": interface,
                "ID_PATH": "usb-1",
            ]
            return SerialDevice(
                node: node, sysPath: "/sys/usb/\(node)", property: { properties[$0] }, usbAttribute: { _ in nil }, parentDriver: { nil })
        }
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: device(node, interface: "00"))
        bench.name(node)
        bench.unplug()
        bench.plug(device(second, interface: "01"))
        #expect(bench.open == [])
        bench.plug(device(third, interface: "00"))
        #expect(bench.open == [third])
    }

    @Test func aRadioThatReturnsElsewhereIsNewWhereNobodyNamedIt() {
        var bench = SimulatedPorts()
        bench.discover()
        bench.plug(device(node, isMarked: true))
        bench.plug(device(second, "B2", isMarked: true, socket: "usb-2"))
        bench.unplug()
        #expect(bench.open == [second])
        bench.plug(device(third, isMarked: true))
        #expect(bench.open == [second, third])
        #expect(bench.machine.nextRetry == nil)
        bench.plug(device(node, "C3", isMarked: true, socket: "usb-3"))
        #expect(bench.open == [node, second, third])
    }

    @Test func aBusyRadioIsTriedAgainBesideOpenOnes() {
        var bench = SimulatedPorts()
        bench.discover()
        bench.plug(device(node, isMarked: true))
        bench.plug(device(second, "B2", isMarked: true, socket: "usb-2"), error: .busy(path: second, holder: nil))
        bench.plug(device(third, "C3", isMarked: true, socket: "usb-3"))
        #expect(bench.open == [node, third])
        bench.nodes[second]?.error = nil
        bench.run(seconds: 1)
        #expect(bench.open == [node, second, third])
        #expect(bench.takeNotices().filter { $0.hasPrefix(second) } == ["\(second) busy with somebody", "\(second) opened"])
    }

    @Test func permissionsOfAPluggedInRadioHaveTheirWholeTimeAgain() {
        var bench = SimulatedPorts()
        bench.discover()
        for _ in 0..<3 {
            bench.plug(device(node, isMarked: true), error: notSetYet)
            bench.run(seconds: 20)
            bench.unplug()
            bench.run(seconds: 20)
        }
        #expect(bench.takeNotices() == [])
        bench.plug(device(node, isMarked: true), error: notSetYet)
        bench.run(seconds: 31)
        #expect(bench.takeNotices() == ["\(node) denied"])
    }

    @Test func onlyTheRadioWithoutItsMarkIsClosed() {
        var bench = SimulatedPorts()
        bench.discover()
        bench.plug(device(node, isMarked: true))
        bench.plug(device(second, "B2", isMarked: true, socket: "usb-2"))
        bench.nodes[node]?.device = device(node)
        bench.udev()
        #expect(bench.open == [second])
        #expect(bench.closed == [node])
    }

    @Test func aNamedPortStaysOpenWithoutAMark() {
        var bench = SimulatedPorts()
        bench.discover()
        bench.nodes[node] = .init(device: device(node))
        bench.name(node)
        bench.plug(device(second, "B2", isMarked: true, socket: "usb-2"))
        bench.unplug(second)
        #expect(bench.open == [node])
    }

    @Test func aStrangerIsReportedOnceThoughTheRadioWasThereBetween() {
        var bench = oneNamed()
        for _ in 0..<3 {
            bench.unplug()
            bench.plug(device(node, "B2"))
            bench.run(seconds: 3)
            bench.unplug()
            bench.plug(device(node))
            #expect(bench.open == [node])
        }
        let notices = bench.takeNotices()
        #expect(notices.filter { $0.hasSuffix("replaced") }.count == 1)
        #expect(notices.filter { $0.hasSuffix("opened") }.count == 4)
    }
}
