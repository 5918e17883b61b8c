import CollarHost
import CollarJournal

extension EmittedEntry {
    /// What a consumer takes, in words.
    var text: String {
        let collar = String(deviceID.rawValue, radix: 16)
        return switch content {
        case .fix(let record): "fix \(record.fix.sequence) of \(collar), log \(record.logID)"
        case .message(let record): "message \(record.message.sequence) of \(collar), log \(record.logID)"
        case .gap(let change): "\(change.event) \(change.range.first)…\(change.range.last) of \(collar), log \(change.logID)"
        }
    }
}
