import CollarErrors
import Testing

@testable import CollarDoctor

/// The configuration of radios: which stick needs a region, and which line is wrong.
@Suite struct ConfigurationFindingsTests {
    private static let sticks = "\(ChangedMachine.state)/sticks"
    private static let (own, shared) = ("/home/alice/.config/collar-link/config", "/etc/collar-link/config")
    private static let stick = "usb 10c4 ea60 7c98a1f3 00"

    private func machine(sticks: String, own: String?, shared: String? = nil) throws -> ChangedMachine {
        let machine = try ChangedMachine()
        machine.files[Self.sticks] = sticks
        machine.files[Self.own] = .some(own)
        machine.files[Self.shared] = .some(shared)
        return machine
    }

    /// Found before or configured, the dialect decides; what is configured goes first, and of what was found the last.
    @Test(arguments: [
        ("kiss \(stick)\n", "", sticks, "kiss"), ("rui3 \(stick)\n", "", sticks, "rui3"), ("serial \(stick)\n", "", nil, nil),
        ("kiss \(stick)\nserial \(stick)\n", "", nil, nil), ("serial \(stick)\nrnode \(stick)\n", "", sticks, "rnode"),
        ("kiss usb 10c4 ea60 other 00\n", "", nil, nil), ("", "dialect = rnode\n", "configuration", "rnode"), ("", "", nil, nil),
        ("kiss \(stick)\n", "dialect = rnode\n", "configuration", "rnode"), ("kiss \(stick)\n", "dialect = serial\n", nil, nil),
        ("kiss \(stick)\n", "region = EU868\n", nil, nil), ("kiss \(stick)\n", "[stick serial=7c98a1f3]\nregion = EU868\n", nil, nil),
        ("kiss \(stick)\n", "[stick id-path=pci-0000:00:14.0-usb-0:2:1.0]\nregion = EU868\n", nil, nil),
        ("kiss \(stick)\n", "[stick path=/dev/ttyUSB0]\nregion = EU868\n", nil, nil),
        ("kiss \(stick)\n", "[stick serial=other]\nregion = EU868\n", sticks, "kiss"),
    ] as [(String, String, String?, String?)])
    func aStickWithFirmwareNeedsARegion(sticks: String, configuration: String, place: String?, dialect: String?) throws {
        let machine = try machine(sticks: sticks, own: configuration)
        #expect(machine.findings.map(\.code) == (place == nil ? [] : [.regionMissing]))
        #expect(machine.findings.first?.evidence.first?.place == place)
        #expect(machine.findings.first?.evidence.first?.value == dialect)
    }

    @Test func aRegionOfTheCommandLineOrOfTheSecondFileIsARegion() throws {
        let machine = try machine(sticks: "kiss \(Self.stick)\n", own: nil)
        #expect(machine.codes == [.regionMissing])
        machine.facts["radio-options"] = "dialect kiss\nregion EU868"
        #expect(machine.codes == [])
        machine.facts["radio-options"] = nil
        machine.files[Self.shared] = "region = EU868\n"
        #expect(machine.codes == [])
    }

    @Test func ofTwoSticksTheOneWithoutARegionIsTold() throws {
        let machine = try machine(
            sticks: "kiss \(Self.stick)\nkiss usb 10c4 ea60 5b21aa07 00\n", own: "[stick serial=7c98a1f3]\nregion = EU868\n")
        machine.addRadio()
        #expect(machine.described == ["region_missing /dev/ttyUSB1"])
        machine.files[Self.own] = "[stick serial=5b21aa07]\nregion = EU868\n"
        #expect(machine.described == ["region_missing /dev/ttyUSB0"])
        machine.files[Self.own] = ""
        #expect(machine.described == ["region_missing /dev/ttyUSB0", "region_missing /dev/ttyUSB1"])
    }

    /// The command writes the file of the highest precedence, also if that does not exist yet.
    @Test func theRegionIsAddedToTheFirstFile() throws {
        let machine = try machine(sticks: "kiss \(Self.stick)\n", own: nil, shared: "# nothing\n")
        #expect(machine.commands.first??.hasPrefix("mkdir -p /home/alice/.config/collar-link && echo ") == true)
        machine.files[Self.own] = ""
        #expect(machine.commands.first??.contains("cat \(Self.own) ") == true)
        machine.facts["configuration-files"] = Self.shared
        #expect(machine.commands.first??.contains("cat \(Self.shared) ") == true)
        machine.facts["configuration-files"] = .some(nil)
        #expect(machine.commands == [nil])
        #expect(machine.findings.first?.evidence.last == Finding.Evidence("configuration files", "none"))
    }

    @Test func aWrongLineIsToldOfTheFileThatHasIt() throws {
        let machine = try machine(sticks: "", own: "region = EU868\n", shared: "# text\n\npower = 3\n")
        #expect(machine.commands == ["${EDITOR:-nano} +3 \(Self.shared)"])
        #expect(machine.findings.first?.evidence == [Finding.Evidence(Self.shared, "line 3")])
        machine.files[Self.own] = "region = XX\n"
        #expect(machine.commands == ["${EDITOR:-nano} +1 \(Self.own)"], "the file of the highest precedence")
        machine.facts["radio-options"] = "dialect kiss\nregion XX"
        #expect(machine.codes == [.configurationWrong] && machine.commands == [nil], "the command line")
    }
}
