import SerialDevices

/// `collar-link devices`: what serial devices there are, and which are collar radios.
enum DevicesCommand {
    static let spec = CommandSpec(
        name: "devices",
        synopsis: "collar-link devices [--json]",
        summary: "Lists serial devices, collar radios first. Nothing is opened.",
        options: [OptionSpec("--json", is: "one JSON object a line instead of text")],
        maximumOperandCount: 0,
        notes: "A device is a collar radio where udev says COLLAR_LINK=1; hardware/udev/70-collar-link.rules sets it.")

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let devices: [SerialDevice]
        do throws(DeviceMonitorError) { devices = try DeviceMonitor().allSerialDevices() } catch {
            throw CommandFailure(.inputOutput, error.description, remedy: error.remedy)
        }
        let sorted = devices.filter(\.isCollarRadio) + devices.filter { !$0.isCollarRadio }
        for device in sorted {
            let line = arguments.has("--json") ? json(device) : (device.isCollarRadio ? "* " : "  ") + device.text
            try StandardOutput.write(line + "\n")
        }
        if sorted.isEmpty { StandardError.say("there is no serial device") }
        return .clean
    }

    private static func json(_ device: SerialDevice) -> String {
        let fields: [(String, String?)] = [
            ("node", device.node), ("vendor_id", device.vendorID), ("model_id", device.modelID),
            ("vendor", device.vendor), ("model", device.model), ("serial", device.serialShort),
            ("interface", device.interfaceNumber), ("id_path", device.idPath), ("driver", device.driver),
            ("hint", device.likelyRadioHint),
        ]
        let texts = fields.map { "\"\($0.0)\":" + ($0.1.map(quoted) ?? "null") }
        return "{\"type\":\"serial_device\",\"collar_radio\":\(device.isCollarRadio)," + texts.joined(separator: ",") + "}"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
