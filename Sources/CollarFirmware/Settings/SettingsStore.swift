import CollarWire

/// The few values besides the log that survive a reboot, in the first two blocks of the flash.
///
/// Records of 16 bytes are appended to one block. When it is full, the latest values move to the other block. A block is
/// valid only with its header, which is written last and has a CRC over the records with which the block began. So a power cut
/// while a block is filled or erased never leaves an incomplete block that is valid. Values that change together are always
/// written by such a move.
///
/// The old block stays valid until it is erased for the next move. A record in its last place, which is used for nothing else,
/// marks it as old, and holds the version of the settings in the newer block. If the newer block is lost, the older values are in
/// force again. The boot count then continues above every count that the lost block could have held, so that it never decreases,
/// and ``StoredKey/settingsLost`` is set if the settings in force are older than those of the lost block.
public struct SettingsStore<Flash: FlashDevice> {
    /// Blocks used, from the start of the flash.
    public static var blockCount: Int { 2 }

    private static var recordByteCount: Int { 16 }
    private static var headerMark: UInt32 { 0x434C_4D32 }

    private var activeBlock = 0
    /// The generation of the active block; 0 if no block is valid.
    private var generation: UInt32 = 0
    private var nextRecord: Int
    private var stored = StoredValues()
    /// The boot count that the other block would give if the active one were lost; 0 if the other block is not valid.
    private var otherBootCount: UInt64 = 0
    /// The generation of the key that the other block holds; nil if it holds none.
    private var otherKeyGeneration: UInt64?
    /// Whether a write failed, so that the flash may hold values that ``stored`` does not.
    private var isUncertain = false

