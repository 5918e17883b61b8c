import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// Pairing with the first receiver that acknowledges, and frames that a collar ignores.
@Suite struct CollarPairingTests {
    @Test func theFirstReceiverIsAdoptedAndOthersAreIgnored() throws {
        var bench = try CollarBench()
        try bench.log(0..<5)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(2, poll: 1, receiver: 77) == .acknowledgement(.answer))
        #expect(bench.collar.pairedReceiverID == 77)
        #expect(try bench.acknowledge(5, poll: nil, receiver: 78) == .otherReceiver(78))
        #expect(bench.collar.pairedReceiverID == 77)
        #expect(bench.collar.firstUndelivered == 2)
        bench = try bench.rebooted()
        #expect(bench.collar.identity.pairedReceiverID == 77)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(5, poll: 1, receiver: 78) == .otherReceiver(78))
        #expect(try bench.acknowledge(5, poll: 1, receiver: 77) == .acknowledgement(.answer))
    }

    @Test func aReceiverThatClaimsWhatWasNeverLoggedIsNotAdopted() throws {
        var bench = try CollarBench()
        try bench.log(0..<5)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(6, poll: 1) == .acknowledgement(.impossible))
        #expect(bench.collar.pairedReceiverID == 0)
        #expect(bench.collar.firstUndelivered == 0)
        #expect(try bench.acknowledge(5, poll: 1, receiver: 3) == .acknowledgement(.answer))
        #expect(bench.collar.pairedReceiverID == 3)
    }

    @Test func framesForOthersAndDamagedOnesChangeNothing() throws {
        var bench = try CollarBench()
        try bench.log(0..<5)
        _ = try bench.sendAll()
        let answer = Acknowledgement(receiverID: 77, poll: .first, firstMissing: 5)
        let log = bench.collar.log
        let stranger = LogIdentity(deviceID: deviceID, logID: otherLogID)
        let frame = { (address: UInt8, log: LogIdentity) in
            try [UInt8](capacity: 253) { output in try answer.encode(address: address, log: log, into: &output) }
        }
        #expect(try bench.receive(frame(10, log)) == .notForThisCollar)
        #expect(try bench.receive(frame(9, stranger)) == .rejected(.crcMismatch))
        #expect(try bench.receive([1, 2, 3]) == .rejected(.tooShort(byteCount: 3)))
        var damaged = try frame(9, log)
        damaged[6] ^= 0x10
        #expect(try bench.receive(damaged) == .rejected(.crcMismatch))
        #expect(bench.collar.pairedReceiverID == 0)
        #expect(bench.collar.firstUndelivered == 0)
        #expect(try bench.receive(frame(Frame.broadcastAddress, log)) == .acknowledgement(.answer))
    }

    @Test func whoAsksWhoIsThereIsToldNext() throws {
        var bench = try CollarBench()
        try bench.log(0..<5)
        _ = try bench.sendAll()
        let question = try [UInt8](capacity: 253) { output in
            try IdentityRequest(receiverID: 99).encode(address: Frame.broadcastAddress, into: &output)
        }
        #expect(try bench.receive(question) == .identityRequest)
        #expect(bench.collar.pairedReceiverID == 0)
        #expect(try bench.sendAll().map(\.message) == [.identity(bench.collar.identity)])
    }

    @Test func framesOfCollarsAreNotForACollar() throws {
        var bench = try CollarBench()
        let frame = try #require(try bench.nextFrame())
        #expect(try bench.receive(frame) == .notForThisCollar)
    }
}

/// Pairing a collar with another receiver, and the fixes that the new receiver gets.
@Suite struct CollarRepairingTests {
    private func seconds(_ count: Int64) -> Int64 { count * 1_000_000 }

