import CollarARQ
import CollarPorts
import Testing

/// The orders of the machine to its owner, with all their values and in their order.
@Suite("Orders about ports") struct PortOrdersTests {
    private let cat = ProcessHolder(processID: 9, name: "cat")

    private func time(_ seconds: Double) -> Instant { Instant(microseconds: Int64(seconds * 1_000_000)) }

    private func orders(_ machine: inout PortMachine) -> [PortMachine.Output] {
        var orders: [PortMachine.Output] = []
        while let order = machine.nextOutput() { orders.append(order) }
        return orders
    }

    private func device(_ node: String, serial: String? = "A1", isMarked: Bool = false) -> SerialDevice {
        let properties = [
            "ID_VENDOR_ID": "10c4", "ID_MODEL_ID": "ea60", "ID_SERIAL_SHORT": serial, "COLLAR_LINK": isMarked ? "1" : nil,
        ]
        return SerialDevice(
            node: node, sysPath: "/sys/\(node)", property: { properties[$0] ?? nil }, usbAttribute: { _ in nil }, parentDriver: { nil })
    }

    /// A machine with one port, whose orders until now are done.
    private func machine(_ path: String, isNetwork: Bool = false, reconnects: Bool = true) -> (PortMachine, PortID) {
        var machine = PortMachine(reconnects: reconnects)
        let id = machine.add(path, isNamed: true, isNetwork: isNetwork)
        machine.open(id)
        _ = orders(&machine)
        return (machine, id)
    }

    @Test func aNamedPortIsExaminedOpenedToldAndAttached() {
        var machine = PortMachine(reconnects: true)
        let id = machine.add(node, isNamed: true)
        machine.open(id)
        #expect(orders(&machine) == [.examine(id, node: node, asksDevice: false, asksRoute: false)])
        machine.examined(id, NodeFacts(), at: time(0))
        #expect(orders(&machine) == [.open(id, node: node, isMarked: false)])
        machine.opened(id, device(node), at: time(0))
        #expect(orders(&machine) == [.notice(id, .opened(node: nil)), .attach(id, isReported: true), .findReader(id)])
        machine.hungUp(id, at: time(1))
        #expect(
            orders(&machine) == [
                .close(id, isLost: true), .notice(id, .unplugged(then: .isAwaited)), .watchDevices,
                .examine(id, node: node, asksDevice: true, asksRoute: false),
            ])
    }

    /// An order to examine a node asks only for what can answer: the route of a pseudo-terminal, or the device of a line that udev
    /// knows.
    @Test func onlyAPseudoTerminalIsAskedForItsRoute() {
        var (machine, id) = machine("/tmp/radio")
        machine.examined(id, NodeFacts(), at: time(0))
        machine.opened(id, route: TerminalRoute(links: ["l"]), at: time(0))
        _ = orders(&machine)
        machine.hungUp(id, at: time(1))
        #expect(
            orders(&machine) == [
                .close(id, isLost: true), .notice(id, .unplugged(then: .isAwaited)),
                .examine(id, node: "/tmp/radio", asksDevice: false, asksRoute: true),
            ])
    }

    @Test func aFoundRadioIsOpenedOnlyWithItsMark() {
        var machine = PortMachine(reconnects: true)
        machine.discover()
        machine.devicesChanged([device(node, isMarked: true)])
        let id = PortID(index: 0)
        #expect(orders(&machine) == [.examine(id, node: node, asksDevice: false, asksRoute: false)])
        machine.examined(id, NodeFacts(), at: time(0))
        #expect(orders(&machine) == [.open(id, node: node, isMarked: true)])
        machine.opened(id, device(node, isMarked: true), at: time(0))
        _ = orders(&machine)
        machine.devicesChanged([device(node)])
        #expect(orders(&machine) == [.close(id, isLost: false), .notice(id, .unmarked)])
    }

    /// The machine closed its connection at once, so the next one is told when bytes come.
    @Test func aConnectionThatIsNotToldIsAttachedWithoutAReport() {
        var (machine, id) = machine("tcp://base:4000", isNetwork: true)
        machine.opened(id, at: time(0))
        #expect(orders(&machine) == [.notice(id, .opened(node: nil)), .attach(id, isReported: true)])
        machine.hungUp(id, at: time(1))
        #expect(orders(&machine) == [.close(id, isLost: true), .notice(id, .unplugged(then: .isAwaited))])
        machine.deadlineReached(at: time(2))
        #expect(orders(&machine) == [.connect(id)])
        machine.opened(id, at: time(2))
        #expect(orders(&machine) == [.attach(id, isReported: false)])
        machine.bytesCame(id)
        #expect(orders(&machine) == [.notice(id, .opened(node: nil))])
    }

    @Test func aRenewedLineIsNotLost() {
        var (machine, id) = machine(node)
        machine.opened(id, device(node), at: time(0))
        _ = orders(&machine)
        machine.renew(id, isPseudoTerminal: false, at: time(5))
        #expect(orders(&machine) == [.close(id, isLost: false)])
        #expect(machine.nextRetry == time(5))
    }

    @Test func aConnectionIsRenewedByAnother() {
        var (machine, id) = machine("tcp://base:4000", isNetwork: true)
        machine.opened(id, at: time(0))
        _ = orders(&machine)
        machine.renew(id, isPseudoTerminal: false, at: time(5))
        machine.deadlineReached(at: time(5))
        #expect(orders(&machine) == [.close(id, isLost: false), .connect(id)])
    }

    @Test func whatComesForAPortThatIsNotOpenChangesNothing() {
        var (machine, id) = machine(node)
        machine.foundReader(of: id, cat, isOpenedByOthers: true)
        machine.othersOpened(id, at: time(0))
        machine.bytesCame(id)
        machine.hungUp(id, at: time(0))
        machine.renew(id, isPseudoTerminal: true, at: time(0))
        #expect(orders(&machine) == [])
        #expect(machine.nextLook == nil && machine.nextRetry == nil)
    }

    @Test func anAnswerThatNobodyAwaitsOpensNothing() {
        var (machine, id) = machine(node)
        machine.refused(id, .notFound(path: node), at: time(0))
        #expect(orders(&machine) == [.notice(id, .waiting)])
        machine.refused(id, failing, at: time(0))
        machine.refused(id, reason: "refused", at: time(0))
        machine.examined(id, NodeFacts(), at: time(0))
        #expect(orders(&machine) == [])
        machine.opened(id, at: time(0))
        #expect(orders(&machine) == [.close(id, isLost: false)])
        #expect(machine.ports.map(\.line) == [nil])
    }

    /// Two paths may lead to one line.
    @Test func thePortsOfOneMomentAreTriedOneAfterTheOther() {
        var machine = PortMachine(reconnects: true)
        let ids = ["/dev/a", "/dev/b"].map { machine.add($0, isNamed: true) }
        for id in ids { machine.open(id) }
        #expect(machine.nextOutput() == .examine(ids[0], node: "/dev/a", asksDevice: false, asksRoute: false))
        machine.examined(ids[0], NodeFacts(), at: time(0))
        #expect(machine.nextOutput() == .open(ids[0], node: "/dev/a", isMarked: false))
        machine.opened(ids[0], at: time(0))
        #expect(
            orders(&machine) == [
                .notice(ids[0], .opened(node: nil)), .attach(ids[0], isReported: true), .findReader(ids[0]),
                .examine(ids[1], node: "/dev/b", asksDevice: false, asksRoute: false),
            ])
    }

    @Test func allPortsThatAreDueAtOneTimeAreTried() {
        var machine = PortMachine(reconnects: true)
        let ids = ["/dev/a", "/dev/b", "tcp://c:1"].map { machine.add($0, isNamed: true, isNetwork: $0.hasPrefix("tcp")) }
        for id in ids.prefix(2) {
            machine.open(id)
            machine.refused(id, .notFound(path: machine.ports[id.index].path), at: time(0))
        }
        machine.open(ids[2])
        machine.refused(ids[2], reason: "refused", at: time(0))
        _ = orders(&machine)
        machine.deadlineReached(at: time(0.999_999))
        #expect(orders(&machine) == [])
        machine.deadlineReached(at: time(1))
        #expect(
            orders(&machine) == [
                .examine(ids[0], node: "/dev/a", asksDevice: false, asksRoute: false),
                .examine(ids[1], node: "/dev/b", asksDevice: false, asksRoute: false), .connect(ids[2]),
            ])
    }

    @Test func allLinesThatAreDueAtOneTimeAreLookedAt() {
        var machine = PortMachine(reconnects: true)
        let ids = ["/dev/a", "/dev/b"].map { machine.add($0, isNamed: true) }
        for id in ids {
            machine.open(id)
            machine.opened(id, at: time(0))
            machine.othersOpened(id, at: time(1))
        }
        _ = orders(&machine)
        machine.deadlineReached(at: time(1.3))
        #expect(orders(&machine) == ids.map { .findReader($0) })
        #expect(machine.nextLook == nil)
    }
}

