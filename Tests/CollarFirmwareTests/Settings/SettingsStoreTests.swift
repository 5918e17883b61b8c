import CollarFirmware
import Testing

/// The few values that survive a reboot. A block of 512 bytes has room for a header, 30
/// records, and the mark that is written when the block has become old.
@Suite struct SettingsStoreTests {
    private typealias Store = SettingsStore<TestFlash>
    private static let keys: [StoredKey] = [.tracking, .logID, .pairedReceiverID, .firstUndelivered]

    private func values(_ store: Store) -> [UInt64?] { Self.keys.map(store.value(of:)) }

    @Test func aNewFlashHoldsNothing() throws {
        var flash = TestFlash()
        let store = try Store(mounting: &flash)
        #expect(values(store) == [nil, nil, nil, nil])
        #expect(flash.history == [])
    }

    @Test func valuesSurviveARemount() throws {
        var flash = TestFlash()
        var store = try Store(mounting: &flash)
        try store.set(.tracking, to: 1, in: &flash)
        try store.set(.firstUndelivered, to: .max, in: &flash)
        try store.set(.logID, to: 0, in: &flash)
        #expect(values(store) == [1, 0, nil, .max])
        let again = try Store(mounting: &flash)
        #expect(values(again) == [1, 0, nil, .max])
    }

    @Test func manyCompactionsKeepEveryValue() throws {
        var flash = TestFlash()
        var expected: [UInt64?] = [nil, nil, nil, nil]
        var store = try Store(mounting: &flash)
        for number in 0..<2000 as Range<UInt64> {
            let index = Int(number * number % 7 % 4)
            try store.set(Self.keys[index], to: number << 20, in: &flash)
            expected[index] = number << 20
            #expect(values(store) == expected)
            if number % 3 == 0 { store = try Store(mounting: &flash) }
            #expect(values(store) == expected, "after \(number)")
        }
        let erases = flash.history.count { if case .erase = $0 { true } else { false } }
        #expect(erases > 50 && erases < 100)
        let log = flash.contents[(2 * flash.blockByteCount)...]
        #expect(log.allSatisfy { $0 == 0xFF })
    }

    @Test func theSameValueAgainWritesNothing() throws {
        var flash = TestFlash()
        var store = try Store(mounting: &flash)
        try store.set(.logID, to: 5, in: &flash)
        flash.clearHistory()
        try store.set(.logID, to: 5, in: &flash)
        #expect(flash.history == [])
        #expect(store.value(of: .logID) == 5)
    }

    /// Covers the first write to an empty flash, and two moves to the other block.
    @Test(arguments: [false, true])
    func aPowerCutLeavesTheOldValueOrTheNewOne(erasesFromBack: Bool) throws {
        var flash = TestFlash()
        flash.erasesFromBack = erasesFromBack
        var expected: [UInt64?] = [nil, nil, nil, nil]
        for number in 0..<70 as Range<UInt64> {
            let index = Int(number % 4)
            var whole = flash
            whole.clearHistory()
            var store = try Store(mounting: &whole)
            try store.set(Self.keys[index], to: number + 1000, in: &whole)
            for cutAfter in 0..<whole.stepCount {
                try checkCut(flash, setting: index, to: number + 1000, after: cutAfter, expected: expected)
            }
            expected[index] = number + 1000
            #expect(values(try Store(mounting: &whole)) == expected)
            flash = whole
        }
    }

    private func checkCut(
        _ start: TestFlash, setting index: Int, to value: UInt64, after cutAfter: Int, expected: [UInt64?]
    ) throws {
        var flash = start
        var store = try Store(mounting: &flash)
        flash.stepsLeft = cutAfter
        let key = Self.keys[index]
        #expect(throws: FlashError.self) { try store.set(key, to: value, in: &flash) }
        flash = flash.withPower
        var new = expected
        new[index] = value
        var again = try Store(mounting: &flash)
        let found = values(again)
        #expect(found == expected || found == new, "value \(value), cut after \(cutAfter)")
        try again.set(key, to: value + 1, in: &flash)
        new[index] = value + 1
        #expect(values(try Store(mounting: &flash)) == new, "value \(value), cut after \(cutAfter)")
    }

