import CheckedNumbers
import CollarARQ
import CollarFirmware

/// A press of the simulated collars' buttons, and when it happens: `KIND@SECONDS`.
struct ScheduledPress: Equatable {
    let press: ButtonDecoder.Press
    /// When it happens, from the start of the simulation.
    let time: Instant

    /// Reads the values of `--button`.
    /// - Returns: the presses in the order of their times.
    static func parse(_ texts: [String]) throws(CommandFailure) -> [ScheduledPress] {
        var presses: [ScheduledPress] = []
        for text in texts { presses.append(try ScheduledPress(text)) }
        return presses.sorted { $0.time < $1.time }
    }

    private init(_ text: String) throws(CommandFailure) {
        let kinds: KeyValuePairs<Substring, ButtonDecoder.Press> = ["short": .short, "double": .double, "long": .long]
        let parts = text.split(separator: "@", maxSplits: 1)
        guard parts.count == 2, let kind = kinds.first(where: { $0.key == parts[0] }), let seconds = Double(parts[1], in: 0...1e6)
        else {
            throw CommandFailure(
                .usage, "--button \(text): expected KIND@SECONDS", remedy: "The kinds are short, double and long.")
        }
        press = kind.value
        time = Instant(microseconds: Int64(seconds * 1e6))
    }
}
