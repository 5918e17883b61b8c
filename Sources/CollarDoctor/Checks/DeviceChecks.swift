import CheckedNumbers
import CollarErrors
import SerialDevices

extension Examination {
    /// The remedy for a USB device that loses its connection.
    private static let otherCable = "Use another cable or USB port, and no hub without a power supply; `sudo dmesg -w` shows whether it goes on."

    /// Whether the kernel saw a USB device disconnect again and again, or answer with errors, in the last hour.
    var disconnectFindings: [Finding] {
        guard let log = kernelLog else { return [] }
        /// How often a device disconnects within an hour before that is a fault.
        let limit = 3
        let errors = ["error -71", "error -110", "error -32", "over-current", "USB cable is bad", "device not accepting address"]
        var disconnections: [String: Int] = [:]
        var faults: [String: String] = [:]
        for message in log.recent(uptime: uptimeSeconds) {
            guard let name = Examination.deviceName(message.text), isConcerned(name) else { continue }
            if message.text.contains(text: "USB disconnect") { disconnections[name, default: 0] += 1 }
            if errors.contains(where: { message.text.contains(text: $0) }) { faults[name] = message.text }
        }
        func port(_ name: String) -> String? { ports.first { $0.adapter?.usbPath.hasSuffix("/\(name)") ?? false }?.path }
        let loops = disconnections.sorted { $0.key < $1.key }.filter { $0.value >= limit }
        let unstable = loops.map { usb, count in
            Finding(
                .disconnectLoop, port: port(usb), "The USB device \(usb) disconnected \(count) times within an hour.",
                evidence: [Evidence(log.path, "usb \(usb): USB disconnect × \(count)")], remedy: Examination.otherCable)
        }
        let faulty = faults.sorted { $0.key < $1.key }.filter { fault in !loops.contains { $0.key == fault.key } }.map { usb, message in
            Finding(
                .usbErrors, port: port(usb), "The kernel reports errors of the USB device \(usb).",
                evidence: [Evidence(log.path, message)], remedy: Examination.otherCable)
        }
        return unstable + faulty
    }

