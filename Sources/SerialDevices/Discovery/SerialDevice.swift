import CLibudev
import CheckedNumbers
import CollarPorts
import Glibc
import LinuxSystem

/// Reads serial ports from udev.
extension SerialDevice {
    /// The serial device at a path, which may be a symbolic link; nil if a pseudo-terminal, another file or nothing is there.
    package init?(at path: String) {
        guard let status = SystemFiles.status(of: path) else { return nil }
        self.init(status)
    }

    package static func isPseudoTerminal(at path: String) -> Bool {
        guard let status = SystemFiles.status(of: path), status.st_mode & S_IFMT == S_IFCHR else { return false }
        // The kernel's major numbers of pseudo-terminals, in Documentation/admin-guide/devices.txt.
        return (136...143).contains(status.st_rdev >> 8 & 0xFFF)
    }

    /// The serial device of an open descriptor; nil if it is a pseudo-terminal or another file, or if the device is gone.
    init?(of descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFCHR, let context = unsafe udev_new() else { return nil }
        defer { unsafe udev_unref(context) }
        guard let device = unsafe udev_device_new_from_devnum(context, CChar(UInt8(ascii: "c")), status.st_rdev) else {
            return nil
        }
        defer { unsafe udev_device_unref(device) }
        unsafe self.init(device)
    }

    /// Reads a device; nil for a terminal that is not a serial port: one without a node or without hardware, or a
    /// built-in port whose UART the kernel did not find.
    init?(_ device: OpaquePointer) {
        guard let node = unsafe udev_device_get_devnode(device), let sysPath = unsafe udev_device_get_syspath(device),
            let parent = unsafe udev_device_get_parent(device)
        else { return nil }
        // Type 0 is PORT_UNKNOWN. Drivers outside the kernel's serial core, such as those of USB adapters, lack the attribute.
        if let type = unsafe udev_device_get_sysattr_value(device, "type"), unsafe String(cString: type) == "0" { return nil }
        let isOutdated = unsafe SerialDevice.isOutdated(device)
        unsafe self.init(
            node: String(cString: node), sysPath: String(cString: sysPath),
            property: { name in
                isOutdated
                    ? nil : unsafe udev_device_get_property_value(device, name).map { unsafe String(cString: $0) }
            },
            usbAttribute: { unsafe SerialDevice.usbAttribute($0, of: device) },
            parentDriver: { unsafe udev_device_get_driver(parent).map { unsafe String(cString: $0) } })
    }

    /// An attribute of the USB device to which a device belongs; nil if there is none.
    private static func usbAttribute(_ name: String, of device: OpaquePointer) -> String? {
        // The device owns its parent, which is therefore not released here.
        guard let usbDevice = unsafe udev_device_get_parent_with_subsystem_devtype(device, "usb", "usb_device"),
            let value = unsafe udev_device_get_sysattr_value(usbDevice, name)
        else { return nil }
        return unsafe String(cString: value)
    }

    /// Whether what udevd knows of a device is about an earlier device with the same number. That happens while udevd is late.
    static func isOutdated(_ device: OpaquePointer) -> Bool {
        isOutdated(
            knownMicroseconds: unsafe udev_device_get_usec_since_initialized(device),
            connectedMilliseconds: unsafe usbAttribute("power/connected_duration", of: device).flatMap { UInt64($0, in: 0...1 << 53) })
    }

    /// Whether udevd has known a device for longer than it is plugged in.
    /// - Parameters:
    ///   - knownMicroseconds: for how long udevd has known the device; 0 if it does not.
    ///   - connectedMilliseconds: for how long the USB device is plugged in; nil if the kernel does not say so.
    static func isOutdated(knownMicroseconds: UInt64, connectedMilliseconds: UInt64?) -> Bool {
        /// The kernel counts in ticks of at most 10 ms.
        let tolerance: UInt64 = 100
        guard let connectedMilliseconds else { return false }
        return knownMicroseconds / 1000 > connectedMilliseconds + tolerance
    }
}
