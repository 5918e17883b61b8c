import FoundationEssentials
import Testing

@testable import CollarDoctor

/// Machines that were recorded in directories: their values, their bases, and what a recorder keeps.
@Suite final class RecordedMachineTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "machines-\(UUID().uuidString)").path

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch {}
    }

    private func make(_ name: String, facts: String, files: [String: String] = [:]) throws {
        for (path, text) in files.merging(["/facts": facts], uniquingKeysWith: { first, _ in first }) {
            let file = URL(filePath: "\(folder)/\(name)\(path)")
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
    }

    private func load(_ name: String) throws -> RecordedMachine { try RecordedMachine(directory: "\(folder)/\(name)") }

    @Test(arguments: [
        ("time = soon", false), ("time = 1795567200000", true), ("status /a = c 660", false), ("status /a =", true), ("space / = 1", false),
        ("space / = 1 - rw", true), ("holder /a = 0 init", false), ("holder /a = 1 init", true), ("user = ", true), ("times = soon", true),
    ])
    func aFactHasAValueOfItsKind(line: String, isPossible: Bool) throws {
        try make("a", facts: "# text\n\n\(line)\n")
        if isPossible {
            #expect(try load("a").names(in: "/").contains("facts"))
        } else {
            #expect(throws: RecordedMachine.LoadError.wrongValue(path: "\(folder)/a/facts", line: 3)) { try load("a") }
        }
    }

    @Test func aBaseMayHaveABase() throws {
        try make("one", facts: "base = two\nversion = 1\nabsent /etc =\n")
        try make("two", facts: "base = three\nversion = 2\nuser = 2 bob\nentry /etc/x =\nlink /l = /two\nstatus /etc/x = d 755 0 0 0:0 2\n")
        try make(
            "three", facts: "user = 3 root\ntime = 3\nstatus /run = d 755 0 0 0:0 3\n",
            files: ["/etc/a": "three\n", "/run/b": "three\n"])
        let machine = try load("one")
        #expect([MachineFact.version, .user, .time].map { machine.text(of: $0) } == ["1", "2 bob", "3"])
        #expect((machine.linkTarget(of: "/l"), machine.firstLine(of: "/run/b")) == ("/two", "three"))
        #expect((machine.status(of: "/run")?.changedUnixSeconds, machine.status(of: "/etc/x")) == (3, nil))
        #expect((machine.content(of: "/etc/a"), machine.names(in: "/etc")) == (.absent, []))
        #expect(try load("two").names(in: "/etc") == ["a", "x"])
    }

    /// A fact of the machine itself counts although it records the directory of its base as absent.
    @Test func aPathBelowAnAbsentDirectoryMayBeSaidAgain() throws {
        try make("base", facts: "link /dev/a = b\nlink /dev/c = d\n", files: ["/etc/a": "old\n", "/etcetera": "old\n"])
        try make("top", facts: "base = base\nabsent /dev =\nabsent /etc =\nlink /dev/c = e\n", files: ["/etc/b": "new\n"])
        let machine = try load("top")
        #expect(["/dev/a", "/dev/c"].map { machine.linkTarget(of: $0) } == [nil, "e"])
        #expect((machine.names(in: "/dev"), machine.names(in: "/etc")) == (["c"], ["b"]))
        #expect(["/etc/a", "/etc/b", "/etcetera"].map { machine.firstLine(of: $0) } == [nil, "new", "old"])
    }

    @Test func theRoomOfADirectoryIsThatOfTheNearestOneAbove() throws {
        try make("base", facts: "space / = 1 - rw\nspace /srv = 2 - rw\n")
        try make("top", facts: "base = base\nspace /srv/a = 3 - rw\n")
        let machine = try load("top")
        let paths = ["/", "/home", "/srv", "/srv/b/c", "/srv/a", "/srv/a/b", "/srvx"]
        #expect(paths.map { machine.space(at: $0)?.freeByteCount } == [1, 1, 2, 2, 3, 3, 1])
    }

    /// A recorder keeps what was asked for, and of a file the lines that are meant to be kept.
    @Test func aRecorderKeepsWhatWasAskedFor() throws {
        let machine = try ChangedMachine()
        machine.files["/a/b"] = "keep\ndrop\nkeep too"
        machine.facts["named-ports"] = "/dev/a = 1\n/dev/100%"
        machine.links["/l"] = "a=b"
        let recorder = MachineRecorder(machine) { path, line in path != "/a/b" || !line.elementsEqual("drop".utf8) }
        #expect(recorder.contentText(of: "/a/b") == "keep\ndrop\nkeep too")
        #expect(recorder.content(of: "/dev/kmsg") == .refused && recorder.content(of: "/none") == .absent)
        _ = (recorder.text(of: .namedPorts), recorder.text(of: .status("/dev/ttyS0")), recorder.linkTarget(of: "/l"))
        _ = (recorder.names(in: "/sys/bus/usb/devices"), recorder.firstLine(of: "/proc/uptime"))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try recorder.write(to: "\(folder)/copy")
        let copy = try load("copy")
        #expect(copy.contentText(of: "/a/b") == "keep\nkeep too")
        #expect((copy.content(of: "/dev/kmsg"), copy.content(of: "/none")) == (.refused, .absent))
        #expect((copy.text(of: .namedPorts), copy.linkTarget(of: "/l")) == ("/dev/a = 1\n/dev/100%", "a=b"))
        #expect((copy.names(in: "/sys/bus/usb/devices"), copy.text(of: .status("/dev/ttyUSB0"))) == (["1-2"], nil))
    }
}
