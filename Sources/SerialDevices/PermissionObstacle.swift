import CheckedNumbers
import CollarPorts
import Glibc
import LinuxSystem

/// The facts from which the reason for a refused open is found.
package struct PermissionFacts {
    package var errno: Int32
    /// Whether `access` grants reading and writing.
    package var accessIsGranted: Bool
    /// The node; nil if `stat` fails, because the user is not allowed to enter a directory on the path.
    package var node: Node?
    /// The name of the effective user of this process.
    package var user: String
    package var processGroups: [UInt32]
    /// The group ids that a new session of the user would have.
    package var databaseGroups: [UInt32]
    package var udevdIsBusy = false
    /// The id that the kernel shows for a group that has no id in this user namespace.
    package var unmappedGroup: UInt32

    package typealias Node = (mode: UInt32, owner: String, group: UInt32, groupName: String)

    package init(
        errno: Int32, accessIsGranted: Bool, node: Node? = nil, user: String, processGroups: [UInt32], databaseGroups: [UInt32],
        udevdIsBusy: Bool = false, unmappedGroup: UInt32
    ) {
        self.errno = errno
        self.accessIsGranted = accessIsGranted
        self.node = node
        self.user = user
        self.processGroups = processGroups
        self.databaseGroups = databaseGroups
        self.udevdIsBusy = udevdIsBusy
        self.unmappedGroup = unmappedGroup
    }
}

extension PermissionFacts {
    package var obstacle: PermissionObstacle {
        if errno != EPERM, udevdIsBusy { return .notSetYet }
        // EPERM comes from a container's list of devices, never from the mode of a node.
        if errno == EPERM || accessIsGranted { return .containerOrSecurityModule }
        guard let node else { return .directory }
        if node.group == unmappedGroup { return .containerOrSecurityModule }
        // For the owner the mode's first digit alone decides.
        if node.owner == user { return .ownerExcluded(mode: node.mode & 0o777, user: user) }
        // The remedy must never be to join root's group.
        if node.group == 0 { return .onlyOwner(user: node.owner) }
        let isInGroup = processGroups.contains(node.group)
        let isListedInGroup = databaseGroups.contains(node.group)
        guard node.mode & 0o060 == 0o060 else {
            return node.owner == "root" && (isInGroup || isListedInGroup)
                ? .modeChanged(mode: node.mode & 0o777, group: node.groupName, user: user) : .onlyOwner(user: node.owner)
        }
        if isInGroup { return .containerOrSecurityModule }
        return isListedInGroup
            ? .notLoggedInAgain(group: node.groupName, user: user) : .notInGroup(group: node.groupName, user: user)
    }

    /// Gathers the facts about an `open` of the path that failed with EACCES or EPERM. If user names come from a directory
    /// service, this may query that service over the network.
    package init(opening path: String, errno cause: Int32) {
        errno = cause
        accessIsGranted = unsafe faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0
        if let status = SystemFiles.status(of: path) {
            node = (
                status.st_mode, UserDatabase.userName(status.st_uid), status.st_gid, UserDatabase.groupName(status.st_gid)
            )
            udevdIsBusy = status.st_mode & S_IFMT == S_IFCHR && Udevd.isBusy(with: status.st_rdev)
        } else {
            node = nil
        }
        let userID = geteuid()
        user = UserDatabase.userName(userID)
        processGroups = UserDatabase.processGroups()
        databaseGroups = UserDatabase.groups(of: userID)
        unmappedGroup = SystemFiles.firstLine(of: "/proc/sys/kernel/overflowgid").flatMap { UInt32($0, in: 0 ... .max) } ?? 65_534
    }
}
