/// Why a serial line could not be opened.
package enum SerialPortError: Error, Equatable, Sendable {
    case notFound(path: String)
    case notATerminal(path: String)
    /// The line is in use; `holder` is nil if this process is not allowed to inspect any process that has the line open.
    case busy(path: String, holder: ProcessHolder?)
    /// The node exists, but the user is not allowed to open it.
    case permissionDenied(path: String, obstacle: PermissionObstacle)
    /// The node exists, but its device is gone.
    case disconnected(path: String)
    /// In the place of a radio that was at the path is another device, which nobody has named or marked.
    case replaced(path: String, by: String)
    case system(path: String, operation: String, errno: Int32)

    package var path: String {
        switch self {
        case .notFound(let path), .notATerminal(let path), .busy(let path, _), .permissionDenied(let path, _),
            .disconnected(let path), .replaced(let path, _), .system(let path, _, _):
            path
        }
    }
}

extension SerialPortError {
    /// The time in which the error may pass by itself, in microseconds; 0 if it does not.
    var passesWithinMicroseconds: Int64 {
        switch self {
        // udevd sets the group first, and the access list up to 300 ms later; with slow rules it takes seconds.
        case .permissionDenied(_, .notSetYet): 30_000_000
        case .permissionDenied: 300_000
        // The node of a device that was unplugged goes within moments.
        case .disconnected: 1_000_000
        // If the device is marked, udevd says so soon.
        case .replaced: 1_000_000
        case .notFound, .notATerminal, .busy, .system: 0
        }
    }
}

/// A process that has a terminal open.
package struct ProcessHolder: Equatable, Sendable {
    package let processID: Int32
    /// The short name of the process (at most 15 bytes), such as `ModemManager`.
    package let name: String

    package init(processID: Int32, name: String) {
        self.processID = processID
        self.name = name
    }
}

/// The reason why a user is not allowed to open a device node.
package enum PermissionObstacle: Equatable, Sendable {
    /// The node belongs to a group that the user is not in.
    case notInGroup(group: String, user: String)
    /// The user has been added to the group, but this session began before that.
    case notLoggedInAgain(group: String, user: String)
    /// Only the owner may open the node: no group or access list grants access to anyone else. Where no udev rule applies,
    /// the owner is root.
    case onlyOwner(user: String)
    /// The node belongs to root and to a group that the user is in, and its mode keeps the group out. udevd sets no such mode, so
    /// somebody has changed it. `mode` is its permission bits.
    case modeChanged(mode: UInt32, group: String, user: String)
    /// The node belongs to the user, and its mode keeps its owner out. `mode` is its permission bits.
    case ownerExcluded(mode: UInt32, user: String)
    /// The user is not allowed to enter a directory on the path to the node.
    case directory
    /// The node's permissions allow opening, but a container or a security module (AppArmor, SELinux, seccomp) refuses it.
    case containerOrSecurityModule
    /// udevd is still to set the permissions of the node.
    case notSetYet
}