    @Test func theOldReceiversWordIsEnough() throws {
        var bench = try CollarBench.paired(fixes: 5)
        #expect(try bench.command(1, .pair(receiverID: 99)) == .command(requestID: 1, .pair(receiverID: 99)))
        #expect(bench.collar.pairedReceiverID == 99)
        #expect(bench.collar.firstUndelivered == 0)
        // The collar waits until the window of the poll has passed. Then the result tells the old receiver the outcome.
        #expect(try bench.sendAll().isEmpty)
        bench.now = try #require(bench.collar.nextDeadline)
        let sent = try bench.sendAll()
        #expect(sent.map(\.message) == [result(1, .ok), .identity(bench.collar.identity)])
        #expect(sent.map { $0.poll != nil } == [false, true])
        #expect(try bench.acknowledge(5, poll: bench.lastPoll) == .otherReceiver(77))
        // The new receiver gets every fix that is still in the log.
        #expect(try bench.acknowledge(0, poll: bench.lastPoll, receiver: 99) == .acknowledgement(.answer))
        #expect(try bench.sendAll().map(\.message) == [4, 0, 1, 2, 3].map { .fix(fix($0)) })
        #expect(try bench.command(1, .pair(receiverID: 99)) == .repeatedRequest(requestID: 1))
        #expect(try bench.command(2, .stopTracking) == .requestNotTaken(requestID: 2))
        #expect(bench.collar.isTracking)
        bench = try bench.rebooted()
        #expect(bench.collar.pairedReceiverID == 99)
        #expect(bench.collar.firstUndelivered == 0)
        #expect(bench.collar.nextSequence == 5)
        // The request ids of the new receiver are independent of those of the old one.
        #expect(try bench.command(1, .stopTracking, by: 99) == .command(requestID: 1, .stopTracking))
    }

    @Test func aStrangerIsObeyedWithinThePairingWindowOnly() throws {
        var bench = try CollarBench.paired()
        let pair = Command.Action.pair(receiverID: 99)
        #expect(try bench.command(1, pair, by: 99) == .requestNotExecuted(requestID: 1, .refused))
        _ = try bench.sendAll()
        bench.collar.openPairingWindow(now: bench.now)
        bench.now = bench.now.advanced(byMicroseconds: seconds(60))
        #expect(try bench.command(2, pair, by: 99) == .requestNotExecuted(requestID: 2, .refused))
        _ = try bench.answered()
        bench.collar.openPairingWindow(now: bench.now)
        bench.now = bench.now.advanced(byMicroseconds: seconds(60) - 1)
        #expect(try bench.command(3, .stopTracking, by: 99) == .requestNotExecuted(requestID: 3, .refused))
        _ = try bench.answered()
        #expect(try bench.command(4, pair, by: 99) == .command(requestID: 4, pair))
        #expect(bench.collar.pairedReceiverID == 99)
    }

    @Test func onlyPowerOnOpensTheWindowAtBoot() throws {
        let start = try CollarBench.paired().shared.flash
        for isPoweredOn in [true, false] {
            var bench = try CollarBench(flash: start, isPoweredOn: isPoweredOn)
            _ = try bench.command(4, .pair(receiverID: 99), by: 99)
            #expect(bench.collar.pairedReceiverID == (isPoweredOn ? 99 : 77))
        }
    }

