import CollarConfiguration
import CollarErrors
import CollarFormats
import CollarWire

enum SendCommand: Command {
    static let spec = CommandSpec(
        name: "send",
        title: "send a collar a request: locate, find, sound, settings, pair",
        synopsis: """
            collar-link send [options] locate | find [DURATION] | sound SECONDS
            collar-link send [options] report | track on|off | reboot
            collar-link send [options] settings get | settings set KEY=VALUE …
            collar-link send [options] message CODE [TEXT]
            collar-link send [options] pair [--to ID] | unpair
            """,
        summary: """
            Sends a request to a collar and prints the result. The running `run` sends it. If `run` is not running, `send` opens the
            radio itself (`--port`), and stores positions that arrive meanwhile.

            verbs:
              locate                    make and send a fix now
              find [DURATION]           for 30m (or 45s, 2h, …; `off` ends it) make fixes
                                        without a pause, and listen every ten seconds
              report                    tell how the battery is spent: a `power` line
              sound SECONDS             make a sound for 0.1 to 65 seconds
              track on|off              start or stop tracking; kept over a reboot
              reboot                    restart the collar
              settings get              print all settings
              settings set KEY=VALUE …  change up to five settings at once
              message CODE [TEXT]       send the collar's application a message with a code
                                        from 0 to 255 and at most 20 bytes
              pair                      pair the collar with this receiver
              pair --to ID              pair the collar with another receiver
              unpair                    end the pairing
            """,
        options: [
            OptionSpec(
                "--collar", value: "ID|NAME",
                is: "collar to send to: its id, the first digits of it (at least 4; not for pair, unpair and message), or the name of the animal that wears it now (default: the only one known)"),
            OptionSpec("--queue", is: "keep the request for a week, also over restarts, until the collar is heard (the default)"),
            OptionSpec("--now", is: "fail at once without a radio or contact, and drop the request after `--timeout`"),
            OptionSpec("--latest", is: "like `--queue`, and replace requests of the same kind that were not sent yet"),
            OptionSpec("--timeout", value: "SECONDS", is: "how long to wait for the result, in seconds, 0 to 3600 (default 30)"),
            OptionSpec("--to", value: "ID", is: "with `pair`: the other receiver; `collar-link receiver show` prints its id there"),
            OptionSpec("--data", value: "HEX", is: "with `message`: bytes in hexadecimal, instead of TEXT"),
            OptionSpec("--wants-reply", is: "with `message`: ask the application for a reply"),
            OptionSpec("--reply-to", value: "SEQ", is: "with `message`: reply to the collar's message with this `seq`"),
            OptionSpec(
                "--outcome", value: "NAME", is: "with `--reply-to`: \(CommandResult.Outcome.names.alternatives) (default ok)"),
            OptionSpec("-F", "--format", value: "text|json", is: "text for people (default), or a `result` line of JSON"),
            .port,
        ] + RadioOption.allCases.map(\.spec) + [
            .readStateDirectory,
        ],
        maximumOperandCount: 16,
        notes: """
            settings:
            \(settingsHelp)

            The name ends with the unit. Changes of spreading_factor, turnaround_ms and modem_header_bytes take effect at the next boot. A
            collar behind an RNode stick needs modem_header_bytes=1. A collar at a BLE or other slow bridge needs turnaround_ms=200 or more.

            If several receivers change settings, the latest change counts; `settings get` shows its time and receiver. With `--latest`, `settings set` replaces unsent changes of the same keys.

            waiting:
            A collar listens only after it has sent something, at the latest after one heartbeat (heartbeat_s). Up to seven requests can
            wait for a collar.

            finding:
            `find` says within what time it reaches the collar: the fix interval or the heartbeat, whichever is shorter. At a terminal the
            bell rings when the collar has answered; `--timeout` tells how long to wait for that. `find` needs much power, and ends by
            itself. `collar-link status` shows what the last `report` told.

            pairing:
            A collar without a receiver pairs with the first one that acknowledges its fixes, and ignores the acknowledgements of
            others. It accepts `pair` from its own receiver, for 60 s after power-on or two presses of its button, or while it has no
            receiver. A collar without a receiver obeys only `pair`.

            messages:
            For a message, "done" means that the collar's application has it. A reply arrives as a `message` line with `reply_to`, the
            request id that `send` prints (see `collar-link run --events fix,message` and `collar-link history --events message`).

            other programs:
            Other programs can send requests through the control socket of `run` (see LINES.md, "The control socket", in the source).

            examples:
              collar-link send locate
              collar-link send --collar Athena find 1h --timeout 900
              collar-link send --collar Athena sound 5
              collar-link send settings set heartbeat_s=30 interval_ms=10000
              collar-link send message 3 'come home' --wants-reply
              collar-link send message 1 yes --reply-to 812

            exit codes:
              0   done
              64  wrong usage
              65  the collar finds a value invalid
              66  no such collar or state directory
              69  the collar does not support this; `--now`: no radio or no contact
              74  the collar failed, or I/O error
              75  no result yet and still queued, expired with `--now`, busy, or replaced
              77  refused, or the collar belongs to another receiver or to nobody
              78  the collar has newer settings: run `settings get` first
            """)

