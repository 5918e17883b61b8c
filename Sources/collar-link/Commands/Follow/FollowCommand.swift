import CollarErrors
import CollarJournal
import CollarReaders

enum FollowCommand: Command {
    static let spec = CommandSpec(
        name: "follow",
        title: "print stored positions, then each new one",
        synopsis: """
            collar-link follow [options]
            collar-link follow --as NAME [--acknowledge] [options]
            """,
        summary: """
            Prints the stored positions, then each new one when `run` stores it, like `tail -f`. Any number of readers can follow at the
            same time. None delays `run` or another
            reader. While nothing arrives, `follow` uses no processor time.
            """,
        options: [
            OptionSpec(
                "--as", value: "NAME",
                is: "store the position under this name, and continue there: \(ReaderName.form) (default: no position)"),
            OptionSpec("--acknowledge", is: "with `--as`: move the position only past lines whose ids arrive on stdin"),
        ] + ParsedArguments.followingOptions.map { $0.key == OptionSpec.format.key ? .liveFormat : $0 } + [
            .count, .duration, .quiet, ParsedArguments.logOption,
        ],
        notes: """
            formats:
            \(formatList())

            \(formatNotes)

            values of --since:
            \(SinceArgument.table)

            After an ID, other collars start with their oldest entry. With `--as`, `--since` counts only for the first start under the
            name.

            positions:
            With `--as`, `run --keep` deletes nothing that the reader does not have. A line counts as taken when the other program has
            read it from the pipe. With `--acknowledge` it counts when its `id` arrives on stdin, one id per line. After a restart, lines
            that were not taken come again with the same ids.

            Members of the group `collar-link` can read a state directory of this group, and store positions in it. Your own state
            directory is private.

            other events:
            Lines of links, errors, statuses, figures and results are JSON only. `run` keeps the last megabyte of them.

            \(ownerNotes)

            examples:
              collar-link follow -F text
              collar-link follow --owner gpsd --events owner,fix
              collar-link follow --as map --events fix,gap

            acknowledging in bash:
              coproc FEED { collar-link follow --as sink --acknowledge; }
              while read -r line <&"${FEED[0]}"; do
                  echo "$line" >> fixes.jsonl &&
                      jq -r .id <<< "$line" >&"${FEED[1]}"
              done

            exit codes:
              0   ended by a signal, `-n`, `-T`, or a closed stdout
              64  wrong usage
              65  the stored position is damaged
              66  nothing is stored, or not this fix
              74  I/O error
              75  another reader uses this name
              77  no permission
              78  wrong configuration
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        var configuration = FollowerConfiguration(try arguments.reading(isLive: true))
        configuration.reading.name = try arguments.value("--as").map { (text) throws(CommandFailure) in
            try ParsedArguments.readerName(text)
        }
        configuration.isAcknowledged = arguments.has("--acknowledge")
        if configuration.isAcknowledged {
            guard configuration.reading.name != nil else { throw CommandFailure(.usage, "`--acknowledge` goes with `--as`.") }
            guard configuration.reading.format.format == .json, configuration.reading.format.flavour == .full else {
                let option = configuration.reading.format.format == .json ? "--flavour" : "--format"
                throw CommandFailure.excluding(
                    "--acknowledge", option, remedy: "Leave out `\(option)`, because only full lines of JSON have ids, or `--acknowledge`.")
            }
        }
        if configuration.isAcknowledged, configuration.reading.hasAlerts {
            throw CommandFailure.excluding(
                "--acknowledge", "--events alert", remedy: "Give alerts to a command: `collar-link deliver NAME --events alert -- COMMAND`.")
        }
        configuration.lineLimit = try arguments.integer("--count", in: 1...Int.max)
        configuration.durationMicroseconds = try arguments.number("--duration", in: 0...1e9).map { Int64($0 * 1e6) }
        let filter = try arguments.logFilter()
        let owner = try arguments.ownerReceiver(filter)
        do throws(ReaderError) {
            let follower = try Follower(configuration, owner: owner) { notice in
                if filter.passes(notice.mark) { StandardError.say(notice) }
            }
            try follower.run()
        } catch { throw CommandFailure(error.message) }
        return .clean
    }
}
