import CollarWire

/// An entry of a collar's log.
public enum LogEntry: Equatable, Sendable {
    /// A fix.
    case fix(Fix)
    /// A message of the application.
    case message(ApplicationMessage)
}

/// The collar's persistent log of fixes and messages: a ring of erase blocks. The sequence of an entry is its index in this log.
///
/// Every block holds the same number of slots, so the place of an entry follows from its sequence: block
/// `sequence / slotsPerBlock` around the ring, slot `sequence % slotsPerBlock`. A slot has one byte of kind and length, the
/// absolute form of the fix or the message, and a CRC bound to log and sequence. When the ring is full, its oldest block is erased
/// for new entries.
///
/// A slot that a power cut tore is used up: its sequence is never given to another entry. A slot in which a failed write left
/// nothing is not used up: the next mount would find the slot erased and give its sequence to an entry, even if the collar had
/// reported that sequence as lost.
public struct FixLog<Flash: FlashDevice> {
    /// Bytes of a slot: kind and length, at most 31 bytes of fix or 30 of message, CRC, and a spare byte for alignment.
    static var slotByteCount: Int { 36 }
    /// Set in the first byte of a slot that holds a message.
    private static var messageMark: UInt8 { 0x40 }
    /// Bytes of a block's header: mark, log id and whether the collar has a key, first sequence, boot count, CRC, padding.
    static var headerByteCount: Int { 20 }
    private static var headerMark: UInt32 { 0x434C_4632 }
    /// Set in the word of the log id if the collar had a key.
    private static var keyedBit: UInt32 { 1 &<< 31 }

    private let firstBlock: Int
    private let ringBlockCount: Int
    private let slotsPerBlock: UInt32
    private let logID: LogID
    private let marks: LogBlockMarks
    /// The block that is written to, counted from the start of the log; nil before the first fix.
    private var currentBlockNumber: UInt32?
    /// Whether a write to the next slot failed and the slot has not been read since.
    private var isNextSlotInDoubt = false

    /// The oldest sequence still in the log; equal to ``nextSequence`` if the log is empty.
    public private(set) var oldestSequence: UInt32 = 0
    /// The sequence that the next entry of the log will get.
    public private(set) var nextSequence: UInt32 = 0

    /// Finds the log of this id in the blocks from `firstBlock` to the end of the flash. A ring that is erased or belongs to
    /// another log is an empty log.
    ///
    /// Sequences below `usedSequences` are known to be used up; if a block that held some of them has decayed, they are not
    /// given out again.
    ///
    /// The blocks that are begun from now on note `marks`.
    ///
    /// Complexity: reads the header of every block and the slots of one.
    @inline(never) public init(
        mounting flash: inout Flash, firstBlock: Int, logID: LogID, usedSequences: UInt32 = 0,
        marks: LogBlockMarks = LogBlockMarks(bootCount: 0, isKeyed: false)
    ) throws(FlashError) {
        self.firstBlock = firstBlock
        self.logID = logID
        self.marks = marks
        ringBlockCount = flash.blockCount - firstBlock
        precondition(ringBlockCount >= 2, "a log needs two blocks to go round")
        slotsPerBlock = UInt32((flash.blockByteCount - Self.headerByteCount) / Self.slotByteCount)
        try findNewestBlock(in: &flash)
        if nextSequence < usedSequences {
            // Only an append to the first slot opens a block, so the log continues at the start of a block.
            nextSequence = startOfBlock(after: usedSequences) ?? .max
        }
        // Without a block, all earlier fixes are gone: else each would be reported as lost in a tombstone of its own.
        if currentBlockNumber == nil { oldestSequence = nextSequence }
    }

    /// The least number of fixes that the flash holds before the oldest are overwritten.
    public var capacity: UInt32 { slotsPerBlock * UInt32(ringBlockCount - 1) }

    private mutating func findNewestBlock(in flash: inout Flash) throws(FlashError) {
        for place in 0..<ringBlockCount {
            guard let number = try blockNumber(at: place, in: &flash) else { continue }
            if let newest = currentBlockNumber, newest >= number { continue }
            currentBlockNumber = number
        }
        guard let newest = currentBlockNumber else { return }
        nextSequence = newest * slotsPerBlock + (try usedSlotCount(of: newest, in: &flash))
        var oldest = newest
        while oldest > 0, newest - oldest + 1 < UInt32(ringBlockCount),
            try blockNumber(at: place(of: oldest - 1), in: &flash) == oldest - 1
        {
            oldest -= 1
        }
        oldestSequence = oldest * slotsPerBlock
    }

