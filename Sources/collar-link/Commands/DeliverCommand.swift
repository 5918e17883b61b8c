import CollarBridge
import CollarReceiver

/// `collar-link deliver`: passes batches to a command.
enum DeliverCommand {
    static let spec = CommandSpec(
        name: "deliver",
        title: "give positions to a command until it succeeds",
        synopsis: "collar-link deliver NAME [options] -- COMMAND [ARGUMENT …]",
        summary: """
            Passes the stored positions, and then each new one, in batches to the stdin of COMMAND, and remembers under NAME what the
            command has taken: a batch counts when the command exits with 0. A batch that fails is tried again for ever, with
            growing pauses. Each line comes at least once; a sink that ignores an id that it has holds each exactly once.

              collar-link deliver db -- psql -q -f import.sql
              collar-link deliver mqtt --batch 1 -- mosquitto_pub -q 1 -t collars/{collar} -s

            {collar} and {name} in COMMAND split the batches by collar and by animal; {count} is the number of entries.
            """,
        options: [
            OptionSpec("--batch", value: "N", is: "the most entries in a batch (1000)"),
            OptionSpec("--every", value: "SECONDS", is: "begin a batch that is not full only so long after the one before (0)"),
            OptionSpec("--once", is: "deliver what is stored, and exit; do not try again"),
        ] + ParsedArguments.followingOptions + [
            OptionSpec("-v", "--verbose", is: "print counts at the end"),
            OptionSpec("-q", "--quiet", is: "print only what fails"),
            ParsedArguments.logOption,
        ],
        maximumOperandCount: .max,
        notes: """
            formats:
            \(formatList())

            COMMAND is started without a shell, in a process group of its own; its stdout is this program's stderr. {name} is put
            in as it is, whatever the name contains. Each batch is a whole document of its format. A batch that is interrupted by
            the end of this program comes again. --since is for the first start under NAME. It takes
            \(SinceArgument.forms).
            exit codes: 0 clean, 64 usage, 65 the position is damaged, 66 nothing is stored there, 69 COMMAND cannot be started or,
            with --once, has failed, 74 I/O, 75 NAME is in use, 77 permission, 78 configuration
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        guard let nameText = arguments.operands.first else { throw CommandFailure(.usage, "deliver wants a name and a command") }
        let name = try ParsedArguments.readerName(nameText)
        guard let command = DeliveryCommand(words: Array(arguments.operands.dropFirst())) else {
            throw CommandFailure(.usage, "deliver wants a command: deliver \(nameText) -- COMMAND", remedy: "for example: -- cat")
        }
        var configuration = DeliveryConfiguration(try arguments.reading(isLive: false), command)
        configuration.reading.name = name
        configuration.batchCount = try arguments.integer("--batch", in: 1...100_000) ?? 1000
        configuration.intervalMicroseconds = Int64((try arguments.number("--every", in: 0...86_400) ?? 0) * 1e6)
        configuration.isOnce = arguments.has("--once")
        let filter = try arguments.logFilter()
        do throws(ReceiverError) {
            let deliverer = try Deliverer(configuration) { notice in
                if filter.passes(notice.mark) { StandardError.say(notice) }
            }
            try deliverer.run()
            if arguments.has("--verbose") {
                StandardError.say("\(deliverer.entryCount) entries delivered in \(deliverer.batchCount) batches")
            }
        } catch { throw CommandFailure(error.message) }
        return .clean
    }
}
