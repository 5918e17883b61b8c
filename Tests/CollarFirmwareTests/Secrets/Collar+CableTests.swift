import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// The key of a collar: its copies in the flash, and its change over the cable.
@Suite struct KeyChangeTests {
    private let blockByteCount = 512

    @Test func theKeyOfTheFactoryIsKeptInTwoCopies() throws {
        let bench = try CollarBench.keyed()
        #expect(bench.copies(of: key(1)) == 2)
        var next = try bench.rebooted()
        #expect(try next.keyInForce(of: [key(1)]) == key(1))
        // The flash has a key: another one of the configuration does not count.
        var other = try CollarBench(flash: bench.shared.flash.withPower, factoryKey: key(2))
        #expect(try other.keyInForce(of: [key(1), key(2)]) == key(1))
    }

    @Test(arguments: [2, 3]) func aLostCopyIsWrittenAnew(block: Int) throws {
        let bench = try CollarBench.keyed()
        var flash = bench.shared.flash
        flash.overwrite((block * blockByteCount)..<(block * blockByteCount + 20)) { $0 & 0x5A }
        var next = try CollarBench(flash: flash.withPower)
        #expect(try next.keyInForce(of: [key(1)]) == key(1))
        #expect(next.copies(of: key(1)) == 2)
    }

    /// A copy can be missing because the flash failed at the boot that had to write it. The change must not begin with the other one.
    @Test(arguments: [2, 3]) func theOnlyCopyIsNotErasedBeforeThereIsANewOne(lost: Int) throws {
        var bench = try CollarBench.keyed(isPoweredOn: true)
        #expect(try bench.requestKey(proving: key(1), drawing: key(2)) == .answered)
        bench.shared.flash.overwrite((lost * blockByteCount)..<(lost * blockByteCount + 20)) { $0 & 0x5A }
        bench.shared.flash.failingPrograms = 1
        #expect(throws: FlashError.self) { try bench.activate(key(2)) }
        var next = try bench.rebooted()
        #expect(try next.keyInForce(of: [key(1), key(2)]) == key(1))
    }

    /// A collar that had a key sends nothing in clear, whether its settings or its log tell of the key.
    @Test(arguments: [true, false]) func aCollarThatHasLostItsKeyIsSilent(settingsAreLost: Bool) throws {
        let bench = try CollarBench.keyed()
        var flash = bench.shared.flash
        let first = settingsAreLost ? 0 : 2
        flash.overwrite((first * blockByteCount)..<(4 * blockByteCount)) { _ in 0xFF }
        var next = try CollarBench(flash: flash.withPower, isPoweredOn: true, factoryKey: key(9))
        #expect(try next.nextFrame() == nil)
        #expect(next.collar.nextDeadline == nil)
        let request = try [UInt8](capacity: 11) { try IdentityRequest(receiverID: 7).encode(address: 255, into: &$0) }
        #expect(try next.receive(request) == .silent)
        #expect(try next.collar.receiveFromCable(request.span, randomKey: key(3), now: next.now) == .ignored)
        // Power-on is not enough for a request without a proof: whoever finds the collar could make it send.
        #expect(try next.requestKey(proving: nil, drawing: key(3)) == .ignored)
        next.collar.openPairingWindow(now: next.now)
        #expect(try next.requestKey(proving: nil, drawing: key(3)) == .answered)
        #expect(try next.activate(key(3)) == .keyChanged)
        next = try next.rebooted(randomLogID: 5)
        #expect(try next.keyInForce(of: [key(3)]) == key(3))
        #expect(next.collar.log.logID == 5)
        #expect(next.collar.nextSequence == 0)
    }

    @Test func aProvenRequestKeepsLogReceiverAndSettings() throws {
        var bench = try CollarBench.keyed(isPoweredOn: true)
        #expect(try bench.requestKey(proving: key(1), drawing: key(2)) == .answered)
        let frame = try #require(try bench.nextCableFrame())
        let clear = try #require(try bench.opened(frame, with: key(1)))
        let offer = try KeyOffer(clear.span)
        #expect(offer == KeyOffer(log: bench.collar.log, bootCount: 1, key: key(2)))
        #expect(try bench.nextCableFrame() == nil)
        // A repeat offers the same key.
        #expect(try bench.requestKey(proving: key(1), drawing: key(8)) == .answered)
        let again = try #require(try bench.nextCableFrame().flatMap { try bench.opened($0, with: key(1)) })
        #expect(try KeyOffer(again.span).key == key(2))
        #expect(try bench.activate(key(8)) == .ignored)
        #expect(try bench.activate(key(2)) == .keyChanged)
        #expect(try bench.nextFrame() == nil)
        #expect(try bench.activate(key(2)) == .ignored)
        #expect(bench.copies(of: key(1)) == 0)
        #expect(bench.copies(of: key(2)) == 2)
        let log = bench.collar.log
        bench = try CollarBench(shared: bench.shared, randomLogID: 5)
        #expect(bench.collar.log == log)
        #expect(bench.collar.nextSequence == 3)
        #expect(bench.collar.bootCount == 2)
        #expect(try bench.keyInForce(of: [key(1), key(2)]) == key(2))
    }

