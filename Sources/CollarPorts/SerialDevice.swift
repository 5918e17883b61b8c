import CheckedNumbers

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
        return switch (vendorID, modelID) {
        case ("10c4", "ea60"): "CP210x (Heltec, T-Beam)"
        case ("1a86", "55d4"): "CH9102 (T-Beam)"
        case ("1a86", "7523"): "CH340"
        case ("0403", "6001"), ("0403", "6015"): "FTDI"
        case ("239a", "0029"), ("239a", "8029"): "nRF52840 (T-Echo, RAK4631)"
        case ("303a", "1001"): "ESP32-S3 or ESP32-C3, native USB"
        case ("2886", _): "Seeed"
        case ("1915", _): "Nordic"
        case ("2fe3", "0100"): "Zephyr"
        case ("067b", "2303"): "PL2303"
        default: nil
        }
    }

    /// Whether this is a USB serial adapter that is not marked as a collar's base radio: somebody may want to mark it.
    package var isUnmarkedAdapter: Bool {
        // A serial card of the PCI bus has a vendor, too.
        !isCollarRadio && vendorID != nil && sysPath.contains(text: "/usb")
    }

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
        isCollarRadio = property("COLLAR_LINK") == "1" || (product?.hasPrefix(SerialDevice.collarProductPrefix) ?? false)
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

    package var text: String {
        var parts = [node]
        if let vendorID, let modelID { parts.append("\(vendorID):\(modelID)") }
        let names = [vendor, model].compactMap { $0 }
        if !names.isEmpty { parts.append(names.joined(separator: " ")) }
        if let serialShort { parts.append("serial \(serialShort)") }
        if let likelyRadioHint { parts.append("(\(likelyRadioHint))") }
        return parts.joined(separator: "  ")
    }

    /// Whether the device can be told from others when it returns at another node.
    package var hasIdentity: Bool { vendorID != nil && modelID != nil && (ownSerial != nil || idPath != nil) }

    /// Whether this is a device that was seen before: one with the same serial number, or, if the number tells nothing, in the
    /// same socket.
    package func isSameDevice(as other: SerialDevice) -> Bool {
        guard hasIdentity, vendorID == other.vendorID, modelID == other.modelID, serialShort == other.serialShort,
            interfaceNumber == other.interfaceNumber
        else { return false }
        return ownSerial != nil || idPath == other.idPath
    }

    /// Whether this is certainly another device than one that was seen before, whatever udevd knows of the two at present.
    package func isOther(than other: SerialDevice) -> Bool {
        guard let vendorID, let modelID, let otherVendor = other.vendorID, let otherModel = other.modelID else { return false }
        return (vendorID, modelID) != (otherVendor, otherModel)
            || SerialDevice.plain(serialShort) != SerialDevice.plain(other.serialShort)
    }

    /// A serial number without what udevd may replace in it.
    private static func plain(_ serial: String?) -> String? { serial.map { $0.filter { $0.isASCII && ($0.isLetter || $0.isNumber) } } }

    /// The serial number, unless its maker gives it to every adapter.
    private var ownSerial: String? { serialShort.flatMap { SerialDevice.isPlaceholder($0) ? nil : $0 } }

    /// A name of the device that stays the same while it is plugged out and in: its USB numbers and serial number, or the socket
    /// in which it is; nil if it has neither.
    package var stickName: String? {
        guard let vendorID, let modelID, let serialShort else { return idPath.map { "socket \($0)" } }
        return (["usb", vendorID, modelID, serialShort] + [interfaceNumber].compactMap { $0 }).joined(separator: " ")
    }

    /// Whether a serial number is one that makers give to every adapter: 0 or 1 with any number of zeros before it, or the first
    /// digits in their order.
    package static func isPlaceholder(_ serial: String) -> Bool {
        let digits = serial.drop { $0 == "0" }
        if digits.isEmpty || digits == "1" { return true }
        return digits.count >= 4 && "123456789ABCDEF".hasPrefix(digits.uppercased()) || serial == "1234567890"
    }
}

/// A difference between two lists of serial ports.
package enum DeviceChange: Equatable, Sendable {
    case added(SerialDevice)
    /// udev describes it in another way; for example, a rule marks it.
    case changed(SerialDevice)
    case removed(SerialDevice)

    /// The changes from one list to the next: first what is gone.
    package static func between(_ old: [SerialDevice], _ new: [SerialDevice]) -> [DeviceChange] {
        let gone = old.filter { device in !new.contains { $0.sysPath == device.sysPath } }
        return gone.map { .removed($0) }
            + new.compactMap { device in
                guard let before = old.first(where: { $0.sysPath == device.sysPath }) else { return .added(device) }
                return before == device ? nil : .changed(device)
            }
    }
}
