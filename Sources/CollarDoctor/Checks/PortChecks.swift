import CheckedNumbers
import CollarErrors
import CollarPorts
import SerialDevices

extension Examination {
    /// Whether there is a radio, and a device node for it.
    var presenceFindings: [Finding] { ports.isEmpty && !hasNamedPorts ? [noRadio] : ports.compactMap(presence) }

    private var noRadio: Finding {
        let unmarked = devices.filter(\.isUnmarkedAdapter)
        guard let first = unmarked.first else {
            return Finding(
                .noDevice, "No collar radio is plugged in.", evidence: [Evidence("/sys/class/tty", "no serial port with COLLAR_LINK=1")],
                remedy: "Plug the radio in, with a cable that carries data; `collar-link devices` lists what is there.")
        }
        return Finding(
            .noDevice, "No serial port is marked as a collar radio.",
            evidence: unmarked.map { Evidence($0.node, "\($0.text), not marked") },
            command: containerMark == nil ? sudo("collar-link", "mark", first.node) : ShellCommand("collar-link", "--port", first.node),
            remedy: (unmarked.count == 1 ? "Do this only if the device is a collar radio" : "Choose the one that is a collar radio")
                + ": opening the port of another device may reset it.")
    }

    private func presence(of port: Port) -> Finding? {
        guard let status = machine.status(of: port.node) else {
            if let device = port.device { return nodeMissing(device) }
            // A directory that may not be entered hides the node.
            if isHidden(port.node) { return nil }
            let message = SerialPortError.notFound(path: port.path).message
            return Finding(
                .noDevice, port: port.path, message.reason, evidence: [Evidence(port.path, "missing")], remedy: message.remedy)
        }
        if status.kind == .characterDevice {
            if isTerminal(port) { return nil }
            if machine.linkTarget(of: "/sys/dev/char/\(status.device)") == nil { return nodeStale(port.path, device: status.device) }
        }
        let message = SerialPortError.notATerminal(path: port.path).message
        let kind = status.kind == .characterDevice ? "no terminal" : status.kind == .directory ? "a directory" : "no character device"
        return Finding(
            .notASerialPort, port: port.path, message.reason, evidence: [Evidence(port.path, kind)], command: Examination.listing,
            remedy: message.remedy)
    }

    private func nodeMissing(_ device: SerialDevice) -> Finding {
        Finding(
            .nodeMissing, port: device.node, "The kernel has \(device.node), and there is no device node for it.",
            evidence: [Evidence(device.sysPath, "there"), Evidence(device.node, "missing")] + containerEvidence,
            command: containerMark == nil
                ? sudo("udevadm", "trigger", "--action=add", "--subsystem-match=tty")
                : ShellCommand("docker", "run", "--device=\(device.node)").with(syntax: "…"),
            remedy: containerMark == nil ? nil : "For a container that keeps the radio when it is plugged in again, run `\(Examination.allDevices.text)`.")
    }

    private func nodeStale(_ path: String, device: String) -> Finding {
        Finding(
            .nodeStale, port: path, "There is a node at \(path), and no device: it was unplugged, or came back under another name.",
            evidence: [Evidence(path, "device \(device)"), Evidence("/sys/dev/char/\(device)", "missing")] + containerEvidence,
            command: containerMark == nil ? Examination.listing : Examination.allDevices,
            remedy: containerMark == nil ? "Plug it in again, or name the port under which it came back." : nil)
    }

    /// A container that sees the nodes of all USB serial ports, also of those that are plugged in later.
    private static let allDevices = ShellCommand(
        "docker", "run", "-v", "/dev:/dev", "--device-cgroup-rule=c 188:* rmw", "--device-cgroup-rule=c 166:* rmw").with(syntax: "…")

    private static let listing = ShellCommand("collar-link", "devices")

    private func isHidden(_ node: String) -> Bool {
        let folder = Examination.folder(of: node)
        if folder == "/" { return false }
        return machine.status(of: folder) == nil ? isHidden(folder) : !machine.mayAccess(folder, "x")
    }

