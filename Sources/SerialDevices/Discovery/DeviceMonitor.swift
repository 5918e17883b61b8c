import CLibudev
import CollarPorts
import Glibc
import LinuxSystem

/// Finds serial ports, and tells when they may have changed.
///
/// An event only says that something changed. What is plugged in now is read from /sys and from udevd's database, because a
/// queued event may describe a device that is gone. The monitor listens from its creation on, so a caller that lists the
/// devices afterwards misses no change. Pseudo-terminals are never listed.
///
/// Where udevd cannot be seen (a container, a minimal system), vendor, product and serial number are read from the USB device,
/// ``SerialDevice/idPath`` is nil, and a mark that a rule set is not seen.
///
/// No call blocks. It is not thread-safe.
@safe package final class DeviceMonitor {
    /// How changes are noticed.
    package enum Source: Equatable, Sendable {
        /// By udevd's events, which come after its rules have run.
        case udevd
        /// By the files of udevd's database, because udevd runs in another network namespace and its events do not come.
        case udevDatabase
        /// By the kernel's events and the nodes in /dev, because udevd does not run or cannot be seen.
        case kernel
    }

    package let source: Source

    private let context: OpaquePointer
    private let events: UdevEvents?
    private let files: DirectoryWatcher?

    package init() throws(SystemError) {
        guard let context = unsafe udev_new() else { throw SystemError(operation: "udev_new", errno: errno) }
        do throws(SystemError) {
            source = Udevd.isVisible ? (Udevd.sendsEventsHere ? .udevd : .udevDatabase) : .kernel
            switch source {
            case .udevd:
                events = try unsafe UdevEvents(context, from: "udev")
                files = nil
            case .udevDatabase:
                events = nil
                files = try DirectoryWatcher(Udevd.databaseDirectory, namesBeginningWith: "c")
            case .kernel:
                // In a user namespace of its own, the kernel's events do not come, and the nodes in /dev show the changes.
                events = try unsafe UdevEvents(context, from: "kernel")
                files = try DirectoryWatcher("/dev", namesBeginningWith: "tty")
            }
        } catch {
            unsafe udev_unref(context)
            throw error
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe udev_unref(context) }

    /// For epoll: one of them is readable when ``drain()`` may have something. The monitor closes them.
    package var fileDescriptors: [Int32] { [events?.fileDescriptor, files?.fileDescriptor].compactMap { $0 } }

    /// Reads all waiting events.
    /// - Returns: whether serial ports may have changed, or events were lost: list them again.
    package func drain() -> Bool {
        let hasEvents = events?.drain() ?? false
        let hasFiles = files?.drain() ?? false
        return hasEvents || hasFiles
    }

    /// All serial ports that have hardware, plugged in or built in.
    package func allSerialDevices() -> [SerialDevice] {
        guard let enumeration = unsafe udev_enumerate_new(context) else { return [] }
        defer { unsafe udev_enumerate_unref(enumeration) }
        unsafe udev_enumerate_add_match_subsystem(enumeration, "tty")
        // The 64 virtual consoles are most of a machine's terminals and take most of the time to list. libudev rejects
        // them by name before it opens anything; together these patterns match every other name.
        for pattern in ["tty[!0-9]*", "t[!t]*", "[!t]*"] { unsafe udev_enumerate_add_match_sysname(enumeration, pattern) }
        guard unsafe udev_enumerate_scan_devices(enumeration) >= 0 else { return [] }
        var found: [SerialDevice] = []
        var entry = unsafe udev_enumerate_get_list_entry(enumeration)
        while let current = unsafe entry {
            defer { unsafe entry = udev_list_entry_get_next(current) }
            guard let device = unsafe udev_device_new_from_syspath(context, udev_list_entry_get_name(current)) else { continue }
            defer { unsafe udev_device_unref(device) }
            if let device = unsafe SerialDevice(device) { found.append(device) }
        }
        return found
    }
}
