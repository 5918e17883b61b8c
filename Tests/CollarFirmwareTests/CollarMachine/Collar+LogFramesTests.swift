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

/// The frame that a collar sends after an unanswered poll, if it may send batches.
@Suite struct CollarNewestFixesTests {
    /// A collar with these fixes in its log, after the time-out of poll 1, which its identity carried.
    private func bench(_ fixes: [Fix]) throws -> CollarBench {
        var bench = try CollarBench(batchFrameByteLimit: 253)
        for fix in fixes { _ = try bench.collar.log(fix) }
        _ = try bench.sendAll()
        try bench.wait()
        return bench
    }

    /// A fix that differs much from the fix before it, so that its code in a batch is long.
    private func wildFix(_ number: UInt32) -> Fix {
        let isOdd = number % 2 == 1
        let mix = number &* 2_654_435_769
        let small = Int32(truncatingIfNeeded: mix % 1_000_000)
        return Fix(
            sequence: number, unixMilliseconds: 1_700_000_000_000 + Int64(mix), latitudeSteps: isOdd ? small : -small - 7_000_000,
            longitudeSteps: isOdd ? 12_000_000 + small : -12_000_000 - small, altitudeSteps: isOdd ? 9000 : -300,
            horizontalAccuracy: AccuracyCode(rawValue: isOdd ? 3 : 110),
            verticalAccuracy: AccuracyCode(rawValue: isOdd ? 110 : 4), speedDecimetersPerSecond: isOdd ? 900 : 3,
            batteryPercent: isOdd ? 1 : 99)
    }

    private func fixes(in frame: [UInt8], of collar: Collar<SharedFlash>) throws -> [Fix] {
        #expect(frame.count <= 51)
        switch try Message.decode(frame.span, log: collar.log, reference: collar.nextSequence - 1) {
        case .batch(let batch):
            var fixes: [Fix] = []
            batch.forEach { fixes.append($0) }
            return fixes
        case .fix(let fix): return [fix]
        default: return []
        }
    }

    @Test func threeFixesThatFitGoTogetherWithThePoll() throws {
        var bench = try bench((0..<6).map { fix($0) })
        let frame = try #require(try bench.nextFrame())
        #expect(try FrameHeader(frame.span).type == .batch)
        #expect(try FrameHeader(frame.span).flags.poll == PollNumber(rawValue: 2))
        #expect(try fixes(in: frame, of: bench.collar) == [3, 4, 5].map { fix($0) })
        #expect(try bench.nextFrame() == nil)
        #expect(try bench.acknowledge(0, poll: 2, durable: [try #require(SequenceRange(3, 5))]) == .acknowledgement(.answer))
        let next = try #require(try bench.nextFrame())
        #expect(try FrameHeader(next.span).flags.poll == PollNumber(rawValue: 3))
        let rest = try Message.decode(next.span, log: bench.collar.log, reference: 5)
        guard case .batch(let batch) = rest else {
            Issue.record("\(rest) in place of the backlog")
            return
        }
        #expect(batch.count == 3)
    }

    @Test func whereThreeDoNotFitTwoGo() throws {
        let logged = [wildFix(1), fix(1), fix(2)].enumerated().map { index, fix in
            var fix = fix
            fix.sequence = UInt32(index)
            return fix
        }
        var bench = try bench(logged)
        let frame = try #require(try bench.nextFrame())
        #expect(try FrameHeader(frame.span).type == .batch)
        #expect(try FrameHeader(frame.span).flags.poll == PollNumber(rawValue: 2))
        #expect(try fixes(in: frame, of: bench.collar) == Array(logged.suffix(2)))
    }

    @Test func whereTwoDoNotFitTheNewestGoesAlone() throws {
        let logged = (0..<3).map { wildFix($0) }
        var bench = try bench(logged)
        let frame = try #require(try bench.nextFrame())
        #expect(try FrameHeader(frame.span).type == .absoluteFix)
        #expect(try FrameHeader(frame.span).flags.poll == PollNumber(rawValue: 2))
        #expect(try fixes(in: frame, of: bench.collar) == [logged[2]])
    }

    @Test(arguments: [(1, [2, 3]), (2, [3]), (3, [])] as [(UInt32, [UInt32])])
    func aTornOneKeepsOlderOnesBack(torn: UInt32, sent: [UInt32]) throws {
        var bench = try CollarBench(batchFrameByteLimit: 253)
        for number in 0..<4 as Range<UInt32> {
            guard number == torn else {
                #expect(try bench.collar.log(fix(number)) == number)
                continue
            }
            bench.shared.flash.failingPrograms = 1
            bench.shared.flash.failedProgramByteCount = 5
            #expect(throws: FixLogError.self) { try bench.collar.log(fix(number)) }
        }
        _ = try bench.sendAll()
        try bench.wait()
        let frame = try #require(try bench.nextFrame())
        #expect(try FrameHeader(frame.span).flags.poll == PollNumber(rawValue: 2))
        #expect(try fixes(in: frame, of: bench.collar) == sent.map { fix($0) })
        if sent.isEmpty {
            #expect(try Message.decode(frame.span, log: bench.collar.log, reference: 3) == tombstone(3, 3))
        }
    }

    @Test func aFlashThatCannotBeReadCostsTheFrameButNotTheWait() throws {
        var bench = try bench((0..<6).map { fix($0) })
        bench.shared.flash.failingReads = 1
        #expect(throws: FlashError.self) { try bench.nextFrame() }
        try bench.wait()
        let frame = try #require(try bench.nextFrame())
        #expect(try FrameHeader(frame.span).flags.poll == PollNumber(rawValue: 3))
        #expect(try fixes(in: frame, of: bench.collar) == [3, 4, 5].map { fix($0) })
    }

    @Test func onlyWhatWasSentIsCounted() throws {
        var bench = try bench([wildFix(0), wildFix(1), wildFix(2)])
        bench.collar.condition = CollarCondition()
        #expect(try bench.sendAll().map(\.message) == [.fix(wildFix(2))])
        try bench.wait()
        #expect(try bench.sendAll().map(\.message) == [.fix(wildFix(2))])
        _ = try bench.askForIdentity()
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(3, poll: bench.lastPoll) == .acknowledgement(.answer))
        let sent = try bench.sendAll().map(\.message)
        guard case .status(let status) = sent.first else {
            Issue.record("\(sent) in place of a status")
            return
        }
        #expect(status.fixesSent == 2)
        #expect(status.retransmissions == 1)
    }
}

extension CollarBench {
    /// Advances the clock to the next deadline.
    fileprivate mutating func wait() throws { now = try #require(collar.nextDeadline) }
}
