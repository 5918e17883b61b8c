import CLibudev
import Glibc

/// What happened to a serial port.
public enum DeviceEvent: Equatable, Sendable {
    /// It was plugged in, or was there and is told again: a device found by enumerating may be announced once more.
    case added(SerialDevice)
    /// Something about it changed; it may have become a collar's radio by a new udev rule.
    case changed(SerialDevice)
    /// It was pulled out.
    case removed(node: String)
    /// Events were lost because they came faster than they were read: enumerate again.
    case eventsLost
}

/// Finds serial ports and hears of their coming and going.
///
/// It listens from its creation on. Enumerate after creating it, and nothing falls between; what is plugged in just
/// then is seen twice, so keep devices by ``SerialDevice/sysPath`` and treat `.added` of a known one as `.changed`.
///
/// Where udevd does not run (a container, a minimal system) the kernel's own events are heard instead. They carry no
/// `ID_` properties: vendor, product and serial number are then read from the USB device, ``SerialDevice/idPath`` stays
/// empty, a tag set by a rule is not seen, and inside a network namespace of its own nothing is heard at all.
/// Pseudo-terminals are never listed.
///
/// Nothing in here blocks. It is not thread-safe.
@safe public final class DeviceMonitor {
    /// Who announces devices.
    public enum Source: String, Sendable {
        /// udevd, after its rules have run.
        case udevd = "udev"
        /// The kernel, since udevd does not run.
        case kernel = "kernel"
    }

    /// Who announces devices on this machine.
    public let source: Source
    /// For epoll: readable when ``receive()`` has something to look at. It remains the monitor's to close.
    public let fileDescriptor: Int32

    private let context: OpaquePointer
    private let monitor: OpaquePointer

    /// Begins to listen.
    public init() throws(SystemError) {
        guard let context = unsafe udev_new() else { throw SystemError(operation: "udev_new", errno: errno) }
        source = unsafe access("/run/udev/control", F_OK) == 0 ? .udevd : .kernel
        guard let monitor = unsafe udev_monitor_new_from_netlink(context, source.rawValue) else {
            let cause = errno
            unsafe udev_unref(context)
            throw SystemError(operation: "udev_monitor_new_from_netlink", errno: cause)
        }
        unsafe self.context = unsafe context
        unsafe self.monitor = unsafe monitor
        fileDescriptor = unsafe udev_monitor_get_fd(monitor)
        let unfiltered = unsafe udev_monitor_filter_add_match_subsystem_devtype(monitor, "tty", nil)
        guard unfiltered >= 0 else { throw SystemError(operation: "udev_monitor_filter", errno: -unfiltered) }
        let deaf = unsafe udev_monitor_enable_receiving(monitor)
        guard deaf >= 0 else { throw SystemError(operation: "udev_monitor_enable_receiving", errno: -deaf) }
    }

    deinit {
        unsafe udev_monitor_unref(monitor)
        unsafe udev_unref(context)
    }

    /// The next event; nil when there is none left. Call until nil.
    public func receive() -> DeviceEvent? {
        while true {
            errno = 0
            guard let device = unsafe udev_monitor_receive_device(monitor) else {
                if errno == ENOBUFS { return .eventsLost }
                // An event that the filter rejects is also nil, and others may wait behind it.
                guard isReadable else { return nil }
                continue
            }
            defer { unsafe udev_device_unref(device) }
            if let event = unsafe DeviceMonitor.event(device) { return event }
        }
    }

    /// The base radios that are plugged in.
    public func collarRadios() -> [SerialDevice] {
        switch source {
        case .udevd:
            unsafe devices { enumeration in
                unsafe udev_enumerate_add_match_property(enumeration, "COLLAR_LINK", "1")
            }
        // Without udevd no property is stored that could be matched.
        case .kernel: allSerialDevices().filter(\.isCollarRadio)
        }
    }

    /// All serial ports with hardware behind them that are plugged in or built in.
    public func allSerialDevices() -> [SerialDevice] { unsafe devices { _ in } }

    private func devices(matching: (OpaquePointer) -> Void) -> [SerialDevice] {
        guard let enumeration = unsafe udev_enumerate_new(context) else { return [] }
        defer { unsafe udev_enumerate_unref(enumeration) }
        unsafe udev_enumerate_add_match_subsystem(enumeration, "tty")
        // The 64 virtual consoles are most of the terminals of a machine and take most of the time to list. libudev
        // rejects by name before it opens anything; together these patterns match every other name.
        for pattern in ["tty[!0-9]*", "t[!t]*", "[!t]*"] {
            unsafe udev_enumerate_add_match_sysname(enumeration, pattern)
        }
        unsafe matching(enumeration)
        guard unsafe udev_enumerate_scan_devices(enumeration) >= 0 else { return [] }
        var found: [SerialDevice] = []
        var entry = unsafe udev_enumerate_get_list_entry(enumeration)
        while let current = unsafe entry {
            defer { unsafe entry = udev_list_entry_get_next(current) }
            guard let device = unsafe udev_device_new_from_syspath(context, udev_list_entry_get_name(current)) else {
                continue
            }
            defer { unsafe udev_device_unref(device) }
            if let device = unsafe SerialDevice(device) { found.append(device) }
        }
        return found
    }

    private var isReadable: Bool {
        var state = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&state, 1, 0) == 1 && state.revents & Int16(POLLIN) != 0
    }

    /// Nil for a terminal that is not a serial port.
    private static func event(_ device: OpaquePointer) -> DeviceEvent? {
        guard let action = unsafe udev_device_get_action(device) else { return nil }
        switch unsafe String(cString: action) {
        case "remove":
            return unsafe udev_device_get_devnode(device).map { unsafe .removed(node: String(cString: $0)) }
        case "add": return unsafe SerialDevice(device).map { .added($0) }
        default: return unsafe SerialDevice(device).map { .changed($0) }
        }
    }
}
