import CollarARQ
import CollarFirmware
import CollarWire
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
        #expect(bench.collar.log.logID == LogIdentity.maximumLogID)
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
