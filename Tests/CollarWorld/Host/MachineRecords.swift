import CollarJournal
import CollarSimulator
import CollarWire

/// What is on the disk of a machine for certain: the truth, for the oracle.
final class MachineRecords {
    private let disk: SimulatedDisk
    private var collars: [UInt64: DurableRecords] = [:]
    /// Collars whose earlier segments were damaged. More damage would make the host ask again for what it has got back.
    private var spared: Set<UInt64> = []

    init(disk: SimulatedDisk) { self.disk = disk }

    /// The records of a collar.
    func of(_ deviceID: UInt64) -> DurableRecords {
        let known = collars[deviceID] ?? makeRecords(of: deviceID)
        known.update(from: disk)
        return known
    }

    private func makeRecords(of deviceID: UInt64) -> DurableRecords {
        let directory = JournalDirectory(stateDirectory: SimulatedMachine.stateDirectory, deviceID: deviceID)
        let new = DurableRecords(deviceID: deviceID, directory: directory.path)
        collars[deviceID] = new
        return new
    }

    /// What is kept of a sequence.
    func kept(_ sequence: UInt32, of log: LogIdentity) -> KeptRecord {
        of(log.deviceID).kept(sequence, logID: log.logID)
    }

    /// Flips some bytes of a segment of a collar, or makes a page of it zeros. The records of the latest commits are
    /// spared: where nothing says that there was more, nothing can be missed.
    /// - Returns: what is gone.
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
        // A segment without progress has nothing but its checkpoint, which is what the segment before it ended with.
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
            guard let identity = LogIdentity(deviceID: deviceID, logID: logID) else { continue }
            let sequences = Array(log.fixes.keys) + log.losses.flatMap { Array($0.first...$0.last) }
            for sequence in Set(sequences).sorted() where found.kept(sequence, logID: logID) == .nothing {
                lost.append(LostRecord(log: identity, sequence: sequence, isFoundAtStart: isLast))
            }
        }
        return lost
    }
}

/// A durable record that damage took away.
struct LostRecord: Equatable {
    let log: LogIdentity
    let sequence: UInt32
    /// Whether the host finds that out when it starts; else when it reads the record to hand it over.
    let isFoundAtStart: Bool
}

/// What a disk keeps of one sequence.
enum KeptRecord: Equatable {
    case nothing
    /// That it is lost for ever.
    case loss
    case fix(Fix)
}
