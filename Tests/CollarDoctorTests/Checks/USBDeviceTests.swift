import CollarErrors
import Testing

@testable import CollarDoctor

/// The USB devices of a machine: noise of USB 3, disconnections, power, and the bytes that an adapter collects.
@Suite struct USBDeviceTests {
    private static let controller = "/sys/devices/pci0000:00/0000:00:14.0"
    private static let devices = "/sys/bus/usb/devices"

    /// The sound machine with one more USB device.
    private func machine(
        _ name: String = "2-1", at path: String = "\(controller)/usb2/2-1", speed: String = "5000", kind: String = "00"
    ) throws -> ChangedMachine {
        let machine = try ChangedMachine()
        add(name, at: path, speed: speed, kind: kind, to: machine)
        return machine
    }

    private func add(_ name: String, at path: String, speed: String, kind: String, to machine: ChangedMachine) {
        machine.links["\(Self.devices)/\(name)"] = path
        machine.files["\(path)/speed"] = speed + "\n"
        machine.files["\(path)/bDeviceClass"] = kind + "\n"
    }

    // MARK: Noise

    @Test(arguments: [
        ("12", false), ("480", false), ("4999", false), ("5000", true), ("10000", true), ("20000", true), ("unknown", false),
    ])
    func aDeviceMakesNoiseFromTheSlowestUSB3On(speed: String, isTold: Bool) throws {
        let machine = try machine(speed: speed)
        #expect(machine.described == (isTold ? ["usb3_noise /dev/ttyUSB0"] : []))
        if isTold { #expect(machine.findings.first?.evidence == [Finding.Evidence("\(Self.controller)/usb2/2-1/speed", speed)]) }
    }

    @Test func aHubMakesNoNoiseAndTheDeviceBehindItDoes() throws {
        let machine = try machine(kind: "09")
        add("usb2", at: "\(Self.controller)/usb2", speed: "10000", kind: "00", to: machine)
        #expect(machine.codes == [], "a hub, and the controller's own entry")
        add("2-1.4", at: "\(Self.controller)/usb2/2-1/2-1.4", speed: "5000", kind: "00", to: machine)
        #expect(machine.findings.map(\.evidence.first?.place) == ["\(Self.controller)/usb2/2-1/2-1.4/speed"])
    }

    @Test func aDeviceAtAnotherControllerMakesNoNoise() throws {
        #expect(try machine(at: "/sys/devices/pci0000:00/0000:00:15.0/usb2/2-1").codes == [])
        #expect(try machine(at: "/sys/devices/pci0000:00/0000:00:14.0.1/usb2/2-1").codes == [])
    }

    @Test func aRadioThatIsFastItselfDisturbsTheOthersOnly() throws {
        let machine = try ChangedMachine()
        machine.files["\(ChangedMachine.usb)/speed"] = "5000\n"
        #expect(machine.codes == [])
        machine.addRadio()
        machine.files["/sys/devices/pci0000:00/0000:00:14.0/usb1/1-3/speed"] = "12\n"
        #expect(machine.described == ["usb3_noise /dev/ttyUSB1"])
    }

    // MARK: Disconnections

    @Test func withoutARadioEveryDeviceThatDisconnectsIsTold() throws {
        let machine = try ChangedMachine()
        machine.logDisconnections(of: "1-4", "1-2.1")
        #expect(machine.codes == [], "the radio is plugged in")
        machine.remove("/sys/class/tty/ttyUSB0")
        #expect(machine.described == ["no_device -", "disconnect_loop -", "disconnect_loop -"])
        let places = machine.findings.suffix(2).map(\.evidence.first?.value)
        #expect(places == ["usb 1-2.1: USB disconnect × 3", "usb 1-4: USB disconnect × 3"])
    }

    /// A port without a USB device, such as a UART, does not say which of the USB devices matters.
    @Test func aPortThatIsNoUSBDeviceLeavesAllUSBDevicesConcerned() throws {
        let machine = try ChangedMachine()
        machine.facts["named-ports"] = "/dev/ttyS0"
        machine.log([(86_000, "usb 1-4: device descriptor read/64, error -71")])
        #expect(machine.described == ["usb_errors -"])
        machine.facts["named-ports"] = "/dev/ttyS0\n/dev/ttyUSB0"
        #expect(machine.codes == [])
    }

    @Test func theKernelItselfIsReadBeforeTheFileOfADaemon() throws {
        let machine = try ChangedMachine()
        machine.files["/dev/kmsg"] = (0..<3).map { "6,\($0),8600000000\($0),-;usb 1-2: USB disconnect, device number 7\n" }.joined()
        #expect(machine.findings.map(\.evidence.first?.place) == ["/dev/kmsg"])
        machine.files["/dev/kmsg"] = "6,1,86000000000,-;usb 1-2: new device\n"
        machine.logDisconnections(of: "1-2")
        #expect(machine.codes == [])
    }

    @Test func aLogThatTheUserMayNotReadIsNamedAsUnexamined() throws {
        let machine = try ChangedMachine()
        #expect(Doctor.diagnosis(of: machine).unexamined == [])
        machine.remove(ChangedMachine.kernelLog)
        let diagnosis = Doctor.diagnosis(of: machine)
        #expect(diagnosis.unexamined == ["the kernel's log"])
        #expect(diagnosis.exitCode == .clean)
        #expect(diagnosis.text.last?.text.hasSuffix("(not examined, because this user may not: the kernel's log)") == true)
    }

    // MARK: Power and bytes

    @Test func aDeviceWithoutADelayMayBeSuspendedAndRootNeedsNoSudo() throws {
        let machine = try ChangedMachine()
        let place = "\(ChangedMachine.usb)/power/control"
        machine.files[place] = "auto\n"
        machine.remove("\(ChangedMachine.usb)/power/autosuspend_delay_ms")
        #expect(machine.commands == ["echo on | sudo tee \(place)"])
        machine.becomeRoot()
        #expect(machine.commands == ["echo on | tee \(place)"])
    }

    /// Only the receiver turns the collecting off, so with another program at the port that is no fault.
    @Test func theLatencyTimerOfAPortThatAnotherProgramHasOpenIsNoFault() throws {
        let machine = try ChangedMachine("latency-timer")
        machine.facts["holder /dev/ttyUSB0"] = "812 minicom"
        #expect(machine.codes == [.deviceInUse])
        machine.facts["holder /dev/ttyUSB0"] = "4711 collar-link"
        #expect(machine.codes == [.latencyTimer])
        machine.remove("\(ChangedMachine.state)/lock")
        #expect(machine.codes == [.deviceInUse], "another receiver")
    }
}
