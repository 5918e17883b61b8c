import CollarARQ
import CollarConfiguration
import CollarControl
import CollarHost
import CollarJournal
import CollarPorts
import Glibc
import LinuxSystem
import SerialDevices
import Testing

@testable import CollarReceiver

/// Ports at terminals of the test, from their opening to their end.
@Suite struct TerminalPortsTests {
    private static func serial(_ configuration: inout ReceiverConfiguration) throws {
        configuration.radio = try PortsBench.configuration([.dialect: "serial"])
    }

    /// Whether discovery opens nothing on this machine.
    private static let hasNoRadio = (try? DeviceMonitor().allSerialDevices().contains(where: \.isCollarRadio)) == false

    private static let lists: [([String], discovers: Bool)] = [
        ([], true), (["auto"], true), (["none"], false), (["none", "auto"], true), (["auto", "none"], true), (["auto", "auto"], true),
    ]

    /// Ports that a person names are opened alone, unless the person names discovery, too.
    @Test(.enabled(if: hasNoRadio, "a radio of this machine would be opened"), arguments: lists.indices)
    func radiosAreLookedForIfThatIsWanted(index: Int) throws {
        let (names, discovers) = Self.lists[index]
        let bench = try PortsBench(named: { folder in names.map { $0 == "auto" ? $0 : "\(folder)/\($0)" } })
        try bench.ports.open(at: bench.now)
        let named = names.filter { $0 != "auto" }.map { "\(bench.folder)/\($0)" }
        #expect(bench.ports.ports.map(\.path) == named)
        let monitor = try DeviceMonitor()
        var expected: [ReceiverNotice] = named.map { .port(path: $0, .waiting) }
        if named.isEmpty { expected.append(.waitingForRadio(others: monitor.allSerialDevices(), noticedBy: monitor.source)) }
        if discovers, monitor.source == .udevDatabase { expected.append(.udevElsewhere) }
        #expect(bench.notices == expected)
        bench.ports.machine.devicesChanged([PortsBench.device(node: "\(bench.folder)/radio", ["COLLAR_LINK": "1"])])
        try bench.ports.obey(at: bench.now)
        #expect(bench.ports.ports.map(\.path) == named + (discovers ? ["\(bench.folder)/radio"] : []))
    }

    /// A port that is absent does not keep the others closed.
    @Test func eachNamedPortIsTried() throws {
        let terminals = [try PseudoTerminal(), try PseudoTerminal()]
        let bench = try PortsBench(Self.serial, named: { ["\($0)/none", terminals[0].path, "\($0)/absent", terminals[1].path] })
        try bench.ports.open(at: bench.now)
        #expect(bench.ports.figures.map(\.state) == [.waiting, .open, .waiting, .open])
        #expect(try bench.openings().map(\.kind) == [.remote, .remote])
        let frames = RecordedDay.serialBytes(of: [try RecordedCollar().identity(next: 1), try RecordedCollar().fix(0)])
        #expect(terminals[1].write(frames.span) == .written(frames.count))
        try bench.turn { bench.host.statistics.fixes == 1 }
        #expect(try bench.records().last { if case .read = $0.event { true } else { false } }?.port == terminals[1].path)
    }

    @Test func twoPathsToOneTerminalShareItsLine() throws {
        let terminal = try PseudoTerminal()
        let bench = try PortsBench(Self.serial, named: { ["\($0)/link", terminal.path, "\($0)/link"] })
        try PortLink(path: "\(bench.folder)/link").point(to: terminal.path)
        try bench.ports.open(at: bench.now)
        #expect(bench.ports.figures.map(\.state) == [.open, .shared, .shared])
        #expect(bench.notices == [.port(path: "\(bench.folder)/link", .opened(node: nil))])
    }

