/// A serial port as udev describes it.
public struct SerialDevice: Equatable, Sendable {
    /// The device node, such as `/dev/ttyUSB0`.
    public let node: String
    /// The path below /sys, which tells one plugged-in device from every other for as long as it stays plugged in.
    public let sysPath: String
    /// Whether the udev rule, or the device's own product string, says that it is a collar's base radio.
    public let isCollarRadio: Bool
    /// The USB vendor: four lower-case hexadecimal digits.
    public let vendorID: String?
    /// The USB product: four lower-case hexadecimal digits.
    public let modelID: String?
    /// The manufacturer's name, blanks perhaps as underscores.
    public let vendor: String?
    /// The product's name, blanks perhaps as underscores.
    public let model: String?
    /// The USB serial number; two cheap adapters may have the same.
    public let serialShort: String?
    /// The number of the USB interface, two hexadecimal digits: a device may hold several ports.
    public let interfaceNumber: String?
    /// The socket it is plugged into, the same after every replugging.
    public let idPath: String?
    /// The kernel's driver, such as `cp210x`.
    public let driver: String?

    /// What radios with this USB id usually are. It serves ranking and listing only: the same id is in printers and
    /// programmers, so it is never a reason to open the port.
    public var likelyRadioHint: String? {
        guard let vendorID, let modelID else { return nil }
        return RadioHint.text(vendorID: vendorID, modelID: modelID)
    }

    /// Reads a device from its udev properties.
    /// - Parameters:
    ///   - usbAttribute: an attribute of the USB device, asked where udevd has left no properties.
    ///   - parentDriver: the driver of the device behind the port.
    init(
        node: String, sysPath: String, property: (String) -> String?, usbAttribute: (String) -> String?,
        parentDriver: () -> String?
    ) {
        func text(_ name: String) -> String? { property(name).flatMap { $0.isEmpty ? nil : $0 } }
        // One answer decides for all: properties that udevd cleared on purpose are not to be brought back.
        let hasProperties = text("ID_VENDOR_ID") != nil || text("ID_BUS") != nil
        func usb(_ name: String) -> String? { hasProperties ? nil : usbAttribute(name) }
        self.node = node
        self.sysPath = sysPath
        let product = usb("product")
        // Without udevd nothing has applied the rule, so its criterion is applied here.
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

    /// What the product string of a base radio begins with; the same as in `70-collar-link.rules`.
    static let collarProductPrefix = "CollarLink"
}
