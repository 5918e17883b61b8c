import CollarBridge
import CollarJournal
import CollarReceiver

/// `collar-link metrics`: prints figures for Prometheus.
enum MetricsCommand {
    static let spec = CommandSpec(
        name: "metrics",
        title: "print figures for Prometheus",
        synopsis: "collar-link metrics [--state-dir DIR]",
        summary: """
            Prints metrics in the text format of Prometheus: of each collar, its last fix, battery, signal, missing fixes and
            journal; of each named reader, how far it lags behind; and of the running 'collar-link run' of the state directory,
            latencies, frames, errors, memory and processor time. Where none runs, or where it tells this user nothing,
            collar_link_up is 0, and the rest is printed. A value that is unknown is left out.

            For the textfile collector of node_exporter, write to a file beside the one that it reads, and rename that:
              collar-link metrics > DIR/collar-link.new && mv DIR/collar-link.new DIR/collar-link.prom
            """,
        options: [
            OptionSpec(
                "--state-dir", value: "DIR", is: "where journals are kept (the user's own place, else /var/lib/collar-link)")
        ],
        maximumOperandCount: 0,
        notes: """
            exit codes: 0 done, 64 usage, 65 a journal or a position is damaged, 74 I/O, 77 permission. Where one collar or reader
            cannot be read, the others are printed all the same
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let stateDirectory = try arguments.readableStateDirectory()
        let collars = try CommandFailure.wrapping(
            try JournalDirectory.knownCollars(stateDirectory: stateDirectory, fileSystem: POSIXFileSystem()))
        let files = ReaderFiles(stateDirectory: stateDirectory)
        let readers = try CommandFailure.wrapping(try files.names())
        let figures = RunningReceiver(of: stateDirectory, for: "metrics").figures
        var report = MetricsReport(
            unixMilliseconds: WallClock.unixMilliseconds, animals: AnimalNames().tellingFaults(), figures: figures)
        var code = ExitCode.clean
        for deviceID in collars {
            do throws(CommandFailure) {
                let reader = try CommandFailure.wrapping(try JournalReader(stateDirectory: stateDirectory, deviceID: deviceID))
                try CommandFailure.wrapping(try report.add(reader))
            } catch { error.tell(&code) }
        }
        for name in readers {
            do throws(CommandFailure) {
                guard let state = try CommandFailure.wrapping(try files.state(of: name)) else { continue }
                report.add(name, state, lag: try CommandFailure.wrapping(try state.lag(stateDirectory: stateDirectory)))
            } catch { error.tell(&code) }
        }
        try StandardOutput.write(report.bytes)
        return code
    }
}
