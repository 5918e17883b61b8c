import CollarPorts
import Testing

@testable import SerialDevices

/// How adapters are told apart where several sources or adapters could be confused.
@Suite("Adapters and their rules") struct AdapterTests {
    private static let hub = "/sys/devices/pci0000:00/usb1/1-4"

    /// An adapter at a hub, which is a USB device, too.
    private func adapter(
        _ number: Int = 1, port: Int = 0, vendor: String = "10c4", product: String = "ea60", serial: String?, interface: String? = "00",
        idPath: String? = nil
    ) throws -> USBAdapter {
        let usb = "\(AdapterTests.hub)/1-4.\(number)"
        let idPath = idPath ?? "pci-0000:00:14.0-usb-0:4.\(number):1.\(port)"
        let device = SerialDevice(
            node: "/dev/ttyUSB\(number)\(port)", sysPath: "\(usb)/1-4.\(number):1.\(port)/tty/ttyUSB\(number)\(port)",
            property: { ["ID_BUS": "usb", "ID_USB_INTERFACE_NUM": interface, "ID_PATH": idPath][$0] ?? nil }, usbAttribute: { _ in nil },
            parentDriver: { nil })
        let files = [
            "\(usb)/idVendor": vendor, "\(usb)/idProduct": product, "\(usb)/serial": serial, "\(AdapterTests.hub)/idVendor": "1d6b",
            "\(AdapterTests.hub)/idProduct": "0002", "\(AdapterTests.hub)/serial": "HUB", "\(usb)/1-4.\(number):1.\(port)/idVendor": "ffff",
        ]
        return try #require(USBAdapter(device) { files[$0] ?? nil })
    }

    private func reason(_ adapter: USBAdapter, _ others: USBAdapter...) -> MarkingRule.Reason? {
        MarkingRule.reasonAgainstSerial(of: adapter, among: [adapter] + others)
    }

    @Test func theNearestDeviceWithBothNumbersIsTheAdapter() throws {
        let found = try adapter(serial: nil)
        #expect(found.usbPath == "\(AdapterTests.hub)/1-4.1")
        #expect((found.vendorID, found.productID, found.serial) == ("10c4", "ea60", nil))
    }

    @Test func onlyAnAdapterOfTheSameKindSharesASerialNumber() throws {
        let one = try adapter(serial: "A1")
        #expect(reason(one, try adapter(2, vendor: "0403", serial: "A1")) == nil)
        #expect(reason(one, try adapter(2, product: "ea61", serial: "A1")) == nil)
        #expect(reason(one, try adapter(2, serial: "A2")) == nil)
        #expect(reason(one, try adapter(2, serial: nil)) == nil)
        #expect(reason(one, try adapter(2, serial: "A2"), try adapter(3, serial: "A1")) == .sharedWith(node: "/dev/ttyUSB30"))
        #expect(reason(one, try adapter(2, serial: "A1 ")) == .sharedWith(node: "/dev/ttyUSB20"), "udev leaves the space out")
        #expect(reason(one, try adapter(port: 1, serial: "A1")) == nil, "the other port of the same adapter")
    }

    @Test func aPlaceholderIsToldAsOneThoughItIsShared() throws {
        #expect(reason(try adapter(serial: "0001"), try adapter(2, serial: "0001")) == .placeholder("0001"))
    }

    @Test(arguments: [("10c*", "ea60", "A1"), ("10c4", "ea6?", "A1"), ("10c4", "ea60", "A|1")])
    func whatARuleWouldNotTakeAsItIsDoesNotTellAnAdapter(vendor: String, product: String, serial: String) throws {
        #expect(reason(try adapter(vendor: vendor, product: product, serial: serial)) == .unquotable)
    }

    @Test func onlySpacesAtTheEndAreLeftOut() throws {
        let one = try adapter(serial: " A 1  ")
        let rule = try MarkingRule(for: one, among: [one])
        #expect(rule.criterion == .serial)
        #expect(rule.lines.map { $0.contains(#"{serial}==" A 1""#) } == [true, true])
    }

    @Test func onlyADeviceWithFurtherPortsIsMarkedByItsInterface() throws {
        let one = try adapter(serial: "A1", interface: "01")
        func conditions(_ plugged: [USBAdapter]) throws -> Bool { try MarkingRule(for: one, among: plugged).lines[0].contains("INTERFACE") }
        #expect(try !conditions([]))
        #expect(try !conditions([one, adapter(2, serial: "A2")]))
        #expect(try conditions([adapter(2, serial: "A2"), adapter(port: 1, serial: "A1"), one]))
        let nameless = try adapter(serial: "A1", interface: nil)
        let rule = try MarkingRule(for: nameless, among: [nameless, adapter(port: 1, serial: "A1")])
        #expect(rule.criterion == .serial && !rule.lines[0].contains("INTERFACE"))
    }

    @Test func aSocketWithoutAnInterfaceHasNoRuleForItsDevice() throws {
        let one = try adapter(serial: nil, idPath: "platform-hub-0:1")
        let rule = try MarkingRule(for: one, among: [one])
        #expect(rule.lines == [#"SUBSYSTEM=="tty", ENV{ID_PATH}=="platform-hub-0:1", ENV{COLLAR_LINK}="1""#])
    }

    @Test(arguments: ["a-usb-0:1:1.0.2", "a-usb-0:1:1.", "a-usb-0:1:1.256", "a-usb-0:1:.0", "a-usb-0:1:-1.0", "a-0:1:1.0"])
    func anEndThatIsNoInterfaceIsKept(path: String) { #expect(MarkingRule.withoutInterface(path) == nil) }

    @Test func theRuleIsCopiedAndUdevReadsItAgain() {
        let steps = [
            "cp hardware/udev/70-collar-link.rules /x/", "udevadm control --reload",
            "udevadm trigger --subsystem-match=tty --subsystem-match=usb",
        ]
        func joined(_ prefix: String) -> String { steps.map { prefix + $0 }.joined(separator: " && ") }
        #expect(RuleInstallation.command(sudo: .init(isNeeded: false), target: "/x/").text == joined(""))
        #expect(RuleInstallation.command(target: "/x/").text == joined("sudo "))
        #expect(RuleInstallation.command().text.contains("70-collar-link.rules /etc/udev/rules.d/ && "))
    }

    /// The kernel counts the time of a connection in ticks.
    @Test(arguments: [(2_100_999, false), (2_101_000, true)] as [(UInt64, Bool)])
    func whatUdevdHasKnownForLongerThanTheConnectionIsOutdated(known: UInt64, isOutdated: Bool) {
        #expect(SerialDevice.isOutdated(knownMicroseconds: known, connectedMilliseconds: 2_000) == isOutdated)
    }
}
