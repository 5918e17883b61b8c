import CollarConfiguration
import CollarFormats
import CollarJournal
import CollarTracking
import CollarWire
import Glibc
import LinuxSystem

/// Prints journals on stdout, a chunk at a time.
struct HistoryPrinter {
    private let kinds: Set<LineKind>
    private let selection: CollarSelection
    /// The end of the window, in milliseconds since 1970: later receptions are left out.
    private let until: Int64
    private var formatter: EntryFormatter
    /// Nil where no alerts are printed.
    private let watch: AlertWatch?
    private var bytes: [UInt8] = []

    init(_ format: FormatOptions, _ kinds: Set<LineKind>, _ selection: CollarSelection, until: Int64) {
        self.kinds = kinds
        self.selection = selection
        self.until = until
        formatter = EntryFormatter(format)
        let owner = (format.owner ?? .home).position(in: format.annotations.places)
        watch = kinds.contains(.alert) ? AlertWatch(format.annotations.alerts, places: format.annotations.places, owner: owner) : nil
        formatter.begin(into: &bytes)
    }

    /// - Returns: false where the reader of stdout went away.
    mutating func print(
        _ reader: JournalReader, since: EmissionStart, _ progress: inout ProgressLine
    ) throws(CommandFailure) -> Bool {
        var position = try start(in: reader, since: since)
        var earliest = Int64.min
        if case .since(let unixMilliseconds) = since { earliest = unixMilliseconds }
        var isDamageKnown = false
        while true {
            let batch = try CommandFailure.wrapping(try reader.entries(from: position, limit: 512))
            tell(batch.damage, of: reader.deviceID, &isDamageKnown)
            for element in batch.elements { append(element.entry, of: reader.deviceID, since: earliest) }
            if bytes.count >= 32_768, try !flush() { return false }
            if batch.isAtEnd { return true }
            position = batch.end
            progress.show(position)
        }
    }

    /// Prints a journal, each fix and message after those before it in its log.
    /// - Parameter last: how many of the last entries to print; nil for all.
    mutating func printSorted(
        _ reader: JournalReader, since: EmissionStart, last: Int? = nil, _ progress: inout ProgressLine
    ) throws(CommandFailure) -> Bool {
        var newest: [EmittedEntry.Content] = []
        var selection = EntrySelection()
        selection.choose(kinds)
        var (tracker, earliest, first) = (AlertTracker(), Int64.min, since)
        if watch != nil, case .since(let unixMilliseconds) = since {
            // On which side of a border an animal was before is known from earlier fixes.
            (earliest, first) = (unixMilliseconds, .all)
        }
        if watch != nil { selection.hasFixes = true }
        // An unknown fix is told as without sorting.
        _ = try start(in: reader, since: since)
        let entries = try CommandFailure.wrapping(try SortedEntries(reader, selection, start: first))
        var isDamageKnown = false
        while let contents = try CommandFailure.wrapping(try entries.next()) {
            tell(entries.takeDamage(), of: reader.deviceID, &isDamageKnown)
            for content in contents {
                // A gap that may still be filled is no part of the history.
                if case .gap(let change) = content, change.event != .lost, change.event != .elsewhere { continue }
                guard isWanted(content, of: reader.deviceID) else { continue }
                let alerts = watch.map { tracker.alerts(of: content, $0) } ?? []
                guard content.receivedUnixMilliseconds >= earliest else { continue }
                for alert in alerts { formatter.append(RaisedAlert(alert, of: reader.deviceID, fix: content.fix), to: &bytes) }
                if content.fix != nil, !kinds.contains(.fix) { continue }
                guard let last else {
                    formatter.append(content, deviceID: reader.deviceID, to: &bytes)
                    continue
                }
                newest.append(content)
                // Half of a full list is dropped at a time.
                if newest.count >= 2 * last { newest.removeFirst(newest.count - last) }
            }
            if bytes.count >= 32_768, try !flush() { return false }
            progress.show(entries.position)
        }
        for content in newest.suffix(last ?? 0) { formatter.append(content, deviceID: reader.deviceID, to: &bytes) }
        return true
    }

    private func tell(_ damage: [DamageReport], of deviceID: DeviceID, _ isKnown: inout Bool) {
        guard !damage.isEmpty, !isKnown else { return }
        isKnown = true
        StandardError.say(
            "The journal of \(collarName(deviceID)) is damaged; what is whole follows.",
            remedy: "See what is gone: `collar-link history --verify`.")
    }

