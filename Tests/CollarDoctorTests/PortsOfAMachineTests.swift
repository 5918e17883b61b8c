import CollarErrors
import Testing

@testable import CollarDoctor

/// Several radios at one machine, each with a fault of its own, and ports that a person names.
@Suite struct PortsOfAMachineTests {
    private func described(_ machine: ChangedMachine) -> [String] {
        machine.findings.map { "\($0.code.rawValue) \($0.port ?? "-")" }
    }

    private func twoRadios() throws -> ChangedMachine {
        let machine = try ChangedMachine()
        machine.addRadio()
        return machine
    }

    @Test func twoSoundRadiosAreSound() throws {
        let diagnosis = Doctor.diagnosis(of: try twoRadios())
        #expect(diagnosis.findings.isEmpty, "\(diagnosis.findings)")
        #expect(diagnosis.ports == ["/dev/ttyUSB0", "/dev/ttyUSB1"])
        #expect(diagnosis.text.map(\.text) == ["nothing to do: /dev/ttyUSB0, /dev/ttyUSB1 can be used"])
        #expect(diagnosis.exitCode == .clean)
    }

    /// A rule that was not applied explains why no radio is found. It does not explain why a named port is missing.
    @Test func aNamedPortThatIsMissingIsToldBesideWhatExplainsTheAbsenceOfOthers() throws {
        let machine = try ChangedMachine("rule-not-applied")
        #expect(described(machine) == ["rule_not_applied /dev/ttyUSB0"])
        machine.facts["named-ports"] = "/dev/ttyUSB7"
        #expect(described(machine) == ["rule_not_applied /dev/ttyUSB0", "no_device /dev/ttyUSB7"])
        machine.facts["named-ports"] = "/dev/ttyUSB7\n/dev/ttyUSB8"
        #expect(described(machine).suffix(2) == ["no_device /dev/ttyUSB7", "no_device /dev/ttyUSB8"])
    }

    @Test func aNamedPortThatIsMissingIsToldBesideAnAdapterThatBrlttyHasTaken() throws {
        let machine = try ChangedMachine("brltty")
        #expect(described(machine) == ["port_claimed -"])
        machine.facts["named-ports"] = "/dev/ttyUSB7"
        #expect(described(machine) == ["no_device /dev/ttyUSB7", "port_claimed -"])
    }

    @Test func eachRadioHasItsOwnFindings() throws {
        let machine = try twoRadios()
        machine.facts["holder /dev/ttyUSB0"] = "812 minicom"
        machine.facts["holder /dev/ttyUSB1"] = "813 screen"
        machine.files["/sys/devices/pci0000:00/0000:00:14.0/usb1/1-3/power/control"] = "auto\n"
        #expect(described(machine) == ["device_in_use /dev/ttyUSB0", "device_in_use /dev/ttyUSB1", "autosuspend /dev/ttyUSB1"])
        let evidence = machine.findings.prefix(2).map { $0.evidence.first?.place }
        #expect(evidence == ["process 812", "process 813"])
    }

    @Test func aFaultOfTheSecondRadioAloneIsToldOfIt() throws {
        let machine = try twoRadios()
        machine.facts["access /dev/ttyUSB1"] = "r"
        machine.facts["status /dev/ttyUSB1"] = "c 660 0 0 188:1 1795560000"
        #expect(machine.findings.map(\.port) == ["/dev/ttyUSB1"])
        #expect(machine.codes == [.permissionDenied])
    }

    /// A named port alone is examined; with `auto` the others are, too, and none twice.
    @Test(arguments: [
        (nil, ["/dev/ttyUSB0", "/dev/ttyUSB1"]), ("/dev/ttyUSB1", ["/dev/ttyUSB1"]), ("auto", ["/dev/ttyUSB0", "/dev/ttyUSB1"]),
        ("/dev/ttyUSB1\nauto", ["/dev/ttyUSB1", "/dev/ttyUSB0"]), ("tcp://barn:4001", []),
        ("tcp://barn:4001\nauto", ["/dev/ttyUSB0", "/dev/ttyUSB1"]),
    ] as [(String?, [String])])
    func theNamedPortsAreExamined(named: String?, ports: [String]) throws {
        let machine = try twoRadios()
        machine.facts["named-ports"] = named
        let diagnosis = Doctor.diagnosis(of: machine)
        #expect(diagnosis.ports == ports)
        #expect(diagnosis.findings.isEmpty, "\(diagnosis.findings)")
    }

    @Test func aPortMayBeNamedByALink() throws {
        let machine = try twoRadios()
        machine.links["/dev/radio"] = "ttyUSB1"
        machine.facts["named-ports"] = "/dev/radio\nauto"
        machine.facts["holder /dev/ttyUSB1"] = "813 screen"
        #expect(Doctor.diagnosis(of: machine).ports == ["/dev/radio", "/dev/ttyUSB0"])
        #expect(described(machine) == ["device_in_use /dev/radio"])
    }

