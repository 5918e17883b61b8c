import LinuxSystem

/// A serial port of a USB device, with what tells the device from others of its kind.
package struct USBAdapter: Equatable, Sendable {
    /// The port.
    package let port: SerialDevice
    /// The path of the USB device below /sys. All ports of one device have the same.
    package let usbPath: String
    /// The USB vendor and product: four hexadecimal digits each, as the device's files below /sys have them.
    package let vendorID: String
    package let productID: String
    /// The serial number as the device gives it, unlike ``SerialDevice/serialShort`` with every character unchanged; nil if the
    /// device has none.
    package let serial: String?

    /// Finds the USB device of a port; nil if the port is not one of a USB device.
    package init?(_ port: SerialDevice) {
        self.init(port) { SystemFiles.firstLine(of: $0) }
    }

    /// - Parameter contents: the first line of the file at a path; nil if it cannot be read.
    package init?(_ port: SerialDevice, contents: (String) -> String?) {
        var path = port.sysPath[...]
        // The device is the nearest directory above the port that has the files of a USB device.
        while let slash = path.lastIndex(of: "/") {
            path = path[..<slash]
            guard let vendorID = contents("\(path)/idVendor"), let productID = contents("\(path)/idProduct") else { continue }
            self.port = port
            usbPath = String(path)
            self.vendorID = vendorID
            self.productID = productID
            serial = contents("\(path)/serial").flatMap { $0.isEmpty ? nil : $0 }
            return
        }
        return nil
    }
}
