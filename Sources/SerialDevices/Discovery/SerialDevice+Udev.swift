import CLibudev

extension SerialDevice {
    /// Reads a device; nil for a terminal that is not a serial port: one without a node or without hardware, or a
    /// built-in port whose UART the kernel did not find.
    init?(_ device: OpaquePointer) {
        guard let node = unsafe udev_device_get_devnode(device), let sysPath = unsafe udev_device_get_syspath(device),
            let parent = unsafe udev_device_get_parent(device)
        else { return nil }
        // Type 0 is PORT_UNKNOWN. Drivers outside the kernel's serial core, such as those of USB adapters, lack the attribute.
        if let type = unsafe udev_device_get_sysattr_value(device, "type"), unsafe String(cString: type) == "0" {
            return nil
        }
        unsafe self.init(
            node: String(cString: node), sysPath: String(cString: sysPath),
            property: { name in unsafe udev_device_get_property_value(device, name).map { unsafe String(cString: $0) }
            },
            usbAttribute: { name in
                // The device owns its parent, which is therefore not released here.
                guard
                    let usbDevice = unsafe udev_device_get_parent_with_subsystem_devtype(device, "usb", "usb_device")
                else { return nil }
                return unsafe udev_device_get_sysattr_value(usbDevice, name).map { unsafe String(cString: $0) }
            },
            parentDriver: { unsafe udev_device_get_driver(parent).map { unsafe String(cString: $0) } })
    }
}
