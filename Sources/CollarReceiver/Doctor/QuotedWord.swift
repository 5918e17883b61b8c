/// Words of commands that a person copies into a shell.
enum QuotedWord {
    /// The word as a shell takes it: as it is if it has no special character, else between quotation marks.
    static func text(_ word: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:=@%,")
        if !word.isEmpty, word.allSatisfy(plain.contains) { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// The first command in a remedy, between backticks; nil if there is none.
    static func command(in remedy: String) -> String? {
        let parts = remedy.split(separator: "`", omittingEmptySubsequences: false)
        return parts.count >= 3 ? String(parts[1]) : nil
    }
}
