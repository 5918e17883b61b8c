import CollarFirmware
import CollarSimulator
import CollarWire

/// A ``MemoryFlash`` whose power can be cut at any step, and whose operations can be made to fail.
///
/// Programming a byte is one step; erasing half a block is one step.
struct TestFlash: FlashDevice {
    /// An operation, and how many of its steps were done.
    enum Operation: Equatable {
        case program(done: Int, of: Int)
        case erase(done: Int)
    }

    private var memory: MemoryFlash
    /// The operations since the last call of ``clearHistory()``.
    private(set) var history: [Operation] = []
    /// Steps until the power is cut; nil for never.
    var stepsLeft: Int?
    /// Whether an interrupted erase erases only the back half of its block; otherwise it erases only the front half.
    var erasesFromBack = false
    /// How many of the next programs and reads fail. A failing program still programs `failedProgramByteCount` bytes.
    var failingPrograms = 0
    var failedProgramByteCount = 0
    var failingReads = 0
    /// How many programs succeed before those that fail.
    var programsBeforeFailure = 0
    /// How many reads succeed before a misreading; nil for no misreading.
    var readsBeforeMisread: Int?
    var misread = Misread.zeros

    /// The wrong bytes that a misreading returns without an error.
    enum Misread: CaseIterable {
        case zeros, ones, flippedBits

        func byte(insteadOf byte: UInt8) -> UInt8 {
            switch self {
            case .zeros: 0
            case .ones: 0xFF
            case .flippedBits: byte ^ 0x10
            }
        }
    }

    init(blockByteCount: Int = 512, blockCount: Int = 7) {
        memory = MemoryFlash(blockByteCount: blockByteCount, blockCount: blockCount)
    }

    var blockByteCount: Int { memory.blockByteCount }
    var blockCount: Int { memory.blockCount }
    var contents: [UInt8] { memory.contents }

    var stepCount: Int {
        history.reduce(0) { sum, operation in
            switch operation {
            case .program(let done, _), .erase(let done): sum + done
            }
        }
    }

    mutating func clearHistory() { history = [] }

    /// The flash after the power has returned, with an empty history.
    var withPower: TestFlash {
        var flash = self
        flash.stepsLeft = nil
        flash.clearHistory()
        return flash
    }

    /// How many of `wanted` steps are done before the power is cut.
    private mutating func stepsGranted(of wanted: Int) -> Int {
        guard let left = stepsLeft else { return wanted }
        let granted = min(wanted, left)
        stepsLeft = left - granted
        return granted
    }

    mutating func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        guard failingReads == 0 else {
            failingReads -= 1
            throw .read(offset: offset)
        }
        let isMisread = readsBeforeMisread == 0
        readsBeforeMisread = readsBeforeMisread.flatMap { $0 > 0 ? $0 - 1 : nil }
        var read = memory
        if isMisread { read.change(offset..<(offset + output.freeCapacity)) { misread.byte(insteadOf: $0) } }
        try read.read(at: offset, into: &output)
    }

    /// Changes bytes, as decay or another writer does.
    mutating func overwrite(_ range: Range<Int>, _ change: (UInt8) -> UInt8) { memory.change(range, change) }

    mutating func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) {
        let isFailing = failingPrograms > 0 && programsBeforeFailure == 0
        if isFailing { failingPrograms -= 1 } else { programsBeforeFailure = max(0, programsBeforeFailure - 1) }
        let limit = isFailing ? min(failedProgramByteCount, bytes.count) : bytes.count
        let done = stepsGranted(of: limit)
        try memory.program(bytes.extracting(0..<done), at: offset)
        history.append(.program(done: done, of: bytes.count))
        guard !isFailing, done == bytes.count else { throw .program(offset: offset) }
    }

    mutating func erase(block: Int) throws(FlashError) {
        let done = stepsGranted(of: 2)
        history.append(.erase(done: done))
        if done == 2 { return try memory.erase(block: block) }
        let (range, half) = (memory.bytes(ofBlock: block), blockByteCount / 2)
        if done == 1 { memory.change(erasesFromBack ? range.dropFirst(half) : range.prefix(half)) { _ in 0xFF } }
        throw .erase(block: block)
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

/// Losses of data in the two blocks of the settings store.
extension TestFlash {
    /// A loss of data in a block.
    enum Loss: CaseIterable {
        case erased, cleared, withoutHeader, withoutHeaderMark
    }

    mutating func lose(_ loss: Loss, block: Int) {
        let start = block * blockByteCount
        let end = start + blockByteCount
        switch loss {
        case .erased: overwrite(start..<end) { _ in 0xFF }
        case .cleared: overwrite(start..<end) { _ in 0 }
        case .withoutHeader: overwrite(start..<(start + 16)) { _ in 0 }
        case .withoutHeaderMark: overwrite(start..<(start + 1)) { $0 & 0xF0 }
        }
    }

    /// The block with the higher generation. An erased block has no generation.
    var newestSettingsBlock: Int {
        let generations = (0..<2).map { block in
            contents[(block * blockByteCount + 4)..<(block * blockByteCount + 8)].reduce(0) { $0 << 8 | Int($1) }
        }
        return generations[0] == 0xFFFF_FFFF || generations[1] != 0xFFFF_FFFF && generations[1] > generations[0] ? 1 : 0
    }
}

/// A fix whose fields all follow from its number. In some fixes a field is unknown or is coded with an escape.
func fix(_ number: UInt32, sequence: UInt32? = nil) -> Fix {
    let small = Int32(truncatingIfNeeded: number % 997)
    return Fix(
        sequence: sequence ?? number, unixMilliseconds: 1_700_000_000_000 + Int64(number) * 1000 + Int64(number % 3),
        latitudeSteps: 4_800_000 + small, longitudeSteps: -12_200_000 - small,
        altitudeSteps: number % 5 == 0 ? nil : (number % 7 == 0 ? 20_000 : small),
        horizontalAccuracy: AccuracyCode(rawValue: UInt8(small % 120)),
        speedDecimetersPerSecond: number % 4 == 0 ? nil : UInt32(small), batteryPercent: UInt8(small % 101))
}

let logID: LogID = 0x2AB_CDEF
let otherLogID: LogID = 0x2AB_CDEE
let firstLogBlock = 4

func mountLog(_ flash: inout TestFlash, logID id: LogID = logID) throws(FlashError) -> FixLog<TestFlash> {
    try FixLog(mounting: &flash, firstBlock: firstLogBlock, logID: id)
}

/// A flash with the fixes 0 ..< `count` in its log.
func flash(holding count: UInt32, blockCount: Int = 7) throws -> TestFlash {
    var flash = TestFlash(blockCount: blockCount)
    var log = try mountLog(&flash)
    for number in 0..<count { _ = try log.append(fix(number), to: &flash) }
    flash.clearHistory()
    return flash
}

extension FixLog {
    mutating func append(_ fix: Fix, to flash: inout Flash) throws(FixLogError) -> UInt32 { try append(.fix(fix), to: &flash) }
}
