import CheckedNumbers

// The file of a named reader is text, a line for each thing:
//
//     collar-link reader 1
//     seen 1790000000000
//     collars all
//     entries fix
//     journal 910a2b3c4d5e6f70 3 40960 1790000000000 0123456789abcdef
//     events 7 1024
//
// `collars` is followed by `all`, or by ids with commas. `entries` is followed by `fix`, `message` or nothing; without this line, the
// reader takes both. `journal` has the collar, the segment, the offset, the time at which the
// segment began, and the fingerprint.
//
// Another user may have written the file, so its numbers have the ranges of times and numbers of files that this program writes.

extension ReaderState {
    /// The numbers of segments and of files of events, and the offsets in them.
    private static let numbers: ClosedRange<UInt32> = 0...(1 << 31) - 1
    private static let head = "collar-link reader 1"

    /// The content of the reader's file.
    var text: String {
        var text = "\(ReaderState.head)\nseen \(seenUnixMilliseconds)\n"
        text += "collars \(collars.map { $0.sorted().map(JournalDirectory.name).joined(separator: ",") } ?? "all")\n"
        if !takesFixes || !takesMessages { text += "entries\(takesFixes ? " fix" : "")\(takesMessages ? " message" : "")\n" }
        for (deviceID, position) in positions.sorted(by: { $0.key < $1.key }) {
            text += "journal \(JournalDirectory.name(of: deviceID)) \(position.place.segment) \(position.place.offset) "
                + "\(position.segmentUnixMilliseconds) \(String(position.fingerprint, radix: 16))\n"
        }
        if let events { text += "events \(events.file) \(events.offset)\n" }
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
                let collars = words[1].split(separator: ",").map { UInt64(hexadecimal: $0) }
                guard !collars.contains(nil) else { return nil }
                state.collars = Set(collars.compactMap { $0 })
            case ("entries", _) where words.dropFirst().allSatisfy { ["fix", "message"].contains($0) }:
                state.takesFixes = words.contains("fix")
                state.takesMessages = words.contains("message")
            case ("journal", 6):
                guard let deviceID = UInt64(hexadecimal: words[1]), let segment = UInt32(words[2], in: ReaderState.numbers),
                    let offset = UInt32(words[3], in: ReaderState.numbers), let began = Int64(words[4], in: .unixMilliseconds),
                    let fingerprint = UInt64(hexadecimal: words[5])
                else { return nil }
                state.positions[deviceID] = ReaderPosition(
                    place: JournalPosition(segment: segment, offset: offset), segmentUnixMilliseconds: began,
                    fingerprint: fingerprint)
            case ("events", 3):
                guard let file = UInt32(words[1], in: ReaderState.numbers), let offset = UInt32(words[2], in: ReaderState.numbers) else { return nil }
                state.events = EventPosition(file: file, offset: offset)
            default: return nil
            }
        }
        guard let seen else { return nil }
        state.seenUnixMilliseconds = seen
        self = state
    }
}
