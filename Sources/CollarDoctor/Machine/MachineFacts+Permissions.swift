import CheckedNumbers
import Glibc
import SerialDevices

extension MachineFacts {
    /// Why the user is not allowed to open a device node; nil if the permissions of the node allow it.
    package func obstacle(at node: String) -> PermissionObstacle? {
        if mayAccess(node, "rw") { return nil }
        let status = status(of: node)
        let user = user
        return PermissionObstacle(
            PermissionFacts(
                errno: EACCES, accessIsGranted: false,
                node: status.map {
                    PermissionFacts.Node(
                        mode: $0.mode, owner: name(ofUser: $0.ownerID), group: $0.groupID, groupName: name(ofGroup: $0.groupID))
                },
                user: user.name, processGroups: user.groups, databaseGroups: user.sessionGroups,
                // udevd keeps this file while events wait or are handled.
                udevdIsBusy: content(of: "/run/udev/queue") != .absent,
                unmappedGroup: firstLine(of: "/proc/sys/kernel/overflowgid").flatMap { UInt32($0, in: 0 ... .max) } ?? 65_534))
    }

    /// The name of a user, or the number if there is none.
    package func name(ofUser id: UInt32) -> String { text(of: .userName(id)) ?? String(id) }

    /// The name of a group, or the number if there is none.
    package func name(ofGroup id: UInt32) -> String { text(of: .groupName(id)) ?? String(id) }
}
