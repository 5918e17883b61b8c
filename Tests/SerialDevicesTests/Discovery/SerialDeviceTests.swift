import CollarPorts
import Testing

@testable import SerialDevices

/// Devices made from udev's properties.
@Suite struct SerialDeviceTests {
    private func device(_ properties: [String: String], usb: [String: String] = [:]) -> SerialDevice {
        SerialDevice(
            node: "/dev/ttyUSB0", sysPath: "/sys/devices/ttyUSB0", property: { properties[$0] },
            usbAttribute: { usb[$0] }, parentDriver: { "cp210x" })
    }

    @Test func everyPropertyIsTakenOver() {
        let device = device([
            "COLLAR_LINK": "1", "ID_BUS": "usb", "ID_VENDOR_ID": "10C4", "ID_MODEL_ID": "ea60",
            "ID_VENDOR": "Silicon_Labs", "ID_MODEL": "CP2102N", "ID_SERIAL_SHORT": "a1b2",
            "ID_USB_INTERFACE_NUM": "00",
            "ID_PATH": "pci-0000:00:14.0-usb-0:2:1.0", "ID_USB_DRIVER": "cp210x-special",
        ])
        #expect(device.isCollarRadio)
        #expect(device.vendorID == "10c4")
        #expect(device.modelID == "ea60")
        #expect(device.vendor == "Silicon_Labs")
        #expect(device.model == "CP2102N")
        #expect(device.serialShort == "a1b2")
        #expect(device.interfaceNumber == "00")
        #expect(device.idPath == "pci-0000:00:14.0-usb-0:2:1.0")
        #expect(device.driver == "cp210x-special")
        #expect(device.likelyRadioHint == "CP210x (Heltec, T-Beam)")
    }

    @Test func aGenericAdapterIsNoCollarRadio() {
        let device = device(["ID_BUS": "usb", "ID_VENDOR_ID": "10c4", "ID_MODEL_ID": "ea60", "ID_SERIAL_SHORT": ""])
        #expect(!device.isCollarRadio)
        #expect(device.likelyRadioHint != nil)
        #expect(device.serialShort == nil)
        #expect(device.driver == "cp210x")
    }

    @Test func onlyAUSBDeviceIsAnAdapterToMark() {
        func isUnmarkedAdapter(_ sysPath: String, _ properties: [String: String]) -> Bool {
            SerialDevice(
                node: "/dev/ttyS4", sysPath: sysPath, property: { properties[$0] }, usbAttribute: { _ in nil },
                parentDriver: { nil }
            ).isUnmarkedAdapter
        }
        let usb = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0/ttyUSB0/tty/ttyUSB0"
        let properties = ["ID_BUS": "usb", "ID_VENDOR_ID": "10c4", "ID_MODEL_ID": "ea60"]
        #expect(isUnmarkedAdapter(usb, properties))
        #expect(!isUnmarkedAdapter(usb, properties.merging(["COLLAR_LINK": "1"]) { $1 }))
        #expect(!isUnmarkedAdapter(usb, [:]))
        #expect(!isUnmarkedAdapter("/sys/devices/pci0000:00/0000:00:16.3/tty/ttyS4", ["ID_BUS": "pci", "ID_VENDOR_ID": "0x8086"]))
    }

    @Test func onlyTheTagCounts() {
        #expect(!device(["COLLAR_LINK": "0"]).isCollarRadio)
        #expect(!device(["COLLAR_LINK": ""]).isCollarRadio)
        // udevd has examined this device and did not tag it.
        #expect(!device(["ID_BUS": "usb"], usb: ["product": "CollarLink base"]).isCollarRadio)
    }

    @Test func theUSBDeviceIsAskedWhereUdevdDoesNotRun() {
        let radio = device(
            [:],
            usb: [
                "idVendor": "1915", "idProduct": "520f", "manufacturer": "Somebody", "product": "CollarLink base",
                "serial": "77",
            ])
        #expect(radio.isCollarRadio)
        #expect(radio.vendorID == "1915")
        #expect(radio.modelID == "520f")
        #expect(radio.vendor == "Somebody")
        #expect(radio.model == "CollarLink base")
        #expect(radio.serialShort == "77")
        #expect(radio.likelyRadioHint == "Nordic")
        #expect(!device([:], usb: ["product": "Printer CollarLink"]).isCollarRadio)
    }

    @Test func aBuiltInPortHasNoHint() { #expect(device([:]).likelyRadioHint == nil) }

    /// What udevd knew before the device was plugged in is about another device.
    @Test func whatUdevdKnowsMayBeOutdated() {
        #expect(!SerialDevice.isOutdated(knownMicroseconds: 1_900_000, connectedMilliseconds: 2_000))
        // The two times are read one after the other, and in ticks.
        #expect(!SerialDevice.isOutdated(knownMicroseconds: 2_050_000, connectedMilliseconds: 2_000))
        #expect(SerialDevice.isOutdated(knownMicroseconds: 2_200_000, connectedMilliseconds: 2_000))
        #expect(!SerialDevice.isOutdated(knownMicroseconds: 0, connectedMilliseconds: 0))
        #expect(!SerialDevice.isOutdated(knownMicroseconds: 2_200_000, connectedMilliseconds: nil))
    }

    @Test func aDeviceIsKnownAgain() {
        func radio(_ changes: [String: String] = [:]) -> SerialDevice {
            device(
                ["ID_BUS": "usb", "ID_VENDOR_ID": "0403", "ID_MODEL_ID": "6001", "ID_SERIAL_SHORT": "A1", "ID_PATH": "usb-0:1:1.0"]
                    .merging(changes) { $1 })
        }
        #expect(radio().isSameDevice(as: radio()))
        #expect(radio(["ID_PATH": "usb-0:2:1.0"]).isSameDevice(as: radio()))
        #expect(!radio(["ID_SERIAL_SHORT": "A2"]).isSameDevice(as: radio()))
        #expect(!radio(["ID_MODEL_ID": "6015"]).isSameDevice(as: radio()))
        #expect(!radio(["ID_USB_INTERFACE_NUM": "02"]).isSameDevice(as: radio()))
        // A number that others have tells nothing, so the socket counts.
        for number in ["0001", ""] {
            let common = radio(["ID_SERIAL_SHORT": number])
            #expect(common.isSameDevice(as: common))
            #expect(!common.isSameDevice(as: radio(["ID_SERIAL_SHORT": number, "ID_PATH": "usb-0:2:1.0"])))
        }
        #expect(!radio(["ID_SERIAL_SHORT": "", "ID_PATH": ""]).hasIdentity)
        #expect(!device([:]).hasIdentity)
    }

    @Test func changesBetweenTwoListsAreFound() {
        func port(_ name: String, _ properties: [String: String] = [:]) -> SerialDevice {
            SerialDevice(
                node: "/dev/\(name)", sysPath: "/sys/devices/\(name)", property: { properties[$0] }, usbAttribute: { _ in nil },
                parentDriver: { nil })
        }
        let (first, second) = (port("ttyUSB0"), port("ttyUSB1"))
        let marked = port("ttyUSB0", ["COLLAR_LINK": "1"])
        #expect(DeviceChange.between([first], [first]) == [])
        #expect(DeviceChange.between([], [first, second]) == [.added(first), .added(second)])
        #expect(DeviceChange.between([first, second], [second]) == [.removed(first)])
        #expect(DeviceChange.between([first], [marked]) == [.changed(marked)])
        #expect(DeviceChange.between([first], [second]) == [.removed(first), .added(second)])
    }
}
