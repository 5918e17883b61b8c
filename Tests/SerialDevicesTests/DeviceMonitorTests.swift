import SerialDevices
import Testing

/// What holds on every machine, with whatever is plugged in. Hot-plug is tested end to end, under umockdev.
@Suite struct DeviceMonitorTests {
    @Test func quietMachineHasNothingToSay() throws {
        let monitor = try DeviceMonitor()
        #expect(monitor.fileDescriptor >= 0)
        // Somebody may plug something in just now, which must not fail the test: it has to end, that is all.
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