    private static var settingsHelp: String {
        SettingKey.all.map { key in
            "  \(key.name)  (\(key.rangeText); default \(key.defaultText))\n      \(key.meaning)"
        }.joined(separator: "\n")
    }

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let wanted = try SendArguments(arguments)
        let line = try SendSession(wanted).run()
        if wanted.isJSON {
            try StandardOutput.write(line.bytes)
        } else if line.outcome == .rejected {
            throw CommandFailure(line.exitCode, line.reason ?? "", remedy: line.remedy)
        } else {
            try StandardOutput.write(line.text + (wanted.ringsBell && line.outcome == .ok && Terminal.isOutput ? "\u{7}" : ""))
        }
        return line.exitCode
    }
}

extension ResultLine {
    /// The collar that the line is about, for a message.
    var subject: String { deviceID.map { "collar \($0)\(name.map { " (\($0))" } ?? "")" } ?? "the collar" }

    /// The result for a person, in lines that each end with a line feed.
    var text: String {
        // A reply of the collar's application names the id of the request.
        let id = verb == "message" ? requestID.map { "request \($0), " } : nil
        let what = PlainText.line("\(subject): \(id ?? "")\(ResultLine.words(of: verb ?? "request"))")
        guard outcome == .ok, !settings.isEmpty else { return "\(what): \(PlainText.line(outcomeText))\n" }
        var text = "\(what): \(settingsVersion.map(ResultLine.text) ?? "no version")\n"
        for setting in settings {
            guard let key = SettingKey(rawValue: setting.key) else { continue }
            let assignment = "\(key.name)=\(setting.value)"
            let gap = String(repeating: " ", count: max(1, 46 - assignment.utf8.count))
            text += "  \(assignment)\(gap)\(key.meaning)\n"
        }
        return text
    }

    private static func text(of version: SettingsVersion) -> String {
        guard version > .defaults else { return "the defaults" }
        let time = utcText(unixMilliseconds: Int64(version.number))
        return "version \(version.number), of \(time), by the receiver …\(text(ofOrigin: version.origin))"
    }

    /// The exit code that tells a script what became of the request.
    var exitCode: ExitCode {
        switch outcome {
        case .ok: .clean
        case .queued, .busy, .timeout, .expired, .replaced: .portBusy
        case .unknown, .unsupported: .noDevice
        case .invalid: .corruptInput
        case .refused: .noPermission
        case .conflict: .configuration
        case .failed: .inputOutput
        case .rejected: code.flatMap(ErrorCode.init)?.exitCode ?? .portBusy
        }
    }
}