    @Test(arguments: [logID.rawValue, 5]) func aRequestWithoutAProofBeginsANewLog(randomLogID: UInt32) throws {
        var clear = try CollarBench.paired()
        #expect(try clear.update(5, version: 3, [1: 700]) == .settingsChanged)
        // A collar in clear takes a key after power-on.
        var bench = try CollarBench(flash: clear.shared.flash.withPower, isPoweredOn: true)
        #expect(try bench.requestKey(proving: key(1), drawing: key(2)) == .ignored)
        #expect(try bench.requestKey(proving: nil, drawing: key(2)) == .answered)
        let frame = try #require(try bench.nextCableFrame())
        #expect(try KeyOffer(frame.span) == KeyOffer(log: bench.collar.log, bootCount: bench.collar.bootCount, key: key(2)))
        #expect(try bench.activate(key(2)) == .keyChanged)
        let (former, boots) = (bench.collar.log, bench.collar.bootCount)
        bench = try bench.rebooted(randomLogID: randomLogID)
        #expect(bench.collar.log != former)
        #expect(bench.collar.bootCount > boots)
        #expect(bench.collar.pairedReceiverID == 0)
        #expect(bench.collar.settings.version == .defaults)
        #expect(bench.collar.settings[.intervalMilliseconds] == 500)
        #expect(bench.collar.nextSequence == 0)
        #expect(try bench.keyInForce(of: [key(2)]) == key(2))
        // The next boot begins no further log.
        let log = bench.collar.log
        try bench.log(0..<2)
        bench = try bench.rebooted(randomLogID: 77)
        #expect(bench.collar.log == log)
        #expect(bench.collar.nextSequence == 2)
    }

    @Test func aKeyedCollarGivesAStrangerAKeyOnlyAfterAPressOfItsButton() throws {
        var bench = try CollarBench.keyed(isPoweredOn: true)
        #expect(try bench.requestKey(proving: nil, drawing: key(2)) == .ignored)
        #expect(try bench.requestKey(proving: key(2), drawing: key(2)) == .ignored)
        #expect(try bench.nextCableFrame() == nil)
        bench.now = bench.now.advanced(byMicroseconds: 59_999_999)
        #expect(try bench.requestKey(proving: key(1), drawing: key(2)) == .answered)
        bench.now = bench.now.advanced(byMicroseconds: 1)
        #expect(try bench.requestKey(proving: key(1), drawing: key(2)) == .ignored)
        #expect(try bench.activate(key(2)) == .ignored)
        bench.collar.openPairingWindow(now: bench.now)
        #expect(try bench.activate(key(2)) == .ignored)
        #expect(try bench.requestKey(proving: nil, drawing: key(3)) == .answered)
        // The offer to a stranger is in clear. So a proof gets another key.
        #expect(try bench.nextCableFrame().map { try KeyOffer($0.span).key } == key(3))
        #expect(try bench.requestKey(proving: key(1), drawing: key(4)) == .answered)
        #expect(try bench.activate(key(3)) == .ignored)
        #expect(try bench.requestKey(proving: nil, drawing: key(5)) == .answered)
        #expect(try bench.activate(key(4)) == .ignored)
        #expect(try bench.activate(key(5)) == .keyChanged)
        bench = try bench.rebooted()
        #expect(bench.collar.nextSequence == 0)
        #expect(try bench.keyInForce(of: [key(1), key(5)]) == key(5))
    }

    @Test func onTheCableTheCollarObeysNothingElse() throws {
        var bench = try CollarBench.keyed()
        let request = try [UInt8](capacity: 11) { try IdentityRequest(receiverID: 7).encode(address: 9, into: &$0) }
        #expect(try bench.collar.receiveFromCable(request.span, randomKey: key(3), now: bench.now) == .answered)
        let frame = try #require(try bench.nextCableFrame())
        #expect(try bench.opened(frame, with: key(1)) != nil)
        #expect(try FrameHeader(ofAny: frame.span).flags.poll == nil)
        let other = try [UInt8](capacity: 11) { try IdentityRequest(receiverID: 7).encode(address: 10, into: &$0) }
        #expect(try bench.collar.receiveFromCable(other.span, randomKey: key(3), now: bench.now) == .ignored)
        #expect(try bench.nextCableFrame() == nil)
        // The radio does not know the types of the cable.
        let activation = try [UInt8](capacity: 32) { try CableFrame.encodeRequest(proof: nil, into: &$0) }
        bench.collar.openPairingWindow(now: bench.now)
        #expect(try bench.receive(activation) == .rejected(.unknownType(21)))
    }

