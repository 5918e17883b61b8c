import CollarBridge
import CollarReceiver

/// `collar-link follow`: prints what is stored, then what arrives.
enum FollowCommand {
    static let spec = CommandSpec(
        name: "follow",
        title: "print stored positions, then each new one",
        synopsis: "collar-link follow [--as NAME [--acknowledge]] [options]",
        summary: """
            Prints the stored positions, then each new one as 'run' stores it, like 'tail -f'. Any number of readers may follow;
            none delays 'run' or another reader, and none asks for anything while nothing arrives.

            --as keeps the position under a name: the next start goes on there, and 'run --keep' removes nothing that the reader has
            not taken. Lines that were read from the pipe count as taken; with --acknowledge, those whose ids the other program
            writes to stdin, one on a line. What is not taken is repeated after a restart, with the same ids.
            """,
        options: [
            OptionSpec("--as", value: "NAME", is: "keep the position durably under this name"),
            OptionSpec("--acknowledge", is: "with --as: move the position only past lines whose ids come in on stdin"),
        ] + ParsedArguments.followingOptions + [
            OptionSpec("-n", "--count", value: "N", is: "exit after N lines"),
            OptionSpec("-T", "--duration", value: "SECONDS", is: "exit after this long"),
            OptionSpec("-q", "--quiet", is: "print only what fails"),
            ParsedArguments.logOption,
        ],
        maximumOperandCount: 0,
        notes: """
            formats:
            \(formatList())
            Only json has lines of events; json and text have lines for messages and gaps.

            --since takes \(SinceArgument.forms).
            After an ID, other collars begin with their oldest entry. With --as, it is for the first start under the name.
            The events are those of the last megabyte of lines. They end with 'run' and begin with it.
            exit codes: 0 clean, 64 usage, 65 the position is damaged, 66 nothing is stored there, 74 I/O, 75 the name is in use,
            77 permission, 78 configuration
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        var configuration = FollowerConfiguration(try arguments.reading(isLive: true))
        configuration.reading.name = try arguments.value("--as").map { (text) throws(CommandFailure) in
            try ParsedArguments.readerName(text)
        }
        configuration.isAcknowledged = arguments.has("--acknowledge")
        if configuration.isAcknowledged {
            guard configuration.reading.name != nil else { throw CommandFailure(.usage, "--acknowledge goes with --as") }
            guard configuration.reading.format.format == .json, configuration.reading.format.flavour == .full else {
                throw CommandFailure(.usage, "--acknowledge goes with lines that have an id: full lines of JSON")
            }
        }
        configuration.lineLimit = try arguments.integer("--count", in: 1...Int.max)
        if let seconds = try arguments.number("--duration", in: 0...1e9) {
            configuration.durationMicroseconds = Int64(seconds * 1e6)
        }
        let filter = try arguments.logFilter()
        do throws(ReceiverError) {
            let follower = try Follower(configuration) { notice in
                if filter.passes(notice.mark) { StandardError.say(notice) }
            }
            try follower.run()
        } catch { throw CommandFailure(error.message) }
        return .clean
    }
}
