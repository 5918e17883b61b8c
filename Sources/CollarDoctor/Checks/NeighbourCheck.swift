import SerialDevices

/// Whether a program that looks for devices of its own may open a radio's port: ModemManager, gpsd or brltty.
package enum NeighbourCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        examination.ports.flatMap { modemManager($0, examination) + gpsd($0, examination) } + brltty(examination)
    }

    private static func modemManager(_ port: Examination.Port, _ examination: Examination) -> [Finding] {
        guard let device = port.device, device.vendorID != nil,
            let process = examination.machine.text(of: .process("ModemManager"))
        else { return [] }
        let properties = examination.machine.udevProperties(of: device)
        guard !["ID_MM_DEVICE_IGNORE", "ID_MM_PORT_IGNORE"].contains(where: { properties[$0] == "1" }) else { return [] }
        return [
            .claimed(
                port.path, by: "ModemManager", isMarked: device.isCollarRadio,
                evidence: [
                    Finding.Evidence("process \(process)", "ModemManager"),
                    Finding.Evidence("udev properties of \(device.node)", "no ID_MM_PORT_IGNORE=1"),
                ], sudo: examination.sudo),
        ]
    }

    private static func gpsd(_ port: Examination.Port, _ examination: Examination) -> [Finding] {
        guard let device = port.device, let wanted = examination.machine.udevProperties(of: device)["SYSTEMD_WANTS"],
            wanted.contains("gpsd")
        else { return [] }
        return [
            .claimed(
                port.path, by: "gpsd", isMarked: device.isCollarRadio,
                evidence: [Finding.Evidence("udev properties of \(device.node)", "SYSTEMD_WANTS=\(wanted)")], sudo: examination.sudo),
        ]
    }

    /// brltty's rules name adapters by vendor and product. It takes the whole USB device, so that the port disappears.
    private static func brltty(_ examination: Examination) -> [Finding] {
        guard let file = examination.rules.brltty else { return [] }
        let machine = examination.machine
        let folder = "/sys/bus/usb/devices"
        return machine.names(in: folder).filter { !$0.contains(":") }.compactMap { name in
            let path = machine.resolved("\(folder)/\(name)")
            guard let vendor = machine.firstLine(of: "\(path)/idVendor"),
                let product = machine.firstLine(of: "\(path)/idProduct")
            else { return nil }
            let own = examination.adapters.first { $0.usbPath == path }
            let isRadio = examination.ports.contains { $0.adapter?.usbPath == path }
            // A port that is there, and is not to be a radio, is none of our business.
            guard own == nil || isRadio else { return nil }
            let number = [vendor, product].map { String($0.drop { $0 == "0" }) }.joined(separator: "/")
            let rule = file.lines.first { $0.contains("\"\(number)/") && $0.contains("BRLTTY_BRAILLE_DRIVER") }
            guard let rule else { return nil }
            let evidence = [Finding.Evidence(file.path, String(rule)), Finding.Evidence(path, "\(vendor):\(product)")]
            return .claimedByBrltty(own?.port.node, evidence: evidence, sudo: examination.sudo)
        }
    }
}
