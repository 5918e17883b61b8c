import SerialDevices

/// Whether the kernel writes its messages to a port, or a login waits there, as on the UART of a Raspberry Pi.
package enum ConsoleCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let machine = examination.machine
        let place = "/sys/class/tty/console/active"
        let consoles = (machine.firstLine(of: place) ?? "").split(separator: " ").map(String.init)
        let isRaspberry = machine.contentText(of: "/proc/device-tree/model")?.contains("Raspberry Pi") ?? false
        return examination.ports.compactMap { port in
            let name = String(port.node.split(separator: "/").last ?? "")
            let login = "/run/systemd/units/invocation:serial-getty@\(name).service"
            var evidence: [Finding.Evidence] = []
            if consoles.contains(name) { evidence.append(Finding.Evidence(place, consoles.joined(separator: " "))) }
            if machine.linkTarget(of: login) != nil { evidence.append(Finding.Evidence(login, "a login waits at the port")) }
            guard !evidence.isEmpty else { return nil }
            return .console(on: port.path, name: name, isRaspberry: isRaspberry, evidence: evidence, sudo: examination.sudo)
        }
    }
}
