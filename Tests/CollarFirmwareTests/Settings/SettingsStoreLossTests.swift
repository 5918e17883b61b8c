@testable import CollarFirmware
import CollarWire
import Testing

/// A collar tells that settings which were durable cannot be read any more, until settings are set again, and at no other time.
@Suite struct SettingsLossTests {
    /// Sets the first setting: to 1000 ms and the low decimal digits of the version.
    private func set(_ bench: inout CollarBench, version: UInt64) throws {
        let interval = UInt32(1000 + version % 1000)
        #expect(try bench.update(UInt16(truncatingIfNeeded: version), version: version, [1: interval]) == .settingsChanged)
    }

    /// The last error in the status of a collar whose firmware knows of this one.
    private func lastError(_ bench: CollarBench, else error: CollarFault = .none) -> CollarFault {
        var collar = bench.collar
        var condition = CollarCondition()
        condition.lastError = error
        collar.condition = condition
        return collar.status(now: bench.now).lastError
    }

    /// Boots, and executes a command after every ninth boot. The store moves to the other block after some 30 boots, and at every
    /// update of the settings.
    private func pass(_ bench: CollarBench, boots: Int) throws -> CollarBench {
        var bench = bench
        for boot in 0..<boots {
            bench = try bench.rebooted()
            if boot % 9 == 0 { _ = try bench.command(UInt16(boot), .reboot) }
        }
        return bench
    }

    /// A paired collar with settings of version 10, in the block that was written last; the other block has the defaults.
    private func withSettings() throws -> CollarBench {
        var bench = try pass(CollarBench.paired(), boots: 3)
        try set(&bench, version: 10)
        return bench
    }

    /// The collar after the loss of its newest block of settings, and a boot.
    private func losing(_ loss: TestFlash.Loss, _ bench: CollarBench) throws -> CollarBench {
        var flash = bench.shared.flash.withPower
        flash.lose(loss, block: flash.newestSettingsBlock)
        return try CollarBench(flash: flash, randomLogID: 5)
    }

    @Test func aCollarThatHasLostNothingTellsNoLoss() throws {
        var bench = try CollarBench()
        #expect(lastError(bench) == .none)
        bench = try CollarBench.paired()
        for version in 1..<80 as Range<UInt64> {
            bench = try pass(bench, boots: Int(version % 4))
            if version % 5 == 0 { try set(&bench, version: version) }
            #expect(lastError(bench) == .none, "version \(version)")
        }
    }

    /// The loss is told after every boot, until settings are set, even with a version below the lost one.
    @Test(arguments: TestFlash.Loss.allCases, [9, 10, 11] as [UInt64])
    func aLostBlockIsToldUntilSettingsAreSet(loss: TestFlash.Loss, next: UInt64) throws {
        var bench = try losing(loss, withSettings())
        #expect(bench.collar.settings.version == .defaults)
        #expect(bench.collar.pairedReceiverID == 77)
        for _ in 0..<50 {
            #expect(lastError(bench) == .settingsLost)
            bench = try bench.rebooted()
        }
        try set(&bench, version: next)
        #expect(lastError(bench) == .none)
        bench = try pass(bench, boots: 50)
        #expect(bench.collar.settings[.intervalMilliseconds] == UInt32(1000 + next))
        #expect(lastError(bench) == .none)
    }

    /// Older settings instead of the defaults are a loss too, and so is a second loss.
    @Test func aLossIsToldAgain() throws {
        var bench = try pass(withSettings(), boots: 40)
        try set(&bench, version: 20)
        bench = try losing(.cleared, bench)
        #expect(bench.collar.settings.version.rawValue == 10)
        #expect(lastError(bench) == .settingsLost)
        try set(&bench, version: 15)
        bench = try losing(.cleared, bench)
        #expect(bench.collar.settings.version.rawValue == 10)
        #expect(lastError(bench) == .settingsLost)
    }

    /// Any byte of the two blocks decays. The collar tells a loss if and only if other settings are in force then.
    @Test func aDecayedByteIsToldIfItChangesTheSettings() throws {
        var bench = try CollarBench.paired()
        var losses = 0
        for version in 1..<25 as Range<UInt64> {
            bench = try pass(bench, boots: Int(version % 5))
            if version % 3 == 0 { try set(&bench, version: version) }
            let flash = bench.shared.flash.withPower
            for offset in stride(from: Int(version % 3), to: 2 * flash.blockByteCount, by: 3) {
                var decayed = flash
                decayed.overwrite(offset..<(offset + 1)) { $0 ^ 1 << UInt8(offset % 7) }
                let next = try CollarBench(flash: decayed, randomLogID: 5)
                let isOther = next.collar.settings != bench.collar.settings
                if isOther { losses += 1 }
                #expect(lastError(next) == (isOther ? .settingsLost : .none), "version \(version), byte \(offset)")
            }
        }
        #expect(losses > 100)
    }

