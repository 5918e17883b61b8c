import CollarFormats
import CollarErrors
import CollarReceiver
import LinuxSystem
import SerialDevices

/// `collar-link devices`: lists the serial devices, and marks the collar radios.
enum DevicesCommand {
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
        maximumOperandCount: 0,
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
                    "nothing was plugged in for 10 s; does the cable carry data? Many cables only charge",
                    remedy: "Try another cable and another socket; `sudo dmesg --follow` shows what the kernel sees.")
            case .ended: return
            }
        }
    }
}