    /// The number of the block at a place of the ring, from its header; nil if there is no header of this log.
    private func blockNumber(at place: Int, in flash: inout Flash) throws(FlashError) -> UInt32? {
        guard let header = try Self.header(at: offset(ofPlace: place, in: flash), in: &flash),
            header.readUInt32(at: 4) & ~Self.keyedBit == logID.rawValue
        else { return nil }
        let first = header.readUInt32(at: 8)
        guard first % slotsPerBlock == 0, self.place(of: first / slotsPerBlock) == place else { return nil }
        return first / slotsPerBlock
    }

    /// The header of a block, whatever its log; nil if there is none.
    private static func header(at offset: Int, in flash: inout Flash) throws(FlashError) -> FlashRecord? {
        let header = try flash.readRecord(at: offset, count: headerByteCount)
        return header.readUInt32(at: 0) == headerMark && header.isSealed(count: 16, seed: 0) ? header : nil
    }

    /// The highest boot count that a block from `firstBlock` on notes, and whether any block notes a key; nil if there is no
    /// block. The blocks of all logs count.
    ///
    /// Complexity: reads the header of every block.
    static func marks(in flash: inout Flash, firstBlock: Int) throws(FlashError) -> LogBlockMarks? {
        var found: LogBlockMarks?
        for block in firstBlock..<flash.blockCount {
            guard let header = try header(at: block * flash.blockByteCount, in: &flash) else { continue }
            found = LogBlockMarks(
                bootCount: max(found?.bootCount ?? 0, header.readUInt32(at: 12)),
                isKeyed: found?.isKeyed ?? false || header.readUInt32(at: 4) & keyedBit != 0)
        }
        return found
    }

    /// Begins a new block, so that the present marks become durable. Sequences that are left over in the block before are used
    /// up.
    mutating func beginBlock(in flash: inout Flash) throws(FlashError) {
        guard let next = startOfBlock(after: nextSequence) else { return }
        try openBlock(next / slotsPerBlock, in: &flash)
        nextSequence = next
    }

    /// The first sequence of a block that is not below `sequence`; nil if no block begins there.
    private func startOfBlock(after sequence: UInt32) -> UInt32? {
        guard sequence > 0 else { return 0 }
        let (next, isBeyond) = ((sequence - 1) / slotsPerBlock + 1).multipliedReportingOverflow(by: slotsPerBlock)
        return isBeyond ? nil : next
    }

    private func usedSlotCount(of block: UInt32, in flash: inout Flash) throws(FlashError) -> UInt32 {
        var count = min(slotsPerBlock, Fix.maximumSequence - block * slotsPerBlock + 1)
        while count > 0 {
            let sequence = block * slotsPerBlock + count - 1
            let record = try flash.readRecord(at: offset(of: sequence, in: flash), count: Self.slotByteCount)
            guard record.isErased(count: Self.slotByteCount) else { return count }
            count -= 1
        }
        return 0
    }

    private func place(of block: UInt32) -> Int { Int(block % UInt32(ringBlockCount)) }

    private func offset(ofPlace place: Int, in flash: Flash) -> Int { (firstBlock + place) * flash.blockByteCount }

    private func offset(of sequence: UInt32, in flash: Flash) -> Int {
        offset(ofPlace: place(of: sequence / slotsPerBlock), in: flash) + Self.headerByteCount
            + Int(sequence % slotsPerBlock) * Self.slotByteCount
    }

    /// Writes an entry durably and gives it the next sequence. The sequence in a fix is ignored.
    /// - Returns: the sequence that the entry got.
    /// - Throws: ``FixLogError``. After a failed write the sequence is used up if the write left anything in its slot.
    public mutating func append(_ entry: LogEntry, to flash: inout Flash) throws(FixLogError) -> UInt32 {
        do throws(FlashError) { try passTornSlot(in: &flash) } catch { throw .flash(error) }
        let sequence = nextSequence
        guard sequence <= Fix.maximumSequence else { throw .full }
        var record: FlashRecord
        do throws(EncodeError) { record = try slot(of: entry, sequence) } catch { throw .encoding(error) }
        do throws(FlashError) {
            if sequence % slotsPerBlock == 0 { try openBlock(sequence / slotsPerBlock, in: &flash) }
            isNextSlotInDoubt = true
            try flash.program(record, at: offset(of: sequence, in: flash))
        } catch {
            // If the slot cannot be read now, the next append reads it. Until then nothing is sent about its sequence.
            do throws(FlashError) { try passTornSlot(in: &flash) } catch { throw .flash(error) }
            throw .flash(error)
        }
        isNextSlotInDoubt = false
        nextSequence = sequence + 1
        return sequence
    }

