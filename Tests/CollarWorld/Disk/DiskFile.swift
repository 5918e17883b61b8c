import CollarSimulator

/// A file or directory of a ``SimulatedDisk``: what the running system sees of it, what the disk holds, and what is on
/// the way there.
final class DiskFile {
    /// What was done since the last synchronisation.
    private enum Change {
        /// A block as it was after a write; shorter at the end of the file.
        case block(start: Int, bytes: [UInt8])
        case length(Int)
    }

    /// Bytes that reach the disk together, mostly.
    static let blockByteCount = 512

    let isDirectory: Bool
    /// What the running system reads.
    private(set) var cached: [UInt8] = []
    /// What the disk holds.
    private(set) var durable: [UInt8] = []
    /// Bytes at the start of ``durable`` that no crash can change or take.
    private(set) var certainByteCount = 0
    /// How often bytes that the disk held were changed or cut.
    private(set) var rewriteCount = 0
    /// Descriptor that holds the lock.
    var lockHolder: Int32?
    private var changes: [Change] = []
    /// Whether anything is on its way to the disk.
    var isChanged: Bool { !changes.isEmpty }

    init(isDirectory: Bool = false) { self.isDirectory = isDirectory }

    /// Writes to the cache; what lies between the end and `offset` becomes zeros.
    func write(_ bytes: ArraySlice<UInt8>, at offset: Int) {
        if cached.count < offset { cached.resize(to: offset) }
        let end = offset + bytes.count
        cached.replaceSubrange(offset..<min(end, cached.count), with: bytes)
        var start = offset - offset % DiskFile.blockByteCount
        while start < end {
            let block = Array(cached[start..<min(start + DiskFile.blockByteCount, cached.count)])
            let changed = block.indices.first { start + $0 < certainByteCount && durable[start + $0] != block[$0] }
            if let changed { certainByteCount = start + changed }
            changes.append(.block(start: start, bytes: block))
            start += DiskFile.blockByteCount
        }
    }

    /// Cuts or lengthens the file in the cache.
    func truncate(to byteCount: Int) {
        cached.resize(to: byteCount)
        certainByteCount = min(certainByteCount, byteCount)
        changes.append(.length(byteCount))
    }

    /// Everything that was changed is on the disk.
    func synchronize() {
        for change in changes { apply(change) }
        settle()
    }

    /// The disk fails: of the changed blocks some are on it, and the cache takes all of them for clean, so that no later
    /// synchronisation brings them there.
    func failToSynchronize(_ random: inout SeededRandom) {
        for change in changes {
            switch change {
            case .block: if random.chance(0.5) { apply(change) }
            case .length: apply(change)
            }
        }
        settle()
    }

    /// The machine stops: of what was not synchronised any part may be on the disk, in any order.
    func crash(_ random: inout SeededRandom) {
        let share = [0, 0.5, 0.5, 1][random.below(4)]
        let written = cached.count
        var isLengthKept = true
        for change in changes {
            guard random.chance(share) else {
                if case .length = change { isLengthKept = false }
                continue
            }
            switch change {
            case .block(let start, let bytes):
                let torn = random.chance(0.1) ? random.below(bytes.count) : bytes.count
                apply(.block(start: start, bytes: Array(bytes.prefix(torn))))
            case .length: if isLengthKept { apply(change) }
            }
        }
        // The length may be there without the bytes.
        if !changes.isEmpty, durable.count < written, random.chance(0.2) { apply(.length(written)) }
        settle()
        cached = durable
        lockHolder = nil
    }

    /// Changes bytes on the disk behind the system's back.
    func damage(at offset: Int, _ change: (UInt8) -> UInt8) {
        durable[offset] = change(durable[offset])
        rewriteCount += 1
        cached = durable
    }

    private func apply(_ change: Change) {
        let before = durable.count
        switch change {
        case .block(let start, let bytes):
            if before < start + bytes.count { durable.resize(to: start + bytes.count) }
            var isRewritten = false
            for (index, byte) in bytes.enumerated() where durable[start + index] != byte {
                durable[start + index] = byte
                if start + index < before { isRewritten = true }
            }
            if isRewritten { rewriteCount += 1 }
        case .length(let byteCount):
            durable.resize(to: byteCount)
            if byteCount < before { rewriteCount += 1 }
        }
    }

    private func settle() {
        changes.removeAll(keepingCapacity: changes.count < 64)
        certainByteCount = durable.count
    }
}

extension [UInt8] {
    /// Cuts it, or lengthens it with zeros.
    fileprivate mutating func resize(to newCount: Int) {
        if newCount < count { removeLast(count - newCount) } else { self += [UInt8](repeating: 0, count: newCount - count) }
    }
}
