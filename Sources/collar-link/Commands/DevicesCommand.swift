import CollarBridge
import CollarReceiver
import SerialDevices

/// `collar-link devices`: lists the serial devices, and marks the collar radios.
enum DevicesCommand {
    static let spec = CommandSpec(
        name: "devices",
        synopsis: "collar-link devices [--json]",
        summary: "Lists serial devices, collar radios first. Nothing is opened.",
        options: [OptionSpec("--json", is: "one JSON object a line instead of text")],
        maximumOperandCount: 0,
        notes: """
            A device is a collar radio where udev says COLLAR_LINK=1: hardware/udev/70-collar-link.rules sets it by the product's
            name, and 'collar-link mark' writes a rule that sets it for an adapter of your own.
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let devices: [SerialDevice]
        do throws(SystemError) { devices = try DeviceMonitor().allSerialDevices() } catch {
            throw CommandFailure(error.discoveryMessage)
        }
        let sorted = devices.filter(\.isCollarRadio) + devices.filter { !$0.isCollarRadio }
        for device in sorted {
            let mark = device.isCollarRadio ? TerminalStyle.standardOutput.painted("*", as: .good) + " " : "  "
            let text = mark + PlainText.line(device.text) + "\n"
            try StandardOutput.write(arguments.has("--json") ? line(of: device) : Array(text.utf8))
        }
        if sorted.isEmpty { StandardError.say("there is no serial device") }
        if !arguments.has("--json"), let node = sorted.first(where: \.isUnmarkedAdapter)?.node {
            StandardError.say("if \(node) is a collar radio, mark it: collar-link mark \(node)")
        }
        return .clean
    }

    private static func line(of device: SerialDevice) -> [UInt8] {
        var object = JSONLine(type: "serial_device")
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
