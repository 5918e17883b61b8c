import CheckedNumbers
import CollarWire

/// A position in a journal, with what tells whether the journal still has the same records before it.
///
/// Records that a failed synchronisation leaves in doubt are cut off, and a journal may be restored from a backup. Other records then
/// stand at a position that a reader has stored. See ``JournalReader/position(goingOnAt:)``.
package struct ReaderPosition: Equatable, Sendable {
    package var place: JournalPosition
    /// When the segment of the place began, in milliseconds since 1970; 0 if that is unknown.
    package var segmentUnixMilliseconds: Int64
    /// A hash of the bytes before the place; 0 if it is unknown.
    package var fingerprint: UInt64

    package static let start = ReaderPosition(place: .start, segmentUnixMilliseconds: 0, fingerprint: 0)
}

/// How far a named reader has come.
package struct ReaderState: Equatable, Sendable {
    /// The collars that it reads; nil for all.
    package var collars: Set<DeviceID>?
    package var takesFixes = true
    package var takesMessages = true
    /// The position in the journal of each collar of which it has taken something.
    package var positions: [DeviceID: ReaderPosition] = [:]
    /// The position in the event log; nil if it reads no events.
    package var events: EventPosition?
    /// The states of its alerts; nil if it gets none.
    package var alerts: ReaderAlerts?
    /// When it was active last, in milliseconds since 1970.
    package var seenUnixMilliseconds: Int64

    package init(collars: Set<DeviceID>? = nil, seenUnixMilliseconds: Int64) {
        self.collars = collars
        self.seenUnixMilliseconds = seenUnixMilliseconds
    }

    package func reads(_ deviceID: DeviceID) -> Bool { collars?.contains(deviceID) ?? true }

    /// The position in the journal of a collar; the start if it has taken nothing of the collar.
    package func position(in deviceID: DeviceID) -> ReaderPosition { positions[deviceID] ?? .start }

    // MARK: The file

    // The file of a named reader is text, a line for each thing:
    //
    //     collar-link reader 1
    //     seen 1790000000000
    //     collars all
    //     entries fix
    //     journal 910a2b3c4d5e6f70 3 40960 1790000000000 0123456789abcdef
    //     events 7 1024
    //     alerts 1790000000000
    //     alert 910a2b3c4d5e6f70 …
    //
    // `collars` is followed by `all`, or by ids with commas. `entries` is followed by `fix`, `message` or nothing; without this line, the
    // reader takes both. `journal` has the collar, the segment, the offset, the time at which the
    // segment began, and the fingerprint. `alerts` is followed by the time of the first start, and `alert` by a collar and the words of
    // its state (`AlertTracker`).
    //
    // Another user may have written the file, so its numbers have the ranges of times and numbers of files that this program writes.

    /// The numbers of segments and of files of events, and the offsets in them.
    private static let numbers: ClosedRange<UInt32> = 0...(1 << 31) - 1
    private static let head = "collar-link reader 1"

    var text: String {
        var text = "\(ReaderState.head)\nseen \(seenUnixMilliseconds)\n"
        text += "collars \(collars.map { $0.sorted().map(\.description).joined(separator: ",") } ?? "all")\n"
        if !takesFixes || !takesMessages { text += "entries\(takesFixes ? " fix" : "")\(takesMessages ? " message" : "")\n" }
        for (deviceID, position) in positions.sorted(by: { $0.key < $1.key }) {
            text += "journal \(deviceID) \(position.place.segment) \(position.place.offset) "
                + "\(position.segmentUnixMilliseconds) \(String(position.fingerprint, radix: 16))\n"
        }
        if let events { text += "events \(events.file) \(events.offset)\n" }
        if let alerts {
            text += "alerts \(alerts.sinceUnixMilliseconds)\n"
            for (deviceID, words) in alerts.states.sorted(by: { $0.key < $1.key }) { text += "alert \(deviceID) \(words)\n" }
        }
        return text
    }

    /// Reads the content of a reader's file; nil if it is anything else.
    init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first.map(String.init) == ReaderState.head, lines.last?.isEmpty == true else { return nil }
        var seen: Int64?
        var state = ReaderState(seenUnixMilliseconds: 0)
        for line in lines.dropFirst().dropLast() {
            let words = line.split(separator: " ")
            switch (words.first, words.count) {
            case ("seen", 2): seen = Int64(words[1], in: .unixMilliseconds)
            case ("collars", 2) where words[1] == "all": state.collars = nil
            case ("collars", 1): state.collars = []
            case ("collars", 2):
                let collars = words[1].split(separator: ",").map { DeviceID(hexadecimal: $0) }
                guard !collars.contains(nil) else { return nil }
                state.collars = Set(collars.compactMap { $0 })
            case ("entries", _) where words.dropFirst().allSatisfy { ["fix", "message"].contains($0) }:
                state.takesFixes = words.contains("fix")
                state.takesMessages = words.contains("message")
            case ("journal", 6):
                guard let deviceID = DeviceID(hexadecimal: words[1]), let segment = UInt32(words[2], in: ReaderState.numbers),
                    let offset = UInt32(words[3], in: ReaderState.numbers), let began = Int64(words[4], in: .unixMilliseconds),
                    let fingerprint = UInt64(hexadecimal: words[5])
                else { return nil }
                state.positions[deviceID] = ReaderPosition(
                    place: JournalPosition(segment: segment, offset: offset), segmentUnixMilliseconds: began,
                    fingerprint: fingerprint)
            case ("events", 3):
                guard let file = UInt32(words[1], in: ReaderState.numbers), let offset = UInt32(words[2], in: ReaderState.numbers) else { return nil }
                state.events = EventPosition(file: file, offset: offset)
            case ("alerts", 2):
                guard let since = Int64(words[1], in: .unixMilliseconds) else { return nil }
                state.alerts = ReaderAlerts(sinceUnixMilliseconds: since)
            case ("alert", 3...):
                guard let deviceID = DeviceID(hexadecimal: words[1]) else { return nil }
                state.alerts?.states[deviceID] = words[2...].joined(separator: " ")
            default: return nil
            }
        }
        guard let seen else { return nil }
        state.seenUnixMilliseconds = seen
        self = state
    }

    /// How far the reader lags behind all journals that it reads.
    ///
    /// Complexity: reads everything that it has not taken.
    package func lag(stateDirectory: String, fileSystem: (any FileSystem)? = nil) throws(JournalError) -> ReaderLag {
        let fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        var lag = ReaderLag()
        let known = try JournalDirectory.knownCollars(stateDirectory: stateDirectory, fileSystem: fileSystem)
        for deviceID in known where reads(deviceID) {
            let reader = try JournalReader(stateDirectory: stateDirectory, deviceID: deviceID, fileSystem: fileSystem)
            lag.add(try reader.lag(of: self))
        }
        return lag
    }
}

