/// What happened to a serial port between two lists of them.
package enum DeviceChange: Equatable, Sendable {
    /// It was plugged in.
    case added(SerialDevice)
    /// udev describes it in another way; for example, a rule marks it.
    case changed(SerialDevice)
    /// It was pulled out.
    case removed(SerialDevice)

    /// The changes from one list to the next: first what is gone.
    package static func between(_ old: [SerialDevice], _ new: [SerialDevice]) -> [DeviceChange] {
        let gone = old.filter { device in !new.contains { $0.sysPath == device.sysPath } }
        return gone.map { .removed($0) }
            + new.compactMap { device in
                guard let before = old.first(where: { $0.sysPath == device.sysPath }) else { return .added(device) }
                return before == device ? nil : .changed(device)
            }
    }
}

extension DeviceMonitor {
    /// Reads all waiting events, and brings a list of all serial ports up to date.
    /// - Returns: the changes.
    package func update(_ devices: inout [SerialDevice]) -> [DeviceChange] {
        guard drain() else { return [] }
        let present = allSerialDevices()
        defer { devices = present }
        return DeviceChange.between(devices, present)
    }
}