    /// The newest record holds a version without a new value. If it decays, the values in force are the same.
    @Test func aLostVersionOfTheSameValuesIsNoLoss() throws {
        var bench = try withSettings().rebooted()
        let before = bench.shared.flash.contents
        #expect(try bench.update(11, version: 11, [1: 1010]) == .settingsChanged)
        var flash = bench.shared.flash.withPower
        let written = flash.contents.indices.filter { flash.contents[$0] != before[$0] }
        let newest = try #require(written.first)
        flash.overwrite(newest..<(newest + 1)) { _ in 0 }
        bench = try CollarBench(flash: flash)
        #expect(bench.collar.settings.version.rawValue == 10)
        #expect(bench.collar.settings[.intervalMilliseconds] == 1010)
        #expect(lastError(bench) == .none)
    }

    @Test(arguments: [TestFlash.Loss.withoutHeader, .withoutHeaderMark], [true, false])
    func recordsWithoutTheirHeadersTellWhetherThereWereSettings(loss: TestFlash.Loss, areSet: Bool) throws {
        var flash = try (areSet ? withSettings() : CollarBench.paired()).shared.flash.withPower
        for block in 0..<2 { flash.lose(loss, block: block) }
        let bench = try CollarBench(flash: flash, randomLogID: 5)
        #expect(bench.collar.settings.version == .defaults)
        #expect(lastError(bench) == (areSet ? .settingsLost : .none))
        #expect(try lastError(bench.rebooted()) == (areSet ? .settingsLost : .none))
    }

    /// If both blocks are lost, the log shows that the collar is not new. A key that began the log makes no difference.
    @Test(arguments: [TestFlash.Loss.erased, .cleared], [false, true])
    func aStoreThatIsGoneIsTold(loss: TestFlash.Loss, isKeyed: Bool) throws {
        var bench = try CollarBench.paired()
        if isKeyed {
            bench = try CollarBench(flash: bench.shared.flash.withPower, isPoweredOn: true)
            #expect(try bench.requestKey(proving: nil, drawing: key(2)) == .answered)
            #expect(try bench.activate(key(2)) == .keyChanged)
            bench = try bench.rebooted()
        }
        var flash = bench.shared.flash.withPower
        for block in 0..<2 { flash.lose(loss, block: block) }
        bench = try CollarBench(flash: flash, randomLogID: 5)
        #expect(lastError(bench) == .settingsLost)
        #expect(try lastError(bench.rebooted()) == .settingsLost)
    }

    @Test func anErasedCollarIsANewOne() throws {
        var flash = try withSettings().shared.flash.withPower
        flash.overwrite(0..<(flash.blockByteCount * flash.blockCount)) { _ in 0xFF }
        #expect(try lastError(CollarBench(flash: flash)) == .none)
    }

    /// A new log has the default settings: nothing is lost then, also if settings were lost before.
    @Test func aNewLogHasLostNothing() throws {
        for start in [try withSettings(), try losing(.erased, withSettings())] {
            var bench = try CollarBench(flash: start.shared.flash.withPower, isPoweredOn: true)
            #expect(try bench.requestKey(proving: nil, drawing: key(2)) == .answered)
            #expect(try bench.activate(key(2)) == .keyChanged)
            let steps = try stepsOfBoot(bench)
            for step in 0..<steps {
                let next = try cutInBoot(of: bench, after: step)
                #expect(next.collar.settings.version == .defaults)
                #expect(lastError(next) == .none, "cut after \(step)")
            }
            #expect(steps > 100)
        }
    }

    private func stepsOfBoot(_ bench: CollarBench) throws -> Int { try bench.rebooted().shared.flash.stepCount }

    /// The collar after a boot in which the power is cut, and another boot.
    private func cutInBoot(of bench: CollarBench, after step: Int) throws -> CollarBench {
        let cut = SharedFlash(bench.shared.flash.withPower)
        cut.flash.stepsLeft = step
        #expect(throws: FlashError.self) { try CollarBench(shared: cut, randomLogID: 6) }
        return try CollarBench(flash: cut.flash.withPower, randomLogID: 7)
    }