/// Ports that were open when a capture was made.
@Suite("Ports in a replay") struct ReplayedPortsTests {
    private func replay(isReported: Bool) -> (PortMachine, PortID) {
        var machine = PortMachine(reconnects: true)
        let id = machine.add("tcp://base:4000", isNamed: true, isNetwork: true)
        machine.replayOpening(id, isReported: isReported, at: Instant(microseconds: 5))
        return (machine, id)
    }

    private func orders(_ machine: inout PortMachine) -> [PortMachine.Output] {
        var orders: [PortMachine.Output] = []
        while let order = machine.nextOutput() { orders.append(order) }
        return orders
    }

    @Test(arguments: [true, false]) func anOpeningThatWasNotToldIsToldWithItsFirstBytes(isReported: Bool) {
        var (machine, id) = replay(isReported: isReported)
        #expect(machine.ports[id.index].line != nil)
        #expect(orders(&machine) == [])
        machine.bytesCame(id)
        #expect(orders(&machine) == (isReported ? [] : [.notice(id, .opened(node: nil))]))
    }

    @Test func aClosingIsSilentAndAnUnpluggingIsTold() {
        var (machine, id) = replay(isReported: true)
        machine.replayClosing(id)
        #expect(orders(&machine) == [] && machine.ports[id.index].state == .gone)
        machine.replayOpening(id, isReported: true, at: Instant(microseconds: 6))
        machine.replayUnplugging(id)
        #expect(orders(&machine) == [.close(id, isLost: true), .notice(id, .unplugged(then: .isAwaited))])
        #expect(machine.ports[id.index].state == .gone && machine.nextRetry == nil)
    }

    @Test func anUnpluggingBeforeTheFirstBytesIsNotTold() {
        var (machine, id) = replay(isReported: false)
        machine.replayUnplugging(id)
        #expect(orders(&machine) == [.close(id, isLost: true)])
    }
}
