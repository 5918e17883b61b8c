/// Options that several commands describe in the same words.
extension OptionSpec {
    private static let portForms = "a serial port, a TCP bridge, or `auto` for every marked radio (default auto; repeatable)"

    static let port = OptionSpec(
        "-p", "--port", value: "PATH|tcp://HOST:PORT|auto", repeatable: true, is: "radio to use: \(portForms)")

    static let examinedPort = OptionSpec(
        "-p", "--port", value: "PATH|tcp://HOST:PORT|auto", repeatable: true, is: "radio to examine: \(portForms)")

    /// The state directory of a command that writes to it.
    static let stateDirectory = OptionSpec(
        "--state-dir", value: "DIR",
        is: "state directory, with the journals and keys (default $XDG_STATE_HOME/collar-link, else ~/.local/state/collar-link)")

    /// The state directory of a command that reads it, see ``ParsedArguments/readableStateDirectory()``.
    static let readStateDirectory = OptionSpec(
        "--state-dir", value: "DIR",
        is: "state directory of `run` (default: your own, as for `run`; else \(ParsedArguments.serviceDirectory))")

    static let collarKinds = OptionSpec(
        "--events", value: "LIST",
        is: "kinds of lines, separated by commas: fix, message, gap; or `all` (default fix,gap)")

    static let lineKinds = OptionSpec(
        "--events", value: "LIST",
        is: "kinds of lines, separated by commas: fix, message, gap, link, error, stats, status, result; or `all`, or `none` (default fix)")

    static let sort = OptionSpec(
        "--sort", value: "arrival|sequence",
        is: "order of lines: `arrival`, or `sequence` to hold each fix back until every earlier one of its log has come or is lost (default arrival; in `history`, sequence for gpx and nmea)")

    static let format = OptionSpec("-F", "--format", value: "FORMAT", is: "output format, see the table below (default json)")

    /// The format of a command that may write to a terminal as it goes, see ``ParsedArguments/liveFormatOptions(_:)``.
    static let liveFormat = OptionSpec(
        "-F", "--format", value: "FORMAT", is: "output format, see the table below (default: text at a terminal, else json)")

    static let unknownAccuracy = OptionSpec(
        "--unknown-accuracy", value: "METRES",
        is: "with `-F homeassistant`: accuracy of the fixes whose accuracy is unknown, 1 to 100000 metres (default: leave them out)")

    static let utc = OptionSpec("--utc", is: "with `-F text`: print times in UTC (default: local time)")

    static let flavour = OptionSpec(
        "--flavour", value: "full|compact",
        is: "shape of JSON fix lines; `compact` has `lat` and `lon` at the top level and no `id` (default full)")

    static let sourceAs = OptionSpec(
        "--source-as", value: "watchOS|iOS", is: "write this `source` in every JSON fix line (default: the real source)")

    static let count = OptionSpec("-n", "--count", value: "N", is: "exit after N lines, 1 or more (default: no limit)")

    static let duration = OptionSpec(
        "-T", "--duration", value: "SECONDS", is: "exit after this time in seconds, 0 to 1e9 (default: no limit)")

    static let verbose = OptionSpec("-v", "--verbose", is: "print counts at the end")

    static let quiet = OptionSpec("-q", "--quiet", is: "print only warnings and errors")
}
