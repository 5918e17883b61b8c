import CollarBridge

/// The formats, a line each, for the help of a command.
/// - Parameter summary: what a format is, in this command.
func formatList(_ summary: (OutputFormat) -> String = \.summary) -> String {
    let width = (OutputFormat.allCases.map(\.rawValue.count).max() ?? 0) + 2
    return OutputFormat.allCases.map { format in
        "  " + format.rawValue + String(repeating: " ", count: width - format.rawValue.count) + summary(format)
    }.joined(separator: "\n")
}
