import SerialDevices

/// Whether the kernel saw a USB device disconnect again and again, or answer with errors, in the last hour.
package enum DisconnectCheck {
    /// How often a device disconnects within an hour before that is a fault.
    private static let limit = 3
    private static let errors = [
        "error -71", "error -110", "error -32", "over-current", "USB cable is bad", "device not accepting address",
    ]

    package static func findings(_ examination: Examination) -> [Finding] {
        guard let log = examination.kernelLog else { return [] }
        let recent = log.recent(uptime: examination.uptimeSeconds)
        var disconnections: [String: Int] = [:]
        var faults: [String: String] = [:]
        for message in recent {
            guard let name = deviceName(message.text), isConcerned(name, examination) else { continue }
            if message.text.contains("USB disconnect") { disconnections[name, default: 0] += 1 }
            if errors.contains(where: message.text.contains) { faults[name] = message.text }
        }
        func port(_ name: String) -> String? {
            examination.ports.first { $0.adapter?.usbPath.hasSuffix("/\(name)") ?? false }?.path
        }
        let loops = disconnections.sorted { $0.key < $1.key }.filter { $0.value >= limit }
        return loops.map { .disconnects(port($0.key), usb: $0.key, count: $0.value, log: log.path) }
            + faults.sorted { $0.key < $1.key }.filter { fault in !loops.contains { $0.key == fault.key } }
            .map { .usbErrors(port($0.key), usb: $0.key, message: $0.value, log: log.path) }
    }

    /// `1-1.2` of `usb 1-1.2: USB disconnect, device number 7`.
    private static func deviceName(_ text: String) -> String? {
        guard text.hasPrefix("usb "), let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon].dropFirst(4)
        return name.contains("-") ? String(name) : nil
    }

    /// While a radio is plugged in, other devices do not matter. If none is, the device that disconnects may be the radio.
    private static func isConcerned(_ name: String, _ examination: Examination) -> Bool {
        let radios = examination.ports.compactMap(\.adapter)
        return radios.isEmpty || radios.contains { $0.usbPath.hasSuffix("/\(name)") }
    }
}
