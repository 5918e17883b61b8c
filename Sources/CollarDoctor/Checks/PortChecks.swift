import CollarErrors
import SerialDevices

/// Whether there is a radio, and a device node for it.
package enum PresenceCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        if examination.ports.isEmpty, !examination.hasNamedPorts { return [noRadio(examination)] }
        return examination.ports.compactMap { finding(of: $0, examination) }
    }

    private static func noRadio(_ examination: Examination) -> Finding {
        let unmarked = examination.devices.filter(\.isUnmarkedAdapter)
        return .noRadio(unmarked: unmarked, isContainer: examination.containerMark != nil, sudo: examination.sudo)
    }

    private static func finding(of port: Examination.Port, _ examination: Examination) -> Finding? {
        let machine = examination.machine
        guard let status = machine.status(of: port.node) else {
            guard let device = port.device else {
                // A directory that may not be entered hides the node.
                return isHidden(port.node, machine) ? nil : .nothing(at: port.path)
            }
            return .nodeMissing(device, containerMark: examination.containerMark, sudo: examination.sudo)
        }
        guard status.kind == .characterDevice else { return .notASerialPort(port.path, kind: status.kind) }
        if examination.isTerminal(port) { return nil }
        return machine.linkTarget(of: "/sys/dev/char/\(status.device)") == nil
            ? .nodeStale(port.path, device: status.device, containerMark: examination.containerMark)
            : .notASerialPort(port.path, kind: status.kind)
    }

    private static func isHidden(_ node: String, _ machine: any MachineFacts) -> Bool {
        guard let slash = node.lastIndex(of: "/"), slash != node.startIndex else { return false }
        let folder = String(node[..<slash])
        return machine.status(of: folder) == nil ? isHidden(folder, machine) : !machine.mayAccess(folder, "x")
    }
}

/// Whether the user may open the ports, and from everywhere.
package enum PermissionCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        examination.ports.compactMap { port in
            let machine = examination.machine
            let status = machine.status(of: port.node)
            if status == nil, port.device != nil { return nil }
            if let obstacle = machine.obstacle(at: port.node) {
                // Nothing at all is at the path.
                if obstacle == .directory, machine.mayAccess(folder(of: port.node), "x") { return nil }
                return .cannotOpen(port.path, obstacle, evidence: evidence(port.node, status, examination))
            }
            guard let status, status.kind == .characterDevice, !port.node.hasPrefix("/dev/pts/"),
                !isAllowedByMode(status, examination.user), status.groupID != 0
            else { return nil }
            return .onlyWhileSeated(
                port.path, group: machine.name(ofGroup: status.groupID), user: examination.user.name,
                evidence: evidence(port.node, status, examination), sudo: examination.sudo)
        }
    }

    /// Whether the permission bits allow the opening, without an access list.
    private static func isAllowedByMode(_ status: FileStatus, _ user: MachineUser) -> Bool {
        if user.id == 0 { return true }
        if status.ownerID == user.id { return status.mode & 0o600 == 0o600 }
        return user.groups.contains(status.groupID) ? status.mode & 0o060 == 0o060 : status.mode & 0o006 == 0o006
    }

    private static func evidence(_ node: String, _ status: FileStatus?, _ examination: Examination) -> [Finding.Evidence] {
        let machine = examination.machine
        let groups = examination.user.groups.map { machine.name(ofGroup: $0) }.joined(separator: " ")
        let own = Finding.Evidence("groups of \(examination.user.name)", groups)
        guard let status else { return [Finding.Evidence(folder(of: node), "may not be entered"), own] }
        let mode = String(status.mode, radix: 8)
        return [
            Finding.Evidence(
                node, "mode \(mode), owner \(machine.name(ofUser: status.ownerID)), group \(machine.name(ofGroup: status.groupID))"), own,
        ]
    }

    private static func folder(of node: String) -> String {
        guard let slash = node.lastIndex(of: "/"), slash != node.startIndex else { return "/" }
        return String(node[..<slash])
    }
}

/// Whether Snap or AppArmor keeps the program from its ports and files.
package enum ConfinementCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let place = "/proc/self/attr/current"
        let profile = examination.machine.firstLine(of: place) ?? ""
        if let snap = examination.machine.text(of: .environment("SNAP_NAME")), profile.hasPrefix("snap.") {
            return [.confined(bySnap: snap, evidence: Finding.Evidence(place, profile), sudo: examination.sudo)]
        }
        guard let log = examination.kernelLog else { return [] }
        let denial = log.recent(uptime: examination.uptimeSeconds).last {
            $0.text.contains(#"apparmor="DENIED""#) && $0.text.contains(#"comm="collar-link""#)
        }
        return denial.map { [.confined(byDenial: $0.text, log: log.path, sudo: examination.sudo)] } ?? []
    }
}

