import CollarFirmware
import CollarWire
import Testing

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
