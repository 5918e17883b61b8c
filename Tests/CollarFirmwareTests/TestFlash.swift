import CollarFirmware

/// A NOR flash in memory whose power can be cut at any step, and whose operations can be made to fail.
///
/// A byte programmed is one step, half a block erased is one step.
struct TestFlash: FlashDevice {
    /// What was done, and how far it came.
    enum Operation: Equatable {
        case program(done: Int, of: Int)
        case erase(done: Int)
    }

    let blockByteCount: Int
    let blockCount: Int
    private(set) var contents: [UInt8]
    /// What was done since the last call of ``clearHistory()``.
    private(set) var history: [Operation] = []
    /// Steps until the power is cut; nil for never.
    var stepsLeft: Int?
    /// Whether a cut erase leaves the front of the block as it was, or its back.
    var erasesFromBack = false
    /// How many of the next operations of a kind fail: programs behind so many bytes, reads at once.
    var failingPrograms = 0
    var failedProgramByteCount = 0
    var failingReads = 0
    /// How many programs go well before those that fail.
    var programsBeforeFailure = 0
    /// How many reads go well before one that returns something else; nil for no such read.
    var readsBeforeMisread: Int?
    var misread = Misread.zeros

    /// What a read returns that goes wrong without a word.
    enum Misread: CaseIterable {
        case zeros, ones, flippedBits
    }

    init(blockByteCount: Int = 512, blockCount: Int = 5) {
        self.blockByteCount = blockByteCount
        self.blockCount = blockCount
        contents = [UInt8](repeating: 0xFF, count: blockByteCount * blockCount)
    }

    var stepCount: Int {
        history.reduce(0) { sum, operation in
            switch operation {
            case .program(let done, _), .erase(let done): sum + done
            }
        }
    }

    mutating func clearHistory() { history = [] }

    /// What the flash holds when the power is back.
    var withPower: TestFlash {
        var flash = self
        flash.stepsLeft = nil
        flash.clearHistory()
        return flash
    }

    private mutating func takeStep() -> Bool {
        guard let left = stepsLeft else { return true }
        guard left > 0 else { return false }
        stepsLeft = left - 1
        return true
    }

    mutating func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        guard failingReads == 0, offset >= 0, offset + output.freeCapacity <= contents.count else {
            failingReads = max(0, failingReads - 1)
            throw .read(offset: offset)
        }
        let isMisread = readsBeforeMisread == 0
        readsBeforeMisread = readsBeforeMisread.flatMap { $0 > 0 ? $0 - 1 : nil }
        for index in offset..<(offset + output.freeCapacity) {
            switch misread {
            case .zeros where isMisread: output.append(0)
            case .ones where isMisread: output.append(0xFF)
            case .flippedBits where isMisread: output.append(contents[index] ^ 0x10)
            default: output.append(contents[index])
            }
        }
    }

    /// Bytes decay, or somebody else writes them.
    mutating func overwrite(_ range: Range<Int>, _ change: (UInt8) -> UInt8) {
        for index in range { contents[index] = change(contents[index]) }
    }

    mutating func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) {
        guard offset >= 0, offset + bytes.count <= contents.count else { throw .program(offset: offset) }
        let isFailing = failingPrograms > 0 && programsBeforeFailure == 0
        let limit = isFailing ? min(failedProgramByteCount, bytes.count) : bytes.count
        if isFailing { failingPrograms -= 1 } else { programsBeforeFailure = max(0, programsBeforeFailure - 1) }
        for index in 0..<limit {
            guard takeStep() else {
                history.append(.program(done: index, of: bytes.count))
                throw .program(offset: offset)
            }
            contents[offset + index] &= bytes[index]
        }
        guard !isFailing else {
            history.append(.program(done: limit, of: bytes.count))
            throw .program(offset: offset)
        }
        history.append(.program(done: bytes.count, of: bytes.count))
    }

    mutating func erase(block: Int) throws(FlashError) {
        guard block >= 0, block < blockCount else { throw .erase(block: block) }
        let half = blockByteCount / 2
        for part in 0..<2 {
            guard takeStep() else {
                history.append(.erase(done: part))
                throw .erase(block: block)
            }
            let start = block * blockByteCount + ((part == 0) == erasesFromBack ? half : 0)
            for index in start..<(start + half) { contents[index] = 0xFF }
        }
        history.append(.erase(done: 2))
    }
}

/// A flash that a collar and its test share.
final class SharedFlash: FlashDevice {
    var flash: TestFlash

    init(_ flash: TestFlash = TestFlash()) { self.flash = flash }

    var blockByteCount: Int { flash.blockByteCount }
    var blockCount: Int { flash.blockCount }

    func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        try flash.read(at: offset, into: &output)
    }

    func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) { try flash.program(bytes, at: offset) }

    func erase(block: Int) throws(FlashError) { try flash.erase(block: block) }
}
