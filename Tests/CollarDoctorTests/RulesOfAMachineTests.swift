import CollarErrors
import Testing

@testable import CollarDoctor

/// The clock of a machine, its udev rules, its receiver and what may open its ports, at both sides of each boundary.
@Suite struct RulesOfAMachineTests {
    private static let rule = "/etc/udev/rules.d/70-collar-link.rules"
    private static let usb = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-2"

    @Test(arguments: [
        (1_767_225_599_999, true), (1_767_225_600_000, false), (4_102_444_799_999, false), (4_102_444_800_000, true), (0, true),
    ] as [(Int64, Bool)])
    func theClockIsRightBetweenTheReleaseAndTheEndOfTheCentury(time: Int64, isWrong: Bool) throws {
        let machine = try ChangedMachine()
        machine.facts["time"] = "\(time)"
        #expect(machine.codes == (isWrong ? [.clockWrong] : []))
    }

    /// udev reads its files in the order of their names.
    @Test(arguments: [
        ("00-collar.rules", false), ("72-collar.rules", false), ("73-collar.rules", true), ("99-collar.rules", true),
        ("collar.rules", true),
    ])
    func theNumberOfTheRuleIsBelowThatOfTheSeats(name: String, isMisplaced: Bool) throws {
        let machine = try ChangedMachine()
        let text = try #require(machine.contentText(of: Self.rule))
        machine.files[Self.rule] = .some(nil)
        machine.files["/etc/udev/rules.d/\(name)"] = text
        #expect(machine.codes == (isMisplaced ? [.ruleMisplaced] : []))
    }

    @Test func eachPartOfTheRuleIsNeeded() throws {
        let text = try #require(try ChangedMachine().contentText(of: Self.rule))
        for part in RuleFiles.neededParts {
            let machine = try ChangedMachine()
            let lines = text.split(separator: "\n")
            machine.files[Self.rule] = lines.map { $0.contains(part) ? "# \($0)" : "\($0)" }.joined(separator: "\n") + "\n"
            #expect(machine.codes.contains(.ruleOutdated) || machine.codes.contains(.ruleMissing), "\(part)")
        }
        let machine = try ChangedMachine()
        machine.files[Self.rule] = "# text\n" + text + "\n# more\n"
        #expect(machine.codes == [])
    }

    /// Of files of one name the first directory counts, also if its file is empty.
    @Test func aRuleInAnotherDirectoryIsTheRuleUnlessAFileOfItsNameHidesIt() throws {
        let machine = try ChangedMachine()
        let text = try #require(machine.contentText(of: Self.rule))
        machine.files[Self.rule] = .some(nil)
        #expect(machine.codes == [.ruleMissing])
        machine.files["/usr/lib/udev/rules.d/70-collar-link.rules"] = text
        #expect(machine.codes == [])
        machine.files["/run/udev/rules.d/70-collar-link.rules"] = ""
        #expect(machine.codes == [.ruleMissing])
        let hiding = machine.findings.first?.evidence.filter { $0.value != "missing" }.map(\.place)
        #expect(hiding == ["/run/udev/rules.d/70-collar-link.rules"])
    }

    /// Two marked radios, of which udev has marked one.
    @Test func theRuleIsAppliedToEachRadio() throws {
        let machine = try ChangedMachine()
        machine.addRadio()
        let data = try #require(machine.contentText(of: "/run/udev/data/c188:1"))
        let unmarked = data.split(separator: "\n").filter { !$0.contains("COLLAR_LINK") }
        machine.files["/run/udev/data/c188:1"] = unmarked.joined(separator: "\n") + "\n"
        let findings = machine.findings
        #expect(findings.map(\.code) == [.ruleNotApplied])
        #expect(findings.first?.port == "/dev/ttyUSB1")
        #expect(Doctor.diagnosis(of: machine).ports == ["/dev/ttyUSB0"])
    }

