import CollarErrors
import CollarJournal
import CollarReaders
import CollarReceiver

enum DeliverCommand: Command {
    static let spec = CommandSpec(
        name: "deliver",
        title: "give positions to a command until it succeeds",
        synopsis: "collar-link deliver NAME [options] -- COMMAND [ARGUMENT …]",
        summary: """
            Passes the stored positions, then each new one, in batches to the stdin of COMMAND. A batch is delivered when COMMAND exits
            with 0. Then the position, stored under NAME, moves past the batch.

            If COMMAND fails, it gets the same batch again until it succeeds, after pauses that grow from 1 s to 5 minutes. The
            failure is reported once. Each line
            arrives at least once. A sink that ignores known ids, such as a table with a primary key, stores each exactly once.
            """,
        options: [
            OptionSpec("--batch", value: "N", is: "largest number of entries in a batch, 1 to 100000 (default 1000)"),
            OptionSpec(
                "--every", value: "SECONDS",
                is: "shortest time between the starts of two batches, 0 to 86400 seconds; a full batch does not wait (default 0)"),
            OptionSpec("--once", is: "deliver what is stored now, without retries, and exit"),
        ] + ParsedArguments.followingOptions + [
            .verbose, .quiet, ParsedArguments.logOption,
        ],
        maximumOperandCount: .max,
        notes: """
            NAME is \(ReaderName.form).

            placeholders in COMMAND:
              {collar}  id of the collar; each batch then has entries of one collar only
              {name}    name of the animal; one animal per batch. `/`, `%` and
                        a `.` or `-` at the start become %2F, %25, %2E, %2D
              {count}   number of entries in the batch

            formats:
            \(formatList())

            \(formatNotes)

            Each batch is a complete document of its format.

            values of --since:
            \(SinceArgument.table)

            `--since` counts only for the first start under NAME.

            delivery:
            COMMAND starts without a shell, in its own process group. Its stdout goes to the stderr of `deliver`. If `deliver` ends
            during a batch, it repeats the batch after the next start. After `kill -9` of `deliver`, the old COMMAND may still run next
            to the new one.

            Batches keep the order in which fixes were stored. A batch that COMMAND always refuses therefore blocks all later ones.
            `run --keep` deletes nothing that has not been delivered.

            \(ownerNotes)

            examples:
              collar-link deliver db -- psql -q -f import.sql
              collar-link deliver mqtt --batch 1 -- \\
                  mosquitto_pub -q 1 -t collars/{collar} -s
              collar-link deliver push --events alert --alert-age 30 --batch 1 -- \\
                  Tools/recipes/alerts/push

            exit codes:
              0   ended by a signal, or `--once` has delivered everything
              64  wrong usage
              65  the stored position is damaged
              66  nothing is stored, or not this fix
              69  COMMAND cannot be started; `--once`: COMMAND failed
              74  I/O error
              75  another reader uses NAME
              77  no permission
              78  wrong configuration
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        guard let nameText = arguments.operands.first else { throw CommandFailure(.usage, "`deliver` needs a name and a command.") }
        if arguments.operandCountBeforeDashes == 0 {
            let command = ShellCommand(words: arguments.operands).text
            throw CommandFailure(
                .usage, "`deliver` needs a name before the command: `deliver NAME -- \(command)`.",
                remedy: "The position is stored under this name. For example: `collar-link deliver sink -- \(command)`.")
        }
        let name = try ParsedArguments.readerName(nameText)
        guard let command = DeliveryCommand(words: Array(arguments.operands.dropFirst())) else {
            throw CommandFailure(.usage, "`deliver` needs a command: `deliver \(nameText) -- COMMAND`.", remedy: "For example: `collar-link deliver \(nameText) -- cat`.")
        }
        var configuration = DeliveryConfiguration(try arguments.reading(isLive: false), command)
        configuration.reading.name = name
        configuration.batchCount = try arguments.integer("--batch", in: 1...100_000) ?? 1000
        configuration.intervalMicroseconds = Int64((try arguments.number("--every", in: 0...86_400) ?? 0) * 1e6)
        configuration.isOnce = arguments.has("--once")
        if configuration.isOnce, configuration.reading.format.owner?.moves == true {
            throw CommandFailure.excluding(
                "--once", "--owner \(arguments.value("--owner") ?? "")", remedy: "Leave out `--once`, which waits for no receiver, or give a position.")
        }
        if configuration.isOnce { _ = try StoredJournals.known(in: configuration.reading.stateDirectory) }
        let filter = try arguments.logFilter()
        let owner = try arguments.ownerReceiver(filter)
        do throws(ReaderError) {
            let deliverer = try Deliverer(configuration, owner: owner) { notice in
                if filter.passes(notice.mark) { StandardError.say(notice) }
            }
            try deliverer.run()
            if arguments.has("--verbose") {
                StandardError.say("\(counted(deliverer.entryCount, "entry", "entries")) delivered in \(counted(deliverer.batchCount, "batch", "batches"))")
            }
        } catch { throw CommandFailure(error.message) }
        return .clean
    }
}
