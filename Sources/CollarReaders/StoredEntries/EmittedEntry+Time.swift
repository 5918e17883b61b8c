import CollarFormats
import CollarJournal

extension EmittedEntry.Content {
    /// The time that decides which animal wears the collar: that of the fix; for a message without a time, and for a change of a gap,
    /// when it became known. In milliseconds since 1970.
    package var unixMilliseconds: Int64 {
        switch self {
        case .fix(let record): record.fix.unixMilliseconds
        case .message(let record): record.unixMilliseconds
        case .gap(let change): change.unixMilliseconds
        }
    }
}
