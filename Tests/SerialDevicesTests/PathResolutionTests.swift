import Glibc
import Testing

@testable import LinuxSystem

/// What a path leads to, and by which links.
@Suite struct PathResolutionTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func resolution(_ name: String) -> PathResolution { PathResolution(of: "\(directory.path)/\(name)") }

    @Test func whatAPathMeansIsNamedWithoutLinks() throws {
        try directory.folder("real")
        let file = try directory.file("real/radio")
        try directory.link("alias", to: "real/../real")
        try directory.link("radio", to: "./alias/radio")
        #expect(resolution("radio").target == file)
        #expect(resolution("radio").links.count == 2)
        #expect(resolution("alias/../radio").target == file)
        #expect(resolution("alias").target == "\(directory.path)/real")
        #expect(resolution("real/radio/below").target == nil)
        #expect(resolution("real/radio/..").target == nil)
        #expect(resolution("nothing").target == nil)
    }

    @Test func aCircleOfLinksEnds() throws {
        try directory.link("a", to: "b")
        try directory.link("b", to: "a")
        #expect(resolution("a").target == nil)
        #expect(resolution("a").links.count > 40)
    }

    @Test func aLinkThatIsMadeAgainIsAnother() throws {
        _ = try directory.file("radio")
        try directory.link("link", to: "radio")
        let before = resolution("link").links
        #expect(resolution("link").links == before)
        try directory.link("new", to: "radio")
        try directory.move("new", to: "link")
        #expect(resolution("link").links != before)
    }
}