/// Whether another program has a port open.
package enum HolderCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        examination.ports.compactMap { port in
            guard examination.isTerminal(port), let holder = examination.machine.holder(of: port.node),
                holder.processID != examination.receiverProcessID
            else { return nil }
            return .inUse(port.path, by: holder)
        }
    }
}

/// Whether a program that looks for devices of its own may open a radio's port: ModemManager, gpsd or brltty.
package enum NeighbourCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        examination.ports.flatMap { modemManager($0, examination) + gpsd($0, examination) } + brltty(examination)
    }

    private static func modemManager(_ port: Examination.Port, _ examination: Examination) -> [Finding] {
        guard let device = port.device, device.vendorID != nil,
            let process = examination.machine.text(of: .process("ModemManager"))
        else { return [] }
        let properties = examination.machine.udevProperties(of: device)
        guard !["ID_MM_DEVICE_IGNORE", "ID_MM_PORT_IGNORE"].contains(where: { properties[$0] == "1" }) else { return [] }
        return [
            .claimed(
                port.path, by: "ModemManager", isMarked: device.isCollarRadio,
                evidence: [
                    Finding.Evidence("process \(process)", "ModemManager"),
                    Finding.Evidence("udev properties of \(device.node)", "no ID_MM_PORT_IGNORE=1"),
                ], sudo: examination.sudo),
        ]
    }

    private static func gpsd(_ port: Examination.Port, _ examination: Examination) -> [Finding] {
        guard let device = port.device, let wanted = examination.machine.udevProperties(of: device)["SYSTEMD_WANTS"],
            wanted.contains("gpsd")
        else { return [] }
        return [
            .claimed(
                port.path, by: "gpsd", isMarked: device.isCollarRadio,
                evidence: [Finding.Evidence("udev properties of \(device.node)", "SYSTEMD_WANTS=\(wanted)")], sudo: examination.sudo),
        ]
    }

    /// brltty's rules name adapters by vendor and product. It takes the whole USB device, so that the port disappears.
    private static func brltty(_ examination: Examination) -> [Finding] {
        guard let file = examination.rules.brltty else { return [] }
        let machine = examination.machine
        let folder = "/sys/bus/usb/devices"
        return machine.names(in: folder).filter { !$0.contains(":") }.compactMap { name in
            let path = machine.resolved("\(folder)/\(name)")
            guard let vendor = machine.firstLine(of: "\(path)/idVendor"),
                let product = machine.firstLine(of: "\(path)/idProduct")
            else { return nil }
            let own = examination.adapters.first { $0.usbPath == path }
            let isRadio = examination.ports.contains { $0.adapter?.usbPath == path }
            // A port that is there, and is not to be a radio, is none of our business.
            guard own == nil || isRadio else { return nil }
            let number = [vendor, product].map { String($0.drop { $0 == "0" }) }.joined(separator: "/")
            let rule = file.lines.first { $0.contains("\"\(number)/") && $0.contains("BRLTTY_BRAILLE_DRIVER") }
            guard let rule else { return nil }
            let evidence = [Finding.Evidence(file.path, String(rule)), Finding.Evidence(path, "\(vendor):\(product)")]
            return .claimedByBrltty(own?.port.node, evidence: evidence, sudo: examination.sudo)
        }
    }
}

/// Whether the kernel writes its messages to a port, or a login waits there, as on the UART of a Raspberry Pi.
package enum ConsoleCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let machine = examination.machine
        let place = "/sys/class/tty/console/active"
        let consoles = (machine.firstLine(of: place) ?? "").split(separator: " ").map(String.init)
        let isRaspberry = machine.contentText(of: "/proc/device-tree/model")?.contains("Raspberry Pi") ?? false
        return examination.ports.compactMap { port in
            let name = String(port.node.split(separator: "/").last ?? "")
            let login = "/run/systemd/units/invocation:serial-getty@\(name).service"
            var evidence: [Finding.Evidence] = []
            if consoles.contains(name) { evidence.append(Finding.Evidence(place, consoles.joined(separator: " "))) }
            if machine.linkTarget(of: login) != nil { evidence.append(Finding.Evidence(login, "a login waits at the port")) }
            guard !evidence.isEmpty else { return nil }
            return .console(on: port.path, name: name, isRaspberry: isRaspberry, evidence: evidence, sudo: examination.sudo)
        }
    }
}