    /// Whether the user may open the ports, and from everywhere.
    var permissionFindings: [Finding] {
        ports.compactMap { port in
            let status = machine.status(of: port.node)
            if status == nil, port.device != nil { return nil }
            if let obstacle = machine.obstacle(at: port.node) {
                // Nothing at all is at the path.
                if obstacle == .directory, !isHidden(port.node) { return nil }
                let message = SerialPortError.permissionDenied(path: port.path, obstacle: obstacle).message
                let remedy: String? =
                    switch obstacle {
                    case .onlyOwner, .ownerExcluded, .directory, .notSetYet: nil
                    case .notInGroup: "Then log out and in again."
                    case .modeChanged: "Or unplug the radio and plug it in again: udevd sets the mode."
                    case .notLoggedInAgain, .containerOrSecurityModule: message.remedy
                    }
                return Finding(
                    .permissionDenied, port: port.path, message.reason, evidence: permissionEvidence(port.node, status),
                    command: message.command, remedy: remedy)
            }
            guard let status, status.kind == .characterDevice, !port.node.hasPrefix("/dev/pts/"), !isAllowedByMode(status),
                status.groupID != 0
            else { return nil }
            return Finding(
                .onlyWhileSeated, port: port.path,
                "\(user.name) may open \(port.path) while seated at this machine, and not over SSH, from cron or in a service.",
                evidence: permissionEvidence(port.node, status), command: sudo("usermod", "-aG", machine.name(ofGroup: status.groupID), user.name),
                remedy: "Then log out and in again. If \(user.name) only works while seated at this machine, leave it as it is.")
        }
    }

    /// Whether the permission bits allow the opening, without an access list.
    private func isAllowedByMode(_ status: FileStatus) -> Bool {
        if user.id == 0 { return true }
        if status.ownerID == user.id { return status.mode & 0o600 == 0o600 }
        return user.groups.contains(status.groupID) ? status.mode & 0o060 == 0o060 : status.mode & 0o006 == 0o006
    }

