import CollarARQ
import CollarConfiguration
import CollarControl
import CollarPorts
import Glibc
import LinuxSystem
import Testing

@testable import CollarReceiver

/// Radios at another machine, which is the test: connections that are refused, and that end.
@Suite final class RemoteRadioTests {
    private let listener: Int32
    private let name: String
    private var connections: [Int32] = []

    /// Takes a free port of this machine.
    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(listener >= 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        try #require(isBound)
        name = "tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    }

    deinit { for descriptor in [listener] + connections { close(descriptor) } }

    private func bench(reconnects: Bool = true) throws -> PortsBench {
        try PortsBench(
            {
                $0.radio = try PortsBench.configuration([.dialect: "serial"])
                $0.reconnects = reconnects
            }, named: { _ in [self.name] })
    }

    private func accepted() throws -> Int32 {
        let connection = accept(listener, nil, nil)
        try #require(connection >= 0)
        connections.append(connection)
        return connection
    }

    /// A machine that refuses is tried again, and is told once.
    @Test func aMachineThatRefusesIsTriedAgain() throws {
        let bench = try bench()
        try bench.ports.open(at: bench.now)
        let port = try #require(bench.ports.ports.first)
        #expect(bench.ports.figures == [RadioFigures(port: name, state: .connecting, dialect: nil)])
        for _ in 0..<2 {
            try bench.turn { port.attempt == nil }
            #expect(bench.ports.figures == [RadioFigures(port: name, state: .retrying, dialect: nil)])
            try bench.passToDeadline()
        }
        let reasons = bench.takeNotices()
        #expect(reasons.count == 1)
        guard case .port(name, .cannotConnect)? = reasons.first else {
            Issue.record("\(reasons)")
            return
        }
        try bench.turn { port.attempt == nil }
        try #require(Glibc.listen(listener, 4) == 0)
        try bench.passToDeadline()
        try bench.turn { port.connection != nil }
        #expect(bench.ports.figures == [RadioFigures(port: name, state: .open, dialect: "serial")])
        #expect(bench.takeNotices() == [.port(path: name, .opened(node: nil))])
        let opening = try #require(try bench.openings().first)
        #expect(opening.kind == .network && opening.report == .now)
    }

    @Test func aRefusalEndsAReceiverThatDoesNotWait() throws {
        let bench = try bench(reconnects: false)
        try bench.ports.open(at: bench.now)
        do {
            try bench.turn { false }
            Issue.record("The receiver goes on.")
        } catch let error as ReceiverError {
            guard case .connection(name, let reason) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(!reason.isEmpty)
        }
    }

    /// A machine that closes each connection at once is told once. The opening is told again when bytes come in.
    @Test func anOpeningAfterAShortConnectionIsToldWithItsFirstBytes() throws {
        try #require(Glibc.listen(listener, 4) == 0)
        let bench = try bench()
        try bench.ports.open(at: bench.now)
        let port = try #require(bench.ports.ports.first)
        for _ in 0..<2 {
            try bench.turn { port.connection != nil }
            close(try accepted())
            connections.removeLast()
            try bench.turn { port.connection == nil }
            try bench.passToDeadline()
        }
        try bench.turn { port.connection != nil }
        let connection = try accepted()
        #expect(
            bench.takeNotices() == [.port(path: name, .opened(node: nil)), .port(path: name, .unplugged(then: .isAwaited))])
        #expect(try bench.openings().map(\.report) == [.now, .firstBytes, .firstBytes])
        #expect(try bench.records().filter { $0.event == .unplugged }.count == 2)
        let frames = RecordedDay.serialBytes(of: [try RecordedCollar().identity(next: 1), try RecordedCollar().fix(0)])
        try #require(SystemFiles.write(frames, to: connection))
        try bench.turn { bench.host.statistics.fixes == 1 }
        #expect(bench.takeNotices() == [.port(path: name, .opened(node: nil))])
    }
}
