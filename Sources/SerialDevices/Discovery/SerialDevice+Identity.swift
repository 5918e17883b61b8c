extension SerialDevice {
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
    private var ownSerial: String? { serialShort.flatMap { MarkingRule.isPlaceholder($0) ? nil : $0 } }
}

extension SerialDevice {
    /// A name of the device that stays the same while it is plugged out and in: its USB numbers and serial number, or the socket
    /// in which it is; nil if it has neither.
    package var stickName: String? {
        guard let vendorID, let modelID, let serialShort else { return idPath.map { "socket \($0)" } }
        return (["usb", vendorID, modelID, serialShort] + [interfaceNumber].compactMap { $0 }).joined(separator: " ")
    }
}