    /// `1-1.2` of `usb 1-1.2: USB disconnect, device number 7`.
    private static func deviceName(_ text: String) -> String? {
        guard text.hasPrefix("usb "), let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon].dropFirst(4)
        return name.contains("-") ? String(name) : nil
    }

    /// While a radio is plugged in, other devices do not matter. If none is, the device that disconnects may be the radio.
    private func isConcerned(_ name: String) -> Bool {
        let radios = ports.compactMap(\.adapter)
        return radios.isEmpty || radios.contains { $0.usbPath.hasSuffix("/\(name)") }
    }

    /// Whether the kernel may suspend a radio's USB device while nothing is sent to it.
    var powerFindings: [Finding] {
        ports.compactMap { port in
            guard let usbPath = port.adapter?.usbPath else { return nil }
            let place = "\(usbPath)/power/control"
            // A negative delay turns the suspension off.
            guard machine.firstLine(of: place) == "auto",
                machine.firstLine(of: "\(usbPath)/power/autosuspend_delay_ms")?.hasPrefix("-") != true
            else { return nil }
            return Finding(
                .autosuspend, port: port.path, "The kernel may suspend the radio at \(port.path): bytes are lost, or late.",
                evidence: [Evidence(place, "auto")], command: ShellCommand("echo", "on").piped(to: sudo("tee", place)),
                remedy: "This lasts until the radio is plugged in again. To make it last, add the radio to USB_DENYLIST in /etc/tlp.conf if "
                    + "TLP runs, and start powertop without `--auto-tune`.")
        }
    }

    /// Whether an FTDI adapter collects bytes although the receiver, which turns that off when it opens the port, has it open.
    var latencyTimerFindings: [Finding] {
        ports.compactMap { port in
            guard let device = port.device else { return nil }
            // The terminal is two directories below the port of the adapter: `…/ttyUSB0/tty/ttyUSB0`.
            let place = device.sysPath.split(separator: "/").dropLast(2).map { "/\($0)" }.joined() + "/latency_timer"
            guard let milliseconds = machine.firstLine(of: place).flatMap({ Int($0, in: 2...255) }),
                let holder = machine.holder(of: port.node), holder.processID == receiverProcessID
            else { return nil }
            return Finding(
                .latencyTimer, port: port.path,
                "The adapter at \(port.path) collects bytes for \(milliseconds) ms before it hands them over.",
                evidence: [Evidence(place, "\(milliseconds)")], command: ShellCommand("echo", "1").piped(to: sudo("tee", place)))
        }
    }

    /// Whether the serial numbers of the radios' adapters tell them from others.
    var serialNumberFindings: [Finding] {
        ports.compactMap { port in
            guard let adapter = port.adapter, let reason = MarkingRule.reasonAgainstSerial(of: adapter, among: adapters) else { return nil }
            let evidence = Evidence("\(adapter.usbPath)/serial", adapter.serial ?? "none")
            guard case .sharedWith(let twin) = reason else {
                return Finding(
                    .serialMissing, port: port.path,
                    "The adapter at \(port.path) has no serial number of its own: it is known by its USB socket.",
                    evidence: [evidence], remedy: "Leave it in this socket, or mark it again in another one.")
            }
            // Of two radios with one number the first is named.
            let first = ports.first { [twin, port.node].contains($0.node) }
            // The mark is by the socket already, as 'collar-link mark' makes it for such adapters.
            guard first?.node == port.node, !rules.marks(adapter, among: adapters) else { return nil }
            // The number becomes a part of a command, so it must have no other characters.
            let serial = adapter.serial.flatMap { $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? $0 : nil }
            var removal: ShellCommand?
            if let serial, let marks = rules.marks, marks.lines.contains(where: { $0.contains(text: "\"\(serial)\"") }) {
                removal = sudo("sed", "-i", "/\"\(serial)\"/d", marks.path).then(sudo.udevReload).then(sudo("udevadm", "settle"))
                    .then(sudo("collar-link", "mark", port.path))
            }
            return Finding(
                .serialShared, port: port.path,
                "\(port.path) and \(twin) have the same serial number: marks and settings by it are for both.",
                evidence: [evidence, Evidence(twin, "the same")], command: removal,
                remedy: "A section '[stick id-path=…]' of the configuration file is for one of them; `collar-link devices -F json` has its "
                    + "id_path.")
        }
    }

    /// Whether a USB 3 device is at the same controller as a radio of the 2.4 GHz band, in which USB 3 makes noise.
    var usb3Findings: [Finding] {
        /// The slowest USB 3, in Mbit/s.
        let slowest = 5000
        let fast = usbDevices { !$0.hasPrefix("usb") }.filter { path in
            // Hubs, which have class 09, make no noise by themselves.
            machine.firstLine(of: "\(path)/bDeviceClass") != "09"
                && machine.firstLine(of: "\(path)/speed").flatMap { Int($0, in: slowest ... .max) } != nil
        }
        return ports.compactMap { port in
            guard let adapter = port.adapter, let controller = Examination.controller(of: adapter.usbPath),
                let neighbour = fast.first(where: { Examination.controller(of: $0) == controller && $0 != adapter.usbPath })
            else { return nil }
            return Finding(
                .usb3Noise, port: port.path, "A USB 3 device is at the same controller as \(port.path): its noise may hide weak signals.",
                evidence: [Evidence("\(neighbour)/speed", machine.firstLine(of: "\(neighbour)/speed") ?? "")],
                remedy: "If collars are heard badly, use a USB 2 socket, or an extension cable.")
        }
    }

    /// `/sys/devices/pci0000:00/0000:00:14.0` of `/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1`.
    private static func controller(of path: String) -> [Substring]? {
        let parts = path.split(separator: "/")
        return parts.firstIndex { $0.hasPrefix("usb") }.map { Array(parts[..<$0]) }
    }

    /// The paths of USB devices below /sys.
    /// - Parameter isMeant: whether a device with a name, such as `1-1.2`, is.
    func usbDevices(where isMeant: (String) -> Bool = { _ in true }) -> [String] {
        let folder = "/sys/bus/usb/devices"
        return machine.names(in: folder).filter { !$0.contains(":") && isMeant($0) }.map { machine.resolved("\(folder)/\($0)") }
    }
}
