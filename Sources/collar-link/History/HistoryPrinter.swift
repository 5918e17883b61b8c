import CollarBridge
import CollarJournal
import CollarHost
import CollarReceiver
import CollarTracking
import CollarWire

/// Prints journals on stdout, a chunk at a time.
struct HistoryPrinter {
    private let kinds: Set<LineKind>
    private let selection: CollarSelection
    private var formatter: EntryFormatter
    private var bytes: [UInt8] = []

    init(_ format: FormatOptions, _ kinds: Set<LineKind>, _ selection: CollarSelection) {
        self.kinds = kinds
        self.selection = selection
        formatter = EntryFormatter(format)
        formatter.begin(into: &bytes)
    }

    /// Prints a journal.
    /// - Returns: false where the reader of stdout went away.
    mutating func print(
        _ reader: JournalReader, since: SinceArgument?, _ progress: inout ProgressLine
    ) throws(CommandFailure) -> Bool {
        var position = try start(in: reader, since: since)
        var earliest = Int64.min
        if case .time(let unixMilliseconds) = since { earliest = unixMilliseconds }
        var isDamageKnown = false
        while true {
            let batch = try CommandFailure.wrapping(try reader.entries(from: position, limit: 512))
            if !batch.damage.isEmpty, !isDamageKnown {
                isDamageKnown = true
                StandardError.say(
                    "the journal of collar \(MessageDescription.hexadecimal(reader.deviceID)) is damaged; what is whole follows",
                    remedy: "see what is gone: collar-link history --verify")
            }
            for element in batch.elements { append(element.entry, of: reader.deviceID, since: earliest) }
            if bytes.count >= 32_768, try !flush() { return false }
            if batch.isAtEnd { return true }
            position = batch.end
            progress.show(position)
        }
    }

    /// Prints what is after the last entry.
    mutating func finish() throws(CommandFailure) {
        formatter.end(into: &bytes)
        _ = try flush()
    }

    /// Writes the buffered bytes.
    /// - Returns: false where the reader of stdout went away.
    private mutating func flush() throws(CommandFailure) -> Bool {
        let isRead = try StandardOutput.write(bytes)
        bytes.removeAll(keepingCapacity: true)
        return isRead
    }

    private func start(in reader: JournalReader, since: SinceArgument?) throws(CommandFailure) -> JournalPosition {
        switch since {
        case nil: return .start
        case .time(let unixMilliseconds):
            return try CommandFailure.wrapping(try reader.position(receivedSince: unixMilliseconds))
        case .fix(let fix):
            let found = try CommandFailure.wrapping(try reader.position(behind: fix.sequence, logID: fix.logID))
            guard let found else { throw HistoryCommand.unknown(fix) }
            return found
        }
    }

    private mutating func append(_ entry: JournalEntry, of deviceID: UInt64, since earliest: Int64) {
        let (kind, received, content): (LineKind, Int64, EmittedEntry.Content)
        switch entry {
        case .fix(let record): (kind, received, content) = (.fix, record.receivedUnixMilliseconds, .fix(record))
        case .message(let record): (kind, received, content) = (.message, record.receivedUnixMilliseconds, .message(record))
        case .loss(let loss): (kind, received, content) = (.gap, loss.receivedUnixMilliseconds, .gap(GapChange(loss)))
        case .uncovered: return
        }
        guard kinds.contains(kind), received >= earliest, selection.contains(deviceID, at: content.unixMilliseconds) else { return }
        formatter.append(content, deviceID: deviceID, to: &bytes)
    }
}
