import CollarFirmware

/// A NOR flash in memory: programming only clears bits.
package struct MemoryFlash: FlashDevice, Sendable {
    /// Bytes in an erase block.
    package let blockByteCount: Int
    /// Erase blocks.
    package let blockCount: Int
    /// What the flash holds.
    package private(set) var contents: [UInt8]

    /// An erased flash.
    package init(blockByteCount: Int = 4096, blockCount: Int) {
        self.blockByteCount = blockByteCount
        self.blockCount = blockCount
        contents = [UInt8](repeating: 0xFF, count: blockByteCount * blockCount)
    }

    /// Appends the bytes from `offset` on until `output` is full.
    package func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        guard offset >= 0, offset + output.freeCapacity <= contents.count else { throw .read(offset: offset) }
        for index in offset..<(offset + output.freeCapacity) { output.append(contents[index]) }
    }

    /// Clears the bits that are clear in `bytes`.
    package mutating func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) {
        guard offset >= 0, offset + bytes.count <= contents.count else { throw .program(offset: offset) }
        for index in bytes.indices { contents[offset + index] &= bytes[index] }
    }

    /// Sets every bit of a block.
    package mutating func erase(block: Int) throws(FlashError) {
        guard block >= 0, block < blockCount else { throw .erase(block: block) }
        for index in (block * blockByteCount)..<((block + 1) * blockByteCount) { contents[index] = 0xFF }
    }
}
