/// A serial port as udev describes it.
package struct SerialDevice: Equatable, Sendable {
    /// The device node, such as `/dev/ttyUSB0`.
    package let node: String
    /// The path below /sys. It identifies the device for as long as it stays plugged in.
    package let sysPath: String
    /// Whether the udev rule, or the device's own product string, says that the device is a collar's base radio.
    package let isCollarRadio: Bool
    /// The USB vendor: four lower-case hexadecimal digits.
    package let vendorID: String?
    /// The USB product: four lower-case hexadecimal digits.
    package let modelID: String?
    /// The manufacturer's name; underscores may replace its spaces.
    package let vendor: String?
    /// The product's name; underscores may replace its spaces.
    package let model: String?
    /// The USB serial number; two cheap adapters may have the same.
    package let serialShort: String?
    /// The number of the USB interface, two hexadecimal digits: a device may hold several ports.
    package let interfaceNumber: String?
    /// The bus path of the device; the same whenever the device is plugged into the same socket.
    package let idPath: String?
    /// The kernel's driver, such as `cp210x`.
    package let driver: String?

    /// The kind of radio or adapter that usually has this USB id. It is only information for lists of devices, and never a
    /// reason to open the port, because other devices, such as printers and programmers, have the same ids.
    package var likelyRadioHint: String? {
        guard let vendorID, let modelID else { return nil }
        return USBAdapterName.text(vendorID: vendorID, modelID: modelID)
    }

    /// Whether this is a USB serial adapter that is not marked as a collar's base radio: somebody may want to mark it.
    package var isUnmarkedAdapter: Bool {
        // A serial card of the PCI bus has a vendor, too.
        !isCollarRadio && vendorID != nil && sysPath.contains("/usb")
    }

    /// Reads a device from its udev properties.
    /// - Parameters:
    ///   - usbAttribute: reads an attribute of the USB device; used only where udevd has left no properties.
    ///   - parentDriver: the driver of the port's parent device.
    package init(
        node: String, sysPath: String, property: (String) -> String?, usbAttribute: (String) -> String?,
        parentDriver: () -> String?
    ) {
        func text(_ name: String) -> String? { property(name).flatMap { $0.isEmpty ? nil : $0 } }
        // One decision holds for all properties. If udevd has set properties, none is read from the USB device, because udevd
        // may have cleared the missing ones on purpose.
        let hasProperties = text("ID_VENDOR_ID") != nil || text("ID_BUS") != nil
        func usb(_ name: String) -> String? { hasProperties ? nil : usbAttribute(name) }
        self.node = node
        self.sysPath = sysPath
        let product = usb("product")
        // Without udevd no rule was applied, so the rule's criterion is applied here.
        isCollarRadio =
            property("COLLAR_LINK") == "1" || (product?.hasPrefix(SerialDevice.collarProductPrefix) ?? false)
        vendorID = (text("ID_VENDOR_ID") ?? usb("idVendor"))?.lowercased()
        modelID = (text("ID_MODEL_ID") ?? usb("idProduct"))?.lowercased()
        vendor = text("ID_VENDOR") ?? text("ID_VENDOR_FROM_DATABASE") ?? usb("manufacturer")
        model = text("ID_MODEL") ?? text("ID_MODEL_FROM_DATABASE") ?? product
        serialShort = text("ID_SERIAL_SHORT") ?? usb("serial")
        interfaceNumber = text("ID_USB_INTERFACE_NUM")
        idPath = text("ID_PATH")
        driver = text("ID_USB_DRIVER") ?? parentDriver()
    }

    /// Whether the device's own product string says that it is a base radio.
    package var hasCollarFirmware: Bool { model?.hasPrefix(SerialDevice.collarProductPrefix) ?? false }

    /// The start of a base radio's product string; the same as in `70-collar-link.rules`.
    package static let collarProductPrefix = "CollarLink"
}

extension SerialDevice {
    /// A description of the device in one line.
    package var text: String {
        var parts = [node]
        if let vendorID, let modelID { parts.append("\(vendorID):\(modelID)") }
        let names = [vendor, model].compactMap { $0 }
        if !names.isEmpty { parts.append(names.joined(separator: " ")) }
        if let serialShort { parts.append("serial \(serialShort)") }
        if let likelyRadioHint { parts.append("(\(likelyRadioHint))") }
        return parts.joined(separator: "  ")
    }
}