/// The alerts of a reader, as its file keeps them.
package struct ReaderAlerts: Equatable, Sendable {
    /// The first start of the reader, in milliseconds since 1970. Earlier receptions raise no alert.
    package var sinceUnixMilliseconds: Int64
    /// The state for each collar, as words.
    package var states: [DeviceID: String] = [:]

    package init(sinceUnixMilliseconds: Int64) { self.sinceUnixMilliseconds = sinceUnixMilliseconds }
}

/// How far a named reader lags behind a journal.
package struct ReaderLag: Equatable, Sendable {
    /// Fixes and messages that it has not taken, of those kinds that it takes.
    package var entryCount = 0
    /// When the oldest of these was received, in milliseconds since 1970; nil if there is none.
    package var oldestUnixMilliseconds: Int64?

    package init() {}

    package mutating func add(_ other: ReaderLag) {
        entryCount += other.entryCount
        if let oldest = other.oldestUnixMilliseconds { oldestUnixMilliseconds = min(oldestUnixMilliseconds ?? .max, oldest) }
    }

    fileprivate mutating func note(_ unixMilliseconds: Int64) {
        entryCount += 1
        oldestUnixMilliseconds = min(oldestUnixMilliseconds ?? .max, unixMilliseconds)
    }
}

extension JournalReader {
    /// Complexity: reads everything after its position.
    package func lag(of state: ReaderState) throws(JournalError) -> ReaderLag {
        var lag = ReaderLag()
        try forEachEntry(from: try position(goingOnAt: state.position(in: deviceID))) { element in
            switch element.entry {
            case .fix(let record) where state.takesFixes: lag.note(record.receivedUnixMilliseconds)
            case .message(let record) where state.takesMessages: lag.note(record.receivedUnixMilliseconds)
            case .fix, .message, .loss, .uncovered: break
            }
            return true
        }
        return lag
    }
}
