import CollarFirmware
import CollarJournal
import CollarSimulator
import CollarWire

/// The records that are on the disk of a machine for certain: the truth, for the oracle.
final class MachineRecords {
    private let disk: SimulatedDisk
    private var collars: [DeviceID: DurableRecords] = [:]
    /// Collars whose earlier segments were damaged. These are not damaged again: the host would request once more what it has
    /// already recovered.
    private var spared: Set<DeviceID> = []

    init(disk: SimulatedDisk) { self.disk = disk }

    /// The records of a collar.
    func of(_ deviceID: DeviceID) -> DurableRecords {
        let known = collars[deviceID] ?? makeRecords(of: deviceID)
        known.update(from: disk)
        return known
    }

    private func makeRecords(of deviceID: DeviceID) -> DurableRecords {
        let directory = JournalDirectory(stateDirectory: SimulatedMachine.stateDirectory, deviceID: deviceID)
        let new = DurableRecords(deviceID: deviceID, directory: directory.path)
        collars[deviceID] = new
        return new
    }

    /// The record that the disk holds for a sequence.
    func kept(_ sequence: UInt32, of log: LogIdentity) -> KeptRecord {
        of(log.deviceID).kept(sequence, logID: log.logID)
    }

    /// How many segments were removed for their age.
    var removedSegmentCount: Int { collars.values.reduce(0) { $0 + $1.removedSegmentCount } }

    /// The oldest segment of each collar.
    var oldestSegments: [DeviceID: UInt32] {
        update()
        return collars.mapValues(\.oldestSegment)
    }

    /// Reads the new bytes on the disk.
    func update() { for known in collars.values { known.update(from: disk) } }

    /// Damages a segment of a collar: flips bits of a few bytes, or sets a block to zeros. The newest progress record of each
    /// log in the last segment is spared: without it nothing shows that earlier records are missing.
    /// - Returns: the durable records that are gone.
    func damage(_ random: inout SeededRandom) -> [LostRecord] {
        let known = collars.keys.sorted()
        guard !known.isEmpty else { return [] }
        let deviceID = known[random.below(known.count)]
        let found = of(deviceID)
        let before = found.logs
        let places = found.damageablePlaces
        guard !places.isEmpty, !spared.contains(deviceID) else { return [] }
        let (file, begin) = places[random.below(places.count)]
        guard begin < file.durable.count else { return [] }
        let isLast = file === places.last?.file
        // If the last segment has no progress record yet, only those of the segment before it show damage there, and must stay.
        guard isLast || !found.newestProgress.isEmpty else { return [] }
        // A last segment without a progress record has only its checkpoint, which repeats the coverage at the end of the
        // segment before.
        if !isLast || found.newestProgress.isEmpty { spared.insert(deviceID) }
        let first = begin + random.below(file.durable.count - begin)
        let isPage = random.chance(0.3)
        let start = isPage ? max(begin, first - first % DiskFile.blockByteCount) : first
        let count = isPage ? DiskFile.blockByteCount : 1 + random.below(4)
        let flips = UInt8(1 + random.below(255))
        let progress = !isLast ? [] : found.newestProgress.values.map { ($0.lowerBound - 1)..<($0.upperBound + 1) }
        for offset in start..<min(start + count, file.durable.count) where !progress.contains(where: { $0.contains(offset) }) {
            disk.damage(file, at: offset..<(offset + 1)) { isPage ? 0 : $0 ^ flips }
        }
        found.update(from: disk)
        var lost: [LostRecord] = []
        for (logID, log) in before.sorted(by: { $0.key < $1.key }) {
            let identity = LogIdentity(deviceID: deviceID, logID: logID)
            let sequences = Array(log.entries.keys) + log.losses.flatMap { Array($0.first...$0.last) }
            // A record that damage removed may be that of a fix that came after it had been reported as lost. The host then
            // requests all lost fixes of the log again.
            let areLossesInDoubt =
                found.logs[logID].map { $0.losses.count < log.losses.count || $0.entries.count < log.entries.count } ?? true
            for sequence in Set(sequences).sorted() {
                let kept = found.kept(sequence, logID: logID)
                guard kept == .nothing || kept == .loss && areLossesInDoubt else { continue }
                lost.append(LostRecord(log: identity, sequence: sequence, isFoundAtStart: isLast))
            }
        }
        return lost
    }
}

/// A durable record that was removed by damage.
struct LostRecord: Equatable {
    let log: LogIdentity
    let sequence: UInt32
    /// Whether the host notices this when it starts; otherwise it notices this when it reads the record to hand it over.
    let isFoundAtStart: Bool
}

/// What a disk keeps of one sequence.
enum KeptRecord: Equatable {
    case nothing
    /// A report that the sequence is lost.
    case loss
    case entry(LogEntry)
}
