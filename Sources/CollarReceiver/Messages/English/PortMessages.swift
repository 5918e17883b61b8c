import Glibc
import SerialDevices

extension SerialPortError {
    /// The error, for a person.
    public var message: UserMessage {
        switch self {
        case .notFound(let path):
            UserMessage(.noDevice, "There is no device at \(path).", "Plug the radio in; `collar-link devices` lists what is there.")
        case .notATerminal(let path):
            UserMessage(
                .notASerialPort, "\(path) is not a serial port.", "Name a serial port; `collar-link devices` lists them.")
        case .busy(let path, .some(let holder)):
            UserMessage(.deviceInUse, "\(path) is in use by \(holder.name) (process \(holder.processID)).", holder.remedy)
        case .busy(let path, nil):
            UserMessage(
                .deviceInUse, "\(path) is in use by another program.", ProcessHolder.unknownRemedy(path: path))
        case .replaced(let path, let device):
            UserMessage(
                .noDevice, "\(path) is another device now, which is not opened: \(device); waiting for the radio that was there",
                "To use this device instead, stop the receiver and start it again.")
        case .permissionDenied(let path, let obstacle): obstacle.message(path: path)
        case .disconnected(let path):
            UserMessage(
                .noDevice, "\(path) exists, but its device does not answer.",
                "Unplug the device and plug it in again; `sudo dmesg | tail` shows what the kernel saw.")
        case .system(let path, let operation, let code):
            UserMessage(
                .portFailed, "\(path) could not be set up: \(operation): \(SystemError.text(code)).",
                "`sudo dmesg | tail` shows what the kernel says about the device.")
        }
    }
}

extension PermissionObstacle {
    fileprivate func message(path: String) -> UserMessage {
        let (reason, remedy) =
            switch self {
            case .notInGroup(let group, let user):
                (
                    "\(user) may not open \(path): it belongs to the group \(group), which \(user) is not in.",
                    "Run `sudo usermod -aG \(group) \(user)`, then log out and in again."
                )
            case .notLoggedInAgain(let group, let user):
                (
                    "\(user) may not open \(path) yet: this session began before \(user) was added to the group \(group).",
                    "Log out and in again, or run `newgrp \(group)` in this terminal."
                )
            case .onlyOwner("root"):
                (
                    "Only root may open \(path).",
                    "Install the rule: `\(RuleInstallation.command())`; it says how to add an adapter of your own."
                )
            case .onlyOwner(let user):
                (
                    "Only \(user) may open \(path).",
                    "Run the program as its owner: `sudo -u \(user) collar-link --port \(path)`."
                )
            case .modeChanged(let mode, let group, let user):
                (
                    "\(user) is in the group \(group), but may not open \(path): its mode was changed to \(String(mode, radix: 8)).",
                    "Run `sudo chmod 660 \(path)`, or unplug the radio and plug it in again: udevd sets the mode."
                )
            case .ownerExcluded(let mode, let user):
                (
                    "\(path) belongs to \(user), but its mode \(String(mode, radix: 8)) does not let its owner read and write.",
                    "Run `chmod u+rw \(path)`."
                )
            case .directory:
                ("The directory of \(path) may not be entered.", "See which directory it is with `namei -l \(path)`.")
            case .containerOrSecurityModule:
                (
                    "The permissions of \(path) would suffice, but a container or a security module forbids to open it.",
                    "Start a container with `--device=\(path)`; otherwise find the refusal with `sudo journalctl -k -g denied`."
                )
            case .notSetYet:
                (
                    "udevd has not set the permissions of \(path) yet.",
                    "See what holds udevd up: `systemctl status systemd-udevd`."
                )
            }
        return UserMessage(.permissionDenied, reason, remedy)
    }
}

extension ProcessHolder {
    /// The step that frees a port whose holder is not known.
    static func unknownRemedy(path: String) -> String { "Find the program with `sudo fuser -v \(path)`, and stop it." }

    /// The step that frees the port.
    var remedy: String {
        switch name {
        case "ModemManager": "Run `sudo systemctl stop ModemManager`."
        case "gpsd": "Run `sudo systemctl stop gpsd.socket gpsd.service`."
        case "brltty": "Run `sudo systemctl stop brltty-udev.service brltty.service`."
        default: "Close \(name), or run `kill \(processID)`."
        }
    }
}