    @Test func whoUnpairedACollarDoesNotGetItBackByAnAcknowledgement() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.command(1, .unpair) == .command(requestID: 1, .unpair))
        #expect(bench.collar.pairedReceiverID == 0)
        for _ in 0..<2 {
            #expect(try bench.acknowledge(3, poll: bench.lastPoll) == .otherReceiver(77))
            #expect(bench.collar.pairedReceiverID == 0)
            bench = try bench.rebooted()
            _ = try bench.sendAll()
        }
        #expect(try bench.acknowledge(0, poll: 1, receiver: 99) == .acknowledgement(.answer))
        #expect(bench.collar.pairedReceiverID == 99)
        // A late repeat of the command *unpair* does not change the new pairing.
        #expect(try bench.command(1, .unpair) == .repeatedRequest(requestID: 1))
        #expect(bench.collar.pairedReceiverID == 99)
    }

    @Test func whoUnpairedACollarGetsItBackByTheCommand() throws {
        var bench = try CollarBench.paired()
        _ = try bench.command(1, .unpair)
        #expect(try bench.command(2, .pair(receiverID: 77)) == .command(requestID: 2, .pair(receiverID: 77)))
        #expect(bench.collar.pairedReceiverID == 77)
        #expect(bench.collar.firstUndelivered == 0)
    }

    /// A collar that gets no answers keeps its replies, which fill the queue. It can still be paired.
    @Test func pairingNeedsNoPlaceForItsResult() throws {
        var bench = try CollarBench.paired()
        for id in 1...4 as ClosedRange<UInt16> { _ = try bench.command(id, .startTracking) }
        _ = try bench.command(5, .unpair)
        #expect(try bench.command(6, .pair(receiverID: 99), by: 99) == .command(requestID: 6, .pair(receiverID: 99)))
        bench.now = try #require(bench.collar.nextDeadline)
        #expect(try bench.sendAll().map(\.message) == (1...5).map { result($0, .ok) } + [.identity(bench.collar.identity)])
    }

    @Test func pairingWithTheOwnReceiverChangesNothing() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.command(1, .pair(receiverID: 77)) == .command(requestID: 1, .pair(receiverID: 77)))
        #expect(bench.collar.firstUndelivered == 3)
        #expect(try bench.sendAll().map(\.message) == [result(1, .ok)])
    }

    /// Of 60 fixes the log still holds 26 … 59. Of the overwritten fixes the old receiver has 0 … 19.
    @Test func whatIsGoneIsReportedAsDeliveredElsewhereOrLost() throws {
        var bench = try CollarBench.paired(fixes: 20)
        try bench.log(20..<60)
        _ = try bench.command(1, .pair(receiverID: 99))
        bench = try bench.rebooted()
        #expect(bench.collar.identity.oldestSequence == 26)
        #expect(bench.collar.identity.deliveredElsewhere == 20)
        #expect(try bench.sendAll().map(\.message) == [.identity(bench.collar.identity)])
        #expect(try bench.acknowledge(0, poll: 1, receiver: 99) == .acknowledgement(.answer))
        var tombstones: [(Message, Bool)] = []
        while let frame = try bench.nextFrame() {
            let header = try FrameHeader(frame.span)
            guard header.type == .tombstone else { continue }
            let message = try Message.decode(frame.span, log: bench.collar.log, reference: 59)
            tombstones.append((message, header.flags.isDeliveredElsewhere))
        }
        #expect(tombstones.map(\.0) == [tombstone(0, 19), tombstone(20, 25)])
        #expect(tombstones.map(\.1) == [true, false])
    }

    /// `deliveredElsewhere` is 0 until the receiver changes. A change raises the value to the sequence below which the former
    /// receiver has acknowledged everything, and never lowers the value.
    @Test func anIdentityTellsWhatFormerReceiversAcknowledged() throws {
        var bench = try CollarBench.paired(fixes: 5)
        #expect(bench.collar.identity.deliveredElsewhere == 0)
        try bench.log(5..<9)
        _ = try bench.command(1, .pair(receiverID: 99))
        #expect(bench.collar.identity.deliveredElsewhere == 5)
        bench = try bench.rebooted()
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(2, poll: bench.lastPoll, receiver: 99) == .acknowledgement(.answer))
        _ = try bench.command(1, .unpair, by: 99)
        #expect(bench.collar.identity.deliveredElsewhere == 5)
        _ = try bench.sendAll()
        _ = try bench.command(2, .pair(receiverID: 77))
        bench = try bench.rebooted()
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(7, poll: bench.lastPoll) == .acknowledgement(.answer))
        #expect(bench.collar.identity.deliveredElsewhere == 5)
        _ = try bench.command(3, .unpair)
        #expect(bench.collar.identity.deliveredElsewhere == 7)
    }

    @Test func aNewReceiversFixesAreNotCodedAgainstWhatTheOldOneHas() throws {
        let flash = SharedFlash()
        let modem = ModemProfile(
            nanosecondsPerByte: 1000, frameOverheadMicroseconds: 0, turnaroundMicroseconds: 1000)
        var bench = try CollarBench.paired(fixes: 5, flash: flash.flash)
        _ = try bench.command(1, .pair(receiverID: 99))
        let configuration = Collar<SharedFlash>.Configuration(
            deviceID: deviceID, address: 9, firmwareVersion: FirmwareVersion(major: 1, minor: 2, patch: 3),
            delivery: CollarDelivery.Configuration(modem: modem, sendsLiveFixes: true))
        bench.collar = try Collar(booting: configuration, flash: bench.shared, randomLogID: 1, now: bench.now)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(0, poll: 1, receiver: 99) == .acknowledgement(.answer))
        try bench.log(5..<6)
        #expect(try bench.sendAll().map(\.message) == [5, 0, 1, 2, 3, 4].map { .fix(fix($0)) })
    }

    /// If blocks of the log decay, a sequence that a former receiver has must not be given to another fix.
    @Test func sequencesThatAFormerReceiverHasAreNotGivenOutAgain() throws {
        var bench = try CollarBench.paired(fixes: 5)
        _ = try bench.command(1, .pair(receiverID: 99))
        let flash = bench.shared.flash.withPower
        var decayed = flash
        for block in firstLogBlock..<flash.blockCount { try decayed.erase(block: block) }
        #expect(try CollarBench(flash: decayed).collar.nextSequence >= 5)
    }
}
