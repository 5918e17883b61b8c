import CollarErrors
import Testing

@testable import CollarDoctor

/// Windows, containers, udev, and the files of udev's rules.
@Suite struct MachineFindingsTests {
    private static let release = "/proc/sys/kernel/osrelease"
    private static let marksOfContainers = ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"]

    private func withoutUdev(_ name: String = "sound") throws -> ChangedMachine {
        let machine = try ChangedMachine(name)
        machine.facts["status /run/udev/control"] = .some(nil)
        return machine
    }

    @Test(arguments: [
        (nil, ["wsl_without_usb -"]), ("auto", ["wsl_without_usb -"]), ("/dev/ttyUSB7", ["no_device /dev/ttyUSB7"]),
        ("tcp://barn:4001", []), ("tcp://barn:4001\nauto", []),
    ] as [(String?, [String])])
    func windowsMattersWhereARadioIsLookedFor(named: String?, found: [String]) throws {
        let machine = try ChangedMachine("wsl")
        machine.facts["named-ports"] = named
        #expect(machine.described == found)
    }

    @Test func windowsThatHasHandedOverAnAdapterIsNoFault() throws {
        for (name, codes) in [("sound", []), ("unmarked-adapter", [.noDevice])] as [(String, [FindingCode])] {
            let machine = try ChangedMachine(name)
            machine.files[Self.release] = "4.4.0-19041-Microsoft\n"
            #expect(machine.codes == codes, "\(name)")
        }
        let machine = try ChangedMachine("wsl")
        machine.files[Self.release] = "4.4.0-19041-Microsoft\n"
        #expect(machine.codes == [.noUSBInWindows])
        machine.files[Self.release] = "6.1.0-28-amd64\n"
        #expect(machine.codes == [.noDevice])
    }

    @Test func anotherNetworkMattersWhereUdevRunsAndItsSocketsAreKnown() throws {
        let machine = try ChangedMachine("network-namespace")
        #expect(machine.commands == ["nsenter --net=/proc/1/ns/net collar-link"])
        machine.files["/.dockerenv"] = ""
        #expect(machine.commands == ["docker run --network host -v /run/udev:/run/udev:ro …"])
        machine.remove("/proc/net/netlink")
        #expect(machine.codes == [])
        #expect(try withoutUdev("network-namespace").codes == [.udevNotRunning])
    }

    @Test(arguments: marksOfContainers) func eachMarkOfAContainerIsSeen(mark: String) throws {
        let machine = try withoutUdev()
        #expect(machine.commands.first??.hasPrefix("sudo systemctl start systemd-udevd && ") == true)
        #expect(machine.findings.first?.evidence.count == 1)
        machine.files[mark] = ""
        #expect(machine.findings.first?.evidence.map(\.place) == ["/run/udev/control", mark])
        #expect(machine.commands == ["docker run --network host -v /run/udev:/run/udev:ro …"])
        // The rules of the machine outside are not to be seen.
        machine.remove(ChangedMachine.rule)
        #expect(machine.codes == [.udevNotRunning])
    }

    @Test func aRuleThatIsOutdatedAndMisplacedIsToldOfBothWhereItIs() throws {
        let machine = try ChangedMachine()
        let text = try #require(machine.contentText(of: ChangedMachine.rule))
        let path = "/usr/lib/udev/rules.d/90-collar.rules"
        machine.remove(ChangedMachine.rule)
        machine.files[path] = text.replacing(#"TAG+="uaccess""#, with: "")
        #expect(machine.codes == [.ruleOutdated, .ruleMisplaced])
        #expect(machine.findings.first?.evidence == [Finding.Evidence(path, #"lacks TAG+="uaccess""#)])
        let own = machine.findings.map { $0.command?.text.split(separator: " && ").first }
        #expect(own == [
            "sudo cp hardware/udev/70-collar-link.rules \(path)", "sudo mv \(path) /usr/lib/udev/rules.d/70-collar-link.rules",
        ])
    }

    /// Without udevd no rule is applied, and that is the cause. Without a rule there is nothing to apply.
    @Test func aRuleIsNotAppliedOnlyWhereUdevRunsAndTheRuleIsThere() throws {
        #expect(try withoutUdev("rule-not-applied").codes == [.udevNotRunning, .noDevice])
        let machine = try ChangedMachine("rule-not-applied")
        machine.remove(ChangedMachine.rule)
        #expect(machine.codes == [.ruleMissing, .noDevice])
    }

    @Test func aMarkInACommentOrUnderAHidingFileIsNoMark() throws {
        let machine = try ChangedMachine("rule-not-applied")
        let text = try #require(machine.contentText(of: ChangedMachine.marks))
        #expect(machine.findings.first?.evidence.first?.place == ChangedMachine.marks)
        machine.files[ChangedMachine.marks] = text.split(separator: "\n").map { "#\($0)\n" }.joined()
        #expect(machine.codes == [.noDevice])
        machine.files[ChangedMachine.marks] = ""
        machine.files["/usr/lib/udev/rules.d/69-my-collar-link.rules"] = text
        #expect(machine.codes == [.noDevice])
        machine.remove(ChangedMachine.marks)
        #expect(machine.codes == [.ruleNotApplied])
    }

    @Test(arguments: [
        ("70-collar-link.rules", true), ("70-collar-link.rules.old", false), ("70-collar-link.rules~", false), ("71-other.rules", false),
        ("71-my-collars.rules", true),
    ])
    func aFileIsARuleByItsName(name: String, isRule: Bool) throws {
        let machine = try ChangedMachine()
        let text = try #require(machine.contentText(of: ChangedMachine.rule))
        machine.remove(ChangedMachine.rule)
        machine.files["/run/udev/rules.d/\(name)"] = text
        #expect(machine.codes == (isRule ? [] : [.ruleMissing]))
    }

    @Test func aRuleMayBeALinkToAnotherPlace() throws {
        let machine = try ChangedMachine()
        machine.files["/opt/collars/rules"] = machine.contentText(of: ChangedMachine.rule)
        machine.remove(ChangedMachine.rule)
        machine.links["/etc/udev/rules.d/71-collar.rules"] = "../../../opt/collars/rules"
        #expect(machine.codes == [])
    }
}