    /// A failed write does not count as done.
    @Test func aValueWhoseWriteFailedIsWrittenWhenItIsSetAgain() throws {
        var flash = TestFlash()
        var store = try Store(mounting: &flash)
        try store.set(.pairedReceiverID, to: 1, in: &flash)
        flash.failingPrograms = 1
        #expect(throws: FlashError.self) { try store.set(.pairedReceiverID, to: 2, in: &flash) }
        try store.set(.pairedReceiverID, to: 2, in: &flash)
        let again = try Store(mounting: &flash)
        #expect(again.value(of: .pairedReceiverID) == 2)
    }

    /// A failed write that programs nothing leaves an erased record in its block. Values that are set later must still count.
    @Test func aFailedWriteDoesNotHideWhatIsSetAfterwards() throws {
        var flash = TestFlash()
        var store = try Store(mounting: &flash)
        try store.set(.tracking, to: 1, in: &flash)
        flash.failingPrograms = 1
        #expect(throws: FlashError.self) { try store.set(.pairedReceiverID, to: 2, in: &flash) }
        try store.set(.tracking, to: 3, in: &flash)
        let again = try Store(mounting: &flash)
        #expect(again.value(of: .tracking) == 3)
    }

    /// A header may be valid even if its write reported a failure. The next move erases the block of this header. If the power is
    /// cut during the erase, the header must not count without its records.
    @Test(arguments: [false, true])
    func aFailedWriteAndThenAPowerCutLeaveTheOldValuesOrTheNewOnes(erasesFromBack: Bool) throws {
        let (full, expected) = try fullBlock()
        var cuts = 0
        for program in 0..<8 {
            for byteCount in [0, 7, 16] {
                var flash = full
                flash.erasesFromBack = erasesFromBack
                var store = try Store(mounting: &flash)
                flash.programsBeforeFailure = program
                flash.failingPrograms = 1
                flash.failedProgramByteCount = byteCount
                do throws(FlashError) { try store.set(.tracking, to: 5000, in: &flash) } catch {
                    #expect(values(store) == expected)
                    for step in 0..<200 {
                        guard try check(store, flash, expected, cutAfter: step, "program \(program), \(byteCount) bytes")
                        else { break }
                        cuts += 1
                    }
                }
            }
        }
        #expect(cuts > 1000)
    }

    /// A flash whose active block has no room for another record, and the values that it holds.
    private func fullBlock() throws -> (flash: TestFlash, values: [UInt64?]) {
        var flash = TestFlash()
        var store = try Store(mounting: &flash)
        for (index, key) in Self.keys.enumerated() { try store.set(key, to: UInt64(index) + 7, in: &flash) }
        flash.clearHistory()
        var count: UInt64 = 7
        while !flash.history.contains(where: { if case .erase = $0 { true } else { false } }) {
            count += 1
            try store.set(.tracking, to: count, in: &flash)
        }
        flash.clearHistory()
        var next = flash
        while true {
            count += 1
            try store.set(.tracking, to: count, in: &next)
            if next.history.contains(where: { if case .erase = $0 { true } else { false } }) { break }
            flash = next
        }
        flash.clearHistory()
        return (flash, values(try Store(mounting: &flash)))
    }

    /// Sets a value with a power cut after `step` steps, and checks the values that the next mount finds.
    /// - Returns: whether the power was cut.
    private func check(
        _ store: Store, _ start: TestFlash, _ expected: [UInt64?], cutAfter step: Int, _ context: String
    ) throws -> Bool {
        var store = store
        var flash = start
        flash.stepsLeft = step
        var isCut = false
        do throws(FlashError) { try store.set(.pairedReceiverID, to: 6000, in: &flash) } catch { isCut = true }
        flash = flash.withPower
        let found = values(try Store(mounting: &flash))
        var others = [expected, expected, expected]
        others[1][0] = 5000
        others[2][2] = 6000
        #expect(others[isCut ? 0... : 2...].contains(found), "\(context), cut after \(step): \(found)")
        return isCut
    }
}