    /// After a failed write the next sequence is used up if its slot is not erased, because the next mount will count the slot
    /// as used.
    private mutating func passTornSlot(in flash: inout Flash) throws(FlashError) {
        guard isNextSlotInDoubt else { return }
        let record = try flash.readRecord(at: offset(of: nextSequence, in: flash), count: Self.slotByteCount)
        if !record.isErased(count: Self.slotByteCount) { nextSequence += 1 }
        isNextSlotInDoubt = false
    }

    private func slot(of entry: LogEntry, _ sequence: UInt32) throws(EncodeError) -> FlashRecord {
        var payload = BitWriter()
        var mark: UInt8 = 0
        switch entry {
        case .fix(var fix):
            fix.sequence = sequence
            try AbsoluteFix.writePayload(of: fix, wideSequence: true, into: &payload)
        case .message(let message):
            message.write(into: &payload)
            mark = Self.messageMark
        }
        var record = FlashRecord()
        let count = (payload.bitCount + 7) / 8
        let bytes = try InlineArray<31, UInt8> { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try payload.finish(into: &output)
            while output.freeCapacity > 0 { output.append(0xFF) }
        }
        record.append(UInt8(count) | mark)
        for index in 0..<count { record.append(bytes[index]) }
        record.seal(seed: logID.rawValue &+ sequence &* 2_654_435_769)
        return record
    }

    private mutating func openBlock(_ number: UInt32, in flash: inout Flash) throws(FlashError) {
        let place = place(of: number)
        if number >= UInt32(ringBlockCount) {
            let oldestKept = (number - UInt32(ringBlockCount) + 1) * slotsPerBlock
            if oldestSequence < oldestKept { oldestSequence = oldestKept }
        }
        try flash.erase(block: firstBlock + place)
        var header = FlashRecord()
        header.append(bigEndian: Self.headerMark)
        header.append(bigEndian: logID.rawValue | (marks.isKeyed ? Self.keyedBit : 0))
        header.append(bigEndian: number * slotsPerBlock)
        header.append(bigEndian: marks.bootCount)
        header.seal(seed: 0)
        try flash.program(header, at: offset(ofPlace: place, in: flash))
        currentBlockNumber = number
    }

    /// The fix of this sequence; nil if it was overwritten, torn, or not written yet, or if the entry is a message.
    public func fix(_ sequence: UInt32, in flash: inout Flash) throws(FlashError) -> Fix? {
        if case .fix(let fix) = try entry(sequence, in: &flash) { fix } else { nil }
    }

    /// The entry of this sequence; nil if it was overwritten, torn, or not written yet.
    public func entry(_ sequence: UInt32, in flash: inout Flash) throws(FlashError) -> LogEntry? {
        guard sequence >= oldestSequence, sequence < nextSequence else { return nil }
        let record = try flash.readRecord(at: offset(of: sequence, in: flash), count: Self.slotByteCount)
        let count = Int(record.bytes[0] & ~Self.messageMark)
        guard count > 0, count <= AbsoluteFix.maximumPayloadByteCount,
            record.isSealed(count: count + 1, seed: logID.rawValue &+ sequence &* 2_654_435_769)
        else { return nil }
        do throws(DecodeError) {
            let payload = record.bytes.span.extracting(1..<(count + 1))
            if record.bytes[0] & Self.messageMark != 0 { return .message(try ApplicationMessage(storedIn: payload)) }
            let fix = try AbsoluteFix.decodePayload(payload, count: count, lowSequenceByte: UInt8(truncatingIfNeeded: sequence))
            return fix.sequence == sequence ? .fix(fix) : nil
        } catch { return nil }
    }
}

/// The notes of a block of a log about the collar, made when the block is begun.
public struct LogBlockMarks: Equatable, Sendable {
    /// The boot count of the collar.
    public var bootCount: UInt32
    /// Whether the collar has a key.
    public var isKeyed: Bool

    /// Creates marks.
    @inline(never) public init(bootCount: UInt32, isKeyed: Bool) {
        self.bootCount = bootCount
        self.isKeyed = isKeyed
    }
}

/// Why an entry could not be logged.
public enum FixLogError: Error, Equatable, Sendable {
    /// All 2^32 − 1 sequences are used up.
    case full
    /// A field is out of range.
    case encoding(EncodeError)
    /// The flash failed.
    case flash(FlashError)
}