    /// The number of a terminal that is gone may belong to any program, and so may an old link to it. A link that was made again is the
    /// radio's.
    @Test func aTerminalReturnsAtANewLink() throws {
        var terminal: PseudoTerminal? = try PseudoTerminal()
        let path = try #require(terminal?.path)
        let bench = try PortsBench(Self.serial, named: { ["\($0)/link"] })
        let link = PortLink(path: "\(bench.folder)/link")
        try link.point(to: path)
        try bench.ports.open(at: bench.now)
        let port = try #require(bench.ports.ports.first)
        terminal = nil
        try bench.turn { port.connection == nil }
        #expect(port.modem == nil && port.openings == nil)
        #expect(
            bench.takeNotices() == [.port(path: port.path, .opened(node: nil)), .port(path: port.path, .unplugged(then: .isAwaited))])
        #expect(try bench.records().contains { $0.event == .unplugged })
        terminal = try PseudoTerminal()
        let next = try #require(terminal?.path)
        for _ in 0..<3 {
            try bench.passToDeadline()
            #expect(port.connection == nil)
        }
        try link.point(to: next)
        try bench.passToDeadline()
        #expect(bench.ports.figures.map(\.state) == [.open])
        #expect(bench.takeNotices().last == .port(path: port.path, .opened(node: nil)))
        #expect(try bench.openings().map(\.report) == [.now, .now])
    }

    @Test func aTerminalThatIsNamedByItsNumberIsNotOpenedAgain() throws {
        var terminal: PseudoTerminal? = try PseudoTerminal()
        let path = try #require(terminal?.path)
        let bench = try PortsBench(Self.serial, named: { _ in [path] })
        try bench.ports.open(at: bench.now)
        let port = try #require(bench.ports.ports.first)
        terminal = nil
        try bench.turn { port.connection == nil }
        #expect(bench.notices.last == .port(path: path, .unplugged(then: .isAnotherTerminal)))
        #expect(bench.ports.nextRetry == nil && bench.ports.figures.map(\.state) == [.gone])
    }

    /// A receiver that does not wait ends with the cause.
    @Test func aLossEndsAReceiverThatDoesNotWait() throws {
        func configure(_ configuration: inout ReceiverConfiguration) throws {
            try Self.serial(&configuration)
            configuration.reconnects = false
        }
        let absent = try PortsBench(configure, named: { ["\($0)/none"] })
        #expect(throws: ReceiverError.port(.notFound(path: "\(absent.folder)/none"))) { try absent.ports.open(at: absent.now) }
        let wrong = try PortsBench(configure, named: { _ in ["/dev/null"] })
        #expect(throws: ReceiverError.port(.notATerminal(path: "/dev/null"))) { try wrong.ports.open(at: wrong.now) }
        var terminal: PseudoTerminal? = try PseudoTerminal()
        let path = try #require(terminal?.path)
        let bench = try PortsBench(configure, named: { _ in [path] })
        try bench.ports.open(at: bench.now)
        terminal = nil
        #expect(throws: ReceiverError.noDevice(path: path)) { try bench.turn { false } }
        #expect(bench.notices.last == .port(path: path, .unplugged(then: .ends)))
    }

    /// A device that udev has found is opened only if it is still marked.
    @Test func aFoundDeviceThatIsNoRadioIsNotOpened() throws {
        let terminal = try PseudoTerminal()
        let bench = try PortsBench(Self.serial)
        bench.ports.machine.discover()
        bench.ports.machine.devicesChanged([PortsBench.device(node: terminal.path, ["COLLAR_LINK": "1"])])
        try bench.ports.obey(at: bench.now)
        #expect(bench.ports.figures.map(\.state) == [.gone] && bench.ports.ports.map(\.path) == [terminal.path])
        #expect(!terminal.hasPeer && bench.notices.isEmpty)
    }

    /// A line whose radio was pulled out is closed when the devices change, whichever news comes first.
    @Test(.enabled(if: hasNoRadio, "a radio of this machine would be opened"))
    func aLineThatIsGoneIsClosedWithTheNewsOfUdev() throws {
        var gone: PseudoTerminal? = try PseudoTerminal()
        let kept = try PseudoTerminal()
        let path = try #require(gone?.path)
        let bench = try PortsBench(Self.serial, named: { _ in [path, kept.path, "auto"] })
        bench.onNotice = { if $0 == .port(path: kept.path, .opened(node: nil)) { gone = nil } }
        try bench.ports.open(at: bench.now)
        #expect(bench.ports.figures.map(\.state) == [.gone, .open])
        #expect(bench.notices.last == .port(path: path, .unplugged(then: .isAnotherTerminal)))
    }

    /// Frames that the line does not take at once go out when there is room, each once and in their order, and then nothing wakes up.
    @Test func whatTheLineDoesNotTakeGoesOutLater() throws {
        let terminal = try PseudoTerminal()
        let bench = try PortsBench(Self.serial, named: { _ in [terminal.path] })
        try bench.ports.open(at: bench.now)
        let port = try #require(bench.ports.ports.first)
        var frames: [[UInt8]] = []
        while !port.isWatchedForWriting, frames.count < 10_000 {
            let frame = [UInt8](repeating: UInt8(truncatingIfNeeded: frames.count), count: 40)
            bench.ports.send(frame, on: port.link)
            bench.ports.endAnswers(at: bench.now)
            frames.append(frame)
        }
        try #require(port.isWatchedForWriting)
        let expected = RecordedDay.serialBytes(of: frames)
        var got: [UInt8] = []
        while port.isWatchedForWriting, got.count < expected.count {
            got += terminal.received(1)
            for event in bench.events.wait(timeoutMicroseconds: 0) where event.source == .port(port.id) {
                try bench.ports.handle(port.id, event, turnMicroseconds: 20_000, at: bench.now)
            }
        }
        got += terminal.received(expected.count - got.count)
        #expect(got == expected)
        #expect(!port.isWatchedForWriting)
        #expect(!bench.events.wait(timeoutMicroseconds: 0).contains { $0.source == .port(port.id) })
    }

    /// The radio of a silent collar is set up once more: a terminal stays open, and the line of a board is opened again.
    @Test func aRadioIsRenewedAtAnOpenTerminal() throws {
        let terminal = try PseudoTerminal()
        let bench = try PortsBench(Self.serial, named: { _ in [terminal.path] })
        try bench.ports.open(at: bench.now)
        let board = PortsBench.Line(.board)
        let port = bench.open("\(bench.folder)/board", board)
        let line = try #require(bench.ports.ports.first?.connection)
        _ = bench.takeNotices()
        bench.ports.renew(try #require(bench.ports.ports.first?.link), for: 0xC0, at: bench.now)
        #expect(bench.ports.hasWork)
        try bench.ports.deadlineReached(at: bench.now)
        #expect(bench.ports.ports.first?.connection === line && !bench.ports.hasWork)
        #expect(try bench.openings().map(\.report) == [.now, .now, .none])
        #expect(bench.takeNotices() == [.renewing(path: terminal.path, deviceID: 0xC0)])
        bench.ports.renew(port.link, for: 0xC1, at: bench.now)
        try bench.ports.deadlineReached(at: bench.now)
        #expect(board.closeCount == 1 && port.connection == nil && port.modem == nil)
        // It was opened before, and now nothing is there.
        #expect(bench.takeNotices().first == .renewing(path: port.path, deviceID: 0xC1))
        bench.ports.renew(port.link, for: 0xC1, at: bench.now)
        #expect(bench.takeNotices().allSatisfy { $0 != .renewing(path: port.path, deviceID: 0xC1) })
    }
}
