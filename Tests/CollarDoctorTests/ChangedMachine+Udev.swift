@testable import CollarDoctor

/// Changes of a recorded machine: its devices, udev's properties and the kernel's messages.
extension ChangedMachine {
    /// The USB device of the radio at /dev/ttyUSB0.
    static let usb = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-2"
    static let rule = "/etc/udev/rules.d/70-collar-link.rules"
    static let marks = "/etc/udev/rules.d/69-my-collar-link.rules"
    static let kernelLog = "/var/log/kern.log"

    /// Findings, each with its port.
    var described: [String] { findings.map { "\($0.code.rawValue) \($0.port ?? "-")" } }
    var commands: [String?] { findings.map { $0.command?.text } }

    func remove(_ path: String) { files[path] = .some(nil) }

    /// Has udev know other properties of the port with a device number; nil for one that udev does not know.
    func setUdev(_ properties: [String: String?], of device: String = "188:0") {
        let path = "/run/udev/data/c\(device)"
        let kept = (contentText(of: path) ?? "").split(separator: "\n").filter { line in
            !properties.keys.contains { line.hasPrefix("E:\($0)=") }
        }
        let new = properties.compactMap { name, value in value.map { "E:\(name)=\($0)" } }.sorted()
        files[path] = (kept.map(String.init) + new).joined(separator: "\n") + "\n"
    }

    /// Writes messages of the kernel, each with its time in seconds. The kernel of the machine has run for a day.
    func log(_ messages: [(Int64, String)], to path: String = ChangedMachine.kernelLog) {
        files[path] = messages.map { "2026-11-25T02:00:00.000000+00:00 cat kernel: [\($0.0).123456] \($0.1)\n" }.joined()
    }

    /// The kernel reports that USB devices disconnected three times each in the last hour.
    func logDisconnections(of devices: String..., to path: String = ChangedMachine.kernelLog) {
        log(devices.flatMap { name in (0..<3).map { (Int64(86_000 + $0), "usb \(name): USB disconnect, device number \($0)") } }, to: path)
    }

    func becomeRoot() {
        facts["user"] = "0 root"
        facts["groups"] = "0"
        facts["session-groups"] = "0"
    }
}
