import CLibudev
import Glibc
import LinuxSystem

/// The events of terminals that udevd or the kernel sends.
@safe final class UdevEvents {
    /// For epoll. This object closes it.
    let fileDescriptor: Int32
    private let monitor: OpaquePointer

    /// Begins to listen.
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
