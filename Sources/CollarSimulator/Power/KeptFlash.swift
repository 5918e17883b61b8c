import CollarFirmware

/// A flash in memory that outlives the collar: a reboot finds what the boot before has stored.
package struct KeptFlash: FlashDevice {
    private final class Memory {
        var flash: MemoryFlash
        init(_ flash: MemoryFlash) { self.flash = flash }
    }

    private let memory: Memory

    package init(blockCount: Int) { memory = Memory(MemoryFlash(blockCount: blockCount)) }

    package var blockByteCount: Int { memory.flash.blockByteCount }
    package var blockCount: Int { memory.flash.blockCount }

    package func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        try memory.flash.read(at: offset, into: &output)
    }

    package func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) { try memory.flash.program(bytes, at: offset) }

    package func erase(block: Int) throws(FlashError) { try memory.flash.erase(block: block) }
}
