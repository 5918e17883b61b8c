import FoundationEssentials
import Testing

@testable import CollarDoctor

/// A machine of `Tests/Machines` with other files and facts.
final class ChangedMachine: MachineFacts {
    static let state = "/home/alice/.local/state/collar-link"
    /// The time of the recorded machines, in milliseconds since 1970.
    static let time: Int64 = 1_795_567_200_000

    private let base: RecordedMachine
    /// Texts of files by their paths; nil for one that is not there.
    var files: [String: String?] = [:]
    /// Values by the keys of their facts; nil for one that the machine does not tell.
    var facts: [String: String?] = [:]
    var links: [String: String] = [:]

    init(_ name: String = "sound") throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Machines")
        base = try RecordedMachine(directory: folder.appending(path: name).path)
    }

    func content(of path: String) -> FileContent {
        guard let text = files[path] else { return base.content(of: path) }
        return text.map { .bytes(Array($0.utf8)) } ?? .absent
    }

    func names(in directory: String) -> [String] {
        var names = Set(base.names(in: directory))
        for path in Array(files.keys) + Array(links.keys) where path.hasPrefix(directory + "/") {
            let name = String(path.dropFirst(directory.count + 1).prefix { $0 != "/" })
            if case .some(.none) = files[path] { names.remove(name) } else { names.insert(name) }
        }
        return names.sorted()
    }

    func linkTarget(of path: String) -> String? { links[path] ?? base.linkTarget(of: path) }

    func text(of fact: MachineFact) -> String? {
        if let text = facts[fact.key] { return text }
        return base.text(of: fact)
    }

    var findings: [Finding] { Doctor.diagnosis(of: self).findings }
    var codes: [FindingCode] { findings.map(\.code) }

    /// Plugs in a second radio: the one at /dev/ttyUSB0 once more, at /dev/ttyUSB1, with a serial number of its own.
    func addRadio() {
        let usb = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-2"
        let names = [
            "bDeviceClass", "idProduct", "idVendor", "manufacturer", "product", "serial", "speed", "uevent", "power/control",
            "power/autosuspend_delay_ms", "1-2:1.0/uevent", "1-2:1.0/ttyUSB0/uevent", "1-2:1.0/ttyUSB0/tty/ttyUSB0/uevent",
            "1-2:1.0/ttyUSB0/tty/ttyUSB0/dev",
        ]
        for path in names.map({ "\(usb)/\($0)" }) + ["/run/udev/data/c188:0"] {
            files[Self.second(path)] = contentText(of: path).map(Self.second)
        }
        let rules = "/etc/udev/rules.d/69-my-collar-link.rules"
        files[rules] = contentText(of: rules).map { $0 + Self.second($0) }
        for path in ["/sys/class/tty/ttyUSB0", "/sys/bus/usb/devices/1-2", "/sys/dev/char/188:0"] {
            links[Self.second(path)] = linkTarget(of: path).map(Self.second)
        }
        for key in ["status /dev/ttyUSB0", "access /dev/ttyUSB0"] {
            let fact: MachineFact = key.hasPrefix("status") ? .status("/dev/ttyUSB0") : .access("/dev/ttyUSB0")
            facts[Self.second(key)] = text(of: fact).map(Self.second)
        }
    }

    private static func second(_ text: String) -> String {
        let changes = [
            ("ttyUSB0", "ttyUSB1"), ("1-2", "1-3"), ("188:0", "188:1"), ("MINOR=0", "MINOR=1"), ("7c98a1f3", "5b21aa07"),
            ("usb-0:2", "usb-0:3"),
        ]
        return changes.reduce(text) { text, change in
            text.split(separator: change.0, omittingEmptySubsequences: false).joined(separator: change.1)
        }
    }

    /// Lines of the event log, one of them for each error.
    func report(_ reports: [(code: String, port: String?, collar: String?, minutesAgo: Int64)]) {
        let lines = reports.map { report in
            let port = report.port.map { #","port":"\#($0)""# } ?? ""
            let collar = report.collar.map { #","collar":"\#($0)""# } ?? ""
            return #"{"type":"error","unix_ms":\#(Self.time - report.minutesAgo * 60_000),"code":"\#(report.code)","#
                + #""reason":"It is so.","remedy":"Do it.","severity":"error"\#(port)\#(collar)}"# + "\n"
        }
        files["\(Self.state)/events/00000001.jsonl"] = lines.joined()
    }
}
