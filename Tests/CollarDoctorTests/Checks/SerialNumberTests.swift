import CollarErrors
import Testing

@testable import CollarDoctor

/// Whether the serial number of a radio's adapter tells it from others.
@Suite struct SerialNumberTests {
    private static let twin = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-3"

    @Test(arguments: [(nil, "none"), ("", "none"), ("0001", "0001"), ("123456789", "123456789"), ("7c*98", "7c*98")] as [(String?, String)])
    func aNumberThatIsNoneOrThatManyHaveIsTold(serial: String?, shown: String) throws {
        let machine = try ChangedMachine()
        machine.files["\(ChangedMachine.usb)/serial"] = .some(serial.map { $0 + "\n" })
        #expect(machine.described == ["serial_missing /dev/ttyUSB0"])
        #expect(machine.findings.first?.evidence == [Finding.Evidence("\(ChangedMachine.usb)/serial", shown)])
    }

    @Test func ofTwoRadiosWithOneNumberTheFirstThatIsUsedIsNamed() throws {
        let machine = try ChangedMachine("serials-equal")
        #expect(machine.described == ["serial_shared /dev/ttyUSB0"])
        machine.facts["named-ports"] = "/dev/ttyUSB1"
        #expect(machine.described == ["serial_shared /dev/ttyUSB1"])
        #expect(machine.findings.first?.evidence.map(\.place) == ["\(Self.twin)/serial", "/dev/ttyUSB0"])
        machine.facts["named-ports"] = "/dev/ttyUSB1\n/dev/ttyUSB0"
        #expect(machine.described == ["serial_shared /dev/ttyUSB1"])
    }

    @Test(arguments: ["idVendor", "idProduct"]) func adaptersOfDifferentKindsMayHaveTheSameNumber(name: String) throws {
        let machine = try ChangedMachine("serials-equal")
        machine.files["\(Self.twin)/\(name)"] = "ea61\n"
        #expect(machine.codes == [])
    }

    /// A number with characters of the shell or of a pattern does not become a part of a command.
    @Test(arguments: [("7c98", true), ("7c-98", false), ("7c/98", false), ("7c.98", false)])
    func theMarkIsRemovedByACommandWhereTheNumberIsPlain(serial: String, hasCommand: Bool) throws {
        let machine = try ChangedMachine("serials-equal")
        for path in [ChangedMachine.usb, Self.twin] { machine.files["\(path)/serial"] = serial + "\n" }
        machine.files[ChangedMachine.marks] = #"SUBSYSTEM=="tty", ATTRS{serial}=="\#(serial)", ENV{COLLAR_LINK}="1""# + "\n"
        #expect(machine.codes == [.serialShared])
        let start = machine.commands.first??.prefix(22)
        #expect(start == (hasCommand ? "sudo sed -i '/\"7c98\"/d" : nil))
        machine.files[ChangedMachine.marks] = #"# ATTRS{serial}=="\#(serial)""# + "\n"
        #expect(machine.commands == [nil], "there is no mark by the number")
    }
}