    /// At every step of the change power fails. After a boot the collar has one of the two keys, in two copies, and nothing is left
    /// of the other one.
    @Test(arguments: [true, false]) func aPowerCutLeavesOneKey(isProven: Bool) throws {
        func begun() throws -> CollarBench {
            var bench = try CollarBench.keyed()
            bench.collar.openPairingWindow(now: bench.now)
            _ = try bench.requestKey(proving: isProven ? key(1) : nil, drawing: key(2))
            bench.shared.flash.clearHistory()
            return bench
        }
        var whole = try begun()
        #expect(try whole.activate(key(2)) == .keyChanged)
        let steps = whole.shared.flash.stepCount
        #expect(steps > 40)
        var found: Set<UInt8> = []
        for step in 0..<steps {
            for erasesFromBack in [true, false] {
                var cut = try begun()
                cut.shared.flash.erasesFromBack = erasesFromBack
                cut.shared.flash.stepsLeft = step
                #expect(throws: FlashError.self) { try cut.activate(key(2)) }
                #expect(try cut.nextFrame() == nil)
                var next = try cut.rebooted(randomLogID: 5)
                let inForce = try #require(try next.keyInForce(of: [key(1), key(2)]), "cut after \(step)")
                found.insert(inForce.bytes[0])
                #expect(next.copies(of: inForce) == 2)
                #expect(next.copies(of: inForce == key(1) ? key(2) : key(1)) == 0)
                #expect(next.collar.nextSequence == (isProven || inForce == key(1) ? 3 : 0))
            }
        }
        #expect(found == [1, 2])
    }

    /// The boot after the change is cut at every step, too: a request without a proof begins its log exactly once.
    @Test func aPowerCutInTheFirstBootBeginsOneLog() throws {
        var bench = try CollarBench.keyed()
        bench.collar.openPairingWindow(now: bench.now)
        _ = try bench.requestKey(proving: nil, drawing: key(2))
        #expect(try bench.activate(key(2)) == .keyChanged)
        let whole = try bench.rebooted(randomLogID: 5)
        let steps = whole.shared.flash.stepCount
        #expect(steps > 20)
        for step in 0..<steps {
            let cut = SharedFlash(bench.shared.flash.withPower)
            cut.flash.stepsLeft = step
            #expect(throws: FlashError.self) { try CollarBench(shared: cut, randomLogID: 5) }
            var next = try CollarBench(flash: cut.flash.withPower, randomLogID: 6)
            #expect(try next.keyInForce(of: [key(2)]) == key(2))
            #expect([5, 6].contains(next.collar.log.logID))
            #expect(next.collar.nextSequence == 0)
            #expect(next.collar.bootCount > bench.collar.bootCount)
        }
    }

    private func lose(block: Int, of flash: inout TestFlash) {
        flash.overwrite((block * blockByteCount)..<((block + 1) * blockByteCount)) { _ in 0 }
    }

    /// A paired collar in clear gets its first key from a stranger, boots and logs five fixes.
    private func keyedByAStranger() throws -> CollarBench {
        var bench = try CollarBench(flash: CollarBench.paired().shared.flash.withPower, isPoweredOn: true)
        _ = try bench.requestKey(proving: nil, drawing: key(2))
        #expect(try bench.activate(key(2)) == .keyChanged)
        bench = try bench.rebooted(randomLogID: 5)
        for number in 0..<5 as Range<UInt32> { _ = try bench.collar.log(fix(number)) }
        return bench
    }

