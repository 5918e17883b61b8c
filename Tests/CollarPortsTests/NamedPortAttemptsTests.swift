import CollarARQ
import CollarPorts
import CollarWorld
import Testing

/// Later attempts to open a named port: an error that ends the receiver at the first attempt does not end it later.
@Suite("Attempts after the first one of a named port") struct NamedPortAttemptsTests {
    private static let denials = [denied, notSetYet]

    /// The times until each of the next attempts, in seconds.
    private func pauses(_ bench: inout SimulatedPorts, count: Int) -> [Double] {
        var pauses: [Double] = []
        for _ in 0..<count {
            guard let due = bench.machine.nextRetry else { break }
            let pause = Double(due.microseconds(since: bench.now)) / 1_000_000
            pauses.append(pause)
            bench.run(seconds: pause)
        }
        return pauses
    }

    @Test(arguments: [busy, failing, .notATerminal(path: node)])
    func aPortThatAppearsAndCannotBeUsedIsReportedAndTriedAgain(error: SerialPortError) {
        var bench = SimulatedPorts()
        bench.name(node)
        #expect(bench.takeNotices() == ["\(node) waiting"])
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false), error: error)
        bench.run(seconds: 1)
        #expect(bench.end == nil)
        #expect(bench.takeNotices().count == 1)
        #expect(pauses(&bench, count: 4) == [1, 4, 9, 9])
        #expect(bench.end == nil)
        bench.nodes[node]?.error = nil
        bench.run(seconds: 9)
        #expect(bench.takeNotices() == ["\(node) opened"])
    }

    @Test(arguments: denials) func aPortThatAppearsAndStaysDeniedIsReportedAndLookedAt(error: SerialPortError) {
        var bench = SimulatedPorts()
        bench.name(node)
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false), error: error)
        bench.run(seconds: 40)
        #expect(bench.end == nil)
        #expect(bench.takeNotices() == ["\(node) waiting", "\(node) denied"])
        #expect(pauses(&bench, count: 1).allSatisfy { $0 <= 1 })
        bench.nodes[node]?.error = nil
        bench.run(seconds: 1)
        #expect(bench.open == [node])
    }

    @Test func aDeadDeviceAtTheStartDoesNotEndTheReceiverNorWhatFollows() {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false), error: dead)
        bench.name(node)
        bench.run(seconds: 2)
        #expect(bench.takeNotices() == ["\(node) dead"])
        bench.nodes[node]?.error = busy
        bench.run(seconds: 9)
        #expect(bench.end == nil)
        #expect(bench.takeNotices() == ["\(node) busy with cat"])
    }

    @Test func whatMayPassAtTheFirstAttemptIsStillTheFirstAttempt() {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false), error: notSetYet)
        bench.name(node)
        bench.run(seconds: 5)
        bench.nodes[node]?.error = busy
        bench.run(seconds: 1)
        #expect(bench.end == .port(busy))
    }

    @Test func eachPortHasAFirstAttemptOfItsOwn() {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false))
        bench.name(node)
        let other = SerialPortError.busy(path: "/dev/ttyUSB1", holder: nil)
        bench.nodes["/dev/ttyUSB1"] = .init(device: SimulatedPorts.device("/dev/ttyUSB1", serial: "B2", isMarked: false), error: other)
        bench.name("/dev/ttyUSB1")
        #expect(bench.end == .port(other))
    }

    @Test func aPortThatSharedALineIsNotAtItsFirstAttemptAnyMore() {
        var bench = SimulatedPorts()
        bench.links["/dev/radio"] = node
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false))
        bench.name(node)
        bench.name("/dev/radio")
        bench.nodes[node]?.error = busy
        bench.hangUp(node)
        bench.run(seconds: 30)
        #expect(bench.end == nil)
        bench.nodes[node]?.error = nil
        bench.run(seconds: 9)
        #expect(bench.open == [node])
    }

    @Test func aMomentWithoutPermissionDoesNotBreakTheSeriesOfAttempts() {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false))
        bench.name(node)
        bench.nodes[node]?.error = busy
        bench.hangUp(node)
        bench.nodes[node]?.error = notSetYet
        #expect(pauses(&bench, count: 1) == [1])
        bench.nodes[node]?.error = busy
        #expect(pauses(&bench, count: 1) == [0.3])
        #expect(pauses(&bench, count: 1) == [4])
    }

    @Test func anAbsenceBeginsTheSeriesOfAttemptsAgain() {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false))
        bench.name(node)
        bench.nodes[node]?.error = busy
        bench.hangUp(node)
        #expect(pauses(&bench, count: 2) == [1, 4])
        bench.nodes[node] = nil
        #expect(pauses(&bench, count: 3) == [9, 1, 1])
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false), error: busy)
        #expect(pauses(&bench, count: 3) == [1, 1, 4])
    }

    @Test func theTimeInWhichAnErrorMayPassBeginsAgainAfterAnOpening() {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false))
        bench.name(node)
        for _ in 0..<3 {
            bench.nodes[node]?.error = dead
            bench.hangUp(node)
            bench.run(seconds: 0.9)
            bench.nodes[node]?.error = nil
            bench.run(seconds: 0.3)
        }
        #expect(bench.opened.count == 4)
        #expect(!bench.takeNotices().contains("\(node) dead"))
    }

    @Test func errorsThatTakeTurnsAreEachReported() {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false))
        bench.name(node)
        for error in [busy, failing, busy] {
            bench.nodes[node]?.error = error
            if bench.open == [node] { bench.hangUp(node) } else { bench.run(seconds: 9) }
        }
        #expect(
            bench.takeNotices().dropFirst(2) == ["\(node) busy with cat", "\(node) failing", "\(node) busy with cat"])
    }

    /// The figures of the receiver tell a radio that is absent from one that cannot be opened.
    @Test func onlyAMissingOrReplacedRadioIsAbsent() throws {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false))
        bench.name(node)
        #expect(bench.machine.ports.map(\.isAbsent) == [false])
        bench.vanish()
        #expect(bench.machine.ports.map(\.isAbsent) == [true])
        bench.nodes[node] = .init(device: SimulatedPorts.device(serial: "B2", isMarked: false))
        bench.run(seconds: 3)
        #expect(bench.machine.ports.map(\.isAbsent) == [true])
        bench.nodes[node] = .init(device: SimulatedPorts.device(isMarked: false), error: busy)
        bench.run(seconds: 3)
        let port = try #require(bench.machine.ports.first)
        #expect(!port.isAbsent)
        #expect(port.failure?.error == busy)
        bench.nodes[node]?.error = nil
        bench.run(seconds: 9)
        #expect(bench.machine.ports.first?.failure == nil)
        #expect(bench.machine.ports.first?.line != nil)
    }
}
