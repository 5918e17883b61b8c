import Glibc

/// What keeps a person from opening a device node.
public enum PermissionObstacle: Equatable, Sendable {
    /// The node belongs to a group that the user is not in.
    case notInGroup(group: String, user: String)
    /// The user has been added to the group, but this session began before that.
    case notLoggedInAgain(group: String, user: String)
    /// Neither a group nor an access list lets in anyone but the owner, which is root where no udev rule applies.
    case onlyOwner(user: String)
    /// A directory on the way to the node may not be entered.
    case directory
    /// The node's permissions would allow it: a container or a security module (AppArmor, SELinux, seccomp) refuses.
    case containerOrSecurityModule
}

/// Everything a verdict on a refused open rests on.
struct PermissionFacts {
    /// What `open` failed with.
    var errno: Int32
    /// What `access` says about reading and writing.
    var accessIsGranted: Bool
    /// The node; nil when its directory may not be entered.
    var node: Node?
    /// The name of the user who asks.
    var user: String
    /// The group ids that this process has.
    var processGroups: [UInt32]
    /// The group ids that a new session of the user would have.
    var databaseGroups: [UInt32]
    /// The id shown for a group that has none in this user namespace.
    var unmappedGroup: UInt32

    /// Owner and permissions of a node.
    struct Node {
        var mode: UInt32
        var owner: String
        var group: UInt32
        var groupName: String
    }
}

extension PermissionObstacle {
    /// Judges a refused open by the facts alone.
    init(_ facts: PermissionFacts) {
        // EPERM comes from a container's list of devices, never from the mode of a node.
        if facts.errno == EPERM || facts.accessIsGranted {
            self = .containerOrSecurityModule
            return
        }
        guard let node = facts.node else {
            self = .directory
            return
        }
        if node.group == facts.unmappedGroup {
            self = .containerOrSecurityModule
            return
        }
        let groupMayReadAndWrite = node.mode & 0o060 == 0o060
        // Nobody should be told to join root's group.
        guard groupMayReadAndWrite, node.group != 0 else {
            self = .onlyOwner(user: node.owner)
            return
        }
        if facts.processGroups.contains(node.group) {
            self = .containerOrSecurityModule
        } else if facts.databaseGroups.contains(node.group) {
            self = .notLoggedInAgain(group: node.groupName, user: facts.user)
        } else {
            self = .notInGroup(group: node.groupName, user: facts.user)
        }
    }
}