    @Test func modemManagerIsToldForEachRadioThatItMayOpen() throws {
        let machine = try ChangedMachine()
        machine.addRadio()
        machine.facts["process ModemManager"] = "812"
        #expect(machine.codes == [])
        for number in [0, 1] {
            let path = "/run/udev/data/c188:\(number)"
            let data = try #require(machine.contentText(of: path))
            machine.files[path] = data.split(separator: "\n").filter { !$0.contains("ID_MM_") }.joined(separator: "\n") + "\n"
            #expect(machine.findings.map(\.port) == ["/dev/ttyUSB0", "/dev/ttyUSB1"].prefix(number + 1).map { $0 })
            #expect(machine.codes.allSatisfy { $0 == .portClaimed })
        }
        machine.facts["process ModemManager"] = .some(nil)
        #expect(machine.codes == [])
    }

    @Test(arguments: [
        ("auto", "2000", [.autosuspend]), ("auto", "0", [.autosuspend]), ("auto", "-1", []), ("on", "2000", []), ("on", "-1", []),
    ] as [(String, String, [FindingCode])])
    func aNegativeDelayTurnsTheSuspensionOff(control: String, delay: String, codes: [FindingCode]) throws {
        let machine = try ChangedMachine()
        machine.files["\(Self.usb)/power/control"] = control + "\n"
        machine.files["\(Self.usb)/power/autosuspend_delay_ms"] = delay + "\n"
        #expect(machine.codes == codes)
    }

    @Test(arguments: [(1, false), (2, true), (16, true), (255, true)])
    func theLatencyTimerMattersWhileTheReceiverHasThePort(milliseconds: Int, matters: Bool) throws {
        let machine = try ChangedMachine()
        machine.files["\(Self.usb)/1-2:1.0/ttyUSB0/latency_timer"] = "\(milliseconds)\n"
        #expect(machine.codes == [], "nobody has the port open")
        machine.facts["holder /dev/ttyUSB0"] = "4711 collar-link"
        #expect(machine.codes == (matters ? [.latencyTimer] : []))
    }

    @Test func aReceiverIsTheProcessOfTheLockThatHasTheNameOfTheProgram() throws {
        let machine = try ChangedMachine()
        machine.facts["receiver"] = ReceiverAnswer.silent
        machine.links["/proc/4711/exe"] = "/usr/bin/collar-link (deleted)"
        #expect(machine.codes == [], "another process has the number")
        machine.files["/proc/4711/comm"] = "collar-link\n"
        #expect(machine.codes == [.receiverSilent])
        #expect(machine.findings.first?.command?.text == "kill 4711")
        machine.files["/proc/4711/status"] = "Name:\tcollar-link\nState:\tT (stopped)\n"
        #expect(machine.findings.first?.command?.text == "kill -CONT 4711")
        machine.files["/proc/4711/status"] = "Name:\tcollar-link\nState:\tS (sleeping)\n"
        #expect(machine.findings.first?.command?.text == "kill 4711")
        machine.facts["receiver"] = .some(nil)
        #expect(machine.codes == [.receiverOutdated])
        machine.links["/proc/4711/exe"] = "/usr/bin/collar-link"
        #expect(machine.codes == [])
    }

    @Test(arguments: [
        ("1546", "01a8", true), ("239a", "0029", true), ("239a", "8029", false), ("303a", "0002", true), ("303a", "1001", false),
        ("10c4", "0029", false),
    ])
    func devicesThatAreCertainlyNoRadioAreNamed(vendor: String, product: String, isStranger: Bool) throws {
        let machine = try ChangedMachine()
        machine.files["\(Self.usb)/idVendor"] = vendor + "\n"
        machine.files["\(Self.usb)/idProduct"] = product + "\n"
        #expect(machine.codes.contains(.unknownRadio) == isStranger)
    }

    @Test(arguments: [
        ("tty0 ttyUSB0", true), ("ttyUSB0", true), ("tty0", false), ("ttyUSB00", false), ("tty0 ttyUSB1", false),
    ])
    func aConsoleIsOnThePortOfItsName(consoles: String, isOnPort: Bool) throws {
        let machine = try ChangedMachine()
        machine.files["/sys/class/tty/console/active"] = consoles + "\n"
        #expect(machine.codes == (isOnPort ? [.consoleOnPort] : []))
        machine.files["/sys/class/tty/console/active"] = "tty0\n"
        machine.links["/run/systemd/units/invocation:serial-getty@ttyUSB0.service"] = "0123"
        #expect(machine.codes == [.consoleOnPort])
    }
}