    /// Prints what is after the last entry.
    mutating func finish() throws(CommandFailure) {
        formatter.end(into: &bytes)
        _ = try flush()
        StandardError.say(formatter.omissions.total)
    }

    private mutating func flush() throws(CommandFailure) -> Bool {
        let isRead = try StandardOutput.write(bytes)
        bytes.removeAll(keepingCapacity: true)
        return isRead
    }

    private func start(in reader: JournalReader, since: EmissionStart) throws(CommandFailure) -> JournalPosition {
        switch since {
        case .all, .whereItStopped: return .start
        case .since(let unixMilliseconds):
            return try CommandFailure.wrapping(try reader.position(receivedSince: unixMilliseconds))
        case .after(let fix):
            let found = try CommandFailure.wrapping(try reader.position(behind: fix.sequence, logID: fix.logID))
            guard let found else { throw HistoryCommand.unknown(fix) }
            return found
        }
    }

    private mutating func append(_ entry: JournalEntry, of deviceID: DeviceID, since earliest: Int64) {
        let (kind, content): (LineKind, EmittedEntry.Content)
        switch entry {
        case .fix(let record): (kind, content) = (.fix, .fix(record))
        case .message(let record): (kind, content) = (.message, .message(record))
        case .loss(let loss): (kind, content) = (.gap, .gap(GapChange(loss)))
        case .uncovered: return
        }
        guard kinds.contains(kind), content.receivedUnixMilliseconds >= earliest, isWanted(content, of: deviceID) else { return }
        formatter.append(content, deviceID: deviceID, to: &bytes)
    }

    private func isWanted(_ content: EmittedEntry.Content, of deviceID: DeviceID) -> Bool {
        content.receivedUnixMilliseconds < until && selection.contains(deviceID, at: content.unixMilliseconds)
    }
}

extension AlertTracker {
    /// The alerts of the next entry in the order of the log.
    fileprivate mutating func alerts(of content: EmittedEntry.Content, _ watch: AlertWatch) -> [Alert] {
        guard let record = content.fix else { return [] }
        return take(record.fix, logID: record.logID, receivedUnixMilliseconds: record.receivedUnixMilliseconds, watch)
    }
}

extension EmittedEntry.Content {
    fileprivate var fix: JournaledFix? { if case .fix(let record) = self { record } else { nil } }

    /// When the receiver got it or knew of it, in milliseconds since 1970.
    var receivedUnixMilliseconds: Int64 {
        switch self {
        case .fix(let record): record.receivedUnixMilliseconds
        case .message(let record): record.receivedUnixMilliseconds
        case .gap(let change): change.unixMilliseconds
        }
    }
}

/// Shows on a terminal how much of the journals is read, while stdout goes elsewhere.
struct ProgressLine {
    /// The shortest time between two changes of the line, in microseconds.
    private static let interval: Int64 = 100_000

    /// The sizes of the journals; empty where no progress is shown.
    private var extents: [DeviceID: JournalExtent] = [:]
    /// Bytes of all journals, and of those that are read.
    private var totalByteCount = 0
    private var finishedByteCount = 0
    private var current: JournalExtent?
    private var shownMicroseconds: Int64 = 0

    /// - Parameter readers: a reader of each journal that will be read. It is called only if there is a terminal to be served.
    init(_ readers: () -> [JournalReader]) {
        guard isatty(STDOUT_FILENO) == 0, isatty(STDERR_FILENO) == 1 else { return }
        for reader in readers() {
            // A journal that cannot be read is reported when it is its turn.
            do throws(JournalError) { extents[reader.deviceID] = try reader.extent() } catch { continue }
        }
        totalByteCount = extents.values.reduce(0) { $0 + $1.byteCount }
        shownMicroseconds = MonotonicClock.microseconds
    }

    mutating func begin(_ reader: JournalReader) {
        finishedByteCount += current?.byteCount ?? 0
        current = extents[reader.deviceID]
    }

    /// Shows how far the current journal is read, at most ten times a second.
    mutating func show(_ position: JournalPosition) {
        guard let current else { return }
        let now = MonotonicClock.microseconds
        guard now - shownMicroseconds >= ProgressLine.interval else { return }
        shownMicroseconds = now
        let byteCount = finishedByteCount + current.byteCount(before: position)
        StandardError.show("\(byteCount * 100 / max(totalByteCount, 1)) %")
    }
}
