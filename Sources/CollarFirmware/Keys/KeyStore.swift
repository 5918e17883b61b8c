import CollarWire

/// The key of the collar, in two blocks of the flash of its own: each holds one copy.
///
/// A change writes one block after the other, so at least one copy is whole at any time. The copy with the higher generation
/// counts. A block that was not written before power failed, or that has decayed, gets its copy at the next mount.
struct KeyStore<Flash: FlashDevice> {
    /// A copy of the key.
    private struct Record: Equatable {
        var generation: UInt32
        var beginsLog: Bool
        var key: CollarKey
    }

    /// Blocks used.
    static var blockCount: Int { 2 }
    private static var firstBlock: Int { SettingsStore<Flash>.blockCount }
    private static var recordMark: UInt32 { 0x434C_4B31 }
    /// Bytes of a record before its CRC: mark, generation, whether a log begins, key.
    private static var contentByteCount: Int { 9 + CollarKey.byteCount }

    private var record: Record?

    /// Reads the copies of the key, and writes a missing or older one anew. After that no copy of an earlier key is left.
    init(mounting flash: inout Flash) throws(FlashError) {
        for place in 0..<Self.blockCount {
            guard let copy = try copy(in: place, of: &flash), copy.generation > generation else { continue }
            record = copy
        }
        guard let record else { return }
        for place in 0..<Self.blockCount where try copy(in: place, of: &flash) != record {
            try write(record, to: place, of: &flash)
        }
    }

    /// The key; nil if no copy of a key is whole.
    var key: CollarKey? { record?.key }

    /// How many keys the collar has had, the present one included; 0 if there is no key.
    var generation: UInt32 { record?.generation ?? 0 }

    /// Whether a new log begins with the present key, with nothing of what was in force before.
    var beginsLog: Bool { record?.beginsLog ?? false }

    /// Replaces the key durably, by the first copy that is written. When this returns, or after the next mount, no copy of the
    /// former key is left.
    /// - Parameters:
    ///   - beginsLog: whether nothing of what was in force before remains in force.
    ///   - former: the highest generation of which the collar knows, also if that key was lost.
    /// - Throws: ``FlashError``; the next mount tells which key is in force.
    mutating func replace(
        with key: CollarKey, beginsLog: Bool, after former: UInt32, in flash: inout Flash
    ) throws(FlashError) {
        let new = Record(generation: former + 1, beginsLog: beginsLog, key: key)
        record = new
        for place in 0..<Self.blockCount { try write(new, to: place, of: &flash) }
    }

    private func write(_ record: Record, to place: Int, of flash: inout Flash) throws(FlashError) {
        try flash.erase(block: Self.firstBlock + place)
        var bytes = FlashRecord()
        bytes.append(bigEndian: Self.recordMark)
        bytes.append(bigEndian: record.generation)
        bytes.append(record.beginsLog ? 1 : 0)
        let key = record.key.bytes
        for index in 0..<CollarKey.byteCount { bytes.append(key[index]) }
        bytes.seal(seed: 0)
        try flash.program(bytes, at: offset(of: place, in: flash))
    }

    /// The copy at a place; nil if there is none, or if it is damaged.
    private func copy(in place: Int, of flash: inout Flash) throws(FlashError) -> Record? {
        let bytes = try flash.readRecord(
            at: offset(of: place, in: flash), count: Self.contentByteCount + CRC24.byteCount)
        guard bytes.readUInt32(at: 0) == Self.recordMark, bytes.isSealed(count: Self.contentByteCount, seed: 0) else { return nil }
        return Record(
            generation: bytes.readUInt32(at: 4), beginsLog: bytes.bytes[8] != 0,
            key: CollarKey(bytes.bytes.span.extracting(9..<Self.contentByteCount)))
    }

    private func offset(of place: Int, in flash: Flash) -> Int { (Self.firstBlock + place) * flash.blockByteCount }
}
