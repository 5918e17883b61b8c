import CollarWire

/// The few values that outlive a reboot beside the log, in the first two blocks of the flash.
///
/// Records of 16 bytes are appended to one block; when it is full the latest values move to the other. A block counts
/// only with its header, which is written last and checks the records that the block began with: neither a power cut while
/// it was filled nor one while it is erased leaves half of one that counts. Values that change together are always written
/// so.
///
/// The block that was left counts too, until it is erased for the next move. Its last place, used for nothing else, tells
/// that it was left. Where the newer block is lost, the older values are in force again, but the boot count goes on beyond
/// all that the lost block had room for: it only grows.
public struct SettingsStore<Flash: FlashDevice> {
    /// Blocks used, from the start of the flash.
    public static var blockCount: Int { 2 }

    private static var recordByteCount: Int { 16 }
    private static var headerMark: UInt32 { 0x434C_4D32 }

    private var activeBlock = 0
    /// That of the active block; 0 where none counts.
    private var generation: UInt32 = 0
    private var nextRecord: Int
    private var stored = StoredValues()
    /// The boot count that the other block would give if this one were lost; 0 where that does not count.
    private var otherBootCount: UInt64 = 0
    /// Whether a write failed, so that the flash may hold what was not taken over.
    private var isUncertain = false

    /// Reads what is kept; a flash without a record is a new one.
    public init(mounting flash: inout Flash) throws(FlashError) {
        nextRecord = Self.lastPlace(in: flash)
        for block in 0..<Self.blockCount {
            guard let here = try generation(of: block, in: &flash), here > generation else { continue }
            generation = here
            activeBlock = block
        }
        guard generation > 0 else {
            try salvage(from: &flash)
            return
        }
        (stored, nextRecord) = try readRecords(of: activeBlock, in: &flash)
        try leaveOtherBlock(in: &flash)
    }

    /// The value of a key; nil where it was never set.
    public func value(of key: StoredKey) -> UInt64? { stored[key] }

    /// Sets a value durably. The same value again costs nothing.
    public mutating func set(_ key: StoredKey, to value: UInt64, in flash: inout Flash) throws(FlashError) {
        try change(in: &flash) { $0[key] = value }
    }

    /// Changes values durably and together: a power cut leaves all old ones or all new ones. A change of several values
    /// costs an erase.
    /// - Throws: with nothing changed, as far as the flash tells.
    mutating func change(
        in flash: inout Flash, _ edit: (inout StoredValues) -> Void
    ) throws(FlashError) {
        let before = stored
        edit(&stored)
        let changes = stored.changes(since: before)
        if changes.count == 0, !isUncertain { return }
        do throws(FlashError) {
            if let key = changes.onlyKey, nextRecord < Self.lastPlace(in: flash), !isUncertain, isOtherBlockEnough {
                try append(key, in: &flash)
            } else {
                try moveToOtherBlock(in: &flash)
                if !isOtherBlockEnough { try moveToOtherBlock(in: &flash) }
            }
        } catch {
            stored = before
            isUncertain = true
            throw error
        }
        isUncertain = false
    }

    /// Whether the boot count would not go back if the active block were lost.
    private var isOtherBlockEnough: Bool { otherBootCount >= stored[.bootCount] ?? 0 }

    /// The generation of a block that counts; nil for another.
    private func generation(of block: Int, in flash: inout Flash) throws(FlashError) -> UInt32? {
        let header = try record(0, of: block, in: &flash)
        let count = Int(header.bytes[8])
        guard header.readUInt32(at: 0) == Self.headerMark, count < Self.lastPlace(in: flash) else { return nil }
        let contents = try checksum(ofFirst: count, of: block, in: &flash)
        return header.isSealed(count: 9, seed: contents) ? header.readUInt32(at: 4) : nil
    }

    /// The check of the records that a block began with.
    private func checksum(ofFirst count: Int, of block: Int, in flash: inout Flash) throws(FlashError) -> UInt32 {
        var check = CRC24()
        for index in 0..<count {
            check.update(try record(index + 1, of: block, in: &flash).bytes.span, from: 0, to: Self.recordByteCount)
        }
        return check.checksum
    }

