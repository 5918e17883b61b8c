import LinuxSystem
import Testing

@testable import SerialDevices

/// What may be at the path of a link to a pseudo-terminal.
@Suite struct PortLinkPlaceTests {
    private let directory: TemporaryDirectory
    private let link: PortLink

    init() throws {
        directory = try TemporaryDirectory()
        link = PortLink(path: "\(directory.path)/collar")
    }

    private func names() -> [String] { SystemFiles.entries(of: directory.path) }

    @Test func anEmptyPlaceALinkToATerminalAndADeadLinkAreTaken() throws {
        for former in [nil, "/dev/pts/0", "/dev/pts/99999", "nothing"] {
            if let former { try directory.link("collar", to: former) }
            try link.point(to: "/dev/pts/7")
            #expect(SystemFiles.linkTarget(link.path) == "/dev/pts/7")
            #expect(names() == ["collar"], "no other file stays")
            link.remove(from: "/dev/pts/7")
            #expect(names() == [])
        }
    }

    @Test func anythingElseStays() throws {
        _ = try directory.file("collar")
        #expect(throws: PortLinkError.occupied(path: link.path)) { try link.point(to: "/dev/pts/7") }
        try directory.move("collar", to: "file")
        try directory.link("collar", to: "file")
        #expect(throws: PortLinkError.occupied(path: link.path)) { try link.point(to: "/dev/pts/7") }
        link.remove(from: "/dev/pts/7")
        #expect(SystemFiles.linkTarget(link.path) == "file")
        try directory.move("collar", to: "link")
        try directory.folder("collar")
        #expect(throws: PortLinkError.occupied(path: link.path)) { try link.point(to: "/dev/pts/7") }
        link.remove(from: "/dev/pts/7")
        #expect(names().sorted() == ["collar", "file", "link"])
    }

    @Test func aFolderThatIsMissingIsTold() {
        let link = PortLink(path: "\(directory.path)/nothing/collar")
        #expect(throws: PortLinkError.system(path: link.path, errno: 2)) { try link.point(to: "/dev/pts/7") }
        #expect(PortLinkError.system(path: "/x", errno: 2).description == "/x cannot be made a link: No such file or directory.")
        #expect(PortLinkError.system(path: "/x", errno: 2).remedy == nil)
        #expect(PortLinkError.occupied(path: "/x").remedy?.isEmpty == false)
    }
}