    @Test func theReceiverItselfMayHoldItsPorts() throws {
        let machine = try twoRadios()
        machine.facts["holder /dev/ttyUSB0"] = "4711 collar-link"
        machine.facts["holder /dev/ttyUSB1"] = "4712 collar-link"
        #expect(described(machine) == ["device_in_use /dev/ttyUSB1"])
    }

    // MARK: The kernel's log

    private func log(_ lines: [(Int64, String)]) -> String {
        lines.map { "2026-11-25T02:00:00.000000+00:00 cat kernel: [\($0.0).123456] \($0.1)\n" }.joined()
    }

    /// The kernel of the machine has run for a day: 86,400 s.
    @Test func eachUSBDeviceIsCountedByItself() throws {
        let machine = try twoRadios()
        let loop = (0..<3).map { (Int64(83_000 + $0), "usb 1-3: USB disconnect, device number \($0)") }
        let others = [(84_000, "usb 1-2: USB disconnect, device number 9"), (84_001, "usb 1-2: device descriptor read/64, error -71")]
            as [(Int64, String)]
        machine.files["/var/log/kern.log"] = log(loop + others)
        #expect(described(machine) == ["disconnect_loop /dev/ttyUSB1", "usb_errors /dev/ttyUSB0"])
        machine.files["/var/log/kern.log"] = log(Array(loop.dropLast()) + others.prefix(1))
        #expect(described(machine) == [])
    }

    @Test(arguments: [(82_799, []), (82_800, [.disconnectLoop])] as [(Int64, [FindingCode])])
    func theMessagesOfTheLastHourCount(first: Int64, codes: [FindingCode]) throws {
        let machine = try ChangedMachine()
        machine.files["/var/log/kern.log"] = log([first, 83_000, 86_000].map { ($0, "usb 1-2: USB disconnect, device number 1") })
        #expect(machine.codes == codes)
    }

    /// A file of logs goes on over several starts of the machine.
    @Test func theMessagesOfAnEarlierKernelDoNotCount() throws {
        let start: (Int64, String) = (0, "Linux version 6.1.0-28-amd64")
        let loop = (0..<3).map { (Int64(5000 + $0), "usb 1-2: USB disconnect, device number \($0)") }
        let machine = try ChangedMachine()
        machine.files["/proc/uptime"] = "600.00 1000.00\n"
        for log in [[start] + loop + [start], loop + [start], [start] + loop + [start] + [start, (5, "usb 1-2: new device")]] {
            machine.files["/var/log/kern.log"] = self.log(log)
            #expect(machine.codes == [])
        }
        machine.files["/var/log/kern.log"] = log([start] + loop + [start] + loop.map { ($0.0 - 4900, $0.1) })
        #expect(machine.codes == [.disconnectLoop])
        machine.files["/var/log/kern.log"] = log(loop.map { ($0.0 - 4900, $0.1) })
        #expect(machine.codes == [.disconnectLoop], "a log without the start of a kernel")
    }

    @Test(arguments: [
        "error -71", "error -110", "error -32", "over-current condition", "USB cable is bad", "device not accepting address 5",
    ])
    func eachKindOfErrorIsToldOnceForADevice(text: String) throws {
        let machine = try ChangedMachine()
        let errors = [(83_000, "usb 1-2: old, error -71"), (83_001, "usb 1-2: \(text)"), (83_002, "usb 1-4: \(text)")] as [(Int64, String)]
        machine.files["/var/log/kern.log"] = log(errors)
        #expect(described(machine) == ["usb_errors /dev/ttyUSB0"])
        #expect(machine.findings.first?.evidence.first?.value == "usb 1-2: \(text)")
        machine.files["/var/log/kern.log"] = log([(83_001, "usb usb1: \(text)"), (83_002, "hub 1-2: \(text)"), (83_003, "usb 1-2: fine")])
        #expect(machine.codes == [])
    }

    @Test func bothFormsOfALogAreRead() {
        let kmsg = KernelLog(path: "/dev/kmsg", text: "6,1,0,-;Linux version 6\n6,2,98765432,-;usb 1-1: USB disconnect\n DEVICE=x\n")
        #expect(kmsg.messages.map(\.seconds) == [0, 98])
        #expect(kmsg.messages.last?.text == "usb 1-1: USB disconnect")
        let file = KernelLog(path: "/var/log/kern.log", text: log([(98, "usb 1-1: USB disconnect"), (3_700, "x")]) + "no time\n")
        #expect(file.messages.map(\.seconds) == [98, 3700])
        #expect(file.messages.first?.text == "usb 1-1: USB disconnect")
        #expect(file.recent(uptime: 3698).count == 2)
        #expect(file.recent(uptime: 3699).count == 1)
    }
}
