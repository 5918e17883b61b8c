import CollarARQ
import CollarPorts
import CollarWorld
import Testing

let node = "/dev/ttyUSB0"
let denied = SerialPortError.permissionDenied(path: node, obstacle: .notInGroup(group: "dialout", user: "a"))
let notSetYet = SerialPortError.permissionDenied(path: node, obstacle: .notSetYet)
let busy = SerialPortError.busy(path: node, holder: ProcessHolder(processID: 7, name: "cat"))
let failing = SerialPortError.system(path: node, operation: "tcsetattr", errno: 22)
let dead = SerialPortError.disconnected(path: node)

@Suite("A port that a person has named") struct NamedPortTests {
    private func bench(reconnects: Bool = true, error: SerialPortError? = nil, isMarked: Bool = false) -> SimulatedPorts {
        var bench = SimulatedPorts(reconnects: reconnects)
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: isMarked), error: error)
        return bench
    }

    @Test func isOpenedAtOnceWithoutAMark() {
        var bench = bench()
        bench.name(node)
        #expect(bench.open == [node])
        #expect(bench.takeNotices() == ["\(node) opened"])
        #expect(bench.machine.nextRetry == nil)
    }

    @Test func isAwaitedIfNothingIsThere() {
        var bench = SimulatedPorts()
        bench.name(node)
        #expect(bench.takeNotices() == ["\(node) waiting"])
        bench.run(seconds: 10)
        #expect(bench.attemptCount == 11, "one look a second")
        #expect(bench.takeNotices() == [])
        bench.nodes[node] = .init(device: SimulatedPorts.device())
        bench.run(seconds: 1)
        #expect(bench.takeNotices() == ["\(node) opened"])
    }

    @Test(arguments: [busy, failing, .notATerminal(path: node)]) func endsTheReceiverIfItCannotBeUsedAtFirst(error: SerialPortError) {
        var bench = bench(error: error)
        bench.name(node)
        #expect(bench.end == .port(error))
        #expect(bench.takeNotices() == [])
    }

    @Test func mayBeDeniedForAMoment() {
        var bench = bench(error: denied)
        bench.name(node)
        #expect(bench.end == nil)
        bench.nodes[node]?.error = nil
        bench.run(seconds: 0.3)
        #expect(bench.takeNotices() == ["\(node) opened"])
    }

    @Test func endsTheReceiverIfItStaysDenied() {
        var bench = bench(error: denied)
        bench.name(node)
        bench.run(seconds: 1)
        #expect(bench.end == .port(denied))
    }

    @Test func waitsForUdevdToSetPermissions() {
        var bench = bench(error: notSetYet)
        bench.name(node)
        bench.run(seconds: 29)
        #expect(bench.end == nil)
        #expect(bench.takeNotices() == [])
        bench.run(seconds: 2)
        #expect(bench.end == .port(notSetYet))
    }

    @Test func anErrorThatChangesMayPassAgain() {
        var bench = bench(error: notSetYet)
        bench.name(node)
        bench.run(seconds: 29)
        bench.nodes[node]?.error = denied
        bench.run(seconds: 0.2)
        #expect(bench.end == nil)
        bench.run(seconds: 0.6)
        #expect(bench.end == .port(denied))
    }

    @Test func isReportedOnceIfItIsBusyLater() {
        var bench = bench()
        bench.name(node)
        bench.nodes[node]?.error = busy
        bench.hangUp(node)
        bench.run(seconds: 60)
        #expect(bench.takeNotices() == ["\(node) opened", "\(node) unplugged", "\(node) busy with cat"])
        #expect(bench.end == nil)
    }

    @Test func isTriedLessAndLessOftenWhileItIsBusy() {
        var bench = bench()
        bench.name(node)
        bench.nodes[node]?.error = busy
        bench.hangUp(node)
        var times: [Int64] = []
        for _ in 0..<5 {
            guard let due = bench.machine.nextRetry else { break }
            times.append(due.microseconds(since: bench.now))
            bench.run(seconds: Double(due.microseconds(since: bench.now)) / 1_000_000)
        }
        #expect(times == [1_000_000, 4_000_000, 9_000_000, 9_000_000, 9_000_000])
    }

    @Test func anOpeningEndsTheSeriesOfAttempts() {
        var bench = bench()
        bench.name(node)
        bench.nodes[node]?.error = busy
        bench.hangUp(node)
        bench.run(seconds: 6)
        bench.nodes[node]?.error = nil
        bench.run(seconds: 9)
        #expect(bench.open == [node])
        bench.nodes[node]?.error = busy
        bench.hangUp(node)
        #expect(bench.machine.nextRetry?.microseconds(since: bench.now) == 1_000_000)
    }

    @Test func sameErrorIsReportedAgainAfterAnOpening() {
        var bench = bench()
        bench.name(node)
        for _ in 0..<2 {
            bench.nodes[node]?.error = failing
            bench.hangUp(node)
            bench.nodes[node]?.error = nil
            bench.run(seconds: 1)
        }
        #expect(bench.takeNotices().filter { $0.hasSuffix("failing") }.count == 2)
    }

    @Test func aDeadDeviceIsReportedOnlyIfItStays() {
        var bench = bench()
        bench.name(node)
        bench.nodes[node]?.error = dead
        bench.hangUp(node)
        bench.run(seconds: 0.9)
        #expect(bench.takeNotices() == ["\(node) opened", "\(node) unplugged"])
        bench.run(seconds: 0.4)
        #expect(bench.takeNotices() == ["\(node) dead"])
    }

    @Test func isOpenedAgainWhenItReturns() {
        var bench = bench()
        bench.name(node)
        bench.vanish()
        bench.run(seconds: 30)
        bench.nodes[node] = .init(device: SimulatedPorts.device())
        bench.run(seconds: 1)
        #expect(bench.takeNotices() == ["\(node) opened", "\(node) unplugged", "\(node) opened"])
    }

    @Test func isListenedForOnlyIfItsDeviceCanBeRecognized() {
        var known = bench()
        known.name(node)
        known.vanish()
        #expect(known.watchesDevices)
        var nameless = SimulatedPorts()
        nameless.nodes[node] = .init(device: SimulatedPorts.device(serial: nil, isMarked: false, socket: nil))
        nameless.name(node)
        nameless.vanish()
        #expect(!nameless.watchesDevices)
    }

    @Test func isFollowedToAnotherNode() {
        var bench = bench()
        bench.name(node)
        bench.unplug()
        bench.plug(SimulatedPorts.device("/dev/ttyUSB1", isMarked: false))
        #expect(bench.open == ["/dev/ttyUSB1"])
        #expect(bench.takeNotices().last == "\(node) opened at /dev/ttyUSB1")
        bench.unplug("/dev/ttyUSB1")
        bench.plug(SimulatedPorts.device(isMarked: false))
        #expect(bench.takeNotices().last == "\(node) opened")
    }

    @Test func isNotFollowedToOneOfTwoEqualDevices() {
        var bench = bench()
        bench.nodes[node]?.device = SimulatedPorts.device(serial: "0001", isMarked: false)
        bench.name(node)
        bench.unplug()
        bench.nodes["/dev/ttyUSB1"] = .init(device: SimulatedPorts.device("/dev/ttyUSB1", serial: "0001", isMarked: false))
        bench.nodes["/dev/ttyUSB2"] = .init(device: SimulatedPorts.device("/dev/ttyUSB2", serial: "0001", isMarked: false))
        bench.udev()
        #expect(bench.open == [])
    }

    @Test func aSerialNumberOfAllAdaptersMeansTheSocket() {
        var bench = bench()
        bench.nodes[node]?.device = SimulatedPorts.device(serial: "0001", isMarked: false, socket: "usb-1")
        bench.name(node)
        bench.unplug()
        bench.plug(SimulatedPorts.device("/dev/ttyUSB1", serial: "0001", isMarked: false, socket: "usb-2"))
        #expect(bench.open == [])
        bench.plug(SimulatedPorts.device("/dev/ttyUSB2", serial: "0001", isMarked: false, socket: "usb-1"))
        #expect(bench.open == ["/dev/ttyUSB2"])
    }

    @Test func aStrangerInItsPlaceIsNotOpened() {
        var bench = bench()
        bench.name(node)
        bench.unplug()
        bench.plug(SimulatedPorts.device(serial: "B2", isMarked: false))
        bench.run(seconds: 20)
        #expect(bench.opened == [node])
        #expect(bench.takeNotices() == ["\(node) opened", "\(node) unplugged", "\(node) replaced"])
    }

    @Test func aStrangerIsReportedOnceHoweverOftenItComes() {
        var bench = bench()
        bench.name(node)
        for _ in 0..<3 {
            bench.unplug()
            bench.run(seconds: 3)
            bench.plug(SimulatedPorts.device(serial: "B2", isMarked: false))
            bench.run(seconds: 3)
        }
        #expect(bench.takeNotices().filter { $0.hasSuffix("replaced") }.count == 1)
    }

    @Test func anotherStrangerIsReported() {
        var bench = bench()
        bench.name(node)
        for serial in ["B2", "C3"] {
            bench.unplug()
            bench.plug(SimulatedPorts.device(serial: serial, isMarked: false))
            bench.run(seconds: 3)
        }
        #expect(bench.takeNotices().filter { $0.hasSuffix("replaced") }.count == 2)
    }

    @Test func aStrangerThatIsMarkedSoonIsOpened() {
        var bench = bench()
        bench.name(node)
        bench.unplug()
        bench.plug(SimulatedPorts.device(serial: "B2", isMarked: false))
        bench.run(seconds: 0.5)
        bench.plug(SimulatedPorts.device(serial: "B2", isMarked: true))
        #expect(bench.open == [node])
        #expect(!bench.takeNotices().contains { $0.hasSuffix("replaced") })
    }

    @Test func aDeviceThatUdevDoesNotKnowYetIsNotOpened() {
        var bench = bench()
        bench.name(node)
        bench.vanish()
        bench.nodes[node] = .init(device: nil)
        bench.run(seconds: 2)
        #expect(bench.opened == [node])
        bench.plug(SimulatedPorts.device(isMarked: false))
        #expect(bench.opened == [node, node])
    }

    @Test func aPseudoTerminalInItsPlaceIsOpened() {
        var bench = bench()
        bench.name(node)
        bench.vanish()
        bench.nodes[node] = .init(isPseudoTerminal: true, route: TerminalRoute(links: ["l"]))
        bench.run(seconds: 1)
        #expect(bench.opened == [node, node])
    }

    @Test func isNotOpenedAgainByTheNumberOfATerminal() {
        var bench = SimulatedPorts()
        bench.nodes["/dev/pts/3"] = .init(isPseudoTerminal: true)
        bench.name("/dev/pts/3")
        bench.hangUp("/dev/pts/3")
        bench.run(seconds: 60)
        #expect(bench.opened == ["/dev/pts/3"])
        #expect(bench.takeNotices().last == "/dev/pts/3 unplugged for good")
        #expect(bench.machine.nextRetry == nil)
    }

    @Test func isOpenedAgainWhenItsLinkIsCreatedAgain() {
        var bench = SimulatedPorts()
        bench.links["/tmp/radio"] = "/dev/pts/3"
        bench.nodes["/dev/pts/3"] = .init(isPseudoTerminal: true, route: TerminalRoute(links: ["inode 1"]))
        bench.name("/tmp/radio")
        bench.hangUp("/dev/pts/3")
        bench.run(seconds: 10)
        #expect(bench.opened.count == 1, "the terminal of that number may be another program's")
        bench.nodes["/dev/pts/3"]?.route = TerminalRoute(links: ["inode 2"])
        bench.run(seconds: 1)
        #expect(bench.opened.count == 2)
    }

    @Test func aSecondNameOfALineSharesIt() {
        var bench = bench()
        bench.links["/dev/radio"] = node
        bench.name(node)
        bench.name("/dev/radio")
        #expect(bench.opened == [node])
        #expect(bench.takeNotices() == ["\(node) opened"])
        bench.run(seconds: 60)
        #expect(bench.attemptCount == 2, "a shared line is not looked at")
    }

    @Test func theSecondNameTakesTheLineThatTheFirstHasLost() {
        var bench = bench()
        bench.links["/dev/radio"] = node
        bench.name(node)
        bench.name("/dev/radio")
        bench.vanish()
        bench.links["/dev/radio"] = "/dev/ttyUSB1"
        bench.nodes["/dev/ttyUSB1"] = .init(device: SimulatedPorts.device("/dev/ttyUSB1", isMarked: false))
        bench.run(seconds: 2)
        #expect(bench.open == ["/dev/ttyUSB1"])
    }

    @Test func theSecondNameOfALostLineOpensNoStranger() {
        var bench = bench()
        bench.links["/dev/radio"] = node
        bench.name(node)
        bench.name("/dev/radio")
        bench.vanish()
        bench.links["/dev/radio"] = "/dev/ttyUSB1"
        bench.nodes["/dev/ttyUSB1"] = .init(device: SimulatedPorts.device("/dev/ttyUSB1", serial: "B2", isMarked: false))
        bench.run(seconds: 2)
        #expect(bench.open == [])
        #expect(bench.end == nil)
    }

    @Test func twoNamesOfOneLineOpenItOnceWhenItReturns() {
        var bench = bench()
        bench.links["/dev/radio"] = node
        bench.name(node)
        bench.name("/dev/radio")
        bench.vanish()
        bench.run(seconds: 5)
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false))
        bench.run(seconds: 5)
        #expect(bench.opened == [node, node])
    }
}
