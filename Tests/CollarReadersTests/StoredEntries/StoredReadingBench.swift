import CollarARQ
import CollarFormats
import CollarJournal
import CollarWire
import FoundationEssentials
import Testing

@testable import CollarReaders

/// A state directory on the real file system, what is stored there, and readers of it.
final class StoredReadingBench {
    let stateDirectory = "/tmp/collar-link-reading-\(UUID().uuidString)"
    private let events: EventLogWriter
    /// The notices of all readers.
    private(set) var notices: [FollowerNotice] = []

    init() throws {
        try FileManager.default.createDirectory(atPath: stateDirectory, withIntermediateDirectories: true)
        events = EventLogWriter(stateDirectory: stateDirectory)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: stateDirectory) } catch {}
    }

    static let time = HostTime(instant: Instant(microseconds: 0), unixMilliseconds: 1_700_000_000_000)

    func path(of collar: DeviceID) -> String { JournalDirectory(stateDirectory: stateDirectory, deviceID: collar).path }

    /// Appends fixes; each was made and received at its sequence, in seconds since the start of 2023-11-15.
    func append(_ sequences: ClosedRange<UInt32>, of collar: DeviceID = collarA, in directory: String? = nil) throws {
        let journal = try Journal.open(
            stateDirectory: directory ?? stateDirectory, deviceID: collar, receiverID: 9,
            nowUnixMilliseconds: StoredReadingBench.time.unixMilliseconds)
        for sequence in sequences {
            let time = StoredReadingBench.time.unixMilliseconds + Int64(sequence) * 1000
            let fix = Fix(sequence: sequence, unixMilliseconds: time, latitudeSteps: 1, longitudeSteps: 2)
            #expect(try journal.append(JournaledFix(logID: 1, receivedUnixMilliseconds: time, fix: fix)))
        }
        try journal.commit()
    }

    func appendEvents(_ numbers: ClosedRange<Int>, _ kind: LineKind = .link) throws {
        for number in numbers { try events.append(Array("{\"type\":\"\(kind.rawValue)\",\"unix_ms\":\(number)}\n".utf8)) }
    }

    func entries(
        as name: String? = nil, owner: (any OwnerReceiver)? = nil, _ change: (inout ReadingConfiguration) -> Void = { _ in }
    ) throws(ReaderError) -> StoredEntries {
        var configuration = ReadingConfiguration(stateDirectory: stateDirectory)
        configuration.name = name.flatMap { ReaderName($0) }
        change(&configuration)
        return try StoredEntries(configuration, owner: owner) { [self] in notices.append($0) }
    }

    /// Takes what is stored: fixes as `a1`, by the collar and the sequence, events as `e1`, alerts as `!left`, the owner as `@`, unwanted items as `-a1`. Confirms the
    /// wanted ones.
    func take(_ entries: StoredEntries, confirming: (String) -> Bool = { _ in true }) -> [String] {
        var taken: [String] = []
        while let item = entries.next(at: StoredReadingBench.time) {
            let text: String
            let receipt: StoredReceipt
            switch item {
            case .entry(let entry, let isWanted):
                guard case .fix(let record) = entry.content else { continue }
                text = "\(isWanted ? "" : "-")\(String(entry.deviceID.rawValue, radix: 16))\(record.fix.sequence)"
                receipt = .entry(entry.receipt, hasID: true)
            case .event(let line, let isWanted):
                let time = (try? JSONScanner.value(of: line.bytes))?["unix_ms"]?.integer(in: 0...Int.max)
                text = "\(isWanted ? "" : "-")e\(time ?? -1)"
                receipt = .event(line.end)
            case .alert(let alert):
                text = "!\(alert.alert.event.name)"
                receipt = .alert(alert.id)
            case .owner(_, let line):
                text = line == nil ? "-@" : "@"
                receipt = .owner
            }
            taken.append(text)
            if confirming(text) { entries.confirm(receipt) }
        }
        return taken
    }

    /// A process reads, confirms the wanted entries, and stores its position.
    func run(
        as name: String = "db", confirming: (String) -> Bool = { _ in true }, _ change: (inout ReadingConfiguration) -> Void = { _ in }
    ) throws -> [String] {
        let entries = try entries(as: name, change)
        let taken = take(entries, confirming: confirming)
        #expect(try entries.storePosition(at: StoredReadingBench.time))
        return taken
    }
}
