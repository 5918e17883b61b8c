import CollarFirmware

/// NOR flash in the board's PSRAM, which the emulator keeps in a file: erased bytes are 0xFF, programming clears bits, a block
/// is erased as a whole. A power cut tears what is being written.
public struct BoardFlash: FlashDevice {
    /// Bytes in an erase block.
    public var blockByteCount: Int { 4096 }
    /// Number of erase blocks.
    public var blockCount: Int { 256 }

    /// The flash of this board; there is one.
    public init() {}

    /// Appends the bytes from `offset` on until `output` is full.
    public mutating func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        guard isInside(offset, output.freeCapacity) else { throw .read(offset: offset) }
        var place = FactoryBlocks.byteCount + offset
        while output.freeCapacity > 0 {
            output.append(Memory[place])
            place += 1
        }
    }

    /// Clears the bits that are 0 in `bytes`.
    public mutating func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) {
        guard isInside(offset, bytes.count) else { throw .program(offset: offset) }
        for index in bytes.indices { Memory[FactoryBlocks.byteCount + offset + index] &= bytes[index] }
    }

    /// Sets the bytes of one block to 0xFF.
    public mutating func erase(block: Int) throws(FlashError) {
        guard block >= 0, block < blockCount else { throw .erase(block: block) }
        let start = FactoryBlocks.byteCount + block * blockByteCount
        for place in start..<(start + blockByteCount) { Memory[place] = 0xFF }
    }

    private func isInside(_ offset: Int, _ count: Int) -> Bool {
        offset >= 0 && offset + count <= blockByteCount * blockCount
    }
}
