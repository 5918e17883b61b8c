import CollarErrors
import Testing

@testable import CollarDoctor

/// Permissions of ports, and confinement of the program by snap or AppArmor.
@Suite struct PortPermissionTests {
    /// An access list lets the user open the port in each of these cases.
    @Test(arguments: [
        ("1000 alice", "1000 20", "660 0 20", false), ("1000 alice", "1000", "660 0 20", true), ("1000 alice", "1000 20", "640 0 20", true),
        ("1000 alice", "1000 20", "620 0 20", true), ("1000 alice", "1000 20", "606 0 20", true), ("1000 alice", "1000", "606 0 20", false),
        ("1000 alice", "1000", "664 0 20", true), ("1000 alice", "1000", "600 1000 20", false),
        ("1000 alice", "1000 20", "466 1000 20", true),
        ("1000 alice", "1000", "660 0 0", false), ("0 root", "0", "600 1001 20", false),
    ])
    func theModeDecidesWhoMayOpenThePortAwayFromTheSeat(user: String, groups: String, status: String, isTold: Bool) throws {
        let machine = try ChangedMachine()
        (machine.facts["user"], machine.facts["groups"]) = (user, groups)
        machine.facts["status /dev/ttyUSB0"] = "c \(status) 188:0 1795560000"
        #expect(machine.commands == (isTold ? ["sudo usermod -aG dialout alice"] : []))
        #expect(machine.codes == (isTold ? [.onlyWhileSeated] : []))
    }

    @Test(arguments: ["", "r", "w", "rx", "wx"]) func aPortIsForReadingAndWriting(access: String) throws {
        let machine = try ChangedMachine()
        machine.facts["access /dev/ttyUSB0"] = access
        #expect(machine.described == ["permission_denied /dev/ttyUSB0"])
    }

    /// If the command is the whole remedy, no sentence is added to it.
    @Test(arguments: [
        ("only-root", false), ("owner-excluded", false), ("directory-refused", false), ("permissions-not-set-yet", false),
        ("not-in-group", true), ("mode-by-hand", true), ("not-logged-in-again", true),
    ])
    func theRemedyIsThatOfTheObstacle(name: String, hasRemedy: Bool) throws {
        let findings = try ChangedMachine(name).findings
        #expect(findings.map(\.code) == [.permissionDenied])
        #expect(findings.map { $0.remedy != nil } == [hasRemedy])
    }

    @Test func theEvidenceHasTheNamesOfUsersAndGroups() throws {
        let machine = try ChangedMachine("not-in-group")
        let own = Finding.Evidence("groups of alice", "alice")
        #expect(machine.findings.first?.evidence == [Finding.Evidence("/dev/ttyUSB0", "mode 660, owner root, group dialout"), own])
        machine.facts["group-name 20"] = .some(nil)
        machine.facts["groups"] = "1000 1001"
        #expect(machine.findings.first?.evidence == [
            Finding.Evidence("/dev/ttyUSB0", "mode 660, owner root, group 20"), Finding.Evidence("groups of alice", "alice 1001"),
        ])
        #expect(machine.commands == ["sudo usermod -aG 20 alice"])
    }

    // MARK: Confinement

    @Test(arguments: [
        ("collar-link", "snap.collar-link.collar-link (enforce)", true), (nil, "snap.collar-link.collar-link (enforce)", false),
        ("collar-link", "unconfined", false), ("collar-link", nil, false),
    ] as [(String?, String?, Bool)])
    func snapConfinesAProgramWithItsNameAndItsProfile(name: String?, profile: String?, isTold: Bool) throws {
        let machine = try ChangedMachine()
        machine.facts["environment SNAP_NAME"] = name
        machine.files["/proc/self/attr/current"] = .some(profile.map { $0 + "\n" })
        #expect(machine.codes == (isTold ? [.confined] : []))
    }

    private static let denied = #"apparmor="DENIED" profile="/usr/bin/collar-link" comm="collar-link""#

    @Test(arguments: [
        (86_000, denied, true), (82_800, denied, true), (82_799, denied, false),
        (86_000, #"apparmor="ALLOWED" profile="/usr/bin/collar-link" comm="collar-link""#, false),
        (86_000, #"apparmor="DENIED" profile="/usr/bin/cat" comm="cat""#, false),
    ] as [(Int64, String, Bool)])
    func aDenialOfTheLastHourThatIsOfThisProgramCounts(time: Int64, text: String, isTold: Bool) throws {
        let machine = try ChangedMachine()
        machine.log([(time, text)])
        #expect(machine.commands == (isTold ? ["sudo aa-complain /usr/bin/collar-link"] : []))
    }

    @Test func ofSeveralDenialsTheLastIsShownAndItsProfileIsOptional() throws {
        let machine = try ChangedMachine()
        let last = #"apparmor="DENIED" profile="/opt/collar-link" comm="collar-link""#
        let others = #"apparmor="DENIED" profile="/usr/bin/cat" comm="cat""#
        machine.log([(86_000, Self.denied), (86_001, last), (86_002, others)])
        #expect(machine.commands == ["sudo aa-complain /opt/collar-link"])
        #expect(machine.findings.first?.evidence == [Finding.Evidence(ChangedMachine.kernelLog, last)])
        machine.log([(86_000, #"apparmor="DENIED" comm="collar-link""#)])
        #expect(machine.codes == [.confined] && machine.commands == [nil])
    }
}
