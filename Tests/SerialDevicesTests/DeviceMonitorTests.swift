import SerialDevices
import Testing

/// Properties that hold on every machine, whatever is plugged in. Hot-plug is tested end to end, under umockdev.
@Suite struct DeviceMonitorTests {
    @Test func quietMachineHasNothingToSay() throws {
        let monitor = try DeviceMonitor()
        #expect(monitor.fileDescriptor >= 0)
        // A device may be plugged in during the test, so the test does not count the events: the loop only has to end.
        while monitor.receive() != nil {}
    }

    @Test func onlyPortsWithHardwareAreListed() throws {
        let radio = try PseudoTerminal()
        let monitor = try DeviceMonitor()
        let ports = monitor.allSerialDevices()
        for port in ports {
            #expect(port.sysPath.hasPrefix("/sys/"))
            #expect(!port.sysPath.contains("/virtual/"))
            #expect(port.node != radio.path)
            #expect(port.sysPath.contains("/tty"))
        }
        let collars = monitor.collarRadios()
        #expect(collars.allSatisfy { collar in collar.isCollarRadio && ports.contains(collar) })
    }
}
