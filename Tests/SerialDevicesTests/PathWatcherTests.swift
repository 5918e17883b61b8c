import Glibc
import Testing

@testable import SerialDevices

/// When it is worth trying again to open a path that could not be opened. An event is there as soon as the call that caused it
/// has returned, so the tests do not wait.
@Suite struct PathWatcherTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func watcher(_ name: String) throws -> PathWatcher { try PathWatcher(path: "\(directory.path)/\(name)") }

    @Test func fileAppears() throws {
        let watcher = try watcher("radio")
        #expect(try !watcher.drain())
        _ = try directory.file("radio")
        #expect(isReadable(watcher.fileDescriptor))
        #expect(try watcher.drain())
        #expect(try !watcher.drain())
        #expect(!isReadable(watcher.fileDescriptor))
    }

    @Test func fileIsMovedThere() throws {
        let watcher = try watcher("radio")
        _ = try directory.file("other")
        #expect(try !watcher.drain())
        try directory.move("other", to: "radio")
        #expect(try watcher.drain())
    }

    @Test func missingParentsAppearOneByOne() throws {
        let watcher = try watcher("by-id/usb/radio")
        try directory.folder("by-id")
        #expect(try !watcher.drain())
        try directory.folder("by-id/usb")
        #expect(try !watcher.drain())
        _ = try directory.file("by-id/usb/radio")
        #expect(try watcher.drain())
    }

    @Test func missingParentsAppearAllAtOnce() throws {
        let watcher = try watcher("by-id/usb/radio")
        try directory.folder("new")
        try directory.folder("new/usb")
        _ = try directory.file("new/usb/radio")
        try directory.move("new", to: "by-id")
        #expect(try watcher.drain())
    }

    @Test func parentGoesAndComesBack() throws {
        try directory.folder("by-id")
        let watcher = try watcher("by-id/radio")
        try #require(unsafe rmdir("\(directory.path)/by-id") == 0)
        #expect(try !watcher.drain())
        try directory.folder("by-id")
        #expect(try !watcher.drain())
        _ = try directory.file("by-id/radio")
        #expect(try watcher.drain())
    }

    @Test func grandparentIsReplaced() throws {
        try directory.folder("dev")
        try directory.folder("dev/serial")
        let watcher = try watcher("dev/serial/radio")
        try directory.move("dev", to: "old")
        #expect(try !watcher.drain())
        try directory.folder("dev")
        try directory.folder("dev/serial")
        _ = try directory.file("dev/serial/radio")
        #expect(try watcher.drain())
        // The old place no longer counts.
        _ = try directory.file("old/serial/radio")
        #expect(try !watcher.drain())
    }

    @Test func permissionsChange() throws {
        let radio = try directory.file("radio")
        let watcher = try watcher("radio")
        try #require(unsafe chmod(radio, 0o600) == 0)
        #expect(try watcher.drain())
    }

    @Test func linkIsReplaced() throws {
        _ = try directory.file("first")
        _ = try directory.file("second")
        try directory.link("radio", to: "first")
        let watcher = try watcher("radio")
        try directory.link("new", to: "second")
        #expect(try !watcher.drain())
        try directory.move("new", to: "radio")
        #expect(try watcher.drain())
        // From now on the path leads to the second file.
        try #require(unsafe chmod("\(directory.path)/second", 0o600) == 0)
        #expect(try watcher.drain())
        try #require(unsafe chmod("\(directory.path)/first", 0o600) == 0)
        #expect(try !watcher.drain())
    }

    @Test func targetOfALinkAppearsElsewhere() throws {
        try directory.folder("links")
        try directory.link("links/radio", to: "../devices/ttyUSB0")
        let watcher = try watcher("links/radio")
        try directory.folder("devices")
        #expect(try !watcher.drain())
        _ = try directory.file("devices/ttyUSB0")
        #expect(try watcher.drain())
    }

    @Test func linkToADirectoryIsFollowed() throws {
        try directory.folder("real")
        try directory.link("alias", to: "\(directory.path)/real")
        let watcher = try watcher("alias/./radio")
        _ = try directory.file("real/radio")
        #expect(try watcher.drain())
    }

    @Test func circleOfLinksIsToldOnceAndDoesNotHang() throws {
        try directory.link("a", to: "b")
        try directory.link("b", to: "a")
        let watcher = try watcher("a")
        #expect(try !watcher.drain())
        #expect(PathResolution(of: "\(directory.path)/a").end == .refused)
    }

    @Test func whatAPathMeansIsNamedWithoutLinks() throws {
        try directory.folder("real")
        let file = try directory.file("real/radio")
        try directory.link("alias", to: "real/../real")
        try directory.link("radio", to: "./alias/radio")
        #expect(PathResolution(of: "\(directory.path)/radio").target == file)
        #expect(PathResolution(of: "\(directory.path)/alias/../radio").target == file)
        #expect(PathResolution(of: "\(directory.path)/real/radio/below").target == nil)
        #expect(PathResolution(of: "\(directory.path)/nothing").target == nil)
    }

    @Test func openingAndClosingCausesNoEvent() throws {
        let radio = try PseudoTerminal()
        try directory.link("radio", to: radio.path)
        let watcher = try watcher("radio")
        for _ in 0..<3 {
            let port = try SerialPort(opening: "\(directory.path)/radio")
            #expect(port.write([1, 2, 3].span) == .written(3))
            #expect(radio.write([1, 2, 3].span) == .written(3))
            #expect(try received(3, read: port.read(into:)).count == 3)
            port.close()
        }
        // Other pseudo-terminals are made and removed in the same directory, so the descriptor itself may be readable.
        #expect(try !watcher.drain())
    }

    @Test func pseudoTerminalAppears() throws {
        let radio = try PseudoTerminal()
        let watcher = try watcher("radio")
        try directory.link("radio", to: radio.path)
        #expect(try watcher.drain())
    }

    private func isReadable(_ descriptor: Int32) -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&state, 1, 0) == 1
    }
}
