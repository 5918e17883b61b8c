import CollarHost
import CollarJournal
import LinuxSystem
import SerialDevices

/// Radios that udev marks, and devices of named ports that return at another node.
extension RadioPorts {
    /// Looks for radios, now and from now on.
    func discover(at time: HostTime) throws(ReceiverError) {
        // The monitor listens before the radios are listed, so that no radio plugged in meanwhile is missed.
        let monitor: DeviceMonitor
        do throws(SystemError) { monitor = try listen() } catch { throw .discovery(error) }
        isDiscovering = true
        devices = monitor.allSerialDevices()
        note(DeviceChange.between([], devices), at: time)
        for radio in devices where radio.isCollarRadio { try appeared(radio, at: time) }
        try endIfNothingIsLeft()
        if ports.isEmpty { report(.waitingForRadio(others: devices, noticedBy: monitor.source)) }
        if monitor.source == .udevDatabase { report(.udevElsewhere) }
    }

    private func listen() throws(SystemError) -> DeviceMonitor {
        if let monitor { return monitor }
        let monitor = try DeviceMonitor()
        for descriptor in monitor.fileDescriptors { events.watch(descriptor, as: .deviceMonitor) }
        self.monitor = monitor
        return monitor
    }

    /// Handles the events of udev. What they say may be out of date, so the present state counts: for example, the node of a
    /// radio may belong to another device by now.
    func handleDeviceEvents(at time: HostTime) throws(ReceiverError) {
        guard let monitor, monitor.drain() else { return }
        let before = devices
        devices = monitor.allSerialDevices()
        note(DeviceChange.between(before, devices), at: time)
        for port in ports {
            // A hung-up line ends with its last bytes. A port that was closed may be open again, at a new device.
            while let line = port.connection as? SerialPort, line.isHungUp { try read(port, line, at: time) }
            if !port.isNamedByUser, !devices.contains(where: { $0.isCollarRadio && $0.node == port.path }) {
                forget(port, at: time)
            }
        }
        if isDiscovering { for radio in devices where radio.isCollarRadio { try appeared(radio, at: time) } }
        for port in ports { try follow(port, among: devices, at: time) }
        try endIfNothingIsLeft()
    }

    /// Records which radios came and which devices went.
    private func note(_ changes: [DeviceChange], at time: HostTime) {
        for change in changes {
            switch change {
            case .added(let device), .changed(let device):
                guard device.isCollarRadio else { continue }
                capture?.note(.plugged(device: device.text), port: device.node, at: time)
            case .removed(let device): capture?.note(.removed, port: device.node, at: time)
            }
        }
    }

    private func appeared(_ radio: SerialDevice, at time: HostTime) throws(ReceiverError) {
        let port = ports.first { $0.path == radio.node } ?? add(radio.node, isNamedByUser: false)
        if port.connection == nil { try tryOpening(port, at: time) }
    }

    /// A port at which udev has found a radio is not one any more.
    private func forget(_ port: RadioPort, at time: HostTime) {
        close(port, isMarked: false, at: time)
        stopWaiting(port)
        port.lastError = nil
        port.failure = nil
        port.lastComplaint = nil
    }

    /// Listens for the return of the device of a named port, which may get another node.
    func lookForDevice(of port: RadioPort) {
        guard port.device?.hasIdentity == true else { return }
        // Without a monitor, the device is found when it returns at its path.
        do throws(SystemError) { _ = try listen() } catch {}
    }

    /// Opens a named port at the node at which its device has returned, or at its own path, if another device is there now.
    private func follow(_ port: RadioPort, among devices: [SerialDevice], at time: HostTime) throws(ReceiverError) {
        guard port.isNamedByUser, port.connection == nil, let lost = port.device else { return }
        let named = DevicePath(port.path).target
        let found = devices.filter { $0.isSameDevice(as: lost) }
        guard let device = found.count == 1 ? found.first : devices.first(where: { $0.node == named }) else { return }
        port.node = device.node == named ? port.path : device.node
        try tryOpening(port, at: time)
    }
}
