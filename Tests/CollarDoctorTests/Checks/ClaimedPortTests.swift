import CollarErrors
import Testing

@testable import CollarDoctor

/// Programs and devices that take a radio's port: ModemManager, gpsd, brltty, a console, and boards that are no radio.
@Suite struct ClaimedPortTests {
    private func withModemManager(_ name: String = "sound") throws -> ChangedMachine {
        let machine = try ChangedMachine(name)
        machine.facts["process ModemManager"] = "812"
        return machine
    }

    @Test(arguments: [
        ("1", nil, false), (nil, "1", false), ("0", "1", false), ("0", "0", true), (nil, nil, true),
    ] as [(String?, String?, Bool)])
    func eitherMarkKeepsModemManagerAway(device: String?, port: String?, isTold: Bool) throws {
        let machine = try withModemManager()
        machine.setUdev(["ID_MM_DEVICE_IGNORE": device, "ID_MM_PORT_IGNORE": port])
        #expect(machine.codes == (isTold ? [.portClaimed] : []))
    }

    @Test func modemManagerLeavesAPortAloneThatIsNoUSBDevice() throws {
        let machine = try withModemManager()
        machine.facts["named-ports"] = "/dev/ttyS0"
        #expect(machine.codes == [])
    }

    @Test(arguments: [("gpsdctl@ttyUSB0.service", true), ("other.service gpsd.socket", true), ("other.service", false), ("", false)])
    func gpsdIsStartedByAPropertyThatNamesIt(wanted: String, isTold: Bool) throws {
        let machine = try ChangedMachine()
        machine.setUdev(["SYSTEMD_WANTS": wanted])
        #expect(machine.codes == (isTold ? [.portClaimed] : []))
    }

    @Test func twoProgramsMayClaimOnePort() throws {
        let machine = try withModemManager("gpsd")
        machine.setUdev(["ID_MM_DEVICE_IGNORE": nil, "ID_MM_PORT_IGNORE": nil])
        #expect(machine.described == ["port_claimed /dev/ttyUSB0", "port_claimed /dev/ttyUSB0"])
        #expect(machine.findings.map { $0.reason.prefix(4) } == ["Mode", "gpsd"])
    }

    /// The rule keeps programs from marked radios only, so a named port is marked first.
    @Test func aNamedPortThatIsNotMarkedIsToBeMarked() throws {
        let machine = try withModemManager("unmarked-adapter")
        machine.facts["named-ports"] = "/dev/ttyUSB0"
        #expect(machine.commands == ["sudo collar-link mark /dev/ttyUSB0"])
        let marked = try ChangedMachine("gpsd")
        #expect(marked.commands.first??.hasPrefix("sudo cp hardware/udev/") == true)
    }

    // MARK: brltty

    private static let brltty = "/usr/lib/udev/rules.d/85-brltty.rules"

    @Test(arguments: [
        ("10c4", "ea60", #"ENV{PRODUCT}=="10c4/ea60/*", ENV{BRLTTY_BRAILLE_DRIVER}="sk""#, true),
        ("0403", "0012", #"ENV{PRODUCT}=="403/12/*", ENV{BRLTTY_BRAILLE_DRIVER}="sk""#, true),
        ("10c4", "ea60", #"ENV{PRODUCT}=="110c4/ea60/*", ENV{BRLTTY_BRAILLE_DRIVER}="sk""#, false),
        ("10c4", "ea60", #"ENV{PRODUCT}=="10c4/ea600/*", ENV{BRLTTY_BRAILLE_DRIVER}="sk""#, false),
        ("10c4", "ea60", #"# ENV{PRODUCT}=="10c4/ea60/*", ENV{BRLTTY_BRAILLE_DRIVER}="sk""#, false),
        ("10c4", "ea60", #"ENV{PRODUCT}=="10c4/ea60/*", GOTO="end""#, false),
    ])
    func brlttyTakesAdaptersWithTheNumbersOfItsRules(vendor: String, product: String, line: String, isTold: Bool) throws {
        let machine = try ChangedMachine()
        machine.files["\(ChangedMachine.usb)/idVendor"] = vendor + "\n"
        machine.files["\(ChangedMachine.usb)/idProduct"] = product + "\n"
        machine.files[Self.brltty] = "# rules\n" + line + "\n"
        #expect(machine.described == (isTold ? ["port_claimed /dev/ttyUSB0"] : []))
        if isTold { #expect(machine.findings.first?.evidence.first == Finding.Evidence(Self.brltty, line)) }
    }

    @Test func anAdapterThatIsThereAndIsNoRadioMayBeTaken() throws {
        let machine = try ChangedMachine("unmarked-adapter")
        machine.files[Self.brltty] = #"ENV{PRODUCT}=="10c4/ea60/*", ENV{BRLTTY_BRAILLE_DRIVER}="sk""# + "\n"
        #expect(machine.codes == [.noDevice])
        machine.facts["named-ports"] = "/dev/ttyUSB0"
        #expect(machine.codes == [.portClaimed])
    }

    // MARK: Consoles and other devices

    @Test func aConsoleAndALoginOnOnePortAreOneFinding() throws {
        let machine = try ChangedMachine()
        let login = "/run/systemd/units/invocation:serial-getty@ttyUSB0.service"
        machine.files["/sys/class/tty/console/active"] = "tty0 ttyUSB0\n"
        machine.links[login] = "0123"
        #expect(machine.findings.map { $0.evidence.map(\.place) } == [["/sys/class/tty/console/active", login]])
        #expect(machine.commands == ["sudo systemctl disable --now serial-getty@ttyUSB0.service"])
        #expect(machine.findings.first?.remedy?.contains("console=ttyUSB0") == true)
        machine.files["/proc/device-tree/model"] = "Raspberry Pi 4 Model B Rev 1.4\0"
        #expect(machine.commands == ["sudo raspi-config nonint do_serial_cons 1 && sudo reboot"])
        #expect(machine.findings.map(\.remedy) == [nil])
    }

    @Test(arguments: [
        ("239a", "002a", true), ("303a", "0009", true), ("239A", "002A", true), ("303a", "0029", false), ("303a", "002a", false),
        ("239a", "0009", false), ("1547", "01a8", false),
    ])
    func boardsInTheirBootloaderAreNamedByBothNumbers(vendor: String, product: String, isTold: Bool) throws {
        let machine = try ChangedMachine()
        machine.files["\(ChangedMachine.usb)/idVendor"] = vendor + "\n"
        machine.files["\(ChangedMachine.usb)/idProduct"] = product + "\n"
        #expect(machine.described == (isTold ? ["unknown_radio /dev/ttyUSB0"] : []))
        if isTold { #expect(machine.findings.first?.evidence == [Finding.Evidence(ChangedMachine.usb, "\(vendor):\(product)")]) }
    }
}
