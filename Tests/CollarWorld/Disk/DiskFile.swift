import CollarSimulator

/// A file or directory of a ``SimulatedDisk``: its content in the page cache, its content on the disk, and the changes that
/// have not reached the disk yet.
final class DiskFile {
    /// A change since the last synchronisation.
    private enum Change {
        /// The content of a block after a write; shorter than a block at the end of the file.
        case block(start: Int, bytes: [UInt8])
        case length(Int)
    }

    /// Bytes of a block. Most blocks reach the disk as a whole.
    static let blockByteCount = 512

    let isDirectory: Bool
    /// The content that the running system reads.
    private(set) var cached: [UInt8] = []
    /// The content on the disk.
    private(set) var durable: [UInt8] = []
    /// The number of bytes at the start of ``durable`` that no crash can change or remove.
    private(set) var certainByteCount = 0
    /// How often bytes on the disk were changed or cut off.
    private(set) var rewriteCount = 0
    /// How often a synchronisation failed.
    private(set) var failureCount = 0
    /// The open file that holds the lock; nil if none does.
    var lockHolder: LockOwner?
    private var changes: [Change] = []
    /// Whether there are changes that have not reached the disk.
    var isChanged: Bool { !changes.isEmpty }

    init(isDirectory: Bool = false) { self.isDirectory = isDirectory }

    /// Writes to the cache; bytes between the end of the file and `offset` become zeros.
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

    /// Shortens or lengthens the file in the cache.
    func truncate(to byteCount: Int) {
        cached.resize(to: byteCount)
        certainByteCount = min(certainByteCount, byteCount)
        changes.append(.length(byteCount))
    }

    /// Brings all changes to the disk.
    func synchronize() {
        for change in changes { apply(change) }
        settle()
    }

    /// A synchronisation fails: only some of the changed blocks reach the disk. The cache takes all of them for clean, so that
    /// no later synchronisation writes the others.
    func failToSynchronize(_ random: inout SeededRandom) {
        failureCount += 1
        for change in changes {
            switch change {
            case .block: if random.chance(0.5) { apply(change) }
            case .length: apply(change)
            }
        }
        settle()
    }

    /// The machine stops: any part of the changes may have reached the disk, in any order.
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
        // The length may reach the disk without the bytes.
        if !changes.isEmpty, durable.count < written, random.chance(0.2) { apply(.length(written)) }
        settle()
        cached = durable
        lockHolder = nil
    }

    /// Changes a byte on the disk without an operation of the system, as damage does.
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
    /// Shortens the array, or lengthens it with zeros.
    fileprivate mutating func resize(to newCount: Int) {
        if newCount < count { removeLast(count - newCount) } else { self += [UInt8](repeating: 0, count: newCount - count) }
    }
}