    private func permissionEvidence(_ node: String, _ status: FileStatus?) -> [Evidence] {
        let groups = user.groups.map { machine.name(ofGroup: $0) }.joined(separator: " ")
        let own = Evidence("groups of \(user.name)", groups)
        guard let status else { return [Evidence(Examination.folder(of: node), "may not be entered"), own] }
        return [Evidence(node, "\(modeAndOwner(status)), group \(machine.name(ofGroup: status.groupID))"), own]
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Whether Snap or AppArmor keeps the program from its ports and files.
    var confinementFindings: [Finding] {
        let place = "/proc/self/attr/current"
        let profile = machine.firstLine(of: place) ?? ""
        if let snap = machine.text(of: .environment("SNAP_NAME")), profile.hasPrefix("snap.") {
            return [Finding(
                .confined, "Snap confines this program, which must be allowed to use serial ports.", evidence: [Evidence(place, profile)],
                command: sudo("snap", "connect", "\(snap):raw-usb").then(sudo("snap", "connect", "\(snap):hardware-observe")))]
        }
        guard let log = kernelLog else { return [] }
        let denial = log.recent(uptime: uptimeSeconds).last {
            $0.text.contains(text: #"apparmor="DENIED""#) && $0.text.contains(text: #"comm="collar-link""#)
        }
        guard let text = denial?.text else { return [] }
        let name = text.split(separator: " ").first { $0.hasPrefix("profile=") }.map { $0.dropFirst(8).filter { $0 != "\"" } }
        return [Finding(
            .confined, "AppArmor refuses this program something.", evidence: [Evidence(log.path, text)],
            command: name.map { sudo("aa-complain", String($0)) })]
    }

    /// Whether another program has a port open.
    var holderFindings: [Finding] {
        ports.compactMap { port in
            guard isTerminal(port), let holder = machine.holder(of: port.node), holder.processID != receiverProcessID else { return nil }
            // The collar itself.
            if let collarFile, machine.holder(of: collarFile)?.processID == holder.processID { return nil }
            let message = SerialPortError.busy(path: port.path, holder: holder).message
            return Finding(
                .deviceInUse, port: port.path, message.reason,
                evidence: [Evidence("process \(holder.processID)", "\(holder.shownName) has \(port.path) open")], command: message.command,
                remedy: holder.name == "collar-link"
                    ? "If this receiver is to go on, name its state directory: `collar-link doctor --state-dir DIR`." : nil)
        }
    }

    /// Whether a program that looks for devices of its own may open a radio's port: ModemManager, gpsd or brltty.
    var neighbourFindings: [Finding] { ports.flatMap { modemManager($0) + gpsd($0) } + brltty }

    private func modemManager(_ port: Port) -> [Finding] {
        guard let device = port.device, device.vendorID != nil, let process = machine.text(of: .process("ModemManager")) else { return [] }
        let properties = machine.udevProperties(of: device)
        guard !["ID_MM_DEVICE_IGNORE", "ID_MM_PORT_IGNORE"].contains(where: { properties[$0] == "1" }) else { return [] }
        return [claimed(
            port.path, device, by: "ModemManager", Evidence("process \(process)", "ModemManager"),
            Evidence("udev properties of \(device.node)", "no ID_MM_PORT_IGNORE=1"))]
    }

    private func gpsd(_ port: Port) -> [Finding] {
        guard let device = port.device, let wanted = machine.udevProperties(of: device)["SYSTEMD_WANTS"], wanted.contains(text: "gpsd") else {
            return []
        }
        return [claimed(port.path, device, by: "gpsd", Evidence("udev properties of \(device.node)", "SYSTEMD_WANTS=\(wanted)"))]
    }

    private func claimed(_ path: String, _ device: SerialDevice, by name: String, _ evidence: Evidence...) -> Finding {
        Finding(
            .portClaimed, port: path, "\(name) may open \(path) and send to the radio.", evidence: evidence,
            command: device.isCollarRadio ? RuleInstallation.command(sudo: sudo) : sudo("collar-link", "mark", path),
            remedy: "A marked radio is kept from \(name) by the udev rule.")
    }

    /// brltty's rules name adapters by vendor and product. It takes the whole USB device, so that the port disappears.
    private var brltty: [Finding] {
        guard let file = rules.brltty else { return [] }
        return usbDevices().compactMap { path in
            guard let vendor = machine.firstLine(of: "\(path)/idVendor"), let product = machine.firstLine(of: "\(path)/idProduct") else {
                return nil
            }
            let own = adapters.first { $0.usbPath == path }
            // A port that is there, and is not to be a radio, is none of our business.
            guard own == nil || ports.contains(where: { $0.adapter?.usbPath == path }) else { return nil }
            let number = [vendor, product].map { String($0.drop { $0 == "0" }) }.joined(separator: "/")
            let rule = file.lines.first { $0.contains(text: "\"\(number)/") && $0.contains(text: "BRLTTY_BRAILLE_DRIVER") }
            guard let rule else { return nil }
            return Finding(
                .portClaimed, port: own?.port.node,
                "brltty, which is for displays in Braille, takes adapters of this kind, and their port disappears.",
                evidence: [Evidence(file.path, String(rule)), Evidence(path, "\(vendor):\(product)")],
                command: sudo("systemctl", "mask", "--now", "brltty-udev.service", "brltty.service"),
                remedy: "Then unplug the radio and plug it in again. Who needs brltty changes the line of its rule file.")
        }
    }

    /// Whether the kernel writes its messages to a port, or a login waits there, as on the UART of a Raspberry Pi.
    var consoleFindings: [Finding] {
        let place = "/sys/class/tty/console/active"
        let consoles = (machine.firstLine(of: place) ?? "").split(separator: " ").map(String.init)
        let isRaspberry = machine.contentText(of: "/proc/device-tree/model")?.contains(text: "Raspberry Pi") ?? false
        return ports.compactMap { port in
            let name = String(port.node.split(separator: "/").last ?? "")
            let login = "/run/systemd/units/invocation:serial-getty@\(name).service"
            var evidence: [Evidence] = []
            if consoles.contains(name) { evidence.append(Evidence(place, consoles.joined(separator: " "))) }
            if machine.linkTarget(of: login) != nil { evidence.append(Evidence(login, "a login waits at the port")) }
            guard !evidence.isEmpty else { return nil }
            return Finding(
                .consoleOnPort, port: port.path,
                "The console of this machine is on \(port.path): it writes into the radio, and takes its bytes.", evidence: evidence,
                command: isRaspberry
                    ? sudo("raspi-config", "nonint", "do_serial_cons", "1").then(sudo("reboot"))
                    : sudo("systemctl", "disable", "--now", "serial-getty@\(name).service"),
                remedy: isRaspberry ? nil : "Remove 'console=\(name)' from the command line of the kernel, too, and restart the machine.")
        }
    }

    /// Whether the USB numbers of a device at a radio's port are those of something that is certainly no radio.
    var firmwareFindings: [Finding] {
        ports.filter(\.isRadio).compactMap { port in
            guard let adapter = port.adapter else { return nil }
            let evidence = [Evidence(adapter.usbPath, "\(adapter.vendorID):\(adapter.productID)")]
            switch (adapter.vendorID.lowercased(), adapter.productID.lowercased()) {
            // u-blox.
            case ("1546", _):
                return Finding(
                    .unknownRadio, port: port.path, "The device at \(port.path) is a GNSS receiver, not a radio.", evidence: evidence,
                    command: Examination.listing, remedy: "Take back its mark, and mark the radio, or name its port: `--port PATH`.")
            // Adafruit's numbers for nRF52 boards: those of the firmware begin with 8, those of the bootloader of the same board with 0.
            // Then Espressif's ROM, in boards without a bridge.
            case ("239a", "0029"), ("239a", "002a"), ("303a", "0002"), ("303a", "0009"):
                return Finding(
                    .unknownRadio, port: port.path, "The board at \(port.path) runs its bootloader, not its firmware.", evidence: evidence,
                    remedy: "Press its reset button once; if that does not help, put MeshCore's KISS modem or RNode firmware on it.")
            default: return nil
            }
        }
    }
}
