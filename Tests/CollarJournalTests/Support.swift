@testable import CollarJournal
import CollarSimulator
import CollarWire
import Testing

let collar: DeviceID = 0x0123_4567_89AB_CDEF
let otherCollar: DeviceID = 0x0123_4567_89AB_CDF0
let receiver: UInt32 = 0xC0FF_EE01
let log: LogID = 0x2AB_CDEF
let otherLog: LogID = 0x2AB_CDF0
let firstSegment = "/state/0123456789abcdef/00000001.journal"
let secondSegment = "/state/0123456789abcdef/00000002.journal"

func openJournal(
    _ files: any FileSystem, limit: Int = Journal.defaultSegmentByteLimit, receiverID: UInt32 = receiver,
    at unixMilliseconds: Int64 = 1_700_000_000_000, in stateDirectory: String = "/state", byteLimit: Int? = nil,
    limits: TrackingLimits = TrackingLimits()
) throws(JournalError) -> Journal {
    try Journal.open(
        stateDirectory: stateDirectory, deviceID: collar, receiverID: receiverID,
        nowUnixMilliseconds: unixMilliseconds, segmentByteLimit: limit, byteLimit: byteLimit, limits: limits, fileSystem: files)
}

/// A fix whose fields are all computed from its sequence.
func record(_ sequence: UInt32, log logID: LogID = log, at received: Int64? = nil) -> JournaledFix {
    let small = Int32(truncatingIfNeeded: sequence % 1000)
    return JournaledFix(
        logID: logID, receivedUnixMilliseconds: received ?? 1_700_000_000_000 + Int64(sequence) * 1000 + 7,
        signal: sequence % 3 == 0
            ? nil
            : RadioSignal(
                strengthDBm: -120 + Int16(small % 50), signalToNoiseTenthsDB: sequence % 3 == 1 ? nil : -75),
        fix: Fix(
            sequence: sequence, unixMilliseconds: 1_700_000_000_000 + Int64(sequence) * 1000,
            latitudeSteps: 4_800_000 + small, longitudeSteps: -12_200_000 - small,
            altitudeSteps: sequence % 5 == 0 ? nil : small,
            horizontalAccuracy: AccuracyCode(rawValue: UInt8(small % 120)),
            speedDecimetersPerSecond: UInt32(small), batteryPercent: UInt8(small % 101)))
}

/// All entries of a journal from a position on.
func allEntries(
    _ journal: Journal, from position: JournalPosition = .start, limit: Int = 7
) throws(JournalError) -> [JournalEntry] {
    var entries: [JournalEntry] = []
    var batch = try journal.entries(from: position, limit: limit)
    while true {
        entries += batch.elements.map(\.entry)
        if batch.isAtEnd { return entries }
        batch = try journal.entries(from: batch.end, limit: limit)
    }
}

func sequences(_ entries: [JournalEntry]) -> [UInt32] {
    entries.compactMap { if case .fix(let record) = $0 { record.fix.sequence } else { nil } }
}

func append(_ range: ClosedRange<UInt32>, to journal: Journal) throws {
    for sequence in range { #expect(try journal.append(record(sequence))) }
}

/// The simulator's random number generator.
typealias SeededRandom = CollarSimulator.SeededRandom

extension Journal {
    /// Removes what is older than some days and before the emission cursor.
    /// - Returns: how many segments were removed.
    @discardableResult
    func removeSegments(keepingDays days: Int, nowUnixMilliseconds: Int64) throws -> Int {
        var removed = RemovedEntries()
        try removeSegments(
            Retention(days: days), consumers: [JournalConsumer(reader: nil, position: emissionCursor)],
            nowUnixMilliseconds: nowUnixMilliseconds, removed: &removed)
        return removed.segmentCount
    }
}
