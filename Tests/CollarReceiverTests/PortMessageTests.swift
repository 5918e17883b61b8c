import Glibc
import Testing

@testable import CollarReceiver
@testable import SerialDevices

/// The messages for all errors of a port.
@Suite struct PortMessageTests {
    @Test func eachErrorSaysWhatIsTheMatterAndWhatToDo() {
        let path = "/dev/ttyUSB0"
        func denied(_ obstacle: PermissionObstacle) -> SerialPortError {
            .permissionDenied(path: path, obstacle: obstacle)
        }
        func busy(_ name: String) -> SerialPortError {
            .busy(path: path, holder: ProcessHolder(processID: 12, name: name))
        }
        let expectations: [(SerialPortError, says: String, remedy: String)] = [
            (.notFound(path: path), "no device", "collar-link devices"),
            (.notATerminal(path: path), "not a serial port", "collar-link devices"),
            (busy("picocom"), "picocom", "kill 12"),
            (busy("ModemManager"), "ModemManager (process 12)", "sudo systemctl stop ModemManager"),
            (.busy(path: path, holder: nil), "another program", "sudo fuser -v \(path)"),
            (denied(.notInGroup(group: "dialout", user: "alice")), "dialout", "sudo usermod -aG dialout alice"),
            (denied(.notLoggedInAgain(group: "dialout", user: "alice")), "session", "newgrp dialout"),
            (denied(.onlyOwner(user: "root")), "Only root", "70-collar-link.rules"),
            (denied(.onlyOwner(user: "bob")), "Only bob", "sudo -u bob"),
            (
                denied(.modeChanged(mode: 0o600, group: "dialout", user: "alice")), "alice is in the group dialout",
                "sudo chmod 660 \(path)"
            ),
            (denied(.ownerExcluded(mode: 0o440, user: "alice")), "belongs to alice, but its mode 440", "chmod u+rw \(path)"),
            (denied(.directory), "directory", "namei -l \(path)"),
            (denied(.containerOrSecurityModule), "container", "--device=\(path)"),
            (denied(.notSetYet), "udevd", "systemctl status systemd-udevd"),
            (.disconnected(path: path), "does not answer", "plug it in again"),
            (.system(path: path, operation: "open", errno: EMFILE), "Too many open files", "dmesg"),
        ]
        for (error, says, remedy) in expectations {
            let message = error.message
            #expect(message.reason.contains(says))
            #expect(message.reason.contains(path))
            #expect(message.remedy?.contains(remedy) == true)
            #expect(error.path == path)
            if case .permissionDenied = error { #expect(!message.reason.contains("no device")) }
        }
        // A rule for USB adapters does not help at a port of the board.
        let own = SerialPortError.permissionDenied(path: "/dev/ttyS0", obstacle: .onlyOwner(user: "root")).message
        #expect(own.remedy?.contains("70-collar-link.rules") == false)
        #expect(own.command?.text == "sudo chgrp dialout /dev/ttyS0 && sudo chmod 660 /dev/ttyS0")
    }

    /// Without udevd's data no mark is seen, so the advice to mark a device would not help.
    @Test func theAdviceDependsOnWhatIsSeenOfUdevd() {
        let device = SerialDevice(
            node: "/dev/ttyUSB0", sysPath: "/sys/devices/usb1/1-1/ttyUSB0",
            property: { ["ID_BUS": "usb", "ID_VENDOR_ID": "0403"][$0] }, usbAttribute: { _ in nil }, parentDriver: { nil })
        for source in [DeviceMonitor.Source.udevd, .udevDatabase] {
            let message = ReceiverNotice.waitingForRadio(others: [device], noticedBy: source).message
            #expect(message.reason.contains("COLLAR_LINK=1"))
            #expect(message.remedy?.contains("collar-link mark /dev/ttyUSB0") == true)
        }
        let message = ReceiverNotice.waitingForRadio(others: [device], noticedBy: .kernel).message
        #expect(!message.reason.contains("COLLAR_LINK"))
        #expect(message.remedy?.contains("-v /run/udev:/run/udev:ro --network host") == true)
        #expect(message.remedy?.contains("collar-link mark") == false)
    }
}
