import CheckedNumbers
import CollarErrors
import CollarFormats
import CollarWire

extension [Setting] {
    /// Reads settings from words of the form `KEY=VALUE`, each key at most once.
    init(words: some Sequence<String>) throws(CommandFailure) {
        self.init()
        var names: Set<String> = []
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { throw CommandFailure(.usage, "'\(word)' is not KEY=VALUE.") }
            guard let key = SettingKey(name: parts[0]) else {
                let names = SettingKey.all.map(\.name)
                throw CommandFailure(
                    .usage, "There is no setting '\(parts[0])'." + Suggestion.text(for: parts[0], among: names),
                    remedy: "Settings are: \(names.joined(separator: ", ")).")
            }
            guard names.insert(key.name).inserted else { throw CommandFailure(.usage, "The setting \(key.name) is given twice.") }
            guard let value = UInt32(parts[1], in: 0 ... .max), key.accepts(value) else {
                throw CommandFailure(
                    .usage, "The setting \(key.name) takes a whole number from \(key.rangeText), not '\(parts[1])'.",
                    remedy: "The setting means: \(key.meaning).")
            }
            append(Setting(key: key.rawValue, value: value))
        }
    }
}
