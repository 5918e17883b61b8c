import CollarARQ
import CollarFormats
import CollarJournal
import CollarTracking
import CollarWire
import FoundationEssentials
import Testing

@testable import CollarReaders

/// A state directory with the journal of a collar and a places file, and readers of its alerts. Times are in seconds since the start of
/// 2023-11-15, positions in metres north of the centre of `home`, whose radius is 60 m.
final class AlertsBench {
    private let bench: StoredReadingBench
    private let placesPath: String
    /// The ids of the alerts that each reader got, in their order.
    private(set) var ids: [AlertID] = []
    /// The items of the present reader that its consumer has not confirmed.
    private var unconfirmed: [StoredReceipt] = []

    init(_ places: String = "") throws {
        bench = try StoredReadingBench()
        placesPath = bench.stateDirectory + "/places"
        try writePlaces(places)
    }

    func writePlaces(_ alerts: String = "", radius: Int = 60) throws {
        let text = "[place home]\nat = 50 7\nradius = \(radius)\nprivate = yes\n\n[alerts]\n\(alerts)\n"
        try Data(text.utf8).write(to: URL(filePath: placesPath))
    }

    var notices: [FollowerNotice] { bench.notices }

    static func time(_ seconds: Double) -> HostTime {
        let start = StoredReadingBench.time
        return HostTime(
            instant: start.instant.advanced(byMicroseconds: Int64(seconds * 1_000_000)),
            unixMilliseconds: start.unixMilliseconds + Int64(seconds * 1000))
    }

    /// Appends a fix.
    func append(
        _ sequence: UInt32, north: Double, at seconds: Double, heardAt received: Double? = nil, of collar: DeviceID = collarA
    ) throws {
        let journal = try Journal.open(
            stateDirectory: bench.stateDirectory, deviceID: collar, receiverID: 9,
            nowUnixMilliseconds: AlertsBench.time(received ?? seconds).unixMilliseconds)
        let fix = Fix(
            sequence: sequence, unixMilliseconds: AlertsBench.time(seconds).unixMilliseconds, positionStep: .e6,
            latitudeSteps: 50_000_000 + Int32(north * 1e6 / 111_230), longitudeSteps: 7_000_000,
            horizontalAccuracy: AccuracyCode(nearestToMillimeters: 5000))
        #expect(
            try journal.append(
                JournaledFix(logID: 1, receivedUnixMilliseconds: AlertsBench.time(received ?? seconds).unixMilliseconds, fix: fix)))
        try journal.commit()
    }

    func appendEvent(_ line: String) throws {
        try EventLogWriter(stateDirectory: bench.stateDirectory).append(Array((line + "\n").utf8))
    }

    /// A reader of alerts, and of other kinds of lines.
    /// - Parameter start: the time from which alerts count for a new reader; nil for the present.
    func entries(
        as name: String? = nil, from start: Double? = 0, _ kinds: Set<LineKind> = [.alert],
        _ change: (inout ReadingConfiguration) -> Void = { _ in }
    ) throws -> StoredEntries {
        unconfirmed = []
        return try bench.entries(as: name) { configuration in
            configuration.placePaths = [placesPath]
            configuration.read(kinds)
            configuration.start = start.map { .since(unixMilliseconds: AlertsBench.time($0).unixMilliseconds) }
            change(&configuration)
        }
    }

    /// Takes all waiting items at a time: alerts as `left`, other items only if they are asked for, as `fix 1` or `event`.
    /// - Parameter count: how many items are confirmed.
    func take(_ entries: StoredEntries, at seconds: Double, confirming count: Int = .max) throws -> [String] {
        try entries.handleChanges()
        var texts: [String] = []
        while let item = entries.next(at: AlertsBench.time(seconds)) {
            switch item {
            case .entry(let entry, let isWanted):
                unconfirmed.append(.entry(entry.receipt, hasID: true))
                if isWanted, case .fix(let record) = entry.content { texts.append("fix \(record.fix.sequence)") }
            case .event(let line, let isWanted):
                unconfirmed.append(.event(line.end))
                if isWanted { texts.append("event") }
            case .alert(let alert):
                unconfirmed.append(.alert(alert.id))
                texts.append(alert.alert.event.name + (alert.alert.isLate ? " late" : ""))
                ids.append(alert.id)
            case .owner: unconfirmed.append(.owner)
            }
        }
        for receipt in unconfirmed.prefix(count) { entries.confirm(receipt) }
        unconfirmed.removeFirst(min(count, unconfirmed.count))
        return texts
    }

    func store(_ entries: StoredEntries, at seconds: Double) throws { #expect(try entries.storePosition(at: AlertsBench.time(seconds))) }
}
