import CollarHost
import CollarJournal

extension EmittedEntry.Content {
    /// The time that decides which animal wears the collar: that of the fix; for a message without a time, and for a change of a gap,
    /// when it became known. In milliseconds since 1970.
    var unixMilliseconds: Int64 {
        switch self {
        case .fix(let record): record.fix.unixMilliseconds
        case .message(let record):
            record.message.content.unixSeconds == 0
                ? record.receivedUnixMilliseconds : Int64(record.message.content.unixSeconds) * 1000
        case .gap(let change): change.unixMilliseconds
        }
    }
}
