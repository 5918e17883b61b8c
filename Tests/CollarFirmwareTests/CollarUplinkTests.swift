import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// The frames that a collar sends.
@Suite struct CollarUplinkTests {
    @Test func fixesGoOutWithExactlyTheCodesThatWereLogged() throws {
        var bench = try CollarBench()
        try bench.log(0..<12)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(0, poll: 1) == .acknowledgement(.answer))
        let sent = try bench.sendAll()
        #expect(sent.map(\.message) == ([11] + Array(0...10)).map { .fix(fix($0)) })
        #expect(sent.map(\.poll) == [UInt8?](repeating: nil, count: 11) + [2])
    }

    @Test func aFixIsInFlashBeforeItIsOnTheAir() throws {
        var bench = try CollarBench()
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(0, poll: 1) == .acknowledgement(.answer))
        for number in 0..<60 as Range<UInt32> {
            #expect(try bench.sendAll().isEmpty)
            try bench.log(number..<(number + 1))
            var flash = bench.shared.flash
            let log = try FixLog(mounting: &flash, firstBlock: firstLogBlock, logID: logID)
            #expect(try log.fix(number, in: &flash) == fix(number))
            let sent = try bench.sendAll()
            #expect(sent.map(\.message) == [.fix(fix(number))])
            let poll = try #require(sent.last?.poll)
            #expect(try bench.acknowledge(number + 1, poll: poll) == .acknowledgement(.answer))
        }
    }

    @Test func aFixThatFlashRefusedIsNeverSent() throws {
        var bench = try CollarBench()
        try bench.log(0..<2)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(2, poll: 1) == .acknowledgement(.answer))
        bench.shared.flash.failingPrograms = 1
        bench.shared.flash.failedProgramByteCount = 5
        #expect(throws: FixLogError.self) { try bench.collar.log(fix(2)) }
        let lost = try bench.sendAll()
        #expect(lost.map(\.message) == [tombstone(2, 2)])
        #expect(try bench.acknowledge(3, poll: try #require(lost.last?.poll)) == .acknowledgement(.answer))
        #expect(try bench.collar.log(fix(3)) == 3)
        #expect(try bench.sendAll().map(\.message) == [.fix(fix(3))])
    }

    /// The storage of the receiver was rolled back, or an attacker forged an acknowledgement of fixes that the receiver lacks.
    @Test func whatAReceiverHasLostComesBackInABatch() throws {
        var bench = try CollarBench(batchFrameByteLimit: 253)
        try bench.log(0..<20)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(20, poll: 1) == .acknowledgement(.answer))
        #expect(bench.collar.isEverythingDelivered)
        bench.now = try #require(bench.collar.nextDeadline)
        #expect(try bench.sendAll().map(\.poll) == [2])
        #expect(try bench.acknowledge(3, poll: 2, durable: [SequenceRange(15)]) == .acknowledgement(.answer))
        #expect(bench.collar.firstUndelivered == 3)
        var sequences: [UInt32] = []
        var frameCount = 0
        for case let (message, _) in try bench.sendAll() {
            frameCount += 1
            if case .batch(let batch) = message { batch.forEach { sequences.append($0.sequence) } }
            if case .fix(let fix) = message { sequences.append(fix.sequence) }
        }
        #expect(sequences == [19] + Array(3...14) + Array(16...18))
        #expect(frameCount <= 4)
        // The earlier acknowledgement of all 20 fixes still counts after a reboot, and in the identity for a new receiver.
        #expect(try bench.rebooted().collar.firstUndelivered == 20)
        _ = try bench.command(1, .pair(receiverID: 99))
        #expect(bench.collar.identity.deliveredElsewhere == 20)
    }

    /// Otherwise the receiver would count a sequence as lost that does not exist yet, and after the reboot the collar would
    /// ignore acknowledgements of that sequence.
    @Test func nothingIsSaidOfASequenceThatARebootWouldGiveOutAgain() throws {
        for byteCount in 0..<18 {
            var bench = try CollarBench()
            try bench.log(0..<2)
            _ = try bench.sendAll()
            #expect(try bench.acknowledge(2, poll: 1) == .acknowledgement(.answer))
            bench.shared.flash.failingPrograms = 1
            bench.shared.flash.failedProgramByteCount = byteCount
            #expect(throws: FixLogError.self) { try bench.collar.log(fix(2)) }
            let lost = try bench.sendAll()
            #expect(lost.map(\.message) == (byteCount > 0 ? [tombstone(2, 2)] : []))
            let next = bench.collar.nextSequence
            bench = try bench.rebooted()
            #expect(bench.collar.nextSequence == next, "\(byteCount) bytes")
            _ = try bench.sendAll()
            #expect(try bench.acknowledge(next, poll: bench.lastPoll) == .acknowledgement(.answer))
        }
    }

    @Test func aRestingCollarProbes() throws {
        var bench = try CollarBench()
        try bench.log(0..<2)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(2, poll: 1) == .acknowledgement(.answer))
        let deadline = try #require(bench.collar.nextDeadline)
        #expect(deadline.microseconds(since: bench.now) == 60_000_000)
        bench.now = deadline
        let sent = try bench.sendAll()
        #expect(sent.map(\.message) == [.probe(Probe(logTag: bench.collar.log.tag, nextSequence: 2))])
        #expect(sent.map(\.poll) == [2])
    }

    /// A power cut tore a slot in the middle of the log.
    @Test func aTornSlotIsTombstoned() throws {
        var bench = try CollarBench()
        try bench.log(0..<3)
        bench.logTorn(3)
        bench = try bench.rebooted()
        #expect(bench.collar.nextSequence == 4)
        try bench.log(4..<6)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(0, poll: 1) == .acknowledgement(.answer))
        let sent = try bench.sendAll()
        let fixes = [5, 0, 1, 2].map { Message.fix(fix($0)) }
        #expect(sent.map(\.message) == fixes + [tombstone(3, 3), .fix(fix(4))])
        #expect(sent.map(\.poll) == [nil, nil, nil, nil, nil, 2])
    }

    @Test func overwrittenFixesAreTombstonedAsOneRange() throws {
        var bench = try CollarBench()
        try bench.log(0..<60)
        _ = try bench.sendAll()
        #expect(bench.collar.identity.oldestSequence == 26)
        #expect(try bench.acknowledge(4, poll: 1) == .acknowledgement(.answer))
        let sent = try bench.sendAll()
        #expect(sent.prefix(4).map(\.message) == [.fix(fix(59)), tombstone(4, 25), .fix(fix(26)), .fix(fix(27))])
        #expect(try bench.rebooted().collar.identity.oldestSequence == 26)
    }

    @Test func whatIsAskedForAgainIsSentFromTheLog() throws {
        var bench = try CollarBench()
        try bench.log(0..<8)
        _ = try bench.sendAll()
        let answer = try bench.acknowledge(8, poll: 1, resend: [SequenceRange(2), SequenceRange(5)])
        #expect(answer == .acknowledgement(.answer))
        let sent = try bench.sendAll()
        #expect(sent.map(\.message) == [.fix(fix(2)), .fix(fix(5))])
        #expect(sent.map(\.poll) == [nil, 2])
    }
}
