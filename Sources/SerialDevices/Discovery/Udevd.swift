import CLibudev
import CheckedNumbers
import CollarPorts
import Glibc
import LinuxSystem

/// The udevd of the machine, as far as this process can see it.
package enum Udevd {
    /// The directory in which udevd keeps what it knows, one file for each device.
    package static let databaseDirectory = "/run/udev/data"

    /// The sockets of the process's network namespace by which programs hear the kernel.
    package static let netlinkSockets = "/proc/net/netlink"

    /// Whether udevd runs on this machine, and this process can see its files.
    package static var isVisible: Bool { unsafe access("/run/udev/control", F_OK) == 0 }

    /// Whether udevd runs in the network namespace of this process. Its events reach no other namespace.
    package static var sendsEventsHere: Bool {
        guard let sockets = SystemFiles.lines(of: netlinkSockets) else { return true }
        return sockets.contains(where: hearsKernel)
    }

    /// Whether a line of /proc/net/netlink describes a socket that hears the kernel's events of devices, as udevd's does.
    package static func hearsKernel(_ line: String) -> Bool {
        // The columns are an address, the protocol, the port, and the groups in hexadecimal.
        let columns = line.split(separator: " ")
        guard columns.count > 3, columns[1] == "15", let groups = UInt32(hexadecimal: columns[3]) else { return false }
        return groups & 1 != 0
    }

    /// Whether udevd has not set the permissions of a device yet: it has not examined the device, only an earlier one with the same
    /// number, or it still handles events.
    package static func isBusy(with number: UInt) -> Bool {
        guard isVisible else { return false }
        // udevd keeps this file while events wait or are handled.
        if unsafe access("/run/udev/queue", F_OK) == 0 { return true }
        guard let context = unsafe udev_new() else { return false }
        defer { unsafe udev_unref(context) }
        guard let device = unsafe udev_device_new_from_devnum(context, CChar(UInt8(ascii: "c")), number) else { return false }
        defer { unsafe udev_device_unref(device) }
        return unsafe udev_device_get_is_initialized(device) == 0 || SerialDevice.isOutdated(device)
    }
}

/// The events of terminals that udevd or the kernel sends.
@safe final class UdevEvents {
    /// For epoll. This object closes it.
    let fileDescriptor: Int32
    private let monitor: OpaquePointer

    /// - Parameter sender: `udev` or `kernel`.
    init(_ context: OpaquePointer, from sender: String) throws(SystemError) {
        guard let monitor = unsafe udev_monitor_new_from_netlink(context, sender) else {
            throw SystemError(operation: "udev_monitor_new_from_netlink", errno: errno)
        }
        unsafe self.monitor = unsafe monitor
        fileDescriptor = unsafe udev_monitor_get_fd(monitor)
        let unfiltered = unsafe udev_monitor_filter_add_match_subsystem_devtype(monitor, "tty", nil)
        guard unfiltered >= 0 else { throw SystemError(operation: "udev_monitor_filter", errno: -unfiltered) }
        let deaf = unsafe udev_monitor_enable_receiving(monitor)
        guard deaf >= 0 else { throw SystemError(operation: "udev_monitor_enable_receiving", errno: -deaf) }
    }

    deinit { unsafe udev_monitor_unref(monitor) }

    /// Reads all waiting events.
    /// - Returns: whether there was one of a terminal, or events were lost.
    func drain() -> Bool {
        var isConcerned = false
        while true {
            errno = 0
            if let device = unsafe udev_monitor_receive_device(monitor) {
                unsafe udev_device_unref(device)
                isConcerned = true
            } else if errno == ENOBUFS {
                isConcerned = true
            } else if !isReadable {
                // An event that the filter rejects also gives nil, and further events may wait after it.
                return isConcerned
            }
        }
    }

    private var isReadable: Bool {
        var state = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&state, 1, 0) == 1 && state.revents & Int16(POLLIN) != 0
    }
}
