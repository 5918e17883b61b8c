import CollarARQ
import CollarConfiguration
import CollarPorts
import Glibc
import LinuxSystem
import SerialDevices
import Testing

@testable import CollarReceiver

/// Other programs at an open line. The test itself is the other program, so the receiver sees its bytes, and no other process.
@Suite struct OtherProgramsTests {
    private let terminal: PseudoTerminal
    private let bench: PortsBench

    init() throws {
        let terminal = try PseudoTerminal()
        self.terminal = terminal
        bench = try PortsBench({ $0.radio = try PortsBench.configuration([.dialect: "serial"]) }, named: { _ in [terminal.path] })
    }

    private func openPlainly() throws -> Int32 {
        let descriptor = unsafe open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        try #require(descriptor >= 0)
        return descriptor
    }

    private func opened() throws -> RadioPort {
        try bench.ports.open(at: bench.now)
        _ = bench.takeNotices()
        return try #require(bench.ports.ports.first)
    }

    /// A program that opens the line and keeps it open is told after a moment, and once.
    @Test func aProgramThatOpensTheLineIsTold() throws {
        let port = try opened()
        let rival = try openPlainly()
        defer { close(rival) }
        try bench.turn { bench.ports.nextDeadline != nil }
        bench.pass(milliseconds: 299)
        try bench.ports.deadlineReached(at: bench.now)
        #expect(bench.takeNotices() == [])
        bench.pass(milliseconds: 1)
        try bench.ports.deadlineReached(at: bench.now)
        #expect(bench.takeNotices() == [.port(path: port.path, .read(by: nil))])
        #expect(bench.ports.nextDeadline == nil)
        bench.ports.bytesAreMissing(at: bench.now)
        try bench.ports.obey(at: bench.now)
        #expect(bench.takeNotices() == [])
    }

    @Test func aProgramThatClosesTheLineAtOnceIsNotTold() throws {
        _ = try opened()
        close(try openPlainly())
        try bench.turn { bench.ports.nextDeadline != nil }
        bench.pass(milliseconds: 300)
        try bench.ports.deadlineReached(at: bench.now)
        #expect(bench.takeNotices() == [])
    }

    /// A program that had the line open before counts once it reads; the reads of the receiver do not.
    @Test func aReadOfAnotherProgramIsTold() throws {
        let rival = try openPlainly()
        defer { close(rival) }
        let port = try opened()
        let frames = RecordedDay.serialBytes(of: [try RecordedCollar().identity(next: 1), try RecordedCollar().fix(0)])
        #expect(terminal.write(frames.span) == .written(frames.count))
        try bench.turn { bench.host.statistics.fixes == 1 }
        #expect(bench.ports.nextDeadline == nil, "the receiver has read its own line")
        #expect(terminal.write(frames.span) == .written(frames.count))
        var state = pollfd(fd: rival, events: Int16(POLLIN), revents: 0)
        try #require(unsafe poll(&state, 1, 3000) == 1)
        #expect(SystemFiles.read(from: rival)?.isEmpty == false)
        try bench.turn { bench.ports.nextDeadline != nil }
        bench.pass(milliseconds: 300)
        try bench.ports.deadlineReached(at: bench.now)
        #expect(bench.takeNotices() == [.port(path: port.path, .read(by: nil))])
    }

    /// Missing bytes are a reason to look, at most once a minute.
    @Test func missingBytesAreAReasonToLook() throws {
        let port = try opened()
        bench.ports.bytesAreMissing(at: bench.now)
        #expect(bench.ports.hasWork)
        try bench.ports.obey(at: bench.now)
        #expect(bench.takeNotices() == [])
        let rival = try openPlainly()
        defer { close(rival) }
        // The event of the opening waits at its descriptor.
        bench.ports.noteOpenings(of: port, at: bench.now)
        bench.pass(milliseconds: 59_999)
        bench.ports.bytesAreMissing(at: bench.now)
        #expect(!bench.ports.hasWork)
        bench.pass(milliseconds: 1)
        bench.ports.bytesAreMissing(at: bench.now)
        try bench.ports.obey(at: bench.now)
        #expect(bench.takeNotices() == [.port(path: port.path, .read(by: nil))])
    }
}
