import CollarFirmware
import CollarWire
import Testing

/// The boot count grows with every boot, even if one of the two blocks that hold it is lost or both lose their headers.
@Suite struct BootCountTests {
    private static let blockByteCount = 512

    /// Runs `body` on a collar after each of 70 boots, which include several moves to the other block. The collar has three fixes
    /// and a receiver, and executes a command after every ninth boot.
    private func forEachBoot(_ body: (CollarBench) throws -> Void) throws {
        var bench = try CollarBench.paired()
        for boot in 0..<70 as Range<UInt16> {
            try body(bench)
            bench = try bench.rebooted()
            if boot % 9 == 0 { _ = try bench.command(boot, .reboot) }
        }
    }

    private func booted(_ flash: TestFlash, after boots: UInt32, _ context: String) throws -> CollarBench {
        let next = try CollarBench(flash: flash.withPower, randomLogID: 5)
        #expect(next.collar.bootCount > boots, "\(context)")
        return next
    }

    /// The newest block is lost three times in a row. After each loss, the next boot is also tried with a power cut at every
    /// seventh step.
    @Test(arguments: TestFlash.Loss.allCases)
    func growsWhateverBecomesOfTheNewestBlock(loss: TestFlash.Loss) throws {
        try forEachBoot { bench in
            var flash = bench.shared.flash
            var boots = bench.collar.bootCount
            for round in 0..<3 {
                let context = "boot \(bench.collar.bootCount), loss \(round)"
                flash.lose(loss, block: flash.newestSettingsBlock)
                let whole = try booted(flash, after: boots, context)
                for step in stride(from: 0, to: whole.shared.flash.stepCount, by: 7) {
                    let cut = SharedFlash(flash.withPower)
                    cut.flash.stepsLeft = step
                    #expect(throws: FlashError.self) { try CollarBench(shared: cut) }
                    _ = try booted(cut.flash, after: boots, "\(context), cut after \(step)")
                }
                flash = whole.shared.flash.withPower
                boots = whole.collar.bootCount
            }
        }
    }

    @Test func growsWhicheverByteDecays() throws {
        try forEachBoot { bench in
            let first = Int(bench.collar.bootCount % 7)
            for offset in stride(from: first, to: 2 * Self.blockByteCount, by: 7) {
                var flash = bench.shared.flash
                flash.overwrite(offset..<(offset + 1)) { $0 ^ 1 << UInt8(offset % 7) }
                let next = try booted(flash, after: bench.collar.bootCount, "byte \(offset)")
                #expect(next.collar.log == bench.collar.log)
                #expect(next.collar.nextSequence == 3)
            }
        }
    }

    /// Without the headers it is unknown which block holds the newer values, but the boot count and the log do not begin anew.
    @Test(arguments: [TestFlash.Loss.withoutHeader, .withoutHeaderMark])
    func growsWhereBothHeadersAreGone(loss: TestFlash.Loss) throws {
        try forEachBoot { bench in
            var flash = bench.shared.flash
            for block in 0..<2 { flash.lose(loss, block: block) }
            let next = try booted(flash, after: bench.collar.bootCount, "boot \(bench.collar.bootCount)")
            #expect(next.collar.log == bench.collar.log)
            #expect(next.collar.nextSequence == 3)
            _ = try booted(next.shared.flash, after: next.collar.bootCount, "boot \(bench.collar.bootCount)")
        }
    }

    /// If the newest block is lost, only the values that the older block does not hold are lost.
    @Test func theValuesOfTheOlderBlockAreInForceAgain() throws {
        try forEachBoot { bench in
            var flash = bench.shared.flash
            flash.lose(.cleared, block: flash.newestSettingsBlock)
            let next = try CollarBench(flash: flash.withPower, randomLogID: 5)
            guard bench.collar.bootCount > 31 else { return }
            #expect(next.collar.log == bench.collar.log)
            #expect(next.collar.pairedReceiverID == 77)
        }
    }

    /// One misreading during a boot changes neither the flash nor the values that the collar reads from it.
    @Test(arguments: TestFlash.Misread.allCases)
    func aReadThatGoesWrongOnceChangesNothing(misread: TestFlash.Misread) throws {
        try forEachBoot { bench in
            let expected = try bench.rebooted()
            var reads = 0
            while true {
                var flash = bench.shared.flash.withPower
                flash.misread = misread
                flash.readsBeforeMisread = reads
                let next = try CollarBench(flash: flash, randomLogID: 5)
                guard next.shared.flash.readsBeforeMisread == nil else { break }
                #expect(next.shared.flash.contents == expected.shared.flash.contents, "read \(reads)")
                #expect(next.collar.identity == expected.collar.identity, "read \(reads)")
                #expect(next.collar.firstUndelivered == expected.collar.firstUndelivered, "read \(reads)")
                reads += 1
            }
            #expect(reads > 50)
        }
    }

    @Test func itStaysAtItsHighestValue() throws {
        var flash = TestFlash()
        var store = try SettingsStore(mounting: &flash)
        try store.set(.bootCount, to: 0xFFFF_FFFE, in: &flash)
        var bench = try CollarBench(flash: flash)
        #expect(bench.collar.bootCount == .max)
        bench = try bench.rebooted()
        #expect(bench.collar.bootCount == .max)
    }
}
