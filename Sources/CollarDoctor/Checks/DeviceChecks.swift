import CheckedNumbers
import CollarErrors
import SerialDevices

/// Whether the kernel saw a USB device disconnect again and again, or answer with errors, in the last hour.
package enum DisconnectCheck {
    /// How often a device disconnects within an hour before that is a fault.
    private static let limit = 3
    private static let errors = [
        "error -71", "error -110", "error -32", "over-current", "USB cable is bad", "device not accepting address",
    ]

    package static func findings(_ examination: Examination) -> [Finding] {
        guard let log = examination.kernelLog else { return [] }
        let recent = log.recent(uptime: examination.uptimeSeconds)
        var disconnections: [String: Int] = [:]
        var faults: [String: String] = [:]
        for message in recent {
            guard let name = deviceName(message.text), isConcerned(name, examination) else { continue }
            if message.text.contains("USB disconnect") { disconnections[name, default: 0] += 1 }
            if errors.contains(where: message.text.contains) { faults[name] = message.text }
        }
        func port(_ name: String) -> String? {
            examination.ports.first { $0.adapter?.usbPath.hasSuffix("/\(name)") ?? false }?.path
        }
        let loops = disconnections.sorted { $0.key < $1.key }.filter { $0.value >= limit }
        return loops.map { .disconnects(port($0.key), usb: $0.key, count: $0.value, log: log.path) }
            + faults.sorted { $0.key < $1.key }.filter { fault in !loops.contains { $0.key == fault.key } }
            .map { .usbErrors(port($0.key), usb: $0.key, message: $0.value, log: log.path) }
    }

    /// `1-1.2` of `usb 1-1.2: USB disconnect, device number 7`.
    private static func deviceName(_ text: String) -> String? {
        guard text.hasPrefix("usb "), let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon].dropFirst(4)
        return name.contains("-") ? String(name) : nil
    }

    /// While a radio is plugged in, other devices do not matter. If none is, the device that disconnects may be the radio.
    private static func isConcerned(_ name: String, _ examination: Examination) -> Bool {
        let radios = examination.ports.compactMap(\.adapter)
        return radios.isEmpty || radios.contains { $0.usbPath.hasSuffix("/\(name)") }
    }
}

/// Whether the kernel may suspend a radio's USB device while nothing is sent to it.
package enum PowerCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        examination.ports.compactMap { port in
            guard let usbPath = port.adapter?.usbPath else { return nil }
            let place = "\(usbPath)/power/control"
            guard examination.machine.firstLine(of: place) == "auto" else { return nil }
            let delay = examination.machine.firstLine(of: "\(usbPath)/power/autosuspend_delay_ms")
            // A negative delay turns the suspension off.
            guard delay?.hasPrefix("-") != true else { return nil }
            return .autosuspend(port.path, place: place, sudo: examination.sudo)
        }
    }
}

/// Whether an FTDI adapter collects bytes although the receiver, which turns that off when it opens the port, has it open.
package enum LatencyTimerCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let machine = examination.machine
        return examination.ports.compactMap { port in
            guard let device = port.device else { return nil }
            // The terminal is two directories below the port of the adapter: `…/ttyUSB0/tty/ttyUSB0`.
            let place = device.sysPath.split(separator: "/").dropLast(2).map { "/\($0)" }.joined() + "/latency_timer"
            guard let milliseconds = machine.firstLine(of: place).flatMap({ Int($0, in: 2...255) }),
                let holder = machine.holder(of: port.node), holder.processID == examination.receiverProcessID
            else { return nil }
            return .latencyTimer(port.path, place: place, milliseconds: milliseconds, sudo: examination.sudo)
        }
    }
}

/// Whether the serial numbers of the radios' adapters tell them from others.
package enum SerialNumberCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        examination.ports.compactMap { port in
            guard let adapter = port.adapter,
                let reason = MarkingRule.reasonAgainstSerial(of: adapter, among: examination.adapters)
            else { return nil }
            let evidence = Finding.Evidence("\(adapter.usbPath)/serial", adapter.serial ?? "none")
            guard case .sharedWith(let twin) = reason else { return .noSerial(port.path, evidence: evidence) }
            // Of two radios with one number the first is named.
            let first = examination.ports.first { [twin, port.node].contains($0.node) }
            guard first?.node == port.node else { return nil }
            // The mark is by the socket already, as 'collar-link mark' makes it for such adapters.
            if examination.rules.marks(adapter, among: examination.adapters) { return nil }
            let marks = examination.rules.marks
            // The number becomes a part of a command, so it must have no other characters.
            let serial = adapter.serial.flatMap { $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? $0 : nil }
            let isMarkedBySerial = serial.map { serial in marks?.lines.contains { $0.contains("\"\(serial)\"") } ?? false } ?? false
            return .sharedSerial(
                port.path, with: twin, serial: adapter.serial ?? "", marks: isMarkedBySerial ? marks?.path : nil, evidence: evidence,
                sudo: examination.sudo)
        }
    }
}

/// Whether a USB 3 device is at the same controller as a radio of the 2.4 GHz band, in which USB 3 makes noise.
package enum USB3Check {
    /// The slowest USB 3, in Mbit/s.
    private static let slowest = 5000

    package static func findings(_ examination: Examination) -> [Finding] {
        let machine = examination.machine
        let folder = "/sys/bus/usb/devices"
        let fast = machine.names(in: folder).filter { !$0.contains(":") && !$0.hasPrefix("usb") }.compactMap { name -> String? in
            let path = machine.resolved("\(folder)/\(name)")
            // Hubs, which have class 09, make no noise by themselves.
            guard machine.firstLine(of: "\(path)/bDeviceClass") != "09",
                machine.firstLine(of: "\(path)/speed").flatMap({ Int($0, in: slowest ... .max) }) != nil
            else { return nil }
            return path
        }
        return examination.ports.compactMap { port in
            guard let adapter = port.adapter, let controller = controller(of: adapter.usbPath),
                let neighbour = fast.first(where: { self.controller(of: $0) == controller && $0 != adapter.usbPath })
            else { return nil }
            return .usb3(port.path, evidence: Finding.Evidence("\(neighbour)/speed", machine.firstLine(of: "\(neighbour)/speed") ?? ""))
        }
    }

    /// `/sys/devices/pci0000:00/0000:00:14.0` of `/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1`.
    private static func controller(of path: String) -> [Substring]? {
        let parts = path.split(separator: "/")
        return parts.firstIndex { $0.hasPrefix("usb") }.map { Array(parts[..<$0]) }
    }
}

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
