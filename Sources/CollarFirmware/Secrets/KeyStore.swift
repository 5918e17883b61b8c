import CollarWire

/// The key of the collar, in two blocks of the flash of its own: each holds one copy.
///
/// A change writes one block after the other, so at least one copy is whole at any time. The copy with the higher generation
/// counts. A block that was not written before power failed, or that has decayed, gets its copy at the next mount.
struct KeyStore<Flash: FlashDevice> {
    private struct Record: Equatable {
        var generation: UInt32
        /// The generation of the last key with which a log began; 0 if none did.
        var logGeneration: UInt32
        var key: CollarKey
    }

    static var blockCount: Int { 2 }
    private static var firstBlock: Int { SettingsStore<Flash>.blockCount }
    private static var recordMark: UInt32 { 0x434C_4B31 }
    /// Bytes of a record before its CRC: mark, generation, generation of the log, key.
    private static var contentByteCount: Int { 12 + CollarKey.byteCount }

    private var record: Record?

    /// Reads the copies of the key, and writes a missing or older one again. After that no copy of an earlier key is left.
    /// - Throws: ``FlashError`` if the flash cannot be read, or if a copy of an earlier key cannot be removed. A collar whose
    ///   second copy is damaged and cannot be written works with the first one.
    @inline(never) init(mounting flash: inout Flash) throws(FlashError) {
        for place in 0..<Self.blockCount {
            guard let copy = try copy(in: place, of: &flash), copy.generation > generation else { continue }
            record = copy
        }
        guard let record else { return }
        for place in 0..<Self.blockCount {
            let copy = try copy(in: place, of: &flash)
            guard copy != record else { continue }
            do throws(FlashError) { try write(record, to: place, of: &flash) } catch {
                if copy != nil { throw error }
            }
        }
    }

    /// The key; nil if no copy of a key is whole.
    var key: CollarKey? { record?.key }

    /// How many keys the collar has had, the present one included; 0 if there is no key.
    var generation: UInt32 { record?.generation ?? 0 }

    /// The generation of the last key with which a log began; 0 if none did. What was in force with an earlier key must not be
    /// in force any more.
    var logGeneration: UInt32 { record?.logGeneration ?? 0 }

    /// Replaces the key durably, by the first copy that is written. When this returns, or after the next mount, no copy of the
    /// former key is left.
    /// - Parameters:
    ///   - beginsLog: whether nothing of what was in force before remains in force.
    ///   - former: the highest generation of which the collar knows, also if that key was lost.
    /// - Throws: ``FlashError``; the next mount tells which key is in force.
    mutating func replace(with key: CollarKey, beginsLog: Bool, after former: UInt32, in flash: inout Flash) throws(FlashError) {
        // A block whose copy is missing, because it could not be written, comes first: the other one may be the only copy.
        let second = try copy(in: 1, of: &flash)
        let first = record == nil || second == record ? 0 : 1
        let generation = former + 1
        let new = Record(generation: generation, logGeneration: beginsLog ? generation : logGeneration, key: key)
        record = new
        try write(new, to: first, of: &flash)
        try write(new, to: 1 - first, of: &flash)
    }

    private func write(_ record: Record, to place: Int, of flash: inout Flash) throws(FlashError) {
        try flash.erase(block: Self.firstBlock + place)
        var bytes = FlashRecord()
        bytes.append(bigEndian: Self.recordMark)
        bytes.append(bigEndian: record.generation)
        bytes.append(bigEndian: record.logGeneration)
        let key = record.key.bytes
        for index in 0..<CollarKey.byteCount { bytes.append(key[index]) }
        bytes.seal(seed: 0)
        let offset = offset(of: place, in: flash)
        try flash.program(bytes, at: offset)
        // The other copy is erased next: this one must be whole.
        guard try copy(in: place, of: &flash) == record else { throw .program(offset: offset) }
    }

    /// The copy at a place; nil if there is none, or if it is damaged.
    private func copy(in place: Int, of flash: inout Flash) throws(FlashError) -> Record? {
        let bytes = try flash.readRecord(at: offset(of: place, in: flash), count: Self.contentByteCount + CRC24.byteCount)
        guard bytes.readUInt32(at: 0) == Self.recordMark, bytes.isSealed(count: Self.contentByteCount, seed: 0) else { return nil }
        return Record(
            generation: bytes.readUInt32(at: 4), logGeneration: bytes.readUInt32(at: 8),
            key: CollarKey(bytes.bytes.span.extracting(12..<Self.contentByteCount)))
    }

    private func offset(of place: Int, in flash: Flash) -> Int { (Self.firstBlock + place) * flash.blockByteCount }
}
