import CollarFirmware
import CollarWire
import Testing

/// The ring of fixes in flash. A block of 512 bytes holds 13 slots; the ring has three blocks.
@Suite struct FixLogTests {
    private let slotsPerBlock: UInt32 = 13

    @Test func anErasedFlashIsAnEmptyLog() throws {
        var flash = TestFlash()
        let log = try mountLog(&flash)
        #expect(log.oldestSequence == 0)
        #expect(log.nextSequence == 0)
        #expect(log.capacity == 26)
        #expect(try log.fix(0, in: &flash) == nil)
        #expect(flash.history == [])
    }

    /// Otherwise a collar whose log has decayed would report each sequence that it ever used as lost, in a tombstone of its own.
    @Test func aLogWhoseBlocksAreAllGoneBeginsAtItsNextFix() throws {
        var flash = TestFlash()
        var log = try FixLog(mounting: &flash, firstBlock: firstLogBlock, logID: logID, usedSequences: 65_464)
        let next = log.nextSequence
        #expect(next >= 65_464 && next < 65_464 + slotsPerBlock)
        #expect(log.oldestSequence == next)
        #expect(try log.append(fix(0), to: &flash) == next)
        #expect(log.oldestSequence == next)
        let again = try mountLog(&flash)
        #expect(again.oldestSequence == next)
        #expect(again.nextSequence == next + 1)
    }

    @Test func whatIsAppendedIsReadBack() throws {
        var flash = TestFlash()
        var log = try mountLog(&flash)
        for number in 0..<20 as Range<UInt32> {
            #expect(try log.append(fix(number, sequence: 999), to: &flash) == number)
            #expect(log.nextSequence == number + 1)
            #expect(try log.fix(number, in: &flash) == fix(number))
        }
        #expect(log.oldestSequence == 0)
        for number in 0..<20 as Range<UInt32> { #expect(try log.fix(number, in: &flash) == fix(number)) }
        #expect(try log.fix(20, in: &flash) == nil)
    }

    @Test func aFullRingGivesUpItsOldestBlock() throws {
        var flash = TestFlash()
        var log = try mountLog(&flash)
        for number in 0..<200 as Range<UInt32> {
            _ = try log.append(fix(number), to: &flash)
            let block = number / slotsPerBlock
            let oldest = block < 3 ? 0 : (block - 2) * slotsPerBlock
            #expect(log.oldestSequence == oldest)
            #expect(log.nextSequence - log.oldestSequence >= min(number + 1, log.capacity))
            for sequence in (oldest < 5 ? 0 : oldest - 5)...number {
                let expected = sequence < oldest ? nil : fix(sequence)
                #expect(try log.fix(sequence, in: &flash) == expected, "\(sequence) after \(number)")
            }
        }
    }

    @Test func aRemountAfterEveryAppendFindsTheSame() throws {
        var flash = TestFlash()
        for number in 0..<120 as Range<UInt32> {
            var log = try mountLog(&flash)
            #expect(try log.append(fix(number), to: &flash) == number)
            let again = try mountLog(&flash)
            #expect(again.oldestSequence == log.oldestSequence, "after \(number)")
            #expect(again.nextSequence == number + 1)
            for sequence in again.oldestSequence...number {
                #expect(try again.fix(sequence, in: &flash) == fix(sequence))
            }
        }
    }

    @Test func aFixThatCannotBeWrittenUsesNoSequence() throws {
        var flash = try flash(holding: 3)
        var log = try mountLog(&flash)
        var wrong = fix(3)
        wrong.batteryPercent = 101
        #expect(throws: FixLogError.encoding(.field(.battery, value: 101))) { try log.append(wrong, to: &flash) }
        #expect(flash.history == [])
        #expect(try log.append(fix(3), to: &flash) == 3)
    }

    @Test func aSequenceIsUsedUpWhereAFailedWriteLeftSomething() throws {
        var flash = try flash(holding: 3)
        var log = try mountLog(&flash)
        flash.failingPrograms = 1
        flash.failedProgramByteCount = 5
        #expect(throws: FixLogError.self) { try log.append(fix(3), to: &flash) }
        #expect(log.nextSequence == 4)
        #expect(try log.fix(3, in: &flash) == nil)
        #expect(try log.append(fix(4), to: &flash) == 4)
        let again = try mountLog(&flash)
        #expect(again.nextSequence == 5)
        #expect(try again.fix(3, in: &flash) == nil)
        #expect(try again.fix(4, in: &flash) == fix(4))
    }

    /// The next mount finds the slot erased and gives its sequence to a fix, so the sequence must not count as used before.
    @Test(arguments: [3, 13] as [UInt32])
    func aSequenceGoesToTheNextFixWhereAFailedWriteLeftNothing(next: UInt32) throws {
        var flash = try flash(holding: next)
        var log = try mountLog(&flash)
        flash.failingPrograms = 1
        #expect(throws: FixLogError.self) { try log.append(fix(next), to: &flash) }
        #expect(log.nextSequence == next)
        #expect(try mountLog(&flash).nextSequence == next)
        #expect(try log.append(fix(next + 500), to: &flash) == next)
        #expect(try mountLog(&flash).fix(next, in: &flash) == fix(next + 500, sequence: next))
    }

    /// After a failed write the log continues at the sequence that a mount finds, even if the slot cannot be read at once.
    @Test(arguments: [3, 12, 13] as [UInt32], [0, 1])
    func aFailedWriteLeavesTheLogAsAMountFindsIt(next: UInt32, failingReads: Int) throws {
        for byteCount in 0..<15 {
            var flash = try flash(holding: next)
            var log = try mountLog(&flash)
            flash.failingPrograms = 1
            flash.failedProgramByteCount = byteCount
            flash.failingReads = failingReads
            #expect(throws: FixLogError.self) { try log.append(fix(next), to: &flash) }
            flash.failingReads = 0
            let found = try mountLog(&flash).nextSequence
            // Until the slot is read, its sequence does not count as used: the slot may be erased and get a fix.
            #expect(log.nextSequence == found || failingReads > 0 && log.nextSequence < found, "\(byteCount) bytes")
            #expect(try log.append(fix(next + 1), to: &flash) == found, "\(byteCount) bytes")
        }
    }

    @Test func aLogOfAnotherIDIsAnEmptyOne() throws {
        var flash = try flash(holding: 30)
        var other = try mountLog(&flash, logID: logID ^ 1)
        #expect(other.oldestSequence == 0)
        #expect(other.nextSequence == 0)
        for number in 0..<60 as Range<UInt32> {
            #expect(try other.append(fix(number + 500), to: &flash) == number)
            #expect(try other.fix(number, in: &flash) == fix(number + 500, sequence: number))
            let again = try mountLog(&flash, logID: logID ^ 1)
            #expect(again.nextSequence == number + 1)
            #expect(again.oldestSequence == other.oldestSequence)
        }
        let first = try mountLog(&flash)
        #expect(first.nextSequence == 0)
    }
}
