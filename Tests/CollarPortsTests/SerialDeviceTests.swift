import Testing

@testable import CollarPorts

/// The names of a serial device, and when two devices are the same.
@Suite("Serial devices") struct SerialDeviceTests {
    private static let usual = [
        "ID_VENDOR_ID": "10C4", "ID_MODEL_ID": "EA60", "ID_VENDOR": "Silicon_Labs", "ID_MODEL": "CP2102", "ID_SERIAL_SHORT": "A1",
        "ID_USB_INTERFACE_NUM": "00", "ID_PATH": "pci-1", "ID_USB_DRIVER": "cp210x",
    ]

    /// A device with the usual properties, some of them changed; nil removes one.
    private func device(
        _ changes: [String: String?] = [:], sysPath: String = "/sys/devices/usb1/1-1/ttyUSB0", node: String = "/dev/ttyUSB0"
    ) -> SerialDevice {
        var properties = SerialDeviceTests.usual
        for (name, value) in changes { properties[name] = value }
        return SerialDevice(
            node: node, sysPath: sysPath, property: { properties[$0] }, usbAttribute: { "attribute \($0)" },
            parentDriver: { "parent" })
    }

    private func withoutUdev(_ attributes: [String: String]) -> SerialDevice {
        SerialDevice(
            node: "/dev/ttyACM0", sysPath: "/sys/devices/usb1/1-1/ttyACM0", property: { _ in nil }, usbAttribute: { attributes[$0] },
            parentDriver: { "cdc_acm" })
    }

    @Test func eachPropertyHasItsOwnPlace() {
        let device = device()
        #expect((device.vendorID, device.modelID) == ("10c4", "ea60"))
        #expect((device.vendor, device.model) == ("Silicon_Labs", "CP2102"))
        #expect((device.serialShort, device.interfaceNumber, device.idPath, device.driver) == ("A1", "00", "pci-1", "cp210x"))
        #expect(!device.isCollarRadio)
        #expect(device.text == "/dev/ttyUSB0  10c4:ea60  Silicon_Labs CP2102  serial A1  (CP210x (Heltec, T-Beam))")
    }

    @Test func whatUdevdDidNotSetIsNotReadFromTheDevice() {
        let bare = device(["ID_VENDOR": nil, "ID_MODEL": nil, "ID_SERIAL_SHORT": nil, "ID_USB_DRIVER": nil])
        #expect(bare.vendor == nil && bare.model == nil && bare.serialShort == nil)
        #expect(bare.driver == "parent")
        let known = device(["ID_VENDOR": nil, "ID_MODEL": "", "ID_VENDOR_FROM_DATABASE": "Labs", "ID_MODEL_FROM_DATABASE": "Bridge"])
        #expect((known.vendor, known.model) == ("Labs", "Bridge"))
    }

    @Test func aDeviceWithoutUdevdIsReadFromItsAttributes() {
        let device = withoutUdev([
            "idVendor": "303A", "idProduct": "1001", "manufacturer": "Maker", "product": "CollarLink base", "serial": "S1",
        ])
        #expect((device.vendorID, device.modelID, device.vendor, device.model) == ("303a", "1001", "Maker", "CollarLink base"))
        #expect((device.serialShort, device.driver) == ("S1", "cdc_acm"))
        #expect(device.isCollarRadio && device.hasCollarFirmware)
        #expect(!withoutUdev(["product": "Other CollarLink"]).isCollarRadio)
    }

    @Test func theMarkIsTheRuleOfUdev() {
        #expect(device(["COLLAR_LINK": "1"]).isCollarRadio)
        #expect(!device(["COLLAR_LINK": "0"]).isCollarRadio)
        // With udevd, the rule alone decides.
        #expect(!device(["ID_MODEL": "CollarLink_base"]).isCollarRadio)
        #expect(device(["ID_MODEL": "CollarLink_base"]).hasCollarFirmware)
    }

    @Test func anAdapterIsOneOfTheUniversalSerialBusWithoutAMark() {
        #expect(device().isUnmarkedAdapter)
        #expect(!device(["COLLAR_LINK": "1"]).isUnmarkedAdapter)
        #expect(!device(sysPath: "/sys/devices/pci0000:00/ttyS0").isUnmarkedAdapter)
        #expect(!device(["ID_VENDOR_ID": nil, "ID_BUS": "usb"]).isUnmarkedAdapter)
    }

    @Test func theNameOfAStickTellsItsInterfaces() {
        #expect(device().stickName == "usb 10c4 ea60 A1 00")
        #expect(device(["ID_USB_INTERFACE_NUM": "02"]).stickName == "usb 10c4 ea60 A1 02")
        #expect(device(["ID_USB_INTERFACE_NUM": nil]).stickName == "usb 10c4 ea60 A1")
    }

