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

    /// The serial number, unless its maker gives it to every adapter.
    private var ownSerial: String? { serialShort.flatMap { MarkingRule.isPlaceholder($0) ? nil : $0 } }
}
