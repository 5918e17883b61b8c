import CollarFirmware
import CollarSimulator

/// A flash that outlives its collar, and whose power can be cut between two bytes.
final class CuttableFlash: FlashDevice {
    private var memory: MemoryFlash
    /// Bytes that may still be programmed; nil for any number. An erase counts as one.
    var stepsLeft: Int?

    init(blockByteCount: Int, blockCount: Int) {
        memory = MemoryFlash(blockByteCount: blockByteCount, blockCount: blockCount)
    }

    var blockByteCount: Int { memory.blockByteCount }
    var blockCount: Int { memory.blockCount }

    func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        try memory.read(at: offset, into: &output)
    }

    func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) {
        let count = min(bytes.count, stepsLeft ?? bytes.count)
        try memory.program(bytes.extracting(0..<count), at: offset)
        if let left = stepsLeft { stepsLeft = left - count }
        if count < bytes.count { throw .program(offset: offset) }
    }

    func erase(block: Int) throws(FlashError) {
        if let left = stepsLeft {
            guard left > 0 else { throw .erase(block: block) }
            stepsLeft = left - 1
        }
        try memory.erase(block: block)
    }
}
