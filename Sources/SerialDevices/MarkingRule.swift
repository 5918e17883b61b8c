import CheckedNumbers
import CollarErrors
import CollarPorts
import LinuxSystem

/// A serial port of a USB device, with what tells the device from others of its kind.
package struct USBAdapter: Equatable, Sendable {
    package let port: SerialDevice
    /// The path of the USB device below /sys. All ports of one device have the same.
    package let usbPath: String
    /// The USB vendor and product: four hexadecimal digits each, as the device's files below /sys have them.
    package let vendorID: String
    package let productID: String
    /// The serial number as the device gives it, unlike ``SerialDevice/serialShort`` with every character unchanged; nil if the
    /// device has none.
    package let serial: String?

    /// Finds the USB device of a port; nil if the port is not one of a USB device.
    /// - Parameter contents: the first line of the file at a path; nil if it cannot be read.
    package init?(_ port: SerialDevice, contents: (String) -> String? = { SystemFiles.firstLine(of: $0) }) {
        var path = port.sysPath[...]
        // The device is the nearest directory above the port that has the files of a USB device.
        while let slash = path.lastIndex(of: "/") {
            path = path[..<slash]
            guard let vendorID = contents("\(path)/idVendor"), let productID = contents("\(path)/idProduct") else { continue }
            self.port = port
            usbPath = String(path)
            self.vendorID = vendorID
            self.productID = productID
            serial = contents("\(path)/serial").flatMap { $0.isEmpty ? nil : $0 }
            return
        }
        return nil
    }
}

/// The lines of a udev rule file that mark one adapter as a collar's radio, and no other adapter.
package struct MarkingRule: Equatable, Sendable {
    /// How the rule tells the adapter from others.
    package enum Criterion: Equatable, Sendable {
        /// By its serial number: the adapter may be plugged into another socket.
        case serial
        /// By its socket, for this reason.
        case socket(Reason)
    }

    /// Why the serial number does not tell an adapter from others.
    package enum Reason: Equatable, Sendable {
        case noSerial
        /// Its maker gives the same one to every adapter.
        case placeholder(String)
        /// The adapter at this port, of the same vendor and product, has the same one.
        case sharedWith(node: String)
        /// It has characters that a udev rule would not take as they are.
        case unquotable
    }

    /// An adapter that no rule can mark: it has no usable serial number, and the socket it is in has no usable name.
    package struct Impossible: Error, Equatable, Sendable {
        package let reason: Reason
    }

    package let criterion: Criterion
    /// The lines, without line feeds.
    package let lines: [String]

    /// The rule for an adapter.
    /// - Parameter plugged: all adapters that are plugged in; this one may be among them.
    package init(for adapter: USBAdapter, among plugged: [USBAdapter]) throws(Impossible) {
        // A device may have further ports, which are not the radio.
        let hasOtherPorts = plugged.contains { $0.usbPath == adapter.usbPath && $0.port.sysPath != adapter.port.sysPath }
        let port = hasOtherPorts ? adapter.port.interfaceNumber.map { #"ENV{ID_USB_INTERFACE_NUM}=="\#($0)""# } : nil
        guard let reason = MarkingRule.reasonAgainstSerial(of: adapter, among: plugged) else {
            criterion = .serial
            // Spaces at the end are left out, as udev compares values without them.
            let serial = adapter.serial.map(MarkingRule.withoutTrailingSpaces) ?? ""
            func matches(_ key: String) -> [String] {
                [("idVendor", adapter.vendorID), ("idProduct", adapter.productID), ("serial", serial)]
                    .map { #"\#(key){\#($0)}=="\#($1)""# }
            }
            lines = [
                MarkingRule.line(MarkingRule.tty + matches("ATTRS") + [port]),
                MarkingRule.line(MarkingRule.usbDevice + matches("ATTR")),
            ]
            return
        }
        guard let path = adapter.port.idPath, MarkingRule.isQuotable(path) else { throw Impossible(reason: reason) }
        criterion = .socket(reason)
        var lines = [MarkingRule.line(MarkingRule.tty + [#"ENV{ID_PATH}=="\#(path)""#])]
        // The path of the USB device is that of the port without the interface.
        if let device = MarkingRule.withoutInterface(path) {
            lines.append(MarkingRule.line(MarkingRule.usbDevice + [#"ENV{ID_PATH}=="\#(device)""#]))
        }
        self.lines = lines
    }

    private static let tty = [#"SUBSYSTEM=="tty""#]
    // ModemManager reads from the USB device whether it may use any of the device's ports.
    private static let usbDevice = [#"SUBSYSTEM=="usb""#, #"ENV{DEVTYPE}=="usb_device""#]

    private static func line(_ conditions: [String?]) -> String {
        (conditions.compactMap { $0 } + [#"ENV{COLLAR_LINK}="1""#]).joined(separator: ", ")
    }

    /// Why the serial number of an adapter does not tell it from others; nil if it does.
    package static func reasonAgainstSerial(of adapter: USBAdapter, among plugged: [USBAdapter]) -> Reason? {
        guard let serial = adapter.serial.map(withoutTrailingSpaces), !serial.isEmpty else { return .noSerial }
        guard isQuotable(serial), isQuotable(adapter.vendorID), isQuotable(adapter.productID) else { return .unquotable }
        if SerialDevice.isPlaceholder(serial) { return .placeholder(serial) }
        let twin = plugged.first {
            $0.usbPath != adapter.usbPath && ($0.vendorID, $0.productID) == (adapter.vendorID, adapter.productID)
                && $0.serial.map(withoutTrailingSpaces) == serial
        }
        return twin.map { .sharedWith(node: $0.port.node) }
    }

    /// Whether a text means itself between the quotation marks of a udev rule: it is printable ASCII without quotation marks,
    /// backslashes and the characters of patterns.
    static func isQuotable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && !#""\*?[]|"#.utf8.contains($0) }
    }

    private static func withoutTrailingSpaces(_ text: String) -> String {
        String(text.reversed().drop(while: \.isWhitespace).reversed())
    }

    /// `pci-0000:00:14.0-usb-0:2` of `pci-0000:00:14.0-usb-0:2:1.0`; nil if no interface is at the end.
    static func withoutInterface(_ path: String) -> String? {
        guard let colon = path.lastIndex(of: ":") else { return nil }
        let numbers = path[path.index(after: colon)...].split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 2, numbers.allSatisfy({ UInt8($0, in: 0 ... .max) != nil }), path[..<colon].contains(text: "-usb-") else { return nil }
        return String(path[..<colon])
    }
}

/// The commands after which udev knows a new rule, and applies it to what is plugged in.
package enum UdevCommands {
    package static let all = [
        ["udevadm", "control", "--reload"],
        // A mark of the USB device keeps ModemManager away.
        ["udevadm", "trigger", "--subsystem-match=tty", "--subsystem-match=usb"],
    ]
}

extension RootPrefix {
    /// The commands after which udev knows a new rule, and applies it to what is plugged in.
    package var udevReload: ShellCommand {
        let commands = UdevCommands.all.map { self(words: $0) }
        return commands.dropFirst().reduce(commands[0]) { $0.then($1) }
    }
}

/// How the project's udev rule is installed.
package enum RuleInstallation {
    /// The command, in the directory of the sources.
    package static func command(sudo: RootPrefix = RootPrefix(isNeeded: true), target: String = "/etc/udev/rules.d/") -> ShellCommand {
        sudo("cp", "hardware/udev/70-collar-link.rules", target).then(sudo.udevReload)
    }
}
