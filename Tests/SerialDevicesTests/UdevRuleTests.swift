import CollarPorts
import Glibc
import LinuxSystem
import Testing

@testable import SerialDevices

/// `unshare` with a user namespace is forbidden in some containers.
private let toolsAreThere =
    unsafe access("/usr/bin/umockdev-run", X_OK) == 0 && access("/usr/bin/udevadm", X_OK) == 0
    && (try? run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/run"])) == 0

/// The rule file, tested with udev itself: `udevadm test` shows the effect of the rules on a device. umockdev simulates the
/// device, so this needs no hardware.
@Suite(.enabled(if: toolsAreThere, "needs udev, umockdev and user namespaces")) struct UdevRuleTests {
    /// A rule such as gpsd has for every adapter of a common kind.
    private static let gpsd = #"SUBSYSTEM=="tty", TAG+="systemd", ENV{SYSTEMD_WANTS}="gpsdctl@%k.service""#
    private static let rulePath =
        #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined() + "/hardware/udev/70-collar-link.rules"

    @Test func aRadioIsTaggedAndGuarded() throws {
        let verdict = try Verdict(of: PretendedDevice(product: "CollarLink base radio"))
        #expect(verdict.properties["COLLAR_LINK"] == "1")
        #expect(verdict.properties["ID_MM_DEVICE_IGNORE"] == "1")
        #expect(verdict.properties["ID_MM_PORT_IGNORE"] == "1")
        #expect(verdict.properties["TAGS"]?.contains(":uaccess:") == true)
        #expect(verdict.properties["DEVLINKS"] == "/dev/collar-link/by-serial/A1")
        #expect(verdict.properties["SYSTEMD_WANTS"] == nil)
        #expect(verdict.text.contains("70-collar-link.rules") && verdict.text.contains(" GROUP "))
        #expect(!verdict.text.contains(" MODE "))
    }

    @Test func aStrangerWithTheSameChipIsLeftAlone() throws {
        for product in ["CP2102 USB to UART Bridge", "Not a CollarLink", "collarlink"] {
            let verdict = try Verdict(of: PretendedDevice(product: product))
            #expect(verdict.properties["DEVNAME"] == "/dev/ttyUSB0")
            #expect(verdict.properties["COLLAR_LINK"] == nil)
            #expect(verdict.properties["ID_MM_PORT_IGNORE"] == nil)
            #expect(verdict.properties["DEVLINKS"] == nil)
            #expect(verdict.properties["TAGS"]?.contains("uaccess") != true)
            #expect(verdict.properties["SYSTEMD_WANTS"] == "gpsdctl@ttyUSB0.service")
            #expect(!verdict.text.contains(" GROUP "))
        }
    }

    @Test func aRadioWithoutSerialNumberGetsNoLink() throws {
        let verdict = try Verdict(of: PretendedDevice(product: "CollarLink", serial: nil))
        #expect(verdict.properties["COLLAR_LINK"] == "1")
        #expect(verdict.properties["DEVLINKS"] == nil)
    }

    @Test func aSecondPortOfARadioGetsALinkOfItsOwn() throws {
        let verdict = try Verdict(of: PretendedDevice(product: "CollarLink", interface: "02"))
        #expect(verdict.properties["DEVLINKS"] == "/dev/collar-link/by-serial/A1-if02")
    }

    @Test func theUSBDeviceIsHiddenFromModemManager() throws {
        let verdict = try Verdict(of: PretendedDevice(product: "CollarLink", isAskedForTTY: false))
        #expect(verdict.properties["ID_MM_DEVICE_IGNORE"] == "1")
        #expect(verdict.properties["DEVLINKS"] == nil)
        #expect(!verdict.text.contains(" GROUP "))
    }

    /// The example line in the rule file tags the adapter that it names, and no other.
    @Test func theExampleTagsExactlyOneAdapter() throws {
        let directory = try TemporaryDirectory()
        try #require(try run(["grep", "^# SUBSYSTEM.*serial", Self.rulePath], output: "\(directory.path)/line") == 0)
        let line = try #require(SystemFiles.firstLine(of: "\(directory.path)/line")).dropFirst(2)
        let own = PretendedDevice(product: "CP2102", serial: "0123456789")
        #expect(try Verdict(of: own, userRule: String(line)).properties["COLLAR_LINK"] == "1")
        var usbDevice = own
        usbDevice.isAskedForTTY = false
        #expect(try Verdict(of: usbDevice, userRule: String(line)).properties["ID_MM_DEVICE_IGNORE"] == "1")
        let other = PretendedDevice(product: "CP2102", serial: "0001")
        #expect(try Verdict(of: other, userRule: String(line)).properties["COLLAR_LINK"] == nil)
    }

    /// The rule that marks an adapter marks it, as a port and as a USB device, together with the rules that udev itself has; and it
    /// marks no other adapter.
    @Test(arguments: [true, false]) func aMarkIsOfOneAdapter(isBySerial: Bool) throws {
        func device(serial: String, socket: Int, isAskedForTTY: Bool = true) -> PretendedDevice {
            PretendedDevice(
                product: "CP2102", serial: isBySerial ? serial : nil, socket: socket, isAskedForTTY: isAskedForTTY)
        }
        let rule = try device(serial: "A1.b-2", socket: 2).markingRule
        #expect(rule.criterion == (isBySerial ? .serial : .socket(.noSerial)))
        let text = rule.lines.joined(separator: "\n")
        // A serial number goes with the adapter to another socket.
        let tty = try Verdict(
            of: device(serial: "A1.b-2", socket: isBySerial ? 3 : 2), userRule: text, systemRules: Self.systemRules)
        #expect(tty.properties["COLLAR_LINK"] == "1")
        #expect(tty.properties["ID_MM_PORT_IGNORE"] == "1")
        #expect(tty.properties["TAGS"]?.contains(":uaccess:") == true)
        let usb = try Verdict(
            of: device(serial: "A1.b-2", socket: 2, isAskedForTTY: false), userRule: text, systemRules: Self.systemRules)
        #expect(usb.properties["COLLAR_LINK"] == "1")
        #expect(usb.properties["ID_MM_DEVICE_IGNORE"] == "1")
        for isAskedForTTY in [true, false] {
            let other = try Verdict(
                of: device(serial: "A1.b-3", socket: 12, isAskedForTTY: isAskedForTTY), userRule: text,
                systemRules: Self.systemRules)
            #expect(other.properties["COLLAR_LINK"] == nil)
            #expect(other.properties["ID_MM_DEVICE_IGNORE"] == nil)
            for message in ["Invalid", "invalid", "Unknown", "ignoring"] {
                #expect(!other.text.split(separator: "\n").contains { $0.contains("69-own.rules") && $0.contains(message) })
            }
        }
    }

    /// udev's own rules that find the numbers and the socket of an adapter.
    private static let systemRules = ["50-udev-default.rules", "60-serial.rules"].map { "/usr/lib/udev/rules.d/\($0)" }

    /// A USB serial adapter, described for umockdev.
    private struct PretendedDevice {
        var product: String
        var serial: String? = "A1"
        var interface = "00"
        /// The number of the socket at the hub.
        var socket = 1
        var isAskedForTTY = true

        static let pci = "/devices/pci0000:00/0000:00:14.0"
        var usb: String { "\(Self.pci)/usb1/1-\(socket)" }
        var usbInterface: String { "\(usb)/1-\(socket):1.0" }
        var tty: String { "\(usbInterface)/ttyUSB0/tty/ttyUSB0" }
        var path: String { isAskedForTTY ? tty : usb }

        /// The rule that `collar-link mark` writes for the adapter.
        var markingRule: MarkingRule {
            get throws {
                let device = SerialDevice(
                    node: "/dev/ttyUSB0", sysPath: "/sys\(tty)",
                    property: { ["ID_BUS": "usb", "ID_PATH": "pci-0000:00:14.0-usb-0:\(socket):1.0"][$0] },
                    usbAttribute: { _ in nil }, parentDriver: { nil })
                let files = ["idVendor": "10c4", "idProduct": "ea60", "serial": serial]
                let adapter = try #require(
                    USBAdapter(device) { path in files.first { "/sys\(usb)/\($0.key)" == path }?.value ?? nil })
                return try MarkingRule(for: adapter, among: [adapter])
            }
        }

        var description: String {
            var lines = [
                "P: \(Self.pci)", "E: SUBSYSTEM=pci", "", "P: \(usb)", "E: SUBSYSTEM=usb", "E: DEVTYPE=usb_device",
                "A: idVendor=10c4", "A: idProduct=ea60", "A: product=\(product)",
            ]
            if let serial { lines.append("A: serial=\(serial)") }
            lines += [
                "", "P: \(usbInterface)", "E: SUBSYSTEM=usb", "E: DEVTYPE=usb_interface", "",
                "P: \(tty)", "E: SUBSYSTEM=tty", "E: DEVNAME=/dev/ttyUSB0", "E: MAJOR=188", "E: MINOR=0",
                "E: ID_USB_INTERFACE_NUM=\(interface)",
            ]
            if let serial { lines.append("E: ID_SERIAL_SHORT=\(serial)") }
            return (lines + ["A: dev=188:0", ""]).joined(separator: "\n")
        }
    }

    /// The effect of the rules on a device.
    private struct Verdict {
        let text: String
        let properties: [String: String]

        init(of device: PretendedDevice, userRule: String? = nil, systemRules: [String] = []) throws {
            let directory = try TemporaryDirectory()
            try directory.folder("rules")
            try directory.folder("dev")
            try #require(try run(["cp", UdevRuleTests.rulePath, "\(directory.path)/rules/"]) == 0)
            try write(device.description, to: "\(directory.path)/device")
            try write(UdevRuleTests.gpsd + "\n", to: "\(directory.path)/rules/60-gpsd.rules")
            for path in systemRules { try #require(try run(["cp", path, "\(directory.path)/rules/"]) == 0) }
            if let userRule { try write(userRule + "\n", to: "\(directory.path)/rules/69-own.rules") }
            // udevadm reads the system's rules and writes to /dev and /run: these are replaced, for this process alone.
            let script = """
                set -e; cd \(directory.path)
                mount --bind rules /usr/lib/udev/rules.d
                if [ -d /etc/udev/rules.d ]; then mount -t tmpfs none /etc/udev/rules.d; fi
                mount -t tmpfs none /run
                mount -t tmpfs none dev; touch dev/null; mount --bind /dev/null dev/null; mount --rbind dev /dev
                umockdev-run -d device -- udevadm test --action=add /sys\(device.path)
                """
            try #require(try run(["unshare", "-rm", "sh", "-c", script], output: "\(directory.path)/verdict") == 0)
            text = try contents(of: "\(directory.path)/verdict")
            var properties: [String: String] = [:]
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: "=", maxSplits: 1)
                if parts.count == 2 { properties[String(parts[0])] = String(parts[1]) }
            }
            self.properties = properties
        }
    }
}

private func write(_ text: String, to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    try #require(descriptor >= 0)
    defer { _ = close(descriptor) }
    let bytes = Array(text.utf8)
    try #require(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
}
