import CollarBridge
import CollarReceiver
import CollarWire

/// `collar-link send`: sends a request to a collar.
enum SendCommand {
    static let spec = CommandSpec(
        name: "send",
        title: "send a collar a request: locate, sound, settings, pair",
        synopsis: "collar-link send [options] VERB …",
        summary: """
            Sends a command or a settings update to a collar, or polls for its settings, and prints what became of it. A
            running collar-link sends it; where none runs, the radio is opened as collar-link would, and positions that
            come in are stored for it.

            verbs:
              locate                       make and send a fix now
              sound SECONDS                sound for so long, 0.1 to 65
              track on|off                 log positions, or do not; kept over a restart of the collar
              reboot                       restart the collar
              settings get                 tell all settings
              settings set KEY=VALUE …     change up to five settings at once
              message CODE [TEXT]          a message of at most 20 bytes for the collar's application; CODE, 0 to 255, has the
                                           meaning that the application gives it. 'done' means that the application has it.
                                           Its reply is a line of 'run --events fix,message' and 'history --events message'
              pair                         belong to this machine: within 60 s after the collar was switched on or its button
                                           was pressed, or while it belongs to nobody
              pair --to ID                 belong to another receiver: the id that 'collar-link receiver show' prints there
              unpair                       belong to nobody
            """,
        options: [
            OptionSpec("--data", value: "HEX", is: "with message: these bytes in place of TEXT"),
            OptionSpec("--wants-reply", is: "with message: the application shall send a message in reply"),
            OptionSpec("--reply-to", value: "SEQ", is: "with message: answers the collar's message with this seq"),
            OptionSpec("--outcome", value: "NAME", is: "with --reply-to: \(CommandResult.Outcome.nameList) (ok)"),
            OptionSpec("--to", value: "ID", is: "with pair: the receiver to which the collar is to belong"),
            OptionSpec(
                "--collar", value: "ID|NAME",
                is: "which collar: its id, or the animal that wears it now; needed where there are several"),
            OptionSpec("--queue", is: "wait until the collar is heard, for a week, also over restarts (the default)"),
            OptionSpec("--now", is: "fail at once without a radio or contact; drop it once the time is over"),
            OptionSpec("--latest", is: "as --queue, in place of requests of the same kind that were not sent yet"),
            OptionSpec("--timeout", value: "SECONDS", is: "wait so long for the result, 0 to 3600 (30)"),
            OptionSpec(
                "-p", "--port", value: "PATH|tcp://HOST:PORT|auto", repeatable: true,
                is: "where no collar-link runs: use this tty, or the radio at another machine"),
        ] + RadioOption.allCases.map(\.spec) + [
            OptionSpec("--state-dir", value: "DIR", is: "where journals are ($XDG_STATE_HOME/collar-link)"),
            OptionSpec("--json", is: "print the result as a line of JSON (Protocol/schema/result.schema.json)"),
        ],
        maximumOperandCount: 16,
        notes: """
            settings, with the unit at the end of the name:
            \(settingsHelp)

            A collar listens when it has said something: every heartbeat (60 s) at the latest. That it refuses to pair is heard
            only while the receiver to which it belongs answers it.

            exit codes: 0 done; 64 usage; 65 the collar finds a value invalid; 66 no such collar; 69 the collar does not know
            or have that, or --now without a radio or contact; 74 it failed, or I/O; 75 no result: still queued (unless
            --now), busy, replaced; 77 refused: it belongs to another machine; 78 conflict: the collar has settings of a
            higher version ('settings get' learns it)

            A program can do the same at the socket of a running collar-link, $XDG_RUNTIME_DIR/collar-link/*.sock or
            STATE-DIR/control.sock. It writes a line such as
              {"do":"sound","ms":5000,"collar":"910a2dec89025cc1","mode":"now","timeout_ms":30000}
            and reads lines as --json prints them: one at once, and after "queued" one when the request has ended. "do" is
            locate, sound, track_on, track_off, reboot, get_settings, set_settings (with "settings":{"heartbeat_s":30}), pair
            (with "to":"9a3f21c0" for another receiver), unpair, message (with "code":3,"data":"68656c6c6f" and, where wanted,
            "kind":"request", or "reply_to":812,"outcome":"ok"), or await (with "request":N: what became of request N); "mode"
            is queue, now or latest. "collar" may be left out where there is only one. {"do":"figures"} asks for the figures of the
            running collar-link, in one line (Protocol/schema/figures.schema.json); 'collar-link metrics' shows them.
            """)

    private static var settingsHelp: String {
        SettingKey.all.map { key in
            let name = "  " + key.name + String(repeating: " ", count: max(1, 36 - key.name.utf8.count))
            return name + "\(key.rangeText): \(key.meaning)"
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
            try StandardOutput.write(line.text)
        }
        return line.exitCode
    }
}
