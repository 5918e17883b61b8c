import Glibc
import LinuxSystem
import Testing

@testable import SerialDevices

/// What a path leads to, and by which links.
@Suite struct TerminalRouteTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    private func route(_ name: String) -> TerminalRoute { TerminalRoute(of: path(name)) }

    @Test func theRealPathHasNoLinks() throws {
        try directory.folder("real")
        let file = try directory.file("real/radio")
        try directory.link("alias", to: "real/../real")
        try directory.link("radio", to: "./alias/radio")
        #expect(DevicePath(path("radio")).target == file)
        #expect(DevicePath(path("alias/../radio")) == DevicePath(file))
        #expect(DevicePath(path("nothing")).target == path("nothing"))
        #expect(!route("radio").isNumber)
        #expect(route("real/radio").isNumber)
    }

    @Test func aCircleOfLinksEnds() throws {
        try directory.link("a", to: "b")
        try directory.link("b", to: "a")
        #expect(DevicePath(path("a")).target == path("a"))
        #expect(route("a") == route("a"))
    }

    /// Each link of a chain counts, not only the first.
    @Test(arguments: ["first", "second"])
    func aLinkThatIsMadeAgainIsAnother(name: String) throws {
        _ = try directory.file("radio")
        try directory.link("second", to: path("radio"))
        try directory.link("first", to: "second")
        let before = route("first")
        #expect(route("first") == before)
        try directory.link("new", to: name == "first" ? "second" : path("radio"))
        try directory.move("new", to: name)
        #expect(route("first") != before)
    }

    @Test func aRouteLeadsToANumber() throws {
        try directory.link("terminal", to: "/dev/pts/ptmx")
        _ = try directory.file("radio")
        #expect(TerminalRoute(toNumberAt: path("radio")) == nil)
        #expect((TerminalRoute(toNumberAt: path("terminal")) != nil) == (SystemFiles.realPath("/dev/pts/ptmx") != nil))
    }
}
