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
