import CheckedNumbers
import SerialDevices

/// Whether a USB 3 device is at the same controller as a radio of the 2.4 GHz band, in which USB 3 makes noise.
package enum USB3Check {
    /// The slowest USB 3, in Mbit/s.
    private static let slowest = 5000

    package static func findings(_ examination: Examination) -> [Finding] {
        let machine = examination.machine
        let folder = "/sys/bus/usb/devices"
        let fast = machine.names(in: folder).filter { !$0.contains(":") && !$0.hasPrefix("usb") }.compactMap { name -> String? in
            let path = machine.resolved("\(folder)/\(name)")
            // Hubs, which have class 09, make no noise by themselves.
            guard machine.firstLine(of: "\(path)/bDeviceClass") != "09",
                machine.firstLine(of: "\(path)/speed").flatMap({ Int($0, in: slowest ... .max) }) != nil
            else { return nil }
            return path
        }
        return examination.ports.compactMap { port in
            guard let adapter = port.adapter, let controller = controller(of: adapter.usbPath),
                let neighbour = fast.first(where: { self.controller(of: $0) == controller && $0 != adapter.usbPath })
            else { return nil }
            return .usb3(port.path, evidence: Finding.Evidence("\(neighbour)/speed", machine.firstLine(of: "\(neighbour)/speed") ?? ""))
        }
    }

    /// `/sys/devices/pci0000:00/0000:00:14.0` of `/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1`.
    private static func controller(of path: String) -> [Substring]? {
        let parts = path.split(separator: "/")
        return parts.firstIndex { $0.hasPrefix("usb") }.map { Array(parts[..<$0]) }
    }
}
