import CollarFirmware

/// A NOR flash in memory: programming only clears bits, erasing sets every bit of a block.
///
/// A flash in memory that also simulates power cuts or failures wraps a `MemoryFlash`. A `MemoryFlash` takes memory up to the last
/// byte that was changed, so that many collars can have large flashes.
package struct MemoryFlash: FlashDevice, Sendable {
    package let blockByteCount: Int
    package let blockCount: Int
    /// The bytes up to the last one that was changed; all others are erased.
    private var stored: [UInt8] = []

    package init(blockByteCount: Int = 4096, blockCount: Int) {
        self.blockByteCount = blockByteCount
        self.blockCount = blockCount
    }

    private var byteCount: Int { blockByteCount * blockCount }

    package var contents: [UInt8] { stored + [UInt8](repeating: 0xFF, count: byteCount - stored.count) }

    package subscript(offset: Int) -> UInt8 { offset < stored.count ? stored[offset] : 0xFF }

    package func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        guard holds(output.freeCapacity, at: offset) else { throw .read(offset: offset) }
        var index = offset
        while output.freeCapacity > 0 {
            output.append(self[index])
            index += 1
        }
    }

    package mutating func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) {
        guard holds(bytes.count, at: offset) else { throw .program(offset: offset) }
        store(offset + bytes.count)
        for index in bytes.indices { stored[offset + index] &= bytes[index] }
    }

    package mutating func erase(block: Int) throws(FlashError) {
        guard block >= 0, block < blockCount else { throw .erase(block: block) }
        change(bytes(ofBlock: block)) { _ in 0xFF }
    }

    /// Whether the flash has `count` bytes at `offset`.
    package func holds(_ count: Int, at offset: Int) -> Bool { offset >= 0 && offset + count <= byteCount }

    package func bytes(ofBlock block: Int) -> Range<Int> { (block * blockByteCount)..<((block + 1) * blockByteCount) }

    /// Changes bytes in a way that no complete flash operation does, to simulate decay or an interrupted erase.
    package mutating func change(_ range: Range<Int>, _ change: (UInt8) -> UInt8) {
        store(range.upperBound)
        var index = range.lowerBound
        while index < range.upperBound {
            stored[index] = change(stored[index])
            index += 1
        }
    }

    /// Takes memory for the first `count` bytes.
    private mutating func store(_ count: Int) {
        while stored.count < count { stored.append(0xFF) }
    }
}
