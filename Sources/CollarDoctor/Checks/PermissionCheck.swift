import SerialDevices

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
