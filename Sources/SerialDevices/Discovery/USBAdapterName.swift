/// USB ids that are common among radio boards and the adapters they are wired to.
enum USBAdapterName {
    /// The usual kind of device with these ids (four lower-case hexadecimal digits each); nil when none is known.
    static func text(vendorID: String, modelID: String) -> String? {
        switch (vendorID, modelID) {
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
}
