import CollarFirmware

/// A NOR flash in memory: programming only clears bits, erasing sets every bit of a block.
///
/// A flash in memory that also simulates power cuts or failures wraps a `MemoryFlash`.
package struct MemoryFlash: FlashDevice, Sendable {
    package let blockByteCount: Int
    package let blockCount: Int
    package private(set) var contents: [UInt8]

    package init(blockByteCount: Int = 4096, blockCount: Int) {
        self.blockByteCount = blockByteCount
        self.blockCount = blockCount
        contents = [UInt8](repeating: 0xFF, count: blockByteCount * blockCount)
    }

    package func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        guard holds(output.freeCapacity, at: offset) else { throw .read(offset: offset) }
        var index = offset
        while output.freeCapacity > 0 {
            output.append(contents[index])
            index += 1
        }
    }

    package mutating func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) {
        guard holds(bytes.count, at: offset) else { throw .program(offset: offset) }
        for index in bytes.indices { contents[offset + index] &= bytes[index] }
    }

    package mutating func erase(block: Int) throws(FlashError) {
        guard block >= 0, block < blockCount else { throw .erase(block: block) }
        change(bytes(ofBlock: block)) { _ in 0xFF }
    }

    /// Whether the flash has `count` bytes at `offset`.
    package func holds(_ count: Int, at offset: Int) -> Bool { offset >= 0 && offset + count <= contents.count }

    package func bytes(ofBlock block: Int) -> Range<Int> { (block * blockByteCount)..<((block + 1) * blockByteCount) }

    /// Changes bytes in a way that no complete flash operation does, to simulate decay or an interrupted erase.
    package mutating func change(_ range: Range<Int>, _ change: (UInt8) -> UInt8) {
        var index = range.lowerBound
        while index < range.upperBound {
            contents[index] = change(contents[index])
            index += 1
        }
    }
}
