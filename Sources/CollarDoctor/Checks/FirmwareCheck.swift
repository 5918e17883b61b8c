import SerialDevices

/// Whether the USB numbers of a device at a radio's port are those of something that is certainly no radio.
package enum FirmwareCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        examination.ports.compactMap { port in
            guard let adapter = port.adapter, let kind = kind(adapter.vendorID.lowercased(), adapter.productID.lowercased()) else {
                return nil
            }
            return .wrongFirmware(
                port.path, kind, evidence: [Finding.Evidence(adapter.usbPath, "\(adapter.vendorID):\(adapter.productID)")])
        }
    }

    /// A device that is no radio.
    package enum Kind: Equatable {
        /// A GNSS receiver.
        case gnssReceiver
        /// A board whose bootloader runs, and not its firmware.
        case bootloader
    }

    private static func kind(_ vendorID: String, _ productID: String) -> Kind? {
        switch (vendorID, productID) {
        // u-blox.
        case ("1546", _): .gnssReceiver
        // Adafruit's numbers for nRF52 boards: those of the firmware begin with 8, those of the bootloader of the same board with 0.
        case ("239a", "0029"), ("239a", "002a"): .bootloader
        // Espressif's ROM, in boards without a bridge.
        case ("303a", "0002"), ("303a", "0009"): .bootloader
        default: nil
        }
    }
}