    @Test(arguments: [0, 1]) func aSettingsBlockThatDecaysGivesUpNoLogAndBringsNoneBack(block: Int) throws {
        var bench = try keyedByAStranger()
        var flash = bench.shared.flash
        lose(block: block, of: &flash)
        var next = try CollarBench(flash: flash.withPower, randomLogID: 6)
        #expect(next.collar.log.logID == 5)
        #expect(next.collar.nextSequence == 5)
        #expect(next.collar.pairedReceiverID == 0)
        // A proven change of the key does not forget that a log began.
        bench.collar.openPairingWindow(now: bench.now)
        _ = try bench.requestKey(proving: key(2), drawing: key(3))
        #expect(try bench.activate(key(3)) == .keyChanged)
        flash = bench.shared.flash
        lose(block: block, of: &flash)
        next = try CollarBench(flash: flash.withPower, randomLogID: 6)
        #expect(next.collar.log.logID == 5)
        #expect(next.collar.pairedReceiverID == 0)
        #expect(next.collar.settings.version == .defaults)
        #expect(try next.keyInForce(of: [key(3)]) == key(3))
    }

    /// No fix was logged with the key yet.
    @Test func theLogTellsOfAKeyBeforeTheFirstFix() throws {
        var bench = try CollarBench(flash: CollarBench.paired().shared.flash.withPower, isPoweredOn: true)
        _ = try bench.requestKey(proving: nil, drawing: key(2))
        _ = try bench.activate(key(2))
        bench = try bench.rebooted(randomLogID: 5)
        var flash = bench.shared.flash
        for block in 0..<4 { lose(block: block, of: &flash) }
        var next = try CollarBench(flash: flash.withPower, randomLogID: 6)
        #expect(try next.nextFrame() == nil)
    }

    /// Without any boot count, the log does not go on: a number could be used twice in it.
    @Test func aLostBootCountBeginsANewLog() throws {
        let bench = try CollarBench()
        var flash = bench.shared.flash
        for block in 0..<2 { flash.overwrite((block * blockByteCount)..<(block * blockByteCount + 32)) { _ in 0 } }
        let next = try CollarBench(flash: flash.withPower, randomLogID: 6)
        #expect(next.collar.bootCount == 1)
        #expect(next.collar.log.logID == 6)
    }

    @Test func aCopyThatCannotBeWrittenStopsNoBoot() throws {
        let bench = try CollarBench.keyed()
        var flash = bench.shared.flash.withPower
        lose(block: 2, of: &flash)
        // One of the first programs of a boot repairs the copy. Each of them fails in turn; most of these boots are given up.
        var unrepaired = 0
        for before in 0..<4 {
            let boot = SharedFlash(flash)
            boot.flash.programsBeforeFailure = before
            boot.flash.failingPrograms = 1
            do throws(any Error) {
                var next = try CollarBench(shared: boot)
                guard next.copies(of: key(1)) == 1 else { continue }
                unrepaired += 1
                #expect(try next.keyInForce(of: [key(1)]) == key(1))
            } catch is FlashError {}
        }
        #expect(unrepaired == 1)
    }

    /// The blocks of the log tell the boot count if the whole settings store is lost.
    @Test func aLostSettingsStoreContinuesAboveTheCountsOfTheLog() throws {
        var bench = try CollarBench.keyed()
        for _ in 0..<9 { bench = try bench.rebooted() }
        for number in 3..<40 as Range<UInt32> { _ = try bench.collar.log(fix(number)) }
        #expect(bench.collar.bootCount == 10)
        var flash = bench.shared.flash.withPower
        flash.overwrite(0..<(2 * blockByteCount)) { _ in 0xFF }
        let next = try CollarBench(flash: flash, randomLogID: 5)
        #expect(next.collar.bootCount == 10 + 65_536)
        #expect(next.collar.log.logID == 5)
        // The raised count is durable in the log, so the store may be lost again.
        var again = next.shared.flash.withPower
        again.overwrite(0..<(2 * blockByteCount)) { _ in 0xFF }
        #expect(try CollarBench(flash: again, randomLogID: 6).collar.bootCount == 10 + 2 * 65_536)
    }

    @Test func aBlockIsBegunBeforeTheCountRunsAwayFromTheLog() throws {
        var bench = try CollarBench.keyed()
        var flash = bench.shared.flash.withPower
        var store = try SettingsStore(mounting: &flash)
        try store.set(.bootCount, to: 1 + 32_767, in: &flash)
        bench = try CollarBench(flash: flash.withPower)
        #expect(bench.collar.bootCount == 32_769)
        #expect(bench.collar.nextSequence == 3)
        bench = try bench.rebooted()
        // 13 slots fit a block of 512 bytes.
        #expect(bench.collar.bootCount == 32_770)
        #expect(bench.collar.nextSequence == 13)
        bench = try bench.rebooted()
        #expect(bench.collar.nextSequence == 13)
        var lost = bench.shared.flash.withPower
        lost.overwrite(0..<(2 * blockByteCount)) { _ in 0xFF }
        #expect(try CollarBench(flash: lost).collar.bootCount == 32_770 + 65_536)
    }
}
