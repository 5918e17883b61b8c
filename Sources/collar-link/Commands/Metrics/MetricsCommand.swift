import CollarControl
import CollarErrors
import CollarJournal
import LinuxSystem

enum MetricsCommand: Command {
    static let spec = CommandSpec(
        name: "metrics",
        title: "print figures for Prometheus",
        synopsis: "collar-link metrics [--state-dir DIR]",
        summary: """
            Prints metrics in the text format of Prometheus, one line per value. A value that is unknown is left out.
            """,
        options: [.readStateDirectory],
        notes: """
            metrics:
              each collar  time of the last fix, battery and its discharge, signal,
                           missing and lost fixes, size of the journal
              each reader  lag in entries and in seconds, time of the last activity,
                           or 1 as `collar_link_reader_unreadable` if its file cannot
                           be read
              `run`        latencies of fixes, lines and acknowledgements (average and
                           95th percentile of the last 100), airtime, frames, errors by
                           code, memory, processor time, performance targets met

            If `run` is not running in this state directory, or does not answer this user, `collar_link_up` is 0 and the metrics of
            collars and readers are still printed. Start `metrics` as the user of `run`, or as root, to get all of them.

            For the textfile collector of node_exporter, write a temporary file and rename it, for example every minute from cron:
              cd /var/lib/prometheus/node-exporter
              collar-link metrics > collar-link.new && mv collar-link.new collar-link.prom

            An alert can use `time() - collar_link_collar_last_fix_timestamp_seconds > 3600`.

            examples:
              collar-link metrics
              collar-link metrics --state-dir /var/lib/collar-link

            exit codes:
              0   done
              64  wrong usage
              65  a journal is damaged
              66  no such state directory
              74  I/O error
              77  no permission
              78  wrong configuration

            If one collar cannot be read, the others are still printed. A reader that cannot be read does not change the exit code.
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let stateDirectory = try arguments.existingStateDirectory()
        let collars = try CommandFailure.wrapping(try JournalDirectory.knownCollars(stateDirectory: stateDirectory))
        let files = ReaderFiles(stateDirectory: stateDirectory)
        let readers = try ReadersCommand.states(files)
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
        for name in readers.unreadable { report.add(unreadable: name) }
        for (name, state) in readers.readable {
            do throws(CommandFailure) {
                report.add(name, state, lag: try CommandFailure.wrapping(try state.lag(stateDirectory: stateDirectory)))
            } catch { error.tell(&code) }
        }
        try StandardOutput.write(report.bytes)
        return code
    }
}