/// Whether the USB numbers of a device at a radio's port are those of something that is certainly no radio.
package enum FirmwareCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        examination.ports.compactMap { port in
            guard let adapter = port.adapter, let kind = kind(adapter.vendorID.lowercased(), adapter.productID.lowercased()) else {
                return nil
            }
            return .wrongFirmware(
                port.path, kind, evidence: [Finding.Evidence(adapter.usbPath, "\(adapter.vendorID):\(adapter.productID)")])
        }
    }

    /// A device that is no radio.
    package enum Kind: Equatable {
        /// A GNSS receiver.
        case gnssReceiver
        /// A board whose bootloader runs, and not its firmware.
        case bootloader
    }

    private static func kind(_ vendorID: String, _ productID: String) -> Kind? {
        switch (vendorID, productID) {
        // u-blox.
        case ("1546", _): .gnssReceiver
        // Adafruit's numbers for nRF52 boards: those of the firmware begin with 8, those of the bootloader of the same board with 0.
        case ("239a", "0029"), ("239a", "002a"): .bootloader
        // Espressif's ROM, in boards without a bridge.
        case ("303a", "0002"), ("303a", "0009"): .bootloader
        default: nil
        }
    }
}

/// What `doctor` says about ports.
extension Finding {
    package static func noRadio(unmarked: [SerialDevice], isContainer: Bool, sudo: RootPrefix) -> Finding {
        guard let first = unmarked.first else {
            return Finding(
                .noDevice, "No collar radio is plugged in.", evidence: [Evidence("/sys/class/tty", "no serial port with COLLAR_LINK=1")],
                remedy: "Plug the radio in, with a cable that carries data; `collar-link devices` lists what is there.")
        }
        return Finding(
            .noDevice, "No serial port is marked as a collar radio.",
            evidence: unmarked.map { Evidence($0.node, "\($0.text), not marked") },
            command: isContainer ? ShellCommand("collar-link", "--port", first.node) : sudo("collar-link", "mark", first.node),
            remedy: (unmarked.count == 1 ? "Only if it is a collar radio" : "Choose the one that is a collar radio")
                + ": opening the port of another device may reset it.")
    }

    package static func nothing(at path: String) -> Finding {
        let message = SerialPortError.notFound(path: path).message
        return Finding(.noDevice, port: path, message.reason, evidence: [Evidence(path, "missing")], remedy: message.remedy)
    }

    package static func nodeMissing(_ device: SerialDevice, containerMark: String?, sudo: RootPrefix) -> Finding {
        Finding(
            .nodeMissing, port: device.node, "The kernel has \(device.node), and there is no device node for it.",
            evidence: [Evidence(device.sysPath, "there"), Evidence(device.node, "missing")] + container(containerMark),
            command: containerMark == nil
                ? sudo("udevadm", "trigger", "--action=add", "--subsystem-match=tty")
                : ShellCommand("docker", "run", "--device=\(device.node)").with(syntax: "…"),
            remedy: containerMark == nil
                ? nil : "To survive replugs: `\(allDevices.text)`.")
    }

    package static func nodeStale(_ path: String, device: String, containerMark: String?) -> Finding {
        Finding(
            .nodeStale, port: path, "There is a node at \(path), and no device: it was unplugged, or came back under another name.",
            evidence: [Evidence(path, "device \(device)"), Evidence("/sys/dev/char/\(device)", "missing")] + container(containerMark),
            command: containerMark == nil ? listing : allDevices,
            remedy: containerMark == nil ? "Plug it in again, or name the port under which it came back." : nil)
    }

    /// A container that sees the nodes of all USB serial ports, also of those that are plugged in later.
    private static let allDevices = ShellCommand(
        "docker", "run", "-v", "/dev:/dev", "--device-cgroup-rule=c 188:* rmw", "--device-cgroup-rule=c 166:* rmw").with(syntax: "…")

    private static let listing = ShellCommand("collar-link", "devices")

    private static func container(_ mark: String?) -> [Evidence] { mark.map { [Evidence($0, "this is a container")] } ?? [] }

    package static func notASerialPort(_ path: String, kind: FileStatus.Kind) -> Finding {
        let message = SerialPortError.notATerminal(path: path).message
        return Finding(
            .notASerialPort, port: path, message.reason,
            evidence: [
                Evidence(path, kind == .characterDevice ? "no terminal" : kind == .directory ? "a directory" : "no character device")
            ], command: listing, remedy: message.remedy)
    }