    /// Reads the stored values. A flash without any record counts as new.
    @inline(never) public init(mounting flash: inout Flash) throws(FlashError) {
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

    /// The value of a key; nil if it was never set.
    public func value(of key: StoredKey) -> UInt64? { stored[key] }

    /// A stored sequence of the log `logID`; 0 if none is stored or it belongs to another log.
    func sequence(of key: StoredKey, logID: LogID) -> UInt32 {
        guard let stored = value(of: key), UInt32(truncatingIfNeeded: stored &>> 32) == logID.rawValue else { return 0 }
        return UInt32(truncatingIfNeeded: stored)
    }

    /// Sets a value durably. Setting the same value again writes nothing, unless the last change failed.
    @inline(never) public mutating func set(_ key: StoredKey, to value: UInt64, in flash: inout Flash) throws(FlashError) {
        try change(in: &flash) { $0[key] = value }
    }

    /// Changes values durably and together: after a power cut they are all old or all new. A change of several values needs at
    /// least one erase.
    /// - Throws: ``FlashError``; then ``value(of:)`` still gives the old values, but the flash may already hold the new ones.
    @inline(never) mutating func change(in flash: inout Flash, _ edit: (inout StoredValues) -> Void) throws(FlashError) {
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

    /// Whether the other block would give at least the current boot count if the active block were lost, and no values of an
    /// earlier key.
    private var isOtherBlockEnough: Bool {
        otherBootCount >= stored[.bootCount] ?? 0 && otherKeyGeneration == stored[.keyGeneration]
    }

    /// The generation of a valid block; nil if the block is not valid.
    private func generation(of block: Int, in flash: inout Flash) throws(FlashError) -> UInt32? {
        let header = try record(0, of: block, in: &flash)
        let count = Int(header.bytes[8])
        guard header.readUInt32(at: 0) == Self.headerMark, count < Self.lastPlace(in: flash) else { return nil }
        let contents = try checksum(ofFirst: count, of: block, in: &flash)
        return header.isSealed(count: 9, seed: contents) ? header.readUInt32(at: 4) : nil
    }

    /// The CRC over the first `count` records of a block.
    private func checksum(ofFirst count: Int, of block: Int, in flash: inout Flash) throws(FlashError) -> UInt32 {
        var crc = CRC24()
        for index in 0..<count {
            crc.update(try record(index + 1, of: block, in: &flash).bytes.span, from: 0, to: Self.recordByteCount)
        }
        return crc.checksum
    }

    /// Reads the records of a block, whether or not it is valid.
    /// - Returns: the values, and the first place after the records.
    private func readRecords(of block: Int, in flash: inout Flash) throws(FlashError) -> (values: StoredValues, end: Int) {
        var values = StoredValues()
        var end = 1
        let last = Self.lastPlace(in: flash)
        for index in 1..<last {
            let record = try record(index, of: block, in: &flash)
            // A failed write may have left an erased record in the middle.
            if record.isErased(count: Self.recordByteCount) { continue }
            end = index + 1
            // An unreadable record uses up its place, and its key keeps the earlier value. The record may have been a boot count
            // that was in force before it decayed, so the boot count grows by one.
            guard let value = Self.value(in: record), let key = StoredKey(rawValue: record.bytes[0]) else {
                values[.bootCount] = values[.bootCount].map { $0 + 1 }
                continue
            }
            values[key] = value
        }
        let mark = try record(last, of: block, in: &flash)
        guard !mark.isErased(count: Self.recordByteCount) else { return (values, end) }
        // The block is old. The newer one counted fewer boots than a block has places, so their number makes the count higher
        // than any in that block. A mark that cannot be read tells nothing of the settings.
        values[.bootCount] = values[.bootCount].map { $0 + UInt64(widening: UInt32(last)) }
        values.noteLoss(ofVersion: Self.value(in: mark) ?? 0)
        return (values, last)
    }

    /// The value in a record; nil if the record cannot be read.
    private static func value(in record: FlashRecord) -> UInt64? {
        guard record.isSealed(count: 9, seed: 0) else { return nil }
        return UInt64(widening: record.readUInt32(at: 1)) &<< 32 | UInt64(widening: record.readUInt32(at: 5))
    }

    private static func makeRecord(_ key: StoredKey, _ value: UInt64) -> FlashRecord {
        var record = FlashRecord()
        record.append(key.rawValue)
        record.append(bigEndian: UInt32(truncatingIfNeeded: value &>> 32))
        record.append(bigEndian: UInt32(truncatingIfNeeded: value))
        record.seal(seed: 0)
        return record
    }

    /// If no block is valid, takes the boot count, the log id and the generation of the key from any intact record of the blocks,
    /// so that they do not begin again. Any record or mark of settings shows that they are lost. The next move does not erase the
    /// block from which the boot count comes.
    private mutating func salvage(from flash: inout Flash) throws(FlashError) {
        for block in 0..<Self.blockCount {
            let found = try readRecords(of: block, in: &flash).values
            stored.noteLoss(ofVersion: found[.settingsLost] ?? found[.settingsVersion] ?? 0)
            stored[.logID] = found[.logID] ?? stored[.logID]
            if let key = found[.keyGeneration], key > stored[.keyGeneration] ?? 0 { stored[.keyGeneration] = key }
            guard let count = found[.bootCount], count > stored[.bootCount] ?? 0 else { continue }
            stored[.bootCount] = count
            activeBlock = block
        }
    }

    private mutating func append(_ key: StoredKey, in flash: inout Flash) throws(FlashError) {
        guard let value = stored[key] else { return }
        let offset = offset(ofRecord: nextRecord, of: activeBlock, in: flash)
        nextRecord += 1
        try flash.program(Self.makeRecord(key, value), at: offset)
    }

    private mutating func moveToOtherBlock(in flash: inout Flash) throws(FlashError) {
        do throws(FlashError) { try fillOtherBlock(in: &flash) } catch {
            // The old block is still valid. It counts as full, so the next change tries to move again.
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

    /// Marks the other block as old, if it is valid. The active block counts a boot only after this.
    private mutating func leaveOtherBlock(in flash: inout Flash) throws(FlashError) {
        otherBootCount = 0
        otherKeyGeneration = nil
        let other = 1 - activeBlock
        guard try generation(of: other, in: &flash) != nil else { return }
        let last = Self.lastPlace(in: flash)
        if try record(last, of: other, in: &flash).isErased(count: Self.recordByteCount) {
            let mark = Self.makeRecord(.settingsVersion, stored[.settingsVersion] ?? 0)
            try flash.program(mark, at: offset(ofRecord: last, of: other, in: flash))
        }
        let values = try readRecords(of: other, in: &flash).values
        otherBootCount = values[.bootCount] ?? 0
        otherKeyGeneration = values[.keyGeneration]
    }

    private func record(_ index: Int, of block: Int, in flash: inout Flash) throws(FlashError) -> FlashRecord {
        try flash.readRecord(at: offset(ofRecord: index, of: block, in: flash), count: Self.recordByteCount)
    }

    private func offset(ofRecord index: Int, of block: Int, in flash: Flash) -> Int {
        block * flash.blockByteCount + index * Self.recordByteCount
    }

    /// The place for the mark of an old block; records use only the places before it.
    private static func lastPlace(in flash: Flash) -> Int { flash.blockByteCount / recordByteCount - 1 }
}

/// The keys of the values that a collar keeps besides its log.
public enum StoredKey: UInt8, Equatable, Sendable {
    /// Number of boots since manufacture.
    case bootCount = 1
    /// Id of the log.
    case logID
    /// Id of the paired receiver; 0 for none.
    case pairedReceiverID
    /// The paired receiver has acknowledged everything below this sequence. The upper half holds the id of the log.
    case firstUndelivered
    /// A former receiver acknowledged everything below this sequence. The upper half holds the id of the log.
    case formerlyDelivered
    /// The receiver that told the collar to unpair; 0 if the collar has another receiver now.
    case releasedReceiverID
    /// Whether positions are logged (upper half, 1 or 0), and since when (lower half, seconds since 1970).
    case tracking
    /// Version of the settings in force.
    case settingsVersion
    /// Settings, two in each value; the upper half holds the one with the lower key.
    case settings1, settings3, settings5, settings7, settings9
    /// Commands and messages that were executed, see `ExecutedRequests`.
    case request0, request1, request2, request3, request4, request5, request6, request7
    /// Further settings, two in each value.
    case settings11, settings13, settings15
    /// The generation of the key for which the values are in force; unset if the collar never had a key.
    case keyGeneration
    /// Set if settings were lost and have not been set since: their version, or 1 if it is not known. A block that is marked as
    /// old gives this value without a record of it.
    case settingsLost
    /// Further settings, two in each value.
    case settings17, settings19, settings21, settings23

    static var count: Int { 30 }
}

/// Values by key. Each of them may be unset.
struct StoredValues {
    private var values = InlineArray<30, UInt64>(repeating: 0)
    private var isSet = InlineArray<30, Bool>(repeating: false)

    subscript(key: StoredKey) -> UInt64? {
        get { isSet[Int(key.rawValue) - 1] ? values[Int(key.rawValue) - 1] : nil }
        set {
            isSet[Int(key.rawValue) - 1] = newValue != nil
            values[Int(key.rawValue) - 1] = newValue ?? 0
        }
    }

    /// How many values differ, and the key of the value if only one does.
    func changes(since before: StoredValues) -> (count: Int, onlyKey: StoredKey?) {
        var count = 0
        var last: StoredKey?
        for raw in 1...UInt8(StoredKey.count) {
            guard let key = StoredKey(rawValue: raw), self[key] != before[key] else { continue }
            count += 1
            last = key
        }
        return (count, count == 1 ? last : nil)
    }

    /// Notes that settings of this version were durable: they are lost if their version is above that of the settings here.
    mutating func noteLoss(ofVersion version: UInt64) {
        if version > self[.settingsVersion] ?? 0 { self[.settingsLost] = version }
    }
}
