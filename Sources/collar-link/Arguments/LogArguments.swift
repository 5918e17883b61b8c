import CollarErrors
import CollarReceiver

extension ParsedArguments {
    /// The option that chooses messages.
    static let logOption = OptionSpec(
        "--log", value: "[CATEGORY:]LEVEL", repeatable: true,
        is: "print messages of this level and above: debug, info, warning, error or fault (default info; repeatable). CATEGORY is \(LogCategory.allCases.map(\.rawValue).joined(separator: ", ")) (default: all)")

    /// Which messages are wanted: `--log [CATEGORY:]LEVEL`, in their order, after `--quiet`.
    func logFilter() throws(CommandFailure) -> LogFilter {
        var filter = LogFilter(has("--quiet") ? .warning : .info)
        for text in values["--log"] ?? [] {
            do throws(LogFilter.Problem) { try filter.set(text) } catch {
                let (word, known) =
                    switch error {
                    case .category(let word): (word, LogCategory.allCases.map(\.rawValue))
                    case .level(let word): (word, LogLevel.allCases.map(\.rawValue))
                    }
                throw CommandFailure(
                    .usage, "--log \(text): expected [CATEGORY:]LEVEL; there is no '\(word)'" + Suggestion.text(for: word, among: known),
                    remedy: "Levels are: \(LogLevel.allCases.map(\.rawValue).joined(separator: ", ")); categories are: "
                        + LogCategory.allCases.map(\.rawValue).joined(separator: ", ") + ".")
            }
        }
        return filter
    }
}
