import Glibc

/// Why a serial line could not be opened.
public enum SerialPortError: Error, Equatable, Sendable, CustomStringConvertible {
    /// There is nothing at the path.
    case notFound(path: String)
    /// There is something at the path, and it is not a terminal.
    case notATerminal(path: String)
    /// Another program uses it; `holder` is nil when it belongs to a user whose processes may not be looked into.
    case busy(path: String, holder: ProcessHolder?)
    /// It is there, and the user may not open it.
    case permissionDenied(path: String, obstacle: PermissionObstacle)
    /// The node is there and the device behind it is gone.
    case disconnected(path: String)
    /// A system call failed in a way that has no better name.
    case system(path: String, operation: String, errno: Int32)

    /// The path that was to be opened.
    public var path: String {
        switch self {
        case .notFound(let path), .notATerminal(let path), .busy(let path, _), .permissionDenied(let path, _),
            .disconnected(let path), .system(let path, _, _):
            path
        }
    }

    /// One sentence: what is the matter, and where.
    public var description: String {
        switch self {
        case .notFound(let path): "There is no device at \(path)."
        case .notATerminal(let path): "\(path) is not a serial port."
        case .busy(let path, .some(let holder)):
            "\(path) is in use by \(holder.name) (process \(holder.processID))."
        case .busy(let path, nil): "\(path) is in use by another program."
        case .permissionDenied(let path, let obstacle): obstacle.description(path: path)
        case .disconnected(let path): "\(path) is there, but no device answers behind it."
        case .system(let path, let operation, let code):
            "\(path) could not be set up: \(operation): \(SystemError.text(code))."
        }
    }

    /// One step that a person can take, with the command.
    public var remedy: String {
        switch self {
        case .notFound: "Plug the radio in; `collar-link devices` lists what is there."
        case .notATerminal: "Name a serial port; `collar-link devices` lists them."
        case .busy(let path, let holder):
            holder.map(\.remedy) ?? "Find the program with `sudo fuser -v \(path)`, and stop it."
        case .permissionDenied(let path, let obstacle): obstacle.remedy(path: path)
        case .disconnected: "Unplug the device and plug it in again; `sudo dmesg | tail` shows what the kernel saw."
        case .system: "`sudo dmesg | tail` shows what the kernel says about the device."
        }
    }
}

extension PermissionObstacle {
    fileprivate func description(path: String) -> String {
        switch self {
        case .notInGroup(let group, let user):
            "\(user) may not open \(path): it belongs to the group \(group), which \(user) is not in."
        case .notLoggedInAgain(let group, let user):
            "\(user) may not open \(path) yet: this session began before \(user) was added to the group \(group)."
        case .onlyOwner(let user): "Only \(user) may open \(path)."
        case .directory: "The directory of \(path) may not be entered."
        case .containerOrSecurityModule:
            "\(path) has fitting permissions, but a container or a security module forbids to open it."
        }
    }

    fileprivate func remedy(path: String) -> String {
        switch self {
        case .notInGroup(let group, let user): "Run `sudo usermod -aG \(group) \(user)`, then log out and in again."
        case .notLoggedInAgain(let group, _): "Log out and in again, or run `newgrp \(group)` in this terminal."
        case .onlyOwner("root"):
            "Install the rule: `sudo cp hardware/udev/70-collar-link.rules /etc/udev/rules.d/ && sudo udevadm control "
                + "--reload && sudo udevadm trigger --subsystem-match=tty`; it says how to add an adapter of your own."
        case .onlyOwner(let user): "Run the program as its owner: `sudo -u \(user) collar-link --port \(path)`."
        case .directory: "See which directory it is with `namei -l \(path)`."
        case .containerOrSecurityModule:
            "Start a container with `--device=\(path)`; otherwise find the refusal with `sudo journalctl -k -g denied`."
        }
    }
}

extension ProcessHolder {
    fileprivate var remedy: String {
        switch name {
        case "ModemManager": "Run `sudo systemctl stop ModemManager`."
        case "gpsd": "Run `sudo systemctl stop gpsd.socket gpsd.service`."
        case "brltty": "Run `sudo systemctl stop brltty-udev.service brltty.service`."
        default: "Close \(name), or run `kill \(processID)`."
        }
    }
}

/// A system call that failed.
public struct SystemError: Error, Equatable, Sendable {
    /// The call.
    public let operation: String
    /// What it failed with.
    public let errno: Int32

    /// Both, for a message.
    public var text: String { "\(operation): \(SystemError.text(errno))" }

    /// The system's words for an errno, or the number where it has none.
    public static func text(_ code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
