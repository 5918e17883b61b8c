import CLibudev
import Glibc

/// What happened to a serial port.
package enum DeviceEvent: Equatable, Sendable {
    /// The device was plugged in. An enumeration may already have found the device.
    case added(SerialDevice)
    /// The device changed; a new udev rule may have made it a collar radio.
    case changed(SerialDevice)
    /// The device was pulled out.
    case removed(node: String)
    /// Events were lost because they came faster than they were read: enumerate again.
    case eventsLost
}

/// Finds serial ports, and reports which are plugged in and pulled out.
///
/// It listens from its creation on, so a caller that enumerates afterwards misses no device. A device that is plugged in
/// between is seen twice: identify devices by ``SerialDevice/sysPath``, and treat `.added` of a known device as `.changed`.
///
/// Where udevd does not run (a container, a minimal system) it listens to the kernel's own events. These carry no `ID_`
/// properties: vendor, product and serial number are read from the USB device, ``SerialDevice/idPath`` is nil, and a tag
/// set by a rule is not seen. A process in a network namespace of its own gets no events at all. Pseudo-terminals are
/// never listed.
///
/// No call blocks. It is not thread-safe.
@safe public final class DeviceMonitor {
    /// The source of device events.
    package enum Source: String, Sendable {
        /// udevd, after its rules have run.
        case udevd = "udev"
        /// The kernel, where udevd does not run.
        case kernel = "kernel"
    }

    /// The source of device events on this machine.
    package let source: Source
    /// For epoll: readable when ``receive()`` may have an event. The monitor closes it.
    package let fileDescriptor: Int32

    private let context: OpaquePointer
    private let monitor: OpaquePointer

    /// Begins to listen.
    package init() throws(SystemError) {
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
    package func receive() -> DeviceEvent? {
        while true {
            errno = 0
            guard let device = unsafe udev_monitor_receive_device(monitor) else {
                if errno == ENOBUFS { return .eventsLost }
                // An event that the filter rejects also gives nil, and further events may wait after it.
                guard isReadable else { return nil }
                continue
            }
            defer { unsafe udev_device_unref(device) }
            if let event = unsafe DeviceMonitor.event(device) { return event }
        }
    }

    /// The base radios that are plugged in.
    package func collarRadios() -> [SerialDevice] {
        switch source {
        case .udevd:
            unsafe devices { enumeration in
                unsafe udev_enumerate_add_match_property(enumeration, "COLLAR_LINK", "1")
            }
        // Without udevd there are no stored properties to match.
        case .kernel: allSerialDevices().filter(\.isCollarRadio)
        }
    }

    /// All serial ports that have hardware, plugged in or built in.
    package func allSerialDevices() -> [SerialDevice] { unsafe devices { _ in } }

    private func devices(matching: (OpaquePointer) -> Void) -> [SerialDevice] {
        guard let enumeration = unsafe udev_enumerate_new(context) else { return [] }
        defer { unsafe udev_enumerate_unref(enumeration) }
        unsafe udev_enumerate_add_match_subsystem(enumeration, "tty")
        // The 64 virtual consoles are most of a machine's terminals and take most of the time to list. libudev rejects
        // them by name before it opens anything; together these patterns match every other name.
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

    /// The event of a device; nil if a removed device has no node, or if an added or changed device is not a serial port.
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
