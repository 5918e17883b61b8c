import SerialDevices

/// Whether the kernel may suspend a radio's USB device while nothing is sent to it.
package enum PowerCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        examination.ports.compactMap { port in
            guard let usbPath = port.adapter?.usbPath else { return nil }
            let place = "\(usbPath)/power/control"
            guard examination.machine.firstLine(of: place) == "auto" else { return nil }
            let delay = examination.machine.firstLine(of: "\(usbPath)/power/autosuspend_delay_ms")
            // A negative delay turns the suspension off.
            guard delay?.hasPrefix("-") != true else { return nil }
            return .autosuspend(port.path, place: place, sudo: examination.sudo)
        }
    }
}
