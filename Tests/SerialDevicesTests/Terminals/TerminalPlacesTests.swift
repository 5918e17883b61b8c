import CollarPorts
import Glibc
import LinuxSystem
import Testing

@testable import SerialDevices

/// Paths of pseudo-terminals, of open lines and of other files.
@Suite struct TerminalPlacesTests {
    private let directory: TemporaryDirectory
    private let radio: PseudoTerminal

    init() throws {
        directory = try TemporaryDirectory()
        radio = try PseudoTerminal()
    }

    private func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    @Test func onlyTheEndThatAProgramOpensIsAPseudoTerminal() throws {
        try directory.link("radio", to: radio.path)
        let file = try directory.file("file")
        let paths = [radio.path, path("radio"), "/dev/ptmx", "/dev/null", file, directory.path, path("nothing")]
        #expect(paths.map { SerialDevice.isPseudoTerminal(at: $0) } == [true, true, false, false, false, false, false])
        for path in paths { #expect(SerialDevice(at: path) == nil, "\(path) has no hardware") }
    }

    @Test func theRouteToAPseudoTerminalIsItsLinks() throws {
        try directory.link("end", to: radio.path)
        try directory.link("radio", to: "end")
        let route = try #require(TerminalRoute(toNumberAt: path("radio")))
        #expect(Set(route.links).count == 2 && !route.isNumber)
        #expect(TerminalRoute(of: path("radio")) == route)
        #expect(TerminalRoute(toNumberAt: radio.path)?.isNumber == true)
        #expect(TerminalRoute(of: radio.path).isNumber)
        try directory.link("new", to: "end")
        try directory.move("new", to: "radio")
        #expect(TerminalRoute(toNumberAt: path("radio")) != route, "a link that was made again shows that the radio is back")
        #expect(TerminalRoute(toNumberAt: path("radio"))?.links.last == route.links.last)
    }

    @Test func theRouteToAnotherPlaceIsNone() throws {
        _ = try directory.file("file")
        try directory.link("link", to: "file")
        try directory.link("dead", to: "/dev/pts/99999")
        for name in ["link", "dead", "nothing"] { #expect(TerminalRoute(toNumberAt: path(name)) == nil, "\(name)") }
        // The links are there all the same.
        #expect(["link", "dead", "nothing"].map { TerminalRoute(of: path($0)).links.count } == [1, 1, 0])
    }

    @Test func aLineIsNamedByEveryPathToItWhileItIsOpen() throws {
        let other = try PseudoTerminal()
        try directory.link("radio", to: radio.path)
        try directory.link("other", to: other.path)
        let port = try SerialPort(opening: path("radio"))
        #expect(port.path == path("radio") && port.isPseudoTerminal)
        let paths = [radio.path, path("radio"), other.path, path("other"), path("nothing"), "/dev/null"]
        #expect(paths.map { port.isNamed(by: $0) } == [true, true, false, false, false, false])
        port.close()
        #expect(!port.isNamed(by: radio.path))
    }

    /// Opening the port of a stranger resets some devices.
    @Test func whatIsNotMarkedIsNotOpenedAsARadio() throws {
        for path in [radio.path, "/dev/null", path("nothing")] {
            #expect(throws: SerialPortError.notFound(path: path)) { try SerialPort(openingRadioAt: path) }
        }
        #expect(!radio.hasPeer)
    }

    private func failure(opening path: String) -> SerialPortError? {
        do throws(SerialPortError) {
            _ = try SerialPort(opening: path)
            return nil
        } catch { return error }
    }

    @Test func whatIsNoLineHasItsOwnError() throws {
        try directory.link("dead", to: "/dev/pts/99999")
        try directory.link("circle", to: "circle")
        try #require(unsafe mkfifo(path("pipe"), 0o600) == 0)
        #expect(failure(opening: path("dead")) == .notFound(path: path("dead")))
        #expect(failure(opening: path("circle")) == .system(path: path("circle"), operation: "open", errno: ELOOP))
        #expect(failure(opening: path("pipe")) == .notATerminal(path: path("pipe")))
    }

    /// The kernel refuses to open a socket as it refuses a node whose device is gone.
    @Test func aNodeWithoutItsDeviceIsDisconnected() throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path("gone").utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(listener >= 0)
        defer { closePlainly(listener) }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        #expect(failure(opening: path("gone")) == .disconnected(path: path("gone")))
    }

    /// A child between fork and exec still has the descriptor.
    @Test func aClosedLineIsFreeThoughItsDescriptorIsShared() throws {
        let port = try SerialPort(opening: radio.path)
        let shared = dup(port.fileDescriptor)
        try #require(shared >= 0)
        defer { closePlainly(shared) }
        port.close()
        let again = try SerialPort(opening: radio.path)
        again.close()
    }

    /// The lock of another program keeps this one out, and a file that is locked is no terminal.
    @Test func aLockedLineIsBusy() throws {
        let descriptor = try openedPlainly(radio.path)
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        do throws(SerialPortError) {
            _ = try SerialPort(opening: radio.path)
            Issue.record("The line was opened.")
        } catch {
            guard case .busy(radio.path, _) = error else {
                Issue.record("\(error)")
                return
            }
        }
        // A child of another test, between fork and exec, may hold the lock beyond the closing.
        _ = flock(descriptor, LOCK_UN)
        closePlainly(descriptor)
        let port = try SerialPort(opening: radio.path)
        port.close()
    }

    @Test func bytesThatWaitAreReadAfterTheOpening() throws {
        let other = try openedPlainly(radio.path)
        defer { closePlainly(other) }
        #expect(radio.write([1, 2, 3].span) == .written(3))
        let port = try SerialPort(opening: radio.path)
        #expect(try received(3, read: port.read(into:)) == [1, 2, 3])
        port.close()
    }

    /// Only a dangling link may be replaced: the target of a link cannot always be seen.
    @Test func aLinkThatLeadsInACircleStays() throws {
        try directory.link("collar", to: "collar")
        let link = PortLink(path: path("collar"))
        #expect(throws: PortLinkError.occupied(path: link.path)) { try link.point(to: radio.path) }
        #expect(SystemFiles.linkTarget(link.path) == "collar")
    }
}
