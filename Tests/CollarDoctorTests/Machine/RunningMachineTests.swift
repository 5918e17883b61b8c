import FoundationEssentials
import Glibc
import LinuxSystem
import Testing

@testable import CollarDoctor

/// The facts of the machine on which the program runs, at files that the test makes.
@Suite final class RunningMachineTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "machine-\(UUID().uuidString)").path
    private let machine = RunningMachine(known: [:])

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch {}
    }

    private func make(_ name: String, _ text: String = "text\n", mode: mode_t = 0o600) throws -> String {
        let path = "\(folder)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
        try #require(unsafe chmod(path, mode) == 0)
        return path
    }

    @Test func theContentOfAFileIsWholeAndThatOfNoFileIsAbsent() throws {
        let text = String(repeating: "0123456789\n", count: 5000)
        let path = try make("long", text)
        #expect(machine.contentText(of: path) == text)
        #expect(machine.firstLine(of: path) == "0123456789")
        #expect(machine.content(of: "\(path)/below") == .absent)
        #expect(machine.content(of: "\(folder)/none") == .absent)
        #expect(machine.content(of: folder) == .refused)
        #expect(machine.content(of: try make("empty", "")) == .bytes([]))
        // A pipe without a writer is at its end.
        try #require(unsafe mkfifo("\(folder)/pipe", 0o600) == 0)
        #expect(machine.content(of: "\(folder)/pipe") == .bytes([]))
    }

    @Test(arguments: [(1 << 20, 0), ((1 << 20) + 1, 1)]) func ofALongFileTheLastMegabyteIsRead(size: Int, lost: Int) throws {
        let path = try make("long", "ab" + String(repeating: "c", count: size - 2))
        guard case .bytes(let bytes) = machine.content(of: path) else {
            Issue.record("the file is not read")
            return
        }
        #expect(bytes.count == 1 << 20)
        #expect(bytes.first == Array("ab".utf8)[lost])
    }

    @Test func theStatusOfAFileHasItsKindAndNumbers() throws {
        let path = try make("file", mode: 0o4640)
        let times = [timeval(tv_sec: 1_000, tv_usec: 0), timeval(tv_sec: 2_000, tv_usec: 900_000)]
        try #require(unsafe utimes(path, times) == 0)
        let found = try #require(SystemFiles.status(of: path))
        #expect(machine.text(of: .status(path)) == "f 4640 \(found.st_uid) \(found.st_gid) 0:0 2000")
        try #require(unsafe symlink("file", "\(folder)/link") == 0 && mkfifo("\(folder)/pipe", 0o600) == 0)
        let kinds = ["link", "pipe", "."].map { machine.status(of: "\(folder)/\($0)")?.kind }
        #expect(kinds == [.regularFile, .other, .directory])
        #expect(machine.linkTarget(of: "\(folder)/link") == "file" && machine.linkTarget(of: path) == nil)
        #expect(machine.status(of: "\(folder)/none") == nil)
        #expect(machine.status(of: "/dev/full")?.device == "1:7")
    }

    @Test func theRightsOfTheUserAreThoseOfTheMode() throws {
        #expect(machine.text(of: .access(try make("data", mode: 0o600))) == "rw")
        #expect(machine.text(of: .access(try make("program", mode: 0o700))) == "rwx")
        #expect(machine.text(of: .access("\(folder)/none")) == "")
    }

    @Test func theNamesOfADirectoryAreInTheirOrder() throws {
        for name in ["b", "a", "c"] { _ = try make(name) }
        #expect(machine.names(in: folder) == ["a", "b", "c"])
        #expect(machine.names(in: "\(folder)/none") == [])
    }

    @Test func theRoomOfADiskIsThatForTheUser() throws {
        // A file system without a limit of files, on which nothing can be stored.
        let none = try #require(machine.space(at: "/proc"))
        #expect((none.freeByteCount, none.freeFileCount) == (0, nil))
        #expect(machine.space(at: "\(folder)/none") == nil)
        let own = try #require(machine.space(at: folder))
        #expect(own.freeByteCount > 0 && !own.isReadOnly)
    }

    @Test func whatTheProgramKnowsIsPassedOn() {
        let facts: [MachineFact] = [.version, .stateDirectory, .configurationFiles, .namedPorts, .radioOptions, .receiver]
        let known = Dictionary(uniqueKeysWithValues: facts.map { ($0, "text of \($0.key)") })
        #expect(facts.map { RunningMachine(known: known).text(of: $0) } == facts.map { "text of \($0.key)" })
        #expect(facts.compactMap { machine.text(of: $0) } == [])
    }

    @Test func theUserAndTheGroupsAreThoseOfTheProcess() {
        func list(_ ids: [UInt32]) -> String { ids.map { String($0) }.joined(separator: " ") }
        #expect(machine.text(of: .user) == "\(geteuid()) \(UserDatabase.userName(geteuid()))")
        #expect(machine.text(of: .groups) == list(UserDatabase.processGroups()))
        #expect(machine.text(of: .sessionGroups) == list(UserDatabase.groups(of: geteuid())))
        #expect(machine.text(of: .userName(0)) == "root" && machine.text(of: .groupName(0)) == "root")
        #expect(machine.text(of: .environment("COLLAR_LINK_NO_SUCH_VARIABLE")) == nil)
    }

    /// The kernel keeps the first 15 bytes of a name.
    @Test func aProcessIsFoundByALongName() throws {
        let kept = try #require(machine.firstLine(of: "/proc/self/comm"))
        try #require(kept.utf8.count == 15, "the test program has a long name")
        let found = try #require(machine.text(of: .process("\(kept)-and-more")))
        #expect(machine.firstLine(of: "/proc/\(found)/comm") == kept)
        #expect(machine.text(of: .process(String(kept.dropLast()))) == nil)
    }
}
