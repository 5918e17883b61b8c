import CollarWire

/// The few values that outlive a reboot beside the log, in the first two blocks of the flash.
///
/// Records of 16 bytes are appended to one block; when it is full the latest values move to the other. A block counts
/// only once its header stands, and that is written last, so a power cut leaves the old block or the new one.
public struct SettingsStore<Flash: FlashDevice> {
    /// Blocks used, from the start of the flash.
    public static var blockCount: Int { 2 }

    /// What is kept.
    public enum Key: UInt8, Equatable, Sendable {
        /// Boots since manufacture.
        case bootCount = 1
        /// Id of the log.
        case logID = 2
        /// Id of the paired receiver.
        case pairedReceiverID = 3
        /// Everything below this sequence is acknowledged; belongs to the log id in its upper half.
        case firstUndelivered = 4

        static var count: Int { 4 }
    }

    private static var recordByteCount: Int { 16 }
    private static var headerMark: UInt32 { 0x434C_4D31 }

    private var activeBlock = 0
    private var generation: UInt32 = 0
    private var nextRecord: Int
    private var values = InlineArray<4, UInt64>(repeating: 0)
    private var isSet = InlineArray<4, Bool>(repeating: false)

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
    public func value(of key: Key) -> UInt64? {
        let index = Int(key.rawValue) - 1
        return isSet[index] ? values[index] : nil
    }

    /// Sets a value durably. The same value again costs nothing.
    public mutating func set(_ key: Key, to value: UInt64, in flash: inout Flash) throws(FlashError) {
        let index = Int(key.rawValue) - 1
        if isSet[index], values[index] == value { return }
        let wasSet = isSet[index]
        let old = values[index]
        isSet[index] = true
        values[index] = value
        do throws(FlashError) {
            if nextRecord >= flash.blockByteCount / Self.recordByteCount {
                try moveToOtherBlock(in: &flash)
            } else {
                try append(key, in: &flash)
            }
        } catch {
            isSet[index] = wasSet
            values[index] = old
            throw error
        }
    }

    private mutating func readRecords(from flash: inout Flash) throws(FlashError) {
        nextRecord = 1
        for index in 1..<(flash.blockByteCount / Self.recordByteCount) {
            let record = try flash.readRecord(at: offset(ofRecord: index, in: flash), count: Self.recordByteCount)
            // A write that failed may have left an erased record in the middle.
            if record.isErased(count: Self.recordByteCount) { continue }
            nextRecord = index + 1
            // A torn record is used up; the value before it stands.
            guard record.isSealed(count: 9, seed: 0), let key = Key(rawValue: record.bytes[0]) else { continue }
            let high = UInt64(widening: record.readUInt32(at: 1))
            values[Int(key.rawValue) - 1] = high &<< 32 | UInt64(widening: record.readUInt32(at: 5))
            isSet[Int(key.rawValue) - 1] = true
        }
    }

    private mutating func append(_ key: Key, in flash: inout Flash) throws(FlashError) {
        let value = values[Int(key.rawValue) - 1]
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
        for raw in 1...UInt8(Key.count) {
            guard let key = Key(rawValue: raw), isSet[Int(raw) - 1] else { continue }
            try append(key, in: &flash)
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
