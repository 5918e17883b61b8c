import CollarErrors
import Testing

@testable import CollarDoctor

/// The mounts of a machine, the room on its disks, its keys, and what its receiver has reported.
@Suite struct StateOfAMachineTests {
    private static let root = "24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"

    private func mount(_ path: String, _ fileSystem: String = "tmpfs") -> String {
        "25 24 0:22 / \(path) rw,nosuid,nodev shared:2 - \(fileSystem) \(fileSystem) rw\n"
    }

    private func machine(mounts: String, state: String = ChangedMachine.state) throws -> ChangedMachine {
        let machine = try ChangedMachine()
        machine.files["/proc/self/mountinfo"] = Self.root + mounts
        if state != ChangedMachine.state {
            machine.facts["state-directory"] = state
            machine.facts["status \(state)"] = "d 700 1000 1000 0:0 1795560000"
            machine.facts["access \(state)"] = "rwx"
        }
        return machine
    }

    /// A mount has its own path and what is below it, not what begins with the same letters.
    @Test(arguments: [
        ("/home/al", ChangedMachine.state, false), ("/home/alice", ChangedMachine.state, true), ("/home", ChangedMachine.state, true),
        ("/home/alice/.local/state/collar-lin", ChangedMachine.state, false), (ChangedMachine.state, ChangedMachine.state, true),
        ("\(ChangedMachine.state)/keys", ChangedMachine.state, false), ("/srv/state", "/srv/state2", false),
        ("/srv/state", "/srv/state", true),
        ("/srv/state", "/srv/state/2", true),
    ])
    func aMountHoldsItselfAndWhatIsBelow(path: String, state: String, isHeld: Bool) throws {
        let machine = try machine(mounts: mount(path), state: state)
        #expect(machine.codes == (isHeld ? [.stateVolatile] : []))
        if isHeld { #expect(machine.findings.first?.evidence.first?.value == "\(path) is tmpfs") }
    }

    @Test func theLongestMountDecidesAndOfTwoAtOnePathTheLater() throws {
        let home = "/home/alice"
        #expect(try machine(mounts: mount("/home") + mount(home, "ext4")).codes == [])
        #expect(try machine(mounts: mount(home, "ext4") + mount("/home")).codes == [])
        #expect(try machine(mounts: mount("/home", "ext4") + mount(home)).codes == [.stateVolatile])
        #expect(try machine(mounts: mount(home) + mount(home, "ext4")).codes == [])
        #expect(try machine(mounts: mount(home, "ext4") + mount(home)).codes == [.stateVolatile])
    }

    @Test func aMountWithASpaceInItsPathIsFound() throws {
        let mounts = mount("/srv/my\\040collars")
        #expect(try machine(mounts: mounts, state: "/srv/my collars/state").codes == [.stateVolatile])
        #expect(try machine(mounts: mounts, state: "/srv/my").codes == [])
    }

    @Test(arguments: ["tmpfs", "ramfs", "overlay", "aufs"]) func fileSystemsThatLoseTheirFilesAreTold(name: String) throws {
        #expect(try machine(mounts: mount("/home", name)).codes == [.stateVolatile])
    }

    @Test(arguments: [("/home/al", "/"), ("/home", "/home"), ("/home/alice", "/home/alice")])
    func aDiskThatIsReadOnlyIsNamedByItsMount(path: String, named: String) throws {
        let machine = try machine(mounts: mount(path, "ext4"))
        machine.facts["space \(ChangedMachine.state)"] = "20000000000 1200000 ro"
        #expect(machine.codes == [.journalUnavailable])
        #expect(machine.findings.first?.command?.text == "sudo mount -o remount,rw \(named)")
        machine.facts["space \(ChangedMachine.state)"] = "1000 1200000 rw"
        #expect(machine.codes == [.storageFailing])
        #expect(machine.findings.first?.command?.text.hasPrefix("du -xah \(named) ") == true)
    }

    @Test(arguments: [
        ("1048575 1000 rw", .storageFailing), ("1048576 1000 rw", .diskNearlyFull), ("67108863 1000 rw", .diskNearlyFull),
        ("67108864 1000 rw", nil), ("67108864 0 rw", .storageFailing), ("67108864 1 rw", .diskNearlyFull),
        ("67108864 63 rw", .diskNearlyFull),
        ("67108864 64 rw", nil), ("67108864 - rw", nil), ("1048575 - rw", .storageFailing),
    ] as [(String, FindingCode?)])
    func theRoomOfBytesAndOfFilesHasItsLimits(space: String, code: FindingCode?) throws {
        let machine = try ChangedMachine()
        machine.facts["space \(ChangedMachine.state)"] = space
        #expect(machine.codes == [code].compactMap { $0 })
    }

    // MARK: Reports

    private func described(_ machine: ChangedMachine) -> [String] {
        machine.findings.map { "\($0.code.rawValue) \($0.port ?? "-") \($0.evidence.first?.value.split(separator: ",").last ?? "")" }
    }

    @Test func theSameReportOfSeveralCollarsAndPortsIsToldOfEach() throws {
        let machine = try ChangedMachine()
        let (one, two) = ("910a2dec89025cc1", "0000000000000007")
        machine.report([
            ("key_missing", "/dev/ttyUSB0", one, 30), ("key_missing", "/dev/ttyUSB0", two, 20), ("key_missing", "/dev/ttyUSB1", one, 10),
            ("key_missing", "/dev/ttyUSB0", one, 5), ("key_lost", nil, one, 4), ("key_lost", nil, two, 3),
        ])
        #expect(described(machine) == [
            "key_missing /dev/ttyUSB0  20 minutes ago", "key_missing /dev/ttyUSB1  10 minutes ago",
            "key_missing /dev/ttyUSB0  5 minutes ago",
            "key_lost -  4 minutes ago", "key_lost -  3 minutes ago",
        ])
    }

    @Test(arguments: [(60, true), (61, false), (0, true), (-1, false)] as [(Int64, Bool)])
    func aReportCountsForAnHour(minutes: Int64, counts: Bool) throws {
        let machine = try ChangedMachine()
        machine.report([("paired_elsewhere", nil, "910a2dec89025cc1", minutes)])
        #expect(machine.codes == (counts ? [.pairedElsewhere] : []))
    }

    @Test func aStickThatRestartsThreeTimesIsToldForEachPort() throws {
        let machine = try ChangedMachine()
        func restarts(_ port: String, _ count: Int) -> [(code: String, port: String?, collar: String?, minutesAgo: Int64)] {
            (0..<count).map { ("radio_restarted", port, nil, Int64(50 - $0)) }
        }
        machine.report(restarts("/dev/ttyUSB0", 2) + restarts("/dev/ttyUSB1", 2))
        #expect(machine.codes == [])
        machine.report(restarts("/dev/ttyUSB1", 4) + restarts("/dev/ttyUSB0", 3) + restarts("/dev/ttyUSB2", 2))
        #expect(described(machine) == [
            "radio_restarted /dev/ttyUSB0 radio_restarted × 3", "radio_restarted /dev/ttyUSB1 radio_restarted × 4",
        ])
    }

    @Test func theOpeningOfAPortEndsWhatWasReportedOfItBefore() throws {
        let machine = try ChangedMachine()
        let path = "\(ChangedMachine.state)/events/00000001.jsonl"
        machine.report([
            ("unknown_radio", "/dev/ttyUSB0", nil, 30), ("radio_restarted", "/dev/ttyUSB0", nil, 29),
            ("unknown_radio", "/dev/ttyUSB1", nil, 20),
        ])
        func opened(_ port: String) -> String { #"{"type":"link","unix_ms":1795567000000,"event":"opened","port":"\#(port)"}"# + "\n" }
        let log = machine.contentText(of: path) ?? ""
        #expect(machine.findings.map(\.port) == ["/dev/ttyUSB0", "/dev/ttyUSB1"])
        machine.files[path] = log + opened("/dev/ttyUSB0")
        #expect(machine.findings.map(\.port) == ["/dev/ttyUSB1"])
        machine.files[path] = log + opened("/dev/ttyUSB1")
        #expect(machine.findings.map(\.port) == ["/dev/ttyUSB0"])
        machine.files[path] = opened("/dev/ttyUSB0") + log
        #expect(machine.findings.count == 2)
        machine.files["\(ChangedMachine.state)/events/00000002.jsonl"] = opened("/dev/ttyUSB0") + opened("/dev/ttyUSB1")
        #expect(machine.codes == [], "a later file of the log")
    }

    // MARK: Keys

    @Test func eachKeyIsExaminedByItself() throws {
        let machine = try ChangedMachine()
        let folder = "\(ChangedMachine.state)/keys"
        let names = ["0000000000000001", "0000000000000002", "0000000000000003", "000000000000000A"]
        for (name, mode) in zip(names, ["640", "600", "602", "600"]) {
            machine.files["\(folder)/\(name)"] = "x"
            machine.facts["status \(folder)/\(name)"] = "f \(mode) 1000 1000 0:0 1795560000"
            machine.facts["access \(folder)/\(name)"] = "r"
        }
        machine.files["\(folder)/notes"] = "x"
        let places = machine.findings.map { $0.evidence.first?.place.split(separator: "/").last.map(String.init) }
        #expect(machine.codes == [.keyExposed, .keyExposed, .keyUnusable])
        #expect(places == [names[0], names[2], names[3]])
        machine.facts["access \(folder)/\(names[1])"] = ""
        #expect(machine.codes == [.keyExposed, .keyUnusable, .keyExposed, .keyUnusable])
    }

    // MARK: The order and the exit code

    @Test func whatDoesNotMatterComesLastAndTheFirstErrorHasTheExitCode() {
        func finding(_ code: FindingCode) -> Finding { Finding(code, "It is so.", evidence: []) }
        func exit(_ codes: FindingCode...) -> ExitCode {
            Diagnosis(findings: codes.map(finding), ports: [], unexamined: [], version: "1", kernel: nil).exitCode
        }
        #expect(exit() == .clean)
        #expect(exit(.usb3Noise, .serialMissing) == .clean)
        #expect(exit(.usb3Noise, .autosuspend) == .warnings)
        #expect(exit(.autosuspend, .keyExposed, .clockWrong) == .noPermission)
        #expect(exit(.autosuspend, .clockWrong, .keyExposed) == .configuration)
        #expect(exit(.keyExposed, .storageFailing) == .noPermission)
        #expect(exit(.storageFailing, .keyExposed) == FindingCode.storageFailing.exitCode)
        let counted = Diagnosis(
            findings: [.autosuspend, .clockWrong, .storageFailing, .usb3Noise].map(finding), ports: [], unexamined: ["the kernel's log"],
            version: "1", kernel: nil)
        #expect((counted.errorCount, counted.count(of: .warning), counted.count(of: .info)) == (2, 1, 1))
        #expect(counted.text.last?.text == "2 errors, 1 warning: fix them in this order, and run `collar-link doctor` again"
            + " (not examined, because this user may not: the kernel's log)")
    }
}
