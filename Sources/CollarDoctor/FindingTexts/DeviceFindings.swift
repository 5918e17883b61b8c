import CollarErrors
import SerialDevices

/// What `doctor` says about USB devices.
extension Finding {
    package static func restarts(_ path: String, count: Int, driver: String?, evidence: Evidence, sudo: RootPrefix) -> Finding {
        let bridge = driver.map { ["cp210x", "ch341", "ch341-uart", "ftdi_sio", "pl2303"].contains($0) } ?? false
        return Finding(
            .radioRestarted, port: path, "The stick at \(path) restarted \(count) times within an hour.", evidence: [evidence],
            command: bridge ? sudo("fuser", "-v", path) : nil,
            remedy: bridge
                ? "Boards with such a bridge restart when a program opens or closes the port (DTR): the command names them. "
                    + "Else the power fails: another cable or USB port, and no hub without a power supply."
                : "Another cable or USB port, and no hub without a power supply.")
    }

    package static func disconnects(_ path: String?, usb: String, count: Int, log: String) -> Finding {
        Finding(
            .disconnectLoop, port: path, "The USB device \(usb) disconnected \(count) times within an hour.",
            evidence: [Evidence(log, "usb \(usb): USB disconnect × \(count)")],
            remedy: "Use another cable or USB port, and no hub without a power supply; `sudo dmesg -w` shows whether it goes on.")
    }

    package static func usbErrors(_ path: String?, usb: String, message: String, log: String) -> Finding {
        Finding(
            .usbErrors, port: path, "The kernel reports errors of the USB device \(usb).", evidence: [Evidence(log, message)],
            remedy: "Use another cable or USB port, and no hub without a power supply; `sudo dmesg -w` shows whether it goes on.")
    }

    package static func autosuspend(_ path: String, place: String, sudo: RootPrefix) -> Finding {
        Finding(
            .autosuspend, port: path, "The kernel may suspend the radio at \(path): bytes are lost, or late.",
            evidence: [Evidence(place, "auto")], command: ShellCommand("echo", "on").piped(to: sudo("tee", place)),
            remedy: "It lasts until the radio is plugged in again. TLP: USB_DENYLIST in /etc/tlp.conf; powertop: no --auto-tune.")
    }

    package static func latencyTimer(_ path: String, place: String, milliseconds: Int, sudo: RootPrefix) -> Finding {
        Finding(
            .latencyTimer, port: path, "The adapter at \(path) collects bytes for \(milliseconds) ms before it hands them over.",
            evidence: [Evidence(place, "\(milliseconds)")], command: ShellCommand("echo", "1").piped(to: sudo("tee", place)))
    }

    package static func sharedSerial(
        _ path: String, with twin: String, serial: String, marks: String?, evidence: Evidence, sudo: RootPrefix
    ) -> Finding {
        let removal = marks.map { marks in
            sudo("sed", "-i", "/\"\(serial)\"/d", marks).then(sudo.udevReload).then(sudo("udevadm", "settle"))
                .then(sudo("collar-link", "mark", path))
        }
        return Finding(
            .serialShared, port: path, "\(path) and \(twin) have the same serial number: marks and settings by it are for both.",
            evidence: [evidence, Evidence(twin, "the same")], command: removal,
            remedy: "A section '[stick id-path=…]' of the configuration file is for one of them; `collar-link devices -F json` has its "
                + "id_path.")
    }

    package static func noSerial(_ path: String, evidence: Evidence) -> Finding {
        Finding(
            .serialMissing, port: path, "The adapter at \(path) has no serial number of its own: it is known by its USB socket.",
            evidence: [evidence], remedy: "Leave it in this socket, or mark it again in another one.")
    }

    package static func usb3(_ path: String, evidence: Evidence) -> Finding {
        Finding(
            .usb3Noise, port: path, "A USB 3 device is at the same controller as \(path): its noise may hide weak signals.",
            evidence: [evidence], remedy: "If collars are heard badly: a USB 2 socket, or an extension cable.")
    }
}
