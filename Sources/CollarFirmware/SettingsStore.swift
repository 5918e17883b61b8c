import CollarWire

/// The few values that outlive a reboot beside the log, in the first two blocks of the flash.
///
/// Records of 16 bytes are appended to one block; when it is full the latest values move to the other. A block counts
/// only once its header stands, and that is written last, so a power cut leaves the old block or the new one. Values
/// that change together are always written so.
public struct SettingsStore<Flash: FlashDevice> {
    /// Blocks used, from the start of the flash.
    public static var blockCount: Int { 2 }

    private static var recordByteCount: Int { 16 }
    private static var headerMark: UInt32 { 0x434C_4D31 }

    private var activeBlock = 0
    private var generation: UInt32 = 0
    private var nextRecord: Int
    private var stored = StoredValues()
    /// Whether a write failed, so that the flash may hold what was not taken over.
    private var isUncertain = false

    /// Reads what is kept; a flash without a valid block is a new one.
    public init(mounting flash: inout Flash) throws(FlashError) {
        nextRecord = flash.blockByteCount / Self.recordByteCount
        var found = false
        for block in 0..<Self.blockCount {
            let header = try flash.readRecord(at: block * flash.blockByteCount, count: Self.recordByteCount)
            guard header.readUInt32(at: 0) == Self.headerMark, header.isSealed(count: 8, seed: 0) else { continue }
            let here = header.readUInt32(at: 4)
            guard !found || here > generation else { continue }
            found = true
            generation = here
            activeBlock = block
        }
        if found { try readRecords(from: &flash) }
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
            let isFull = nextRecord >= flash.blockByteCount / Self.recordByteCount
            if let key = changes.onlyKey, !isFull, !isUncertain {
                try append(key, in: &flash)
            } else {
                try moveToOtherBlock(in: &flash)
            }
        } catch {
            stored = before
            isUncertain = true
            throw error
        }
        isUncertain = false
    }

    private mutating func readRecords(from flash: inout Flash) throws(FlashError) {
        nextRecord = 1
        for index in 1..<(flash.blockByteCount / Self.recordByteCount) {
            let record = try flash.readRecord(at: offset(ofRecord: index, in: flash), count: Self.recordByteCount)
            // A write that failed may have left an erased record in the middle.
            if record.isErased(count: Self.recordByteCount) { continue }
            nextRecord = index + 1
            // A torn record is used up; the value before it stands.
            guard record.isSealed(count: 9, seed: 0), let key = StoredKey(rawValue: record.bytes[0]) else { continue }
            let high = UInt64(widening: record.readUInt32(at: 1))
            stored[key] = high &<< 32 | UInt64(widening: record.readUInt32(at: 5))
        }
    }

    private mutating func append(_ key: StoredKey, in flash: inout Flash) throws(FlashError) {
        guard let value = stored[key] else { return }
        var record = FlashRecord()
        record.append(key.rawValue)
        record.append(bigEndian: UInt32(truncatingIfNeeded: value &>> 32))
        record.append(bigEndian: UInt32(truncatingIfNeeded: value))
        record.seal(seed: 0)
        let offset = offset(ofRecord: nextRecord, in: flash)
        nextRecord += 1
        try flash.program(record, at: offset)
    }

    private mutating func moveToOtherBlock(in flash: inout Flash) throws(FlashError) {
        do throws(FlashError) { try fillOtherBlock(in: &flash) } catch {
            // The old block, full as it is, still counts: the next change tries to move again.
            activeBlock = 1 - activeBlock
            nextRecord = flash.blockByteCount / Self.recordByteCount
            throw error
        }
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
        header.seal(seed: 0)
        try flash.program(header, at: activeBlock * flash.blockByteCount)
        generation += 1
    }

    private func offset(ofRecord index: Int, in flash: Flash) -> Int {
        activeBlock * flash.blockByteCount + index * Self.recordByteCount
    }
}
