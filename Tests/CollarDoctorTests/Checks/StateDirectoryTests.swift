import CollarErrors
import Testing

@testable import CollarDoctor

/// Findings about the state directory: permissions, room, and directories that are lost at a restart.
@Suite struct StateDirectoryTests {
    private static let state = ChangedMachine.state
    private static let root = "24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"

    /// A machine whose state directory, two levels below /srv, is still to be made.
    private func unmade(srv: String = "d 755 1000 1000", access: String = "rwx") throws -> ChangedMachine {
        let machine = try ChangedMachine()
        machine.facts["state-directory"] = "/srv/a/b"
        machine.facts["status /srv"] = "\(srv) 0:0 1795560000"
        machine.facts["access /srv"] = access
        return machine
    }

    @Test func ofADirectoryThatIsNotMadeYetTheNearestOneAboveCounts() throws {
        let machine = try unmade()
        #expect(machine.codes == [])
        machine.facts["space /srv"] = "1000 1000 rw"
        machine.files["/proc/self/mountinfo"] = Self.root + "25 24 0:22 / /srv rw - tmpfs tmpfs rw\n"
        #expect(machine.codes == [.storageFailing, .stateVolatile])
        #expect(machine.findings.first?.evidence.first?.place == "/srv")
        #expect(try unmade(access: "rx").commands == ["sudo install -d -o alice -m 700 /srv/a/b"])
        // Others may write to a directory above it, such as /tmp.
        #expect(try unmade(srv: "d 1777 0 0").codes == [])
    }

    @Test func aFileOnTheWayIsNamed() throws {
        let machine = try unmade()
        machine.facts["status /srv/a"] = "f 644 1000 1000 0:0 1795560000"
        #expect(machine.codes == [.journalUnavailable])
        #expect(machine.commands == ["mv /srv/a /srv/a.old"])
    }

    @Test(arguments: [
        ("1000 alice", "755 1000", nil), ("1000 alice", "770 1000", "go-w"), ("1000 alice", "702 1000", "go-w"),
        ("1000 alice", "755 0", nil), ("1000 alice", "720 0", "go-w"), ("1000 alice", "755 1001", "bob"), ("1000 alice", "777 1001", "bob"),
        ("0 root", "755 1001", nil), ("0 root", "777 1001", "go-w"), ("0 root", "700 0", nil),
    ] as [(String, String, String?)])
    func aDirectoryIsOfItsUserOrOfRootAndNobodyElseWritesToIt(user: String, status: String, word: String?) throws {
        let machine = try ChangedMachine()
        machine.facts["user"] = user
        machine.facts["status \(Self.state)"] = "d \(status) 1000 0:0 1795560000"
        #expect(machine.codes == (word == nil ? [] : [.stateUnusable]))
        if let word { #expect(machine.commands.first??.contains(" \(word) ") == true, "\(machine.commands)") }
    }

    /// Of several faults of one directory, the first to fix is told alone.
    @Test func aDirectoryWhoseReceiverMovedAwayIsToldAsThat() throws {
        let machine = try ChangedMachine("receiver-moved")
        machine.facts["status \(Self.state)"] = "d 777 1001 1001 0:0 1795560000"
        machine.facts["space \(Self.state)"] = "0 0 ro"
        #expect(machine.codes == [.stateUnusable])
        #expect(machine.findings.first?.evidence == [Finding.Evidence("\(Self.state)/receiver", "retired 9a3f21c0")])
        machine.files["\(Self.state)/receiver"] = "9a3f21c0\n"
        #expect(machine.findings.first?.evidence.first?.place == Self.state)
    }

    @Test func aDiskThatIsReadOnlyIsNoMatterOfPermissions() throws {
        let machine = try ChangedMachine()
        machine.facts["access \(Self.state)"] = "rx"
        machine.facts["space \(Self.state)"] = "20000000000 1200000 ro"
        #expect(machine.commands == ["sudo mount -o remount,rw /"])
        machine.becomeRoot()
        #expect(machine.commands == ["mount -o remount,rw /"])
        machine.facts["space \(Self.state)"] = "0 0 rw"
        #expect(machine.codes == [.permissionDenied], "a full disk is told where the user may write")
    }

    @Test(arguments: [("rw", true), ("rx", true), ("wx", false), ("rwx", false), ("", true)])
    func storingNeedsWritingAndEntering(access: String, isTold: Bool) throws {
        let machine = try ChangedMachine()
        machine.facts["access \(Self.state)"] = access
        #expect(machine.codes == (isTold ? [.permissionDenied] : []))
    }

    @Test(arguments: [
        ("overlay", true, "docker", "container"), ("aufs", true, "docker", "container"), ("tmpfs", true, "docker", "memory"),
        ("overlay", false, "collar-link", "memory"), ("tmpfs", false, "collar-link", "memory"),
    ])
    func whatLosesTheDirectoryIsNamed(fileSystem: String, isContainer: Bool, program: String, word: String) throws {
        let machine = try ChangedMachine()
        machine.files["/proc/self/mountinfo"] = "24 1 0:50 / / rw - \(fileSystem) x rw\n"
        if isContainer { machine.files["/run/.containerenv"] = "" }
        #expect(machine.codes == [.stateVolatile])
        #expect(machine.commands.first??.hasPrefix("\(program) ") == true)
        #expect(machine.findings.first?.reason.contains(word) == true)
    }

    @Test func aLinkedDirectoryIsOnTheDiskToWhichTheLinkLeads() throws {
        let machine = try ChangedMachine()
        machine.links[Self.state] = "/mnt/stick/state"
        machine.files["/proc/self/mountinfo"] = Self.root + "25 24 0:22 / /mnt/stick rw - tmpfs tmpfs rw\n"
        #expect(machine.codes == [.stateVolatile])
        machine.files["/proc/self/mountinfo"] = Self.root + "25 24 0:22 / /home/alice rw - tmpfs tmpfs rw\n"
        #expect(machine.codes == [])
    }

    @Test(arguments: [
        (#"25 24 0:22 / /a\040b\011c\134d\012e\0 rw - ext4 x rw"#, "/a b\tc\\d\ne\\0 ext4"),
        ("25 24 0:22 / /a rw shared:1 master:2 - tmpfs x rw", "/a tmpfs"), ("25 24 0:22 / /a rw shared:1 tmpfs x rw", nil),
        ("25 24 0:22 / /a rw -", nil), ("25 24 0:22 / /a rw shared:1 -", nil), ("", nil),
    ] as [(String, String?)])
    func aLineOfAMountIsRead(line: String, expected: String?) {
        #expect(Mount(line[...]).map { "\($0.path) \($0.fileSystem)" } == expected)
    }
}