    @Test func theNameOfAStickStaysAtAnotherNodeAndInAnotherSocket() {
        #expect(device(["ID_PATH": "pci-2"], node: "/dev/ttyUSB7").stickName == device().stickName)
        for key in ["ID_VENDOR_ID", "ID_MODEL_ID", "ID_SERIAL_SHORT"] { #expect(device([key: "x"]).stickName != device().stickName) }
    }

    @Test(arguments: ["ID_VENDOR_ID", "ID_MODEL_ID", "ID_SERIAL_SHORT"]) func aStickWithoutOneOfItsNumbersIsNamedByItsSocket(key: String) {
        let changes: [String: String?] = [key: nil, "ID_BUS": "usb"]
        #expect(device(changes).stickName == "socket pci-1")
        #expect(device(changes.merging(["ID_PATH": "pci-2"]) { $1 }).stickName == "socket pci-2")
        #expect(device(changes.merging(["ID_PATH": nil]) { $1 }).stickName == nil)
    }

    @Test(arguments: ["ID_VENDOR_ID", "ID_MODEL_ID", "ID_SERIAL_SHORT", "ID_USB_INTERFACE_NUM"])
    func aDeviceThatDiffersInOneNumberIsNotTheSame(key: String) {
        #expect(device().isSameDevice(as: device(["ID_PATH": "pci-2"], node: "/dev/ttyUSB7")))
        #expect(!device([key: "7"]).isSameDevice(as: device()))
        #expect(!device().isSameDevice(as: device([key: "7"])))
    }

    @Test func aSerialNumberOfEveryAdapterOrNoneMeansTheSocket() {
        for serial in ["0001", nil] {
            let one = device(["ID_SERIAL_SHORT": serial])
            #expect(one.hasIdentity)
            #expect(one.isSameDevice(as: device(["ID_SERIAL_SHORT": serial], node: "/dev/ttyUSB7")))
            #expect(!one.isSameDevice(as: device(["ID_SERIAL_SHORT": serial, "ID_PATH": "pci-2"])))
            let lost = device(["ID_SERIAL_SHORT": serial, "ID_PATH": nil])
            #expect(!lost.hasIdentity && !lost.isSameDevice(as: lost))
        }
        #expect(device(["ID_PATH": nil]).hasIdentity)
        #expect(!device(["ID_MODEL_ID": nil, "ID_BUS": "usb"]).hasIdentity)
        #expect(!device(["ID_VENDOR_ID": nil, "ID_BUS": "usb"]).hasIdentity)
    }

    @Test func anotherDeviceIsOneWithOtherNumbers() {
        for key in ["ID_VENDOR_ID", "ID_MODEL_ID", "ID_SERIAL_SHORT"] { #expect(device([key: "7"]).isOther(than: device())) }
        #expect(device(["ID_SERIAL_SHORT": nil]).isOther(than: device()))
        #expect(!device(["ID_PATH": "pci-2"], node: "/dev/ttyUSB7").isOther(than: device()))
        // udevd replaces such characters.
        #expect(!device(["ID_SERIAL_SHORT": "A_1"]).isOther(than: device(["ID_SERIAL_SHORT": "A 1"])))
        // Without the vendor, two devices cannot be told apart.
        let unknown = device(["ID_VENDOR_ID": nil, "ID_BUS": "usb"])
        #expect(!unknown.isOther(than: device()) && !device().isOther(than: unknown))
    }

    @Test(arguments: ["", "0", "0000", "1", "0001", "1234", "123456", "01234", "123456789ABCDEF", "123456789abcdef", "1234567890"])
    func aNumberThatMakersGiveToEveryAdapterIsAPlaceholder(serial: String) {
        #expect(SerialDevice.isPlaceholder(serial))
    }

    @Test(arguments: ["2", "10", "123", "0012", "1243", "A1", "12345678901", "11", "0002"])
    func anotherNumberIsNoPlaceholder(serial: String) {
        #expect(!SerialDevice.isPlaceholder(serial))
    }

    @Test(arguments: [
        ("10c4", "ea60", "CP210x (Heltec, T-Beam)"), ("1a86", "55d4", "CH9102 (T-Beam)"), ("1a86", "7523", "CH340"),
        ("0403", "6001", "FTDI"),
        ("0403", "6015", "FTDI"), ("239a", "0029", "nRF52840 (T-Echo, RAK4631)"), ("239a", "8029", "nRF52840 (T-Echo, RAK4631)"),
        ("303a", "1001", "ESP32-S3 or ESP32-C3, native USB"), ("2886", "abcd", "Seeed"), ("1915", "abcd", "Nordic"),
        ("2fe3", "0100", "Zephyr"),
        ("067b", "2303", "PL2303"), ("10c4", "ea61", nil), ("1a86", "55d5", nil), ("2fe3", "0101", nil), ("067b", "2304", nil),
    ] as [(String, String, String?)])
    func theKindOfRadioIsToldByItsNumbers(vendor: String, model: String, hint: String?) {
        #expect(device(["ID_VENDOR_ID": vendor, "ID_MODEL_ID": model]).likelyRadioHint == hint)
    }

    @Test func changesOfAListAreThoseOfItsDevices() {
        let (one, two) = (device(sysPath: "/sys/1"), device(sysPath: "/sys/2"))
        let marked = device(["COLLAR_LINK": "1"], sysPath: "/sys/1")
        let three = device(sysPath: "/sys/3")
        #expect(DeviceChange.between([one, two], [marked, three]) == [.removed(two), .changed(marked), .added(three)])
        #expect(DeviceChange.between([one, two], [two, one]) == [])
        #expect(DeviceChange.between([], [one, two]) == [.added(one), .added(two)])
        #expect(DeviceChange.between([one, two], []) == [.removed(one), .removed(two)])
    }
}
