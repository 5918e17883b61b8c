import CollarWire

/// NOR flash as the collar's log needs it: erased bytes are 0xFF, programming clears bits, a block is erased as a whole.
public protocol FlashDevice {
    /// Bytes in an erase block; a multiple of 4, at least 512.
    var blockByteCount: Int { get }
    /// Number of erase blocks, at least 6.
    var blockCount: Int { get }

    /// Appends the bytes from `offset` on until `output` is full.
    mutating func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError)

    /// Programs `bytes` at `offset`, where the flash is erased. The programmed bytes are durable when this returns.
    mutating func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError)

    /// Erases one block.
    mutating func erase(block: Int) throws(FlashError)
}

/// A flash operation that failed.
public enum FlashError: Error, Equatable, Sendable {
    /// Reading failed at this offset.
    case read(offset: Int)
    /// Programming failed at this offset.
    case program(offset: Int)
    /// Erasing this block failed.
    case erase(block: Int)
}

/// Bytes followed by a CRC, in storage of fixed size: the unit of everything kept in flash.
struct FlashRecord {
    static let capacity = 40
    private(set) var bytes = InlineArray<40, UInt8>(repeating: 0xFF)
    private(set) var count = 0

    init() {}

    mutating func append(_ byte: UInt8) {
        precondition(count < FlashRecord.capacity, "a flash record has at most 40 bytes")
        bytes[count] = byte
        count += 1
    }

    mutating func append(bigEndian value: UInt32) {
        append(UInt8(truncatingIfNeeded: value &>> 24))
        append(UInt8(truncatingIfNeeded: value &>> 16))
        append(UInt8(truncatingIfNeeded: value &>> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    /// Appends the CRC over everything so far, bound to `seed`.
    mutating func seal(seed: UInt32) {
        let sum = checksum(count: count, seed: seed)
        append(UInt8(truncatingIfNeeded: sum &>> 16))
        append(UInt8(truncatingIfNeeded: sum &>> 8))
        append(UInt8(truncatingIfNeeded: sum))
    }

    /// Whether the first `count` bytes are followed by their CRC of three bytes, bound to `seed`.
    func isSealed(count: Int, seed: UInt32) -> Bool {
        guard count + CRC24.byteCount <= FlashRecord.capacity else { return false }
        let sent = UInt32(bytes[count]) &<< 16 | UInt32(bytes[count + 1]) &<< 8 | UInt32(bytes[count + 2])
        return sent == checksum(count: count, seed: seed)
    }

    func readUInt32(at offset: Int) -> UInt32 {
        UInt32(bytes[offset]) &<< 24 | UInt32(bytes[offset + 1]) &<< 16 | UInt32(bytes[offset + 2]) &<< 8
            | UInt32(bytes[offset + 3])
    }

    /// Whether the first `count` bytes are erased.
    func isErased(count: Int) -> Bool {
        for index in 0..<count where bytes[index] != 0xFF { return false }
        return true
    }

    /// Whether the first `count` bytes of both records are the same.
    func isEqual(to other: FlashRecord, count: Int) -> Bool {
        for index in 0..<count where bytes[index] != other.bytes[index] { return false }
        return true
    }

    private func checksum(count: Int, seed: UInt32) -> UInt32 {
        var crc = CRC24()
        crc.update(bigEndian: seed)
        crc.update(bytes.span, from: 0, to: count)
        return crc.checksum
    }
}

extension FlashDevice {
    /// Reads `count` bytes, at most 40, until two readings in a row agree, so that one misreading does not make a record look
    /// torn or erased.
    /// - Throws: ``FlashError``, also if none of four readings agrees with the one before it.
    mutating func readRecord(at offset: Int, count: Int) throws(FlashError) -> FlashRecord {
        var record = try readOnce(at: offset, count: count)
        for _ in 0..<3 {
            let again = try readOnce(at: offset, count: count)
            if again.isEqual(to: record, count: count) { return again }
            record = again
        }
        throw .read(offset: offset)
    }

    private mutating func readOnce(at offset: Int, count: Int) throws(FlashError) -> FlashRecord {
        // Every reading has the length of the largest record. At the end of the flash it starts before `offset`.
        let start = min(offset, blockByteCount * blockCount - FlashRecord.capacity)
        let storage = try readBytes(at: start)
        var record = FlashRecord()
        for index in (offset - start)..<(offset - start + count) { record.append(storage[index]) }
        return record
    }

    private mutating func readBytes(at offset: Int) throws(FlashError) -> InlineArray<40, UInt8> {
        try InlineArray<40, UInt8> { (output: inout OutputSpan<UInt8>) throws(FlashError) in
            try self.read(at: offset, into: &output)
        }
    }

    mutating func program(_ record: FlashRecord, at offset: Int) throws(FlashError) {
        try program(record.bytes.span.extracting(0..<record.count), at: offset)
    }
}
