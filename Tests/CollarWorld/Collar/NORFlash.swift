import CollarFirmware
import CollarSimulator

/// A NOR flash that outlives its collar: it tears programs and erases at a power cut, wears, and knows when it is
/// misused.
package final class NORFlash: FlashDevice {
    /// Bytes in an erase block.
    package let blockByteCount: Int
    /// Erase blocks.
    package let blockCount: Int
    /// What the flash holds.
    package private(set) var contents: [UInt8]
    /// Erases of each block.
    package private(set) var eraseCounts: [Int]
    /// Steps done so far: a programmed byte is one, an erase ``eraseSteps``.
    package private(set) var stepCount = 0
    /// Steps until the power fails; nil for never. 0 fails with the next step.
    package var stepsUntilPowerCut: Int?
    /// Steps from the start of the next erase until the power fails; nil for never. Erases are rare, and what follows
    /// one is where most can go wrong.
    package var stepsFromEraseUntilPowerCut: Int?
    /// Whether the power has failed. Nothing works until ``restorePower()``.
    package private(set) var isPowerLost = false
    /// Probability that a program or erase fails half done while the power stays.
    package var failureProbability = 0.0
    /// The first byte that was programmed without having been erased; nil where none was. NOR flash would keep the
    /// bits of both.
    package private(set) var programmedTwice: Int?
    /// Block of the last program behind the first two; nil where there was none.
    package private(set) var lastLogBlock: Int?
    private var random: SeededRandom

    /// Steps an erase takes.
    package static let eraseSteps = 8

    /// An erased flash; what a power cut leaves comes from the seed.
    package init(blockByteCount: Int, blockCount: Int, seed: UInt64) {
        self.blockByteCount = blockByteCount
        self.blockCount = blockCount
        contents = [UInt8](repeating: 0xFF, count: blockByteCount * blockCount)
        eraseCounts = [Int](repeating: 0, count: blockCount)
        random = SeededRandom(seed: seed)
    }

    /// The power is back.
    package func restorePower() {
        isPowerLost = false
        stepsUntilPowerCut = nil
        stepsFromEraseUntilPowerCut = nil
    }

    /// Appends the bytes from `offset` on until `output` is full.
    package func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        guard !isPowerLost, offset >= 0, offset + output.freeCapacity <= contents.count else {
            throw .read(offset: offset)
        }
        for index in offset..<(offset + output.freeCapacity) { output.append(contents[index]) }
    }

    /// Clears the bits that are clear in `bytes`; at a power cut a prefix, and some bits of the byte behind it.
    package func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) {
        guard !isPowerLost, offset >= 0, offset + bytes.count <= contents.count else {
            throw .program(offset: offset)
        }
        let done = stepsGranted(of: bytes.count)
        for index in 0..<done {
            if contents[offset + index] != 0xFF, programmedTwice == nil { programmedTwice = offset + index }
            contents[offset + index] &= bytes[index]
        }
        let block = offset / blockByteCount
        if block >= 2 { lastLogBlock = block }
        guard done < bytes.count else { return }
        contents[offset + done] &= bytes[done] | UInt8(truncatingIfNeeded: random.next())
        throw .program(offset: offset)
    }

    /// Sets every bit of a block; at a power cut any mixture of old and erased is left.
    package func erase(block: Int) throws(FlashError) {
        guard !isPowerLost, block >= 0, block < blockCount else { throw .erase(block: block) }
        if let steps = stepsFromEraseUntilPowerCut {
            stepsUntilPowerCut = steps
            stepsFromEraseUntilPowerCut = nil
        }
        let done = stepsGranted(of: NORFlash.eraseSteps)
        let start = block * blockByteCount
        guard done < NORFlash.eraseSteps else {
            for index in start..<(start + blockByteCount) { contents[index] = 0xFF }
            eraseCounts[block] += 1
            return
        }
        if done > 0 { leaveHalfErased(start..<(start + blockByteCount)) }
        throw .erase(block: block)
    }

    private func leaveHalfErased(_ range: Range<Int>) {
        switch random.below(3) {
        case 0:
            let end = range.lowerBound + random.below(range.count)
            for index in range.lowerBound..<end { contents[index] = 0xFF }
        case 1:
            let end = range.lowerBound + random.below(range.count)
            for index in end..<range.upperBound { contents[index] = 0xFF }
        default:
            for index in range { contents[index] |= UInt8(truncatingIfNeeded: random.next() | random.next()) }
        }
    }

    /// How many of `wanted` steps are done before something fails.
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

    /// The power fails now, between two steps.
    package func losePower() { isPowerLost = true }

    /// Every bit is set, as by a tool of the factory.
    package func wipe() {
        for index in contents.indices { contents[index] = 0xFF }
        lastLogBlock = nil
    }

    /// Bits of the head of a block are lost.
    package func decay(block: Int) {
        let start = block * blockByteCount
        for index in start..<(start + 64) { contents[index] &= UInt8(truncatingIfNeeded: random.next()) }
    }
}
