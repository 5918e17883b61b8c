import CollarErrors
import Testing

@testable import CollarDoctor

/// Presence of a radio, the file at the path of a port, and the program that has it open.
@Suite struct PortPresenceTests {
    private static let node = "/home/alice/radio"

    private func named(_ path: String, _ status: String? = nil, access: String = "rw") throws -> ChangedMachine {
        let machine = try ChangedMachine()
        machine.facts["named-ports"] = path
        if let status {
            machine.facts["status \(path)"] = "\(status) 1795560000"
            machine.facts["access \(path)"] = access
        }
        return machine
    }

    @Test func eachAdapterThatIsNotMarkedIsNamedAndTheFirstInTheCommand() throws {
        let machine = try ChangedMachine()
        machine.addRadio()
        for device in ["188:0", "188:1"] { machine.setUdev(["COLLAR_LINK": nil], of: device) }
        machine.remove(ChangedMachine.marks)
        #expect(machine.described == ["no_device -"])
        #expect(machine.findings.first?.evidence.map(\.place) == ["/dev/ttyUSB0", "/dev/ttyUSB1"])
        #expect(machine.commands == ["sudo collar-link mark /dev/ttyUSB0"])
        let several = machine.findings.first?.remedy
        machine.remove("/sys/class/tty/ttyUSB0")
        #expect(machine.commands == ["sudo collar-link mark /dev/ttyUSB1"])
        #expect(machine.findings.first?.remedy != several, "with several adapters a person must choose")
        // A container cannot mark what udevd outside of it knows.
        machine.files["/.dockerenv"] = ""
        #expect(machine.commands == ["collar-link --port /dev/ttyUSB1"])
    }

    @Test(arguments: [
        ("c 666 0 0 1:3", "../../devices/virtual/mem/null", "not_a_serial_port", "no terminal"),
        ("c 666 0 0 5:9", "../../devices/virtual/misc/ttyprintk", "not_a_serial_port", "no terminal"),
        ("c 666 0 0 5:9", nil, "node_stale", "device 5:9"), ("c 666 0 0 5:9", "../../devices/virtual/tty/ttyX", nil, ""),
        ("d 755 1000 1000 0:0", nil, "not_a_serial_port", "a directory"),
        ("f 644 1000 1000 0:0", nil, "not_a_serial_port", "no character device"),
        ("o 644 1000 1000 0:0", nil, "not_a_serial_port", "no character device"),
    ] as [(String, String?, String?, String)])
    func whatIsAtTheNodeIsSaid(status: String, link: String?, code: String?, evidence: String) throws {
        let machine = try named(Self.node, status)
        let device = status.split(separator: " ").last ?? ""
        if let link { machine.links["/sys/dev/char/\(device)"] = link }
        #expect(machine.described == [code.map { "\($0) \(Self.node)" }].compactMap { $0 })
        if code != nil { #expect(machine.findings.first?.evidence.first == Finding.Evidence(Self.node, evidence)) }
    }

    @Test func aNodeThatIsMissingIsMadeByUdevAndInAContainerByItsStart() throws {
        let machine = try ChangedMachine()
        machine.facts["status /dev/ttyUSB0"] = .some(nil)
        machine.facts["access /dev/ttyUSB0"] = .some(nil)
        #expect(machine.described == ["node_missing /dev/ttyUSB0"])
        #expect(machine.commands == ["sudo udevadm trigger --action=add --subsystem-match=tty"])
        #expect(machine.findings.first?.evidence.count == 2 && machine.findings.first?.remedy == nil)
        machine.files["/run/.containerenv"] = ""
        #expect(machine.commands == ["docker run --device=/dev/ttyUSB0 …"])
        #expect(machine.findings.first?.evidence.last?.place == "/run/.containerenv" && machine.findings.first?.remedy != nil)
    }

    /// A directory that the user may not enter may hold the port, so doctor does not say that the port is missing.
    @Test func aPortFarBelowADirectoryThatMayNotBeEnteredIsNotSaidToBeMissing() throws {
        let machine = try named("/home/bob/a/b/radio")
        machine.facts["status /home/bob"] = "d 700 1001 1001 0:0 1795560000"
        machine.facts["access /home/bob"] = ""
        #expect(machine.described == ["permission_denied /home/bob/a/b/radio"])
    }

    /// Without a radio there is no directory of links to serial ports. Nothing refuses to be entered.
    @Test func aPortInADirectoryThatIsMissingIsMissing() throws {
        let machine = try named("/dev/serial/by-id/radio")
        for folder in ["/dev/serial/by-id", "/dev/serial"] {
            machine.facts["status \(folder)"] = .some(nil)
            machine.facts["access \(folder)"] = ""
        }
        #expect(machine.described == ["no_device /dev/serial/by-id/radio"])
    }

    @Test func aPseudoTerminalIsATerminalWithoutADevice() throws {
        let machine = try named("/dev/pts/3", "c 600 1001 5 136:3")
        #expect(machine.codes == [])
        machine.facts["holder /dev/pts/3"] = "812 minicom"
        #expect(machine.described == ["device_in_use /dev/pts/3"])
    }

    @Test func onlyAnotherReceiverIsNamedByItsStateDirectory() throws {
        let machine = try ChangedMachine()
        machine.facts["holder /dev/ttyUSB0"] = "812 minicom"
        #expect(machine.findings.map(\.remedy) == [nil])
        machine.facts["holder /dev/ttyUSB0"] = "812 collar-link"
        #expect(machine.findings.first?.remedy?.contains("--state-dir") == true)
        #expect(machine.findings.first?.evidence.first?.place == "process 812")
    }
}
