import CollarFirmware
import CollarWire
import Testing

/// The boot count only grows, whatever becomes of one of the two blocks that keep it.
@Suite struct BootCountTests {
    private static let blockByteCount = 512

    /// What may happen to a block.
    enum Loss: CaseIterable {
        case erased, cleared, withoutHeader, withoutHeaderMark
    }

    private func lose(_ loss: Loss, block: Int, of flash: inout TestFlash) {
        let start = block * Self.blockByteCount
        let end = start + Self.blockByteCount
        switch loss {
        case .erased: flash.overwrite(start..<end) { _ in 0xFF }
        case .cleared: flash.overwrite(start..<end) { _ in 0 }
        case .withoutHeader: flash.overwrite(start..<(start + 16)) { _ in 0 }
        case .withoutHeaderMark: flash.overwrite(start..<(start + 1)) { $0 & 0xF0 }
        }
    }

    /// The block that counts: the one with the higher generation.
    private func newestBlock(_ flash: TestFlash) -> Int {
        let generations = (0..<2).map { block in
            flash.contents[(block * Self.blockByteCount + 4)..<(block * Self.blockByteCount + 8)].reduce(0) { $0 << 8 | Int($1) }
        }
        return generations[0] == 0xFFFF_FFFF || generations[1] != 0xFFFF_FFFF && generations[1] > generations[0] ? 1 : 0
    }

    /// Collars after 1, 2, … boots, over two moves, each with a fix, a receiver and a request of its own.
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

    /// The same block again and again, or the one and then the other, each time with the power cut at any step of the
    /// boot that follows.
    @Test(arguments: Loss.allCases)
    func growsWhateverBecomesOfTheNewestBlock(loss: Loss) throws {
        try forEachBoot { bench in
            var flash = bench.shared.flash
            var boots = bench.collar.bootCount
            for round in 0..<3 {
                let context = "boot \(bench.collar.bootCount), loss \(round)"
                lose(loss, block: newestBlock(flash), of: &flash)
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

    /// Then there is no telling which values are the newer ones, but the count and the log are not begun anew.
    @Test(arguments: [Loss.withoutHeader, .withoutHeaderMark])
    func growsWhereBothHeadersAreGone(loss: Loss) throws {
        try forEachBoot { bench in
            var flash = bench.shared.flash
            for block in 0..<2 { lose(loss, block: block, of: &flash) }
            let next = try booted(flash, after: bench.collar.bootCount, "boot \(bench.collar.bootCount)")
            #expect(next.collar.log == bench.collar.log)
            #expect(next.collar.nextSequence == 3)
            _ = try booted(next.shared.flash, after: next.collar.bootCount, "boot \(bench.collar.bootCount)")
        }
    }

    /// What is lost with the newest block are its values, not those that the block before it has.
    @Test func theValuesOfTheOlderBlockAreInForceAgain() throws {
        try forEachBoot { bench in
            var flash = bench.shared.flash
            lose(.cleared, block: newestBlock(flash), of: &flash)
            let next = try CollarBench(flash: flash.withPower, randomLogID: 5)
            guard bench.collar.bootCount > 31 else { return }
            #expect(next.collar.log == bench.collar.log)
            #expect(next.collar.pairedReceiverID == 77)
        }
    }

    /// Nothing is lost, and nothing else is believed.
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