    package static func cannotOpen(_ path: String, _ obstacle: PermissionObstacle, evidence: [Evidence]) -> Finding {
        let message = SerialPortError.permissionDenied(path: path, obstacle: obstacle).message
        let remedy: String? =
            switch obstacle {
            case .onlyOwner, .ownerExcluded, .directory, .notSetYet: nil
            case .notInGroup: "Then log out and in again."
            case .modeChanged: "Or unplug the radio and plug it in again: udevd sets the mode."
            case .notLoggedInAgain, .containerOrSecurityModule: message.remedy
            }
        return Finding(
            .permissionDenied, port: path, message.reason, evidence: evidence, command: message.command, remedy: remedy)
    }

    package static func onlyWhileSeated(_ path: String, group: String, user: String, evidence: [Evidence], sudo: RootPrefix) -> Finding {
        Finding(
            .onlyWhileSeated, port: path,
            "\(user) may open \(path) while seated at this machine, and not over SSH, from cron or in a service.", evidence: evidence,
            command: sudo("usermod", "-aG", group, user), remedy: "Then log out and in again. If \(user) only works while seated at this machine, leave it as it is.")
    }

    package static func confined(bySnap name: String, evidence: Evidence, sudo: RootPrefix) -> Finding {
        Finding(
            .confined, "Snap confines this program, which must be allowed to use serial ports.", evidence: [evidence],
            command: sudo("snap", "connect", "\(name):raw-usb").then(sudo("snap", "connect", "\(name):hardware-observe")))
    }

    package static func confined(byDenial text: String, log: String, sudo: RootPrefix) -> Finding {
        let profile = text.split(separator: " ").first { $0.hasPrefix("profile=") }.map { $0.dropFirst(8).filter { $0 != "\"" } }
        return Finding(
            .confined, "AppArmor refuses this program something.", evidence: [Evidence(log, text)],
            command: profile.map { sudo("aa-complain", String($0)) })
    }

    package static func inUse(_ path: String, by holder: ProcessHolder) -> Finding {
        let message = SerialPortError.busy(path: path, holder: holder).message
        return Finding(
            .deviceInUse, port: path, message.reason, evidence: [Evidence("process \(holder.processID)", "\(holder.shownName) has \(path) open")],
            command: message.command,
            remedy: holder.name == "collar-link"
                ? "If this receiver is to go on, name its state directory: `collar-link doctor --state-dir DIR`." : nil)
    }

    package static func claimed(_ path: String, by name: String, isMarked: Bool, evidence: [Evidence], sudo: RootPrefix) -> Finding {
        Finding(
            .portClaimed, port: path, "\(name) may open \(path) and send to the radio.", evidence: evidence,
            command: isMarked ? RuleInstallation.command(sudo: sudo) : sudo("collar-link", "mark", path),
            remedy: "A marked radio is kept from \(name) by the udev rule.")
    }

    package static func claimedByBrltty(_ path: String?, evidence: [Evidence], sudo: RootPrefix) -> Finding {
        Finding(
            .portClaimed, port: path, "brltty, which is for displays in Braille, takes adapters of this kind, and their port disappears.",
            evidence: evidence, command: sudo("systemctl", "mask", "--now", "brltty-udev.service", "brltty.service"),
            remedy: "Then unplug the radio and plug it in again. Who needs brltty changes the line of its rule file.")
    }

    package static func console(on path: String, name: String, isRaspberry: Bool, evidence: [Evidence], sudo: RootPrefix) -> Finding {
        Finding(
            .consoleOnPort, port: path, "The console of this machine is on \(path): it writes into the radio, and takes its bytes.",
            evidence: evidence,
            command: isRaspberry
                ? sudo("raspi-config", "nonint", "do_serial_cons", "1").then(sudo("reboot"))
                : sudo("systemctl", "disable", "--now", "serial-getty@\(name).service"),
            remedy: isRaspberry ? nil : "Remove 'console=\(name)' from the command line of the kernel, too, and restart the machine.")
    }

    package static func wrongFirmware(_ path: String, _ kind: FirmwareCheck.Kind, evidence: [Evidence]) -> Finding {
        switch kind {
        case .gnssReceiver:
            Finding(
                .unknownRadio, port: path, "The device at \(path) is a GNSS receiver, not a radio.", evidence: evidence,
                command: listing, remedy: "Take back its mark, and mark the radio, or name its port: `--port PATH`.")
        case .bootloader:
            Finding(
                .unknownRadio, port: path, "The board at \(path) runs its bootloader, not its firmware.", evidence: evidence,
                remedy: "Press its reset button once; if that does not help, put MeshCore's KISS modem or RNode firmware on it.")
        }
    }
}
