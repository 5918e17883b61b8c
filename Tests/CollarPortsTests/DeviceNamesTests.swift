import Testing

@testable import CollarPorts

/// The source of a serial device's name, and the numbers that tell devices apart.
@Suite("Names of serial devices") struct DeviceNamesTests {
    private func device(_ properties: [String: String], attributes: [String: String] = [:], node: String = "/dev/ttyUSB0") -> SerialDevice {
        SerialDevice(
            node: node, sysPath: "/sys/usb1/\(node)", property: { properties[$0] }, usbAttribute: { attributes[$0] },
            parentDriver: { "parent" })
    }

    private func usual(_ serial: String?) -> SerialDevice {
        var properties = ["ID_VENDOR_ID": "10c4", "ID_MODEL_ID": "ea60"]
        properties["ID_SERIAL_SHORT"] = serial
        return device(properties)
    }

    @Test func theDevicesOwnNamesGoBeforeThoseOfTheDatabase() {
        let device = device([
            "ID_VENDOR_ID": "10c4", "ID_VENDOR": "Own", "ID_VENDOR_FROM_DATABASE": "Database", "ID_MODEL": "CollarLink_base",
            "ID_MODEL_FROM_DATABASE": "Bridge",
        ])
        #expect((device.vendor, device.model) == ("Own", "CollarLink_base"))
        #expect(device.hasCollarFirmware)
    }

    @Test func anEmptyPropertyIsNone() {
        let names = device([
            "ID_VENDOR_ID": "10c4", "ID_VENDOR": "", "ID_VENDOR_FROM_DATABASE": "Labs", "ID_SERIAL_SHORT": "", "ID_USB_INTERFACE_NUM": "",
            "ID_PATH": "", "ID_USB_DRIVER": "",
        ])
        #expect((names.vendor, names.serialShort, names.interfaceNumber, names.idPath, names.driver) == ("Labs", nil, nil, nil, "parent"))
        let bare = device(["ID_VENDOR_ID": "", "ID_BUS": ""], attributes: ["idVendor": "10C4", "idProduct": "EA60", "serial": "S"])
        #expect((bare.vendorID, bare.modelID, bare.serialShort) == ("10c4", "ea60", "S"))
    }

    /// udevd may have cleared the missing ones on purpose.
    @Test(arguments: [["ID_VENDOR_ID": "10c4"], ["ID_BUS": "usb"]])
    func onePropertyOfUdevdKeepsTheAttributesOut(properties: [String: String]) {
        let attributes = ["idVendor": "1", "idProduct": "2", "manufacturer": "m", "product": "CollarLink", "serial": "s"]
        let device = device(properties, attributes: attributes)
        #expect([device.modelID, device.vendor, device.model, device.serialShort] == [nil, nil, nil, nil])
        #expect(!device.isCollarRadio && device.vendorID == properties["ID_VENDOR_ID"])
    }

    @Test func onlyWhatIsKnownOfADeviceIsInItsText() {
        let texts = [
            [:], ["ID_MODEL_ID": "ea60"], ["ID_VENDOR_ID": "2886"], ["ID_BUS": "usb", "ID_MODEL": "Bridge"],
            ["ID_VENDOR_ID": "2886", "ID_MODEL_ID": "1", "ID_VENDOR": "Maker"], ["ID_BUS": "usb", "ID_SERIAL_SHORT": "S"],
        ].map { device($0).text }
        #expect(
            texts == [
                "/dev/ttyUSB0", "/dev/ttyUSB0", "/dev/ttyUSB0", "/dev/ttyUSB0  Bridge", "/dev/ttyUSB0  2886:1  Maker  (Seeed)",
                "/dev/ttyUSB0  serial S",
            ])
    }

    /// udevd replaces other characters than letters and digits, so they tell nothing.
    @Test(arguments: [
        ("A1", "A2", true), ("A1", "B1", true), ("a1", "A1", true), ("A1", "A1", false), ("A 1", "A_1", false), ("Aä1", "A__1", false),
        ("A-1", "A.1", false), ("A1", nil, true), (nil, "A1", true), (nil, nil, false),
    ] as [(String?, String?, Bool)])
    func lettersAndDigitsOfASerialNumberTellDevicesApart(one: String?, other: String?, isOther: Bool) {
        #expect(usual(one).isOther(than: usual(other)) == isOther)
    }

    @Test func aDeviceWithoutAModelIsNotCertainlyAnother() {
        let unknown = device(["ID_VENDOR_ID": "10c4", "ID_SERIAL_SHORT": "B2"])
        #expect(!unknown.isOther(than: usual("A1")) && !usual("A1").isOther(than: unknown))
    }

    @Test func changesAreFoundByTheDeviceAndNotByItsNode() {
        func device(_ sysPath: String, _ node: String) -> SerialDevice {
            SerialDevice(node: node, sysPath: sysPath, property: { _ in nil }, usbAttribute: { _ in nil }, parentDriver: { nil })
        }
        let (old, new) = (device("/sys/1", "/dev/ttyUSB0"), device("/sys/2", "/dev/ttyUSB0"))
        #expect(DeviceChange.between([old], [new]) == [.removed(old), .added(new)])
        let moved = device("/sys/1", "/dev/ttyUSB1")
        #expect(DeviceChange.between([new, old], [moved, new]) == [.changed(moved)])
    }

    @Test func everyErrorHasThePathOfItsPort() {
        let errors: [SerialPortError] = [
            .notFound(path: "a"), .notATerminal(path: "b"), .busy(path: "c", holder: nil),
            .permissionDenied(path: "d", obstacle: .directory),
            .disconnected(path: "e"), .replaced(path: "f", by: "x"), .system(path: "g", operation: "x", errno: 1),
        ]
        #expect(errors.map(\.path) == ["a", "b", "c", "d", "e", "f", "g"])
    }
}
