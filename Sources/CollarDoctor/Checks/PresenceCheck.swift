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
