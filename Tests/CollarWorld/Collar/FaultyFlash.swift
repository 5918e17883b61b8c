import CollarFirmware
import CollarSimulator

/// A ``MemoryFlash`` that outlives its collar. At a power cut it tears programs and erases, and it notices misuse.
package final class FaultyFlash: FlashDevice {
    private var memory: MemoryFlash
    /// Number of steps done so far: programming a byte is one step, an erase takes ``eraseSteps``.
    package private(set) var stepCount = 0
    /// Steps until the power fails; nil for never. With 0 the next step fails.
    package var stepsUntilPowerCut: Int?
    /// Steps from the start of the next erase until the power fails; nil for never. Erases are rare, and most can go wrong in
    /// or just after one.
    package var stepsFromEraseUntilPowerCut: Int?
    /// Whether the power has failed. Nothing works until ``restorePower()``.
    package private(set) var isPowerLost = false
    /// Probability that a program or erase fails half done while the power stays.
    package var failureProbability = 0.0
    /// The offset of the first byte that was programmed without an erase before; nil if there is none. In NOR flash such a byte
    /// keeps the zero bits of both programs.
    package private(set) var programmedTwice: Int?
    /// The block of the last program outside the first four blocks, which hold settings and key; nil if there was none.
    package private(set) var lastLogBlock: Int?
    private var random: SeededRandom

    /// Steps that an erase takes.
    package static let eraseSteps = 8

    /// Creates an erased flash; the seed decides what a power cut leaves.
    package init(blockByteCount: Int, blockCount: Int, seed: UInt64) {
        memory = MemoryFlash(blockByteCount: blockByteCount, blockCount: blockCount)
        random = SeededRandom(seed: seed)
    }

    /// Bytes in an erase block.
    package var blockByteCount: Int { memory.blockByteCount }
    /// Erase blocks.
    package var blockCount: Int { memory.blockCount }
    /// The contents of the flash.
    package var contents: [UInt8] { memory.contents }

    /// The power fails now, between two steps.
    package func losePower() { isPowerLost = true }

    /// The power is back.
    package func restorePower() {
        isPowerLost = false
        stepsUntilPowerCut = nil
        stepsFromEraseUntilPowerCut = nil
    }

    /// Appends stored bytes to `output`, beginning with the one at `offset`, until `output` is full.
    package func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        guard !isPowerLost else { throw .read(offset: offset) }
        try memory.read(at: offset, into: &output)
    }

    /// Clears the stored bits that are 0 in `bytes`. A power cut or failure leaves a prefix, and some bits of the byte after
    /// it.
    package func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) {
        guard !isPowerLost, memory.holds(bytes.count, at: offset) else { throw .program(offset: offset) }
        let done = stepsGranted(of: bytes.count)
        if programmedTwice == nil {
            programmedTwice = (offset..<(offset + done)).first { memory[$0] != 0xFF }
        }
        try memory.program(bytes.extracting(0..<done), at: offset)
        let block = offset / blockByteCount
        if block >= 4 { lastLogBlock = block }
        guard done < bytes.count else { return }
        let torn = bytes[done] | UInt8(truncatingIfNeeded: random.next())
        memory.change((offset + done)..<(offset + done + 1)) { $0 & torn }
        throw .program(offset: offset)
    }

    /// Sets every bit of a block. A power cut or failure can leave a mixture of old and erased bits.
    package func erase(block: Int) throws(FlashError) {
        guard !isPowerLost else { throw .erase(block: block) }
        if let steps = stepsFromEraseUntilPowerCut {
            stepsUntilPowerCut = steps
            stepsFromEraseUntilPowerCut = nil
        }
        let done = stepsGranted(of: FaultyFlash.eraseSteps)
        if done == FaultyFlash.eraseSteps { return try memory.erase(block: block) }
        if done > 0 { leaveHalfErased(memory.bytes(ofBlock: block)) }
        throw .erase(block: block)
    }

    private func leaveHalfErased(_ range: Range<Int>) {
        switch random.below(3) {
        case 0: memory.change(range.prefix(random.below(range.count))) { _ in 0xFF }
        case 1: memory.change(range.dropFirst(random.below(range.count))) { _ in 0xFF }
        default: memory.change(range) { $0 | UInt8(truncatingIfNeeded: random.next() | random.next()) }
        }
    }

    /// How many of `wanted` steps are done before the power or the operation fails.
    private func stepsGranted(of wanted: Int) -> Int {
        var granted = wanted
        if let left = stepsUntilPowerCut {
            granted = min(wanted, left)
            stepsUntilPowerCut = left - granted
            isPowerLost = granted < wanted
        }
        if !isPowerLost, failureProbability > 0, random.chance(failureProbability) { granted = random.below(wanted) }
        stepCount += granted
        return granted
    }

    /// Sets every bit of the flash, as a tool in the factory does.
    package func wipe() {
        memory = MemoryFlash(blockByteCount: blockByteCount, blockCount: blockCount)
        lastLogBlock = nil
    }

    /// Clears random bits at the start of a block.
    package func decay(block: Int) {
        memory.change(memory.bytes(ofBlock: block).prefix(64)) { $0 & UInt8(truncatingIfNeeded: random.next()) }
    }
}