    /// Reads a block's records, whether or not it counts.
    /// - Returns: also the first place behind them.
    private func readRecords(
        of block: Int, in flash: inout Flash
    ) throws(FlashError) -> (values: StoredValues, end: Int) {
        var values = StoredValues()
        var end = 1
        let last = Self.lastPlace(in: flash)
        for index in 1..<last {
            let record = try record(index, of: block, in: &flash)
            // A write that failed may have left an erased record in the middle.
            if record.isErased(count: Self.recordByteCount) { continue }
            end = index + 1
            // A torn record is used up; the value before it stands. But it may have been that of a boot, and have decayed.
            guard record.isSealed(count: 9, seed: 0), let key = StoredKey(rawValue: record.bytes[0]) else {
                values[.bootCount] = values[.bootCount].map { $0 + 1 }
                continue
            }
            let high = UInt64(widening: record.readUInt32(at: 1))
            values[key] = high &<< 32 | UInt64(widening: record.readUInt32(at: 5))
        }
        // It was left, and a block has no room to count as many boots as it has places.
        if let count = values[.bootCount], !(try isErased(last, of: block, in: &flash)) {
            values[.bootCount] = count + UInt64(widening: UInt32(last))
            end = last
        }
        return (values, end)
    }

    /// Where no block counts, the boot count and the log are not begun anew if there is a record of them. The next move
    /// spares the block that has it.
    private mutating func salvage(from flash: inout Flash) throws(FlashError) {
        for block in 0..<Self.blockCount {
            let found = try readRecords(of: block, in: &flash).values
            stored[.logID] = found[.logID] ?? stored[.logID]
            guard let count = found[.bootCount], count > stored[.bootCount] ?? 0 else { continue }
            stored[.bootCount] = count
            activeBlock = block
        }
    }

    private mutating func append(_ key: StoredKey, in flash: inout Flash) throws(FlashError) {
        guard let value = stored[key] else { return }
        var record = FlashRecord()
        record.append(key.rawValue)
        record.append(bigEndian: UInt32(truncatingIfNeeded: value &>> 32))
        record.append(bigEndian: UInt32(truncatingIfNeeded: value))
        record.seal(seed: 0)
        let offset = offset(ofRecord: nextRecord, of: activeBlock, in: flash)
        nextRecord += 1
        try flash.program(record, at: offset)
    }

    private mutating func moveToOtherBlock(in flash: inout Flash) throws(FlashError) {
        do throws(FlashError) { try fillOtherBlock(in: &flash) } catch {
            // The old block, full as it is, still counts: the next change tries to move again.
            activeBlock = 1 - activeBlock
            nextRecord = Self.lastPlace(in: flash)
            throw error
        }
        try leaveOtherBlock(in: &flash)
    }

    private mutating func fillOtherBlock(in flash: inout Flash) throws(FlashError) {
        activeBlock = 1 - activeBlock
        try flash.erase(block: activeBlock)
        nextRecord = 1
        for raw in 1...UInt8(StoredKey.count) {
            if let key = StoredKey(rawValue: raw) { try append(key, in: &flash) }
        }
        var header = FlashRecord()
        header.append(bigEndian: Self.headerMark)
        header.append(bigEndian: generation + 1)
        header.append(UInt8(nextRecord - 1))
        header.seal(seed: try checksum(ofFirst: nextRecord - 1, of: activeBlock, in: &flash))
        try flash.program(header, at: offset(ofRecord: 0, of: activeBlock, in: flash))
        generation += 1
    }

    /// Notes in the other block, where it counts, that it was left, before the active one counts a boot.
    private mutating func leaveOtherBlock(in flash: inout Flash) throws(FlashError) {
        otherBootCount = 0
        let other = 1 - activeBlock
        guard let generation = try generation(of: other, in: &flash) else { return }
        let last = Self.lastPlace(in: flash)
        if try isErased(last, of: other, in: &flash) {
            var mark = FlashRecord()
            mark.append(bigEndian: generation + 1)
            mark.seal(seed: 0)
            try flash.program(mark, at: offset(ofRecord: last, of: other, in: flash))
        }
        otherBootCount = try readRecords(of: other, in: &flash).values[.bootCount] ?? 0
    }

    private func record(_ index: Int, of block: Int, in flash: inout Flash) throws(FlashError) -> FlashRecord {
        try flash.readRecord(at: offset(ofRecord: index, of: block, in: flash), count: Self.recordByteCount)
    }

    private func isErased(_ index: Int, of block: Int, in flash: inout Flash) throws(FlashError) -> Bool {
        try record(index, of: block, in: &flash).isErased(count: Self.recordByteCount)
    }

    private func offset(ofRecord index: Int, of block: Int, in flash: Flash) -> Int {
        block * flash.blockByteCount + index * Self.recordByteCount
    }

    /// The place of the mark; records go before it.
    private static func lastPlace(in flash: Flash) -> Int { flash.blockByteCount / recordByteCount - 1 }
}
