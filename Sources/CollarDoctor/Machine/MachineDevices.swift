import CheckedNumbers
import CollarPorts
import Glibc
import SerialDevices

/// The serial ports of a machine, from the files of the kernel and of udev.
extension MachineFacts {
    /// All serial ports that have hardware, in the order of their names.
    package func serialDevices() -> [SerialDevice] {
        let folder = "/sys/class/tty"
        return names(in: folder).compactMap { name in
            // The virtual consoles are most of a machine's terminals.
            if name.hasPrefix("tty"), name.dropFirst(3).first?.isNumber ?? true { return nil }
            return serialDevice(at: resolved("\(folder)/\(name)"))
        }
    }

    /// The serial port at a path below /sys; nil for a terminal that is not a serial port, as in `SerialDevice.init(_:)`.
    private func serialDevice(at sysPath: String) -> SerialDevice? {
        guard let event = contentText(of: "\(sysPath)/uevent"), let parent = ancestor(of: sysPath, with: "uevent"),
            firstLine(of: "\(sysPath)/type") != "0"
        else { return nil }
        var properties = properties(event, mark: "")
        let name = properties["DEVNAME"] ?? String(sysPath.split(separator: "/").last ?? "")
        if let device = firstLine(of: "\(sysPath)/dev"), let stored = contentText(of: "/run/udev/data/c\(device)") {
            properties.merge(self.properties(stored, mark: "E:")) { _, new in new }
        }
        return SerialDevice(
            node: name.hasPrefix("/") ? name : "/dev/\(name)", sysPath: sysPath, property: { properties[$0] },
            usbAttribute: { key in self.ancestor(of: sysPath, with: "idVendor").flatMap { self.firstLine(of: "\($0)/\(key)") } },
            parentDriver: { self.linkTarget(of: "\(parent)/driver")?.split(separator: "/").last.map(String.init) })
    }

    /// The udev properties of a serial port that no ``SerialDevice`` has, such as those that name another program.
    package func udevProperties(of device: SerialDevice) -> [String: String] {
        guard let number = firstLine(of: "\(device.sysPath)/dev"), let stored = contentText(of: "/run/udev/data/c\(number)") else {
            return properties(contentText(of: "\(device.sysPath)/uevent") ?? "", mark: "")
        }
        return properties(stored, mark: "E:")
    }

    private func properties(_ text: String, mark: String) -> [String: String] {
        var properties: [String: String] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix(mark) {
            let parts = line.dropFirst(mark.count).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { properties[String(parts[0])] = String(parts[1]) }
        }
        return properties
    }

    /// The nearest directory above a path below /sys that has a file: that of a device has `uevent`, of a USB device `idVendor`.
    /// Nil if there is none, as for a virtual terminal.
    private func ancestor(of path: String, with file: String) -> String? {
        let parts = path.split(separator: "/")
        guard parts.count > 3 else { return nil }
        return (3..<parts.count).reversed().lazy.map { "/" + parts.prefix($0).joined(separator: "/") }
            .first { content(of: "\($0)/\(file)") != .absent }
    }

    /// The USB device of a port; nil if the port is not one of a USB device.
    package func adapter(of device: SerialDevice) -> USBAdapter? { USBAdapter(device) { self.firstLine(of: $0) } }

    /// Whether udevd is in the network namespace of the process, so that its events arrive; nil if that is not known.
    package var hearsUdevd: Bool? {
        contentText(of: Udevd.netlinkSockets).map { $0.split(separator: "\n").contains { Udevd.hearsKernel(String($0)) } }
    }

    /// Why the user is not allowed to open a device node; nil if the permissions of the node allow it.
    package func obstacle(at node: String) -> PermissionObstacle? {
        if mayAccess(node, "rw") { return nil }
        let status = status(of: node)
        let user = user
        return PermissionFacts(
            errno: EACCES, accessIsGranted: false,
            node: status.map { ($0.mode, name(ofUser: $0.ownerID), $0.groupID, name(ofGroup: $0.groupID)) },
            user: user.name, processGroups: user.groups, databaseGroups: user.sessionGroups,
            // udevd keeps this file while events wait or are handled.
            udevdIsBusy: content(of: "/run/udev/queue") != .absent,
            unmappedGroup: firstLine(of: "/proc/sys/kernel/overflowgid").flatMap { UInt32($0, in: 0 ... .max) } ?? 65_534
        ).obstacle
    }

    /// The name of a user, or the number if there is none.
    package func name(ofUser id: UInt32) -> String { text(of: .userName(id)) ?? String(id) }

    /// The name of a group, or the number if there is none.
    package func name(ofGroup id: UInt32) -> String { text(of: .groupName(id)) ?? String(id) }
}
