import CollarARQ
import CollarFirmware
import CollarWire
import Sweeps
import Testing

/// The state that a collar keeps across a reboot, and its first frame.
@Suite struct CollarBootTests {
    @Test func theFirstFrameIsTheIdentity() throws {
        var bench = try CollarBench()
        try bench.log(0..<3)
        let sent = try bench.sendAll()
        #expect(sent.map(\.message) == [.identity(bench.collar.identity)])
        #expect(sent.map(\.poll) == [1])
        let identity = bench.collar.identity
        #expect(identity.log == LogIdentity(deviceID: deviceID, logID: logID))
        #expect(identity.bootCount == 1)
        #expect(identity.oldestSequence == 0)
        #expect(identity.nextSequence == 3)
        #expect(identity.pairedReceiverID == 0)
        #expect(identity.heartbeatSeconds == 60)
        #expect(identity.firmwareVersion == FirmwareVersion(major: 1, minor: 2, patch: 3))
    }

    @Test func bootsAreCounted() throws {
        var bench = try CollarBench()
        for boots in 2...40 as ClosedRange<UInt32> {
            bench = try bench.rebooted()
            #expect(bench.collar.bootCount == boots)
            #expect(bench.collar.identity.bootCount == boots)
        }
    }

    @Test func theLogIDIsDrawnOnce() throws {
        let bench = try CollarBench(randomLogID: 0xFFFF_FFFF)
        #expect(bench.collar.log.logID == .max)
        let again = try bench.rebooted(randomLogID: 5)
        #expect(again.collar.log == bench.collar.log)
    }

    @Test func aPowerCutInTheFirstBootLeavesACollarThatBoots() throws {
        let whole = try CollarBench()
        for cutAfter in 0..<whole.shared.flash.stepCount {
            var flash = TestFlash()
            flash.stepsLeft = cutAfter
            let shared = SharedFlash(flash)
            #expect(throws: FlashError.self) {
                let collar = try Collar(
                    booting: .init(
                        deviceID: deviceID, address: 9,
                        firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
                        delivery: .init(modem: .serial(bitsPerSecond: 9600))),
                    flash: shared, randomLogID: 4, now: Instant(microseconds: 0))
                #expect(collar.bootCount == 0, "booted without power")
            }
            let next = try CollarBench(flash: shared.flash.withPower, randomLogID: 5)
            // The first boot may have stored its count, and a torn record counts as one more boot.
            #expect((1...3).contains(next.collar.bootCount))
            #expect(try next.rebooted().collar.log == next.collar.log)
        }
    }

    @Test func theLogAndTheNextSequenceSurvive() throws {
        var bench = try CollarBench()
        try bench.log(0..<20)
        bench = try bench.rebooted()
        #expect(bench.collar.nextSequence == 20)
        try bench.log(20..<21)
        #expect(try bench.sendAll().count == 1)
        #expect(try bench.acknowledge(20, poll: 1) == .acknowledgement(.answer))
        #expect(try bench.sendAll().map(\.message) == [.fix(fix(20))])
    }

    @Test func theWatermarkSurvivesOnceEverythingIsDelivered() throws {
        var bench = try CollarBench()
        try bench.log(0..<5)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(5, poll: 1) == .acknowledgement(.answer))
        #expect(bench.collar.isEverythingDelivered)
        bench = try bench.rebooted()
        #expect(bench.collar.firstUndelivered == 5)
        #expect(bench.collar.isEverythingDelivered)
    }

    @Test func theWatermarkIsKeptEverySixtyFourFixes() throws {
        var bench = try CollarBench(flash: TestFlash(blockByteCount: 4096, blockCount: 7))
        try bench.log(0..<100)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(63, poll: 1) == .acknowledgement(.answer))
        #expect(bench.collar.firstUndelivered == 63)
        #expect(try bench.rebooted().collar.firstUndelivered == 0)
        #expect(try bench.acknowledge(64, poll: nil) == .acknowledgement(.unasked))
        #expect(try bench.rebooted().collar.firstUndelivered == 64)
    }
}

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

    /// The newest block is lost three times in a row. After each loss, the next boot is also tried with power cuts, at every
    /// seventh step in long sweeps; else 23 steps apart, and at other steps for each boot.
    @Test(arguments: TestFlash.Loss.allCases)
    func growsWhateverBecomesOfTheNewestBlock(loss: TestFlash.Loss) throws {
        let distance = sweepsAreLong ? 7 : 23 as UInt32
        try forEachBoot { bench in
            var flash = bench.shared.flash
            var boots = bench.collar.bootCount
            for round in 0..<3 {
                let context = "boot \(bench.collar.bootCount), loss \(round)"
                flash.lose(loss, block: flash.newestSettingsBlock)
                let whole = try booted(flash, after: boots, context)
                for step in stride(from: Int(boots % distance), to: whole.shared.flash.stepCount, by: Int(distance)) {
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

    /// Without the headers it is unknown which block holds the newer values, but the boot count and the log do not begin again.
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
