import CollarPorts
import Testing

@testable import SerialDevices

@Suite("The rule that marks an adapter")
struct MarkingRuleTests {
    /// An adapter in a socket of a hub, as its files below /sys and udev describe it.
    private func adapter(
        socket: Int = 1, port: String = "ttyUSB0", product: String = "ea60", serial: String?, interface: String? = "00",
        idPath: String? = nil
    ) throws -> USBAdapter {
        let usb = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-\(socket)"
        let device = SerialDevice(
            node: "/dev/\(port)", sysPath: "\(usb)/1-\(socket):1.0/\(port)/tty/\(port)",
            property: {
                [
                    "ID_BUS": "usb", "ID_USB_INTERFACE_NUM": interface,
                    "ID_PATH": idPath ?? "pci-0000:00:14.0-usb-0:\(socket):1.0",
                ][$0] ?? nil
            }, usbAttribute: { _ in nil }, parentDriver: { nil })
        let files = ["\(usb)/idVendor": "10c4", "\(usb)/idProduct": product, "\(usb)/serial": serial]
        return try #require(USBAdapter(device) { files[$0] ?? nil })
    }

    @Test("an adapter is found above its port")
    func usbDevice() throws {
        let found = try adapter(serial: "A1")
        #expect(found.usbPath == "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1")
        #expect((found.vendorID, found.productID, found.serial) == ("10c4", "ea60", "A1"))
        #expect(try adapter(serial: "").serial == nil)
        #expect(USBAdapter(found.port) { _ in nil } == nil)
    }

    @Test("by its serial number")
    func serial() throws {
        let one = try adapter(serial: "A1 ")
        let rule = try MarkingRule(for: one, among: [one, adapter(socket: 2, port: "ttyUSB1", serial: "A2")])
        #expect(rule.criterion == .serial)
        #expect(
            rule.lines == [
                #"SUBSYSTEM=="tty", ATTRS{idVendor}=="10c4", ATTRS{idProduct}=="ea60", ATTRS{serial}=="A1", ENV{COLLAR_LINK}="1""#,
                #"SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ATTR{idVendor}=="10c4", ATTR{idProduct}=="ea60", ATTR{serial}=="A1", ENV{COLLAR_LINK}="1""#,
            ])
    }

    @Test("another product with the same serial number does not matter")
    func otherProduct() throws {
        let one = try adapter(serial: "A1")
        let other = try adapter(socket: 2, port: "ttyUSB1", product: "ea71", serial: "A1")
        #expect(try MarkingRule(for: one, among: [one, other]).criterion == .serial)
    }

    @Test("one port of a device that has several")
    func severalPorts() throws {
        let first = try adapter(port: "ttyACM0", serial: "A1")
        let second = try adapter(port: "ttyACM1", serial: "A1", interface: "02")
        let rule = try MarkingRule(for: second, among: [first, second])
        #expect(rule.criterion == .serial)
        #expect(rule.lines[0].contains(#"ATTRS{serial}=="A1", ENV{ID_USB_INTERFACE_NUM}=="02", ENV{COLLAR_LINK}="1""#))
        #expect(!rule.lines[1].contains("INTERFACE"))
    }

    @Test("by its socket, where the serial number is missing, shared or common")
    func socket() throws {
        let other = try adapter(socket: 2, port: "ttyUSB1", serial: "A1")
        for (serial, reason) in [
            (nil, .noSerial), (" ", .noSerial), ("0001", .placeholder("0001")), ("A1", .sharedWith(node: "/dev/ttyUSB1")),
            ("A*", .unquotable),
        ] as [(String?, MarkingRule.Reason)] {
            let rule = try MarkingRule(for: adapter(serial: serial), among: [adapter(serial: serial), other])
            #expect(rule.criterion == .socket(reason))
            #expect(
                rule.lines == [
                    #"SUBSYSTEM=="tty", ENV{ID_PATH}=="pci-0000:00:14.0-usb-0:1:1.0", ENV{COLLAR_LINK}="1""#,
                    #"SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ENV{ID_PATH}=="pci-0000:00:14.0-usb-0:1", ENV{COLLAR_LINK}="1""#,
                ])
        }
    }

    @Test("no rule for an adapter without a serial number and without a path that a rule can have", arguments: ["", #"x"y"#, "a|b"])
    func impossible(idPath: String) throws {
        let adapter = try adapter(serial: nil, idPath: idPath)
        #expect(throws: MarkingRule.Impossible(reason: .noSerial)) { try MarkingRule(for: adapter, among: [adapter]) }
    }

    @Test("serial numbers that many adapters have")
    func placeholders() {
        for serial in ["0", "0000", "0001", "1", "00000000", "123456", "0123456789ABCDEF", "1234567890", "12345678"] {
            #expect(SerialDevice.isPlaceholder(serial), "\(serial)")
        }
        for serial in ["A1", "0002", "10", "DN01J0ZX", "F4:12:FA:CE:01:D8", "123", "1234567", "54321"] {
            #expect(SerialDevice.isPlaceholder(serial) == (serial == "1234567"), "\(serial)")
        }
    }

    @Test("texts that a rule takes as they are")
    func quotable() {
        for text in ["A1", "F4:12:FA", "a b", "a.b-c_d/e+f=g,h@i#j$k%l{m}n'o"] { #expect(MarkingRule.isQuotable(text), "\(text)") }
        for character in ["\"", "\\", "*", "?", "[", "]", "|", "\n", "\u{7F}", "\u{1B}", "ä", "\u{202E}"] {
            #expect(!MarkingRule.isQuotable("A\(character)1"), "\(character)")
        }
        #expect(!MarkingRule.isQuotable(""))
    }

    @Test("the path of a USB device is that of its port without the interface")
    func interface() {
        #expect(MarkingRule.withoutInterface("pci-0000:00:14.0-usb-0:2.1:1.0") == "pci-0000:00:14.0-usb-0:2.1")
        #expect(MarkingRule.withoutInterface("platform-a-usb-0:1:1.12") == "platform-a-usb-0:1")
        for path in ["pci-0000:00:14.0", "pci-0000:00:14.0-usb-0:2", "x", "a-usb-0:1:1", "a-usb-0:1:x.0"] {
            #expect(MarkingRule.withoutInterface(path) == nil, "\(path)")
        }
    }
}
