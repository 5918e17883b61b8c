import CollarErrors
import CollarFormats
import CollarPorts
import CollarReceiver
import LinuxSystem
import SerialDevices

enum DevicesCommand: Command {
    static let spec = CommandSpec(
        name: "devices",
        title: "list serial devices and collar radios",
        synopsis: "collar-link devices [--watch] [-F text|json]",
        summary: """
            Lists the serial devices of this machine, collar radios first. It opens no device.
            """,
        options: [
            OptionSpec("--watch", is: "then report each device that is plugged in or removed, until Ctrl-C"),
            OptionSpec("-F", "--format", value: "text|json", is: "output format; `json` is one line per device (default text)"),
        ],
        notes: """
            A device is a collar radio if udev has set COLLAR_LINK=1 for it. The rule hardware/udev/70-collar-link.rules in the source
            does this for radios whose USB product name begins with "CollarLink". `collar-link mark` does it for any other adapter.

            A container usually does not see these marks. Give the port to `run` there: `collar-link --port /dev/ttyUSB0`.

            With `--watch`, a message about the cable appears if nothing is plugged in for 10 s.

            examples:
              collar-link devices
              collar-link devices --watch -F json

            exit codes:
              0   done
              64  wrong usage
              74  the devices cannot be listed, or stdout cannot be written
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let isJSON = try arguments.choice("--format", of: ["text": false, "json": true]) ?? false
        guard !arguments.has("--watch") else {
            try watch(isJSON: isJSON)
            return .clean
        }
        let monitor: DeviceMonitor
        do throws(SystemError) { monitor = try DeviceMonitor() } catch { throw CommandFailure(error.discoveryMessage) }
        try DeviceList(isJSON: isJSON, source: monitor.source).write(monitor.allSerialDevices())
        return .clean
    }

    private static func watch(isJSON: Bool) throws(CommandFailure) {
        let watch: DeviceWatch
        do throws(ReceiverError) { watch = try DeviceWatch() } catch { throw CommandFailure(error.message) }
        let list = DeviceList(isJSON: isJSON, source: watch.source)
        guard try list.write(watch.devices, isFirst: true) else { return }
        while true {
            switch watch.next() {
            case .changes(let changes):
                for change in changes { guard try list.write(change) else { return } }
            case .nothingCame:
                StandardError.say(
                    "Nothing was plugged in for 10 s. Does the cable carry data? Many cables only charge.",
                    remedy: "Try another cable and another socket; `sudo dmesg --follow` shows what the kernel sees.")
            case .ended: return
            }
        }
    }
}

struct DeviceList {
    /// Whether each device is a line of JSON, which `Protocol/schema/serial_device.schema.json` describes.
    let isJSON: Bool
    let source: DeviceMonitor.Source

    /// Writes a list of devices, collar radios first.
    /// - Parameter isFirst: whether changes follow.
    /// - Returns: false where the reader of stdout went away.
    @discardableResult
    func write(_ devices: [SerialDevice], isFirst: Bool = false) throws(CommandFailure) -> Bool {
        let sorted = devices.filter(\.isCollarRadio) + devices.filter { !$0.isCollarRadio }
        for device in sorted {
            guard try write(device, event: isFirst ? "present" : nil, text: "") else { return false }
        }
        if sorted.isEmpty { StandardError.say("There is no serial device.") }
        if let adapter = sorted.first(where: \.isUnmarkedAdapter) { suggestMark(of: adapter) }
        return true
    }

    func write(_ change: DeviceChange) throws(CommandFailure) -> Bool {
        switch change {
        case .added(let device):
            guard try write(device, event: "added", text: "plugged in: ") else { return false }
            if device.isUnmarkedAdapter { suggestMark(of: device) }
            return true
        case .changed(let device): return try write(device, event: "changed", text: "changed:    ")
        case .removed(let device): return try write(device, event: "removed", text: "pulled out: ")
        }
    }

    private func write(_ device: SerialDevice, event: String?, text: String) throws(CommandFailure) -> Bool {
        let mark = device.isCollarRadio ? TerminalStyle.standardOutput.painted("*", as: .good) + " " : "  "
        let line = text + mark + PlainText.line(device.text) + "\n"
        return try StandardOutput.write(isJSON ? self.line(of: device, event) : Array(line.utf8))
    }

    private func suggestMark(of device: SerialDevice) {
        guard !isJSON else { return }
        // No mark of a rule is seen without udevd's data.
        let advice = source == .kernel ? "name its port (udev's data is not visible here): `collar-link --port" : "mark it: `collar-link mark"
        StandardError.say("If \(device.node) is a collar radio, \(advice) \(device.node)`.")
    }

    private func line(of device: SerialDevice, _ event: String?) -> [UInt8] {
        var object = JSONLine(type: "serial_device")
        if let event {
            object.add("unix_ms", WallClock.unixMilliseconds)
            object.add("event", event)
        }
        object.add("collar_radio", device.isCollarRadio)
        object.add("node", device.node)
        object.add("vendor_id", device.vendorID)
        object.add("model_id", device.modelID)
        object.add("vendor", device.vendor)
        object.add("model", device.model)
        object.add("serial", device.serialShort)
        object.add("interface", device.interfaceNumber)
        object.add("id_path", device.idPath)
        object.add("driver", device.driver)
        object.add("hint", device.likelyRadioHint)
        return object.line
    }
}
