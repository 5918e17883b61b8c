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
        var other = try mountLog(&flash, logID: otherLogID)
        #expect(other.oldestSequence == 0)
        #expect(other.nextSequence == 0)
        for number in 0..<60 as Range<UInt32> {
            #expect(try other.append(fix(number + 500), to: &flash) == number)
            #expect(try other.fix(number, in: &flash) == fix(number + 500, sequence: number))
            let again = try mountLog(&flash, logID: otherLogID)
            #expect(again.nextSequence == number + 1)
            #expect(again.oldestSequence == other.oldestSequence)
        }
        let first = try mountLog(&flash)
        #expect(first.nextSequence == 0)
    }
}

/// Logs with high sequences, up to the last one.
@Suite struct FixLogEndTests {
    /// A flash whose log has reached a block that starts at the sequence `first`. Only the header of this block is written.
    private func flash(withBlockStartingAt first: UInt32, slotsPerBlock: UInt32) throws -> TestFlash {
        var flash = TestFlash()
        var header: [UInt8] = []
        for value in [0x434C_4632, logID.rawValue, first, 0] as [UInt32] {
            header += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        }
        var check = CRC24()
        check.update(bigEndian: 0 as UInt32)
        check.update(header.span, from: 0, to: header.count)
        header += [16, 8, 0].map { UInt8(truncatingIfNeeded: check.checksum >> $0) }
        let place = Int(first / slotsPerBlock % UInt32(flash.blockCount - firstLogBlock))
        try flash.program(header.span, at: (firstLogBlock + place) * flash.blockByteCount)
        return flash
    }

    @Test func aLogGoesOnFromAnyBlock() throws {
        var flash = try flash(withBlockStartingAt: 13 * 1_000_000, slotsPerBlock: 13)
        var log = try mountLog(&flash)
        #expect(log.nextSequence == 13_000_000)
        #expect(log.oldestSequence == 13_000_000)
        #expect(try log.append(fix(1), to: &flash) == 13_000_000)
        let again = try mountLog(&flash)
        #expect(again.nextSequence == 13_000_001)
        #expect(try again.fix(13_000_000, in: &flash) == fix(1, sequence: 13_000_000))
    }

    /// The number of sequences, 2^32 − 1, is not a multiple of the slots in a block, so the last block is not used to its end.
    @Test func theLastBlockCanBeMountedAndFilled() async {
        await #expect(processExitsWith: .success) {
            let start: UInt32 = UInt32.max / 13 * 13
            var flash = try FixLogEndTests().flash(withBlockStartingAt: start, slotsPerBlock: 13)
            var log = try mountLog(&flash)
            for sequence in start...Fix.maximumSequence {
                guard try log.append(fix(7), to: &flash) == sequence else { throw FlashError.read(offset: 0) }
            }
            do throws(FixLogError) {
                _ = try log.append(fix(7), to: &flash)
                throw .encoding(.frameTooSmall(neededByteCount: 0))
            } catch { guard error == .full else { throw error } }
        }
    }
}

/// Power cuts while a fix is appended: at every programmed byte, and before, during and after every erase.
@Suite struct FixLogPowerCutTests {
    /// Checks the log after a power cut: earlier fixes are still there, and a slot that was written even in part is used up.
    private func check(_ cut: TestFlash, logged: UInt32, _ context: String) throws {
        let isSlotHit: Bool
        let isComplete: Bool
        switch cut.history.last {
        case .program(let done, let count) where cut.history.count != 2:
            // The slot is programmed in the first operation. If a block is erased first, it is the third, after the header.
            isSlotHit = done > 0
            isComplete = done == count
        case .program, .erase, nil:
            isSlotHit = false
            isComplete = false
        }
        var flash = cut.withPower
        var log = try mountLog(&flash)
        #expect(log.nextSequence == (isSlotHit ? logged + 1 : logged), "\(context)")
        #expect(logged - log.oldestSequence >= min(logged, log.capacity), "\(context)")
        for sequence in log.oldestSequence..<logged {
            let found = try log.fix(sequence, in: &flash)
            // An interrupted erase loses fixes of its block. They are the oldest fixes, which the append overwrites.
            let isBeingOverwritten = sequence / 13 + 3 == logged / 13
            let isGone = isBeingOverwritten && found == nil
            #expect(isGone || found == fix(sequence), "\(context): fix \(sequence)")
        }
        let hit = try log.fix(logged, in: &flash)
        #expect(hit == nil || (isSlotHit && hit == fix(logged)), "\(context): what was hit")
        #expect(!isComplete || hit == fix(logged), "\(context): it was complete")
        try checkGoingOn(&log, in: &flash, hit: hit, at: logged, context)
    }

    /// Checks that the next fix gets an unused sequence, and that another mount finds the fix.
    private func checkGoingOn(
        _ log: inout FixLog<TestFlash>, in flash: inout TestFlash, hit: Fix?, at logged: UInt32, _ context: String
    ) throws {
        let expected = log.nextSequence
        let sequence = try log.append(fix(expected + 500), to: &flash)
        #expect(sequence == expected, "\(context)")
        let again = try mountLog(&flash)
        #expect(again.nextSequence == sequence + 1, "\(context)")
        #expect(again.oldestSequence == log.oldestSequence, "\(context)")
        #expect(try again.fix(sequence, in: &flash) == fix(sequence + 500, sequence: sequence), "\(context)")
        if sequence > logged { #expect(try again.fix(logged, in: &flash) == hit, "\(context)") }
    }

    @Test(arguments: [0, 1, 12, 13, 14, 26, 38, 39, 40, 52, 65, 91] as [UInt32], [false, true])
    func nothingThatWasLoggedIsLost(logged: UInt32, erasesFromBack: Bool) throws {
        var start = try flash(holding: logged)
        start.erasesFromBack = erasesFromBack
        var whole = start
        var log = try mountLog(&whole)
        _ = try log.append(fix(logged), to: &whole)
        let steps = whole.stepCount
        #expect(steps > 20)
        for cutAfter in 0...steps {
            var cut = start
            cut.stepsLeft = cutAfter
            var log = try mountLog(&cut)
            do throws(FixLogError) {
                _ = try log.append(fix(logged), to: &cut)
                #expect(cutAfter == steps)
            } catch { #expect(cutAfter < steps) }
            try check(cut, logged: logged, "\(logged) logged, cut after \(cutAfter) of \(steps)")
        }
    }

    @Test func manyPowerCutsInARowLoseNothing() throws {
        var flash = TestFlash()
        var durable: [UInt32: Fix] = [:]
        for round in 0..<600 as Range<UInt32> {
            var log = try mountLog(&flash)
            #expect(log.nextSequence >= (durable.keys.max().map { $0 + 1 } ?? 0), "round \(round)")
            for (sequence, fix) in durable where sequence >= log.oldestSequence {
                #expect(try log.fix(sequence, in: &flash) == fix, "round \(round), fix \(sequence)")
            }
            durable = durable.filter { $0.key >= log.oldestSequence }
            flash.stepsLeft = Int(round * 37 % 90)
            do throws(FixLogError) {
                while true {
                    let content = fix(round * 5 + log.nextSequence)
                    let sequence = try log.append(content, to: &flash)
                    var stored = content
                    stored.sequence = sequence
                    #expect(durable.updateValue(stored, forKey: sequence) == nil, "round \(round)")
                }
            } catch { flash = flash.withPower }
        }
        #expect(durable.count > 10)
    }
}
