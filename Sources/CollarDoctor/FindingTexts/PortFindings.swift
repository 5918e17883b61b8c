import CollarErrors
import SerialDevices

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
