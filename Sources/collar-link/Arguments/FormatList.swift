import CollarFormats

/// What the formats leave out, for the help of a command.
let formatNotes = """
    An unknown value is empty, null or left out, or -1 where the format demands a number. Only `json` and `text` have lines for
    messages and gaps.

    Some formats cannot express every fix. `homeassistant` leaves out fixes of unknown accuracy, `influx` fixes before 1677 or after
    2262, and `nmea` fixes before 1980 or after 2079. A message on stderr counts them. Traccar may refuse a fix without an altitude.
    """

/// The formats, a line each, for the help of a command.
/// - Parameter summary: what a format is, in this command.
func formatList(_ summary: (OutputFormat) -> String = \.summary) -> String {
    let width = (OutputFormat.allCases.map(\.rawValue.count).max() ?? 0) + 2
    return OutputFormat.allCases.map { format in
        "  " + format.rawValue + String(repeating: " ", count: width - format.rawValue.count) + summary(format)
    }.joined(separator: "\n")
}
