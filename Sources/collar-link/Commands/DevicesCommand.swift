import CollarBridge
import CollarReceiver
import SerialDevices

/// `collar-link devices`: lists the serial devices, and marks the collar radios.
enum DevicesCommand {
    static let spec = CommandSpec(
        name: "devices",
        title: "list serial devices and collar radios",
        synopsis: "collar-link devices [--watch] [-F text|json]",
        summary: """
            Lists serial devices, collar radios first. Nothing is opened. With --watch it then tells which are plugged in and
            pulled out, until it is stopped.
            """,
        options: [
            OptionSpec("--watch", is: "go on, and tell what is plugged in and pulled out"),
            OptionSpec("-F", "--format", value: "text|json", is: "lines for people (the default), or JSON"),
            OptionSpec("--json", is: "the same as -F json"),
        ],
        maximumOperandCount: 0,
        notes: """
            A device is a collar radio where udev says COLLAR_LINK=1: hardware/udev/70-collar-link.rules sets it by the product's
            name, and 'collar-link mark' writes a rule that sets it for an adapter of your own. Where udev's data is not visible, as in
            most containers, no such mark is seen: name the port (--port).
            exit codes: 0 done, 64 usage, 74 devices cannot be discovered
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let format = try arguments.choice("--format", of: ["text": OutputFormat.text, "json": .json]) ?? .text
        let isJSON = format == .json || arguments.has("--json")
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
                    "nothing was plugged in for 10 s; does the cable carry data? Many cables only charge",
                    remedy: "try another cable and another socket; `sudo dmesg --follow` shows what the kernel sees")
            case .ended: return
            }
        }
    }
}