    /// The power is cut at every step of every boot and of every change of the settings, over several moves to the other block.
    @Test(arguments: [false, true]) func aPowerCutLosesNothing(erasesFromBack: Bool) throws {
        var bench = try CollarBench.paired()
        bench.shared.flash.erasesFromBack = erasesFromBack
        for version in 1..<40 as Range<UInt64> {
            bench = try bench.rebooted()
            for step in 0..<(try stepsOfBoot(bench)) {
                let next = try cutInBoot(of: bench, after: step)
                #expect(next.collar.settings == bench.collar.settings)
                #expect(lastError(next) == .none, "boot before version \(version), cut after \(step)")
            }
            guard version % 6 == 0 else { continue }
            var whole = try bench.rebooted()
            whole.shared.flash.clearHistory()
            try set(&whole, version: version)
            for step in 0..<whole.shared.flash.stepCount {
                var cut = try bench.rebooted()
                cut.shared.flash.stepsLeft = step
                #expect(throws: FlashError.self) { try cut.update(5, version: version, [1: UInt32(1000 + version)]) }
                cut = try cut.rebooted()
                #expect(cut.collar.settings == bench.collar.settings || cut.collar.settings == whole.collar.settings)
                #expect(lastError(cut) == .none, "version \(version), cut after \(step)")
                #expect(try lastError(cut.rebooted()) == .none, "version \(version), cut after \(step)")
            }
            bench = whole
        }
    }

    @Test func aCutInTheFirstBootIsNoLoss() throws {
        let steps = try CollarBench().shared.flash.stepCount
        for step in 0..<steps {
            let cut = SharedFlash()
            cut.flash.stepsLeft = step
            #expect(throws: FlashError.self) { try CollarBench(shared: cut) }
            #expect(try lastError(CollarBench(flash: cut.flash.withPower)) == .none, "cut after \(step)")
        }
    }

    /// A power cut in the boot that finds the loss, and in the update that ends it, does not hide the loss.
    @Test(arguments: TestFlash.Loss.allCases) func aPowerCutDoesNotHideALoss(loss: TestFlash.Loss) throws {
        let start = try withSettings()
        start.shared.flash.lose(loss, block: start.shared.flash.newestSettingsBlock)
        let steps = try stepsOfBoot(start)
        #expect(steps > 100)
        for step in 0..<steps {
            #expect(try lastError(cutInBoot(of: start, after: step)) == .settingsLost, "cut after \(step)")
        }
        let found = try start.rebooted()
        for step in 0..<2000 {
            var bench = try found.rebooted()
            bench.shared.flash.stepsLeft = step
            do { try set(&bench, version: 10) } catch is FlashError {
                bench = try bench.rebooted()
                let isSet = bench.collar.settings.version.rawValue == 10
                #expect(lastError(bench) == (isSet ? .none : .settingsLost), "cut after \(step)")
                continue
            }
            return
        }
        Issue.record("the settings are never set")
    }

    /// Errors since the boot come first; the cause of the boot does not.
    @Test func aLossTakesThePlaceOfTheCauseOfTheBoot() throws {
        let bench = try losing(.cleared, withSettings())
        let errors: [CollarFault] = [
            .none, .gnssSilent, .gnssFault, .flashFailed, .radioFailed, .lowVoltageReset, .watchdogReset, .firmwareReset,
            CollarFault(rawValue: 128),
        ]
        for error in errors {
            let isHidden = error == .none || (5...7).contains(error.rawValue)
            #expect(lastError(bench, else: error) == (isHidden ? .settingsLost : error))
            #expect(try lastError(withSettings(), else: error) == error)
        }
    }

    /// The status is sent although nobody asks for it: after the boot, and when the loss is over.
    @Test func theLossAndItsEndAreSentUnasked() throws {
        func errors(_ messages: [Message]) -> [CollarFault] {
            messages.compactMap { if case .status(let status) = $0 { status.lastError } else { nil } }
        }
        var bench = try losing(.cleared, withSettings())
        bench.collar.condition = CollarCondition()
        #expect(errors(try bench.sendAll().map(\.message)) == [])
        #expect(errors(try bench.answered()) == [.settingsLost])
        #expect(try bench.answered() == [])
        try set(&bench, version: 11)
        #expect(errors(try bench.sendAll().map(\.message)) == [])
        _ = try bench.answered()
        bench.now = bench.now.advanced(byMicroseconds: 60_000_000)
        #expect(errors(try bench.sendAll().map(\.message)) == [.none])
        var whole = try withSettings().rebooted()
        whole.collar.condition = CollarCondition()
        _ = try whole.sendAll()
        #expect(try whole.answered() == [])
    }
}
