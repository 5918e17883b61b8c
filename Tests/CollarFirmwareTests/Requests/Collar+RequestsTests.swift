import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// The execution of commands, and the replies to their repeats.
@Suite struct CollarCommandTests {
    @Test func aCommandIsCarriedOutOnceAndEveryRepeatGetsTheSameResult() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.command(5, .stopTracking) == .command(requestID: 5, .stopTracking))
        #expect(!bench.collar.isTracking)
        #expect(try bench.sendAll().map(\.message) == [result(5, .ok)])
        #expect(try bench.command(6, .startTracking) == .command(requestID: 6, .startTracking))
        #expect(bench.collar.isTracking)
        #expect(try bench.command(5, .stopTracking) == .repeatedRequest(requestID: 5))
        #expect(bench.collar.isTracking)
        #expect(try bench.answered() == [result(6, .ok), result(5, .ok)])
        // A receiver that was set back to an earlier state uses an id again for another command.
        #expect(try bench.command(5, .locateNow) == .command(requestID: 5, .locateNow))
    }

    @Test func trackingSurvivesAReboot() throws {
        var bench = try CollarBench.paired()
        var condition = CollarCondition()
        condition.clockMapping = .init(unixMilliseconds: 1_700_000_000_000, uptimeMilliseconds: 1000)
        bench.collar.condition = condition
        bench.now = bench.now.advanced(byMicroseconds: 4_000_000)
        #expect(bench.collar.isTracking)
        #expect(bench.collar.trackingSinceUnixSeconds == 0)
        _ = try bench.command(5, .stopTracking)
        bench = try bench.rebooted()
        #expect(!bench.collar.isTracking)
        #expect(bench.collar.trackingSinceUnixSeconds == 1_700_000_003)
        #expect(try bench.collar.log(fix(3)) == 3)
    }

    @Test func aRebootIsNotRepeatedAfterTheReboot() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.command(9, .reboot) == .command(requestID: 9, .reboot))
        #expect(bench.collar.isReplyWaiting)
        for _ in 0..<3 {
            bench = try bench.rebooted()
            _ = try bench.sendAll()
            #expect(try bench.command(9, .reboot) == .repeatedRequest(requestID: 9))
            #expect(try bench.answered().contains(result(9, .ok)))
        }
    }

    @Test func theOutcomeOfWhatTakesTimeComesWhenItIsKnown() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.command(7, .locateNow) == .command(requestID: 7, .locateNow))
        #expect(try bench.command(7, .locateNow) == .repeatedRequest(requestID: 7))
        #expect(try bench.sendAll().isEmpty)
        #expect(try bench.collar.finish(requestID: 8, outcome: .ok) == false)
        #expect(try bench.collar.finish(requestID: 7, outcome: .busy))
        #expect(try bench.collar.finish(requestID: 7, outcome: .ok) == false)
        #expect(try bench.sendAll().map(\.message) == [result(7, .busy)])
        #expect(try bench.command(7, .locateNow) == .repeatedRequest(requestID: 7))
        #expect(try bench.answered() == [result(7, .busy)])
        bench = try bench.rebooted()
        _ = try bench.sendAll()
        #expect(try bench.command(7, .locateNow) == .repeatedRequest(requestID: 7))
        #expect(try bench.answered() == [result(7, .busy)])
    }

    @Test func whatARebootInterruptedHasFailed() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.command(7, .sound(milliseconds: 500)) == .command(requestID: 7, .sound(milliseconds: 500)))
        bench = try bench.rebooted()
        _ = try bench.sendAll()
        #expect(try bench.command(7, .sound(milliseconds: 500)) == .repeatedRequest(requestID: 7))
        #expect(try bench.answered() == [result(7, .failed)])
    }

    @Test func withoutASounderSoundIsUnsupported() throws {
        var bench = try CollarBench.paired(capabilities: .compass)
        #expect(try bench.command(7, .sound(milliseconds: 1)) == .requestNotExecuted(requestID: 7, .unsupported))
        #expect(try bench.sendAll().map(\.message) == [result(7, .unsupported)])
    }

    @Test func onlyTheOwnReceiverIsObeyed() throws {
        var bench = try CollarBench.paired()
        #expect(try bench.command(5, .stopTracking, by: 78) == .requestNotExecuted(requestID: 5, .refused))
        #expect(bench.collar.isTracking)
        #expect(try bench.sendAll().map(\.message) == [result(5, .refused)])
        // The same id from another receiver is another request.
        #expect(try bench.command(5, .stopTracking) == .command(requestID: 5, .stopTracking))
        #expect(try bench.answered() == [result(5, .ok)])
    }

    @Test func anUnpairedCollarObeysNobody() throws {
        var bench = try CollarBench()
        _ = try bench.sendAll()
        #expect(try bench.command(5, .stopTracking) == .requestNotExecuted(requestID: 5, .refused))
        #expect(bench.collar.isTracking)
    }

    @Test func whatFindsNoPlaceForItsAnswerIsNotExecuted() throws {
        var bench = try CollarBench.paired()
        for id in 1...5 as ClosedRange<UInt16> {
            #expect(try bench.command(id, .startTracking) == .command(requestID: id, .startTracking))
        }
        #expect(try bench.command(8, .stopTracking) == .requestNotTaken(requestID: 8))
        #expect(bench.collar.isTracking)
        #expect(try bench.askForSettings(6) == .requestNotTaken(requestID: 6))
        #expect(try bench.command(7, .stopTracking, by: 78) == .requestNotTaken(requestID: 7))
        #expect(try bench.sendAll().map(\.message) == (1...5).map { result($0, .ok) })
        #expect(try bench.command(8, .stopTracking) == .command(requestID: 8, .stopTracking))
        #expect(try bench.answered() == [result(8, .ok)])
    }

    /// 5000 commands with reboots between them: the numbers 0 … 15 of the stored commands wrap around many times.
    @Test func theLastEightAreRememberedOverReboots() throws {
        var bench = try CollarBench.paired()
        for id in 1...5000 as ClosedRange<UInt16> {
            #expect(try bench.command(id, .reboot) == .command(requestID: id, .reboot))
            if id % 7 == 0 { bench = try bench.rebooted() }
            if id > 8, id % 11 == 0 {
                for old in (id - 7)...id {
                    #expect(try bench.command(old, .reboot) == .repeatedRequest(requestID: old), "\(old) of \(id)")
                }
            }
            _ = try bench.sendAll()
            if bench.lastPoll != nil { _ = try bench.answered() }
        }
        #expect(try bench.command(4992, .reboot) == .command(requestID: 4992, .reboot))
    }

    @Test func repliesGoFirstAndCountIntoTheBurst() throws {
        var bench = try CollarBench.paired()
        try bench.log(3..<6)
        _ = try bench.sendAll()
        _ = try bench.command(1, .startTracking)
        _ = try bench.command(2, .startTracking)
        #expect(try bench.sendAll().isEmpty, "a poll is open")
        #expect(try bench.acknowledge(3, poll: bench.lastPoll) == .acknowledgement(.answer))
        let sent = try bench.sendAll()
        #expect(sent.map(\.message) == [result(1, .ok), result(2, .ok), .fix(fix(5)), .fix(fix(3)), .fix(fix(4))])
        #expect(sent.map { $0.poll != nil } == [false, false, false, false, true])
    }

    @Test func aFlashThatFailsLeavesTheRequestToBeRepeated() throws {
        var bench = try CollarBench.paired()
        for action in [Command.Action.reboot, .stopTracking, .locateNow, .pair(receiverID: 5), .unpair] {
            bench.shared.flash.failingPrograms = 1
            #expect(throws: FlashError.self) { try bench.command(1, action) }
            #expect(bench.collar.isTracking)
            #expect(bench.collar.pairedReceiverID == 77)
            #expect(try bench.sendAll().isEmpty)
        }
        #expect(try bench.command(1, .stopTracking) == .command(requestID: 1, .stopTracking))
        #expect(try bench.rebooted().collar.isTracking == false)
    }
}

/// Messages of the application: in the log, on the air, and from the host.
@Suite struct CollarMessageTests {
    private func content(
        _ number: UInt8, _ kind: ApplicationMessage.Kind = .request, byteCount: Int = 20
    ) throws -> ApplicationMessage {
        let data = [UInt8](repeating: number, count: byteCount)
        let made = ApplicationMessage(kind: kind, code: number, unixSeconds: .max, data: data.span)
        return try #require(made)
    }

    @Test func messagesAndFixesAreReadBackInTheirPlaces() throws {
        var flash = TestFlash()
        var log = try mountLog(&flash)
        let kinds: [ApplicationMessage.Kind] = [.notice, .request, .reply(to: .max, .failed)]
        for number in 0..<60 as Range<UInt32> {
            let small = UInt8(number)
            let entry: LogEntry =
                number % 2 == 0
                ? .fix(fix(number)) : .message(try content(small, kinds[Int(number) % 3], byteCount: Int(number) % 21))
            #expect(try log.append(entry, to: &flash) == number)
            #expect(try log.entry(number, in: &flash) == entry)
            #expect(try (log.fix(number, in: &flash) == nil) == (number % 2 == 1))
        }
        let again = try mountLog(&flash)
        #expect(again.nextSequence == 60)
        #expect(try again.entry(59, in: &flash) == .message(try content(59, kinds[59 % 3], byteCount: 59 % 21)))
    }

    @Test func aMessageIsSentFirstIfItIsTheNewestAndSplitsABatchIfNot() throws {
        var bench = try CollarBench.paired(fixes: 1, capabilities: .messages)
        #expect(try bench.collar.log(content(1)) == 1)
        #expect(try bench.sendAll().map(\.message) == [.collarMessage(CollarMessage(sequence: 1, content: try content(1)))])
        _ = try bench.answered()
        try bench.log(2..<5)
        #expect(try bench.collar.log(content(5)) == 5)
        try bench.log(6..<10)
        var sequences: [[UInt32]] = []
        for message in try bench.sendAll().map(\.message) {
            switch message {
            case .fix(let fix): sequences.append([fix.sequence])
            case .batch(let batch):
                var inBatch: [UInt32] = []
                batch.forEach { inBatch.append($0.sequence) }
                sequences.append(inBatch)
            case .collarMessage(let message):
                #expect(message.content == (try content(5)))
                sequences.append([message.sequence])
            default: Issue.record("\(message) is sent")
            }
        }
        #expect(sequences.flatMap { $0 }.sorted() == Array(2..<10))
        #expect(sequences.contains([5]))
        #expect(try bench.answered().isEmpty)
        #expect(bench.collar.isEverythingDelivered)
    }

    /// If the newest acknowledged entries are messages, a live fix refers to the fix before them.
    @Test func aMessageIsNoAnchor() throws {
        var bench = try CollarBench.paired(fixes: 3, capabilities: .messages, sendsLiveFixes: true)
        _ = try bench.collar.log(content(3))
        _ = try bench.collar.log(content(4))
        _ = try bench.sendAll()
        _ = try bench.answered()
        try bench.log(5..<6)
        let next = try bench.nextFrame()
        let frame = try #require(next)
        let header = try FrameHeader(frame.span)
        #expect(header.type == .liveFix)
        let named = LiveFix.sequences(of: frame.span, header: header, reference: 5)
        #expect(named?.sequence == 5)
        #expect(named?.anchor == 2)
    }

    @Test func anUnacknowledgedMessageIsSentAgainAfterAReboot() throws {
        var bench = try CollarBench.paired(fixes: 1, capabilities: .messages)
        _ = try bench.collar.log(content(1))
        _ = try bench.sendAll()
        bench = try bench.rebooted()
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(1, poll: bench.lastPoll) == .acknowledgement(.answer))
        #expect(try bench.sendAll().map(\.message) == [.collarMessage(CollarMessage(sequence: 1, content: try content(1)))])
    }

    @Test func theApplicationGetsAMessageOnceAndEveryRepeatGetsItsOutcome() throws {
        var bench = try CollarBench.paired(capabilities: .messages)
        let message = HostMessage(requestID: 7, receiverID: 77, content: try content(3))
        #expect(try bench.receive(message) == .message(message))
        #expect(try bench.receive(message) == .repeatedRequest(requestID: 7))
        #expect(try bench.sendAll().isEmpty)
        #expect(try bench.collar.finish(requestID: 7, outcome: .busy))
        #expect(try bench.sendAll().map(\.message) == [result(7, .busy)])
        bench = try bench.rebooted()
        _ = try bench.sendAll()
        #expect(try bench.receive(message) == .repeatedRequest(requestID: 7))
        #expect(try bench.answered() == [result(7, .busy)])
        // A command with the same id is another request.
        #expect(try bench.command(7, .locateNow) == .command(requestID: 7, .locateNow))
    }

    @Test func aMessageThatARebootInterruptedHasFailed() throws {
        var bench = try CollarBench.paired(capabilities: .messages)
        let message = HostMessage(requestID: 7, receiverID: 77, content: try content(3))
        _ = try bench.receive(message)
        bench = try bench.rebooted()
        _ = try bench.sendAll()
        #expect(try bench.receive(message) == .repeatedRequest(requestID: 7))
        #expect(try bench.answered() == [result(7, .failed)])
    }

    @Test func strangersAndCollarsWithoutAnApplicationTakeNoMessage() throws {
        var bench = try CollarBench.paired(capabilities: .messages)
        let stranger = HostMessage(requestID: 7, receiverID: 78, content: try content(3))
        #expect(try bench.receive(stranger) == .requestNotExecuted(requestID: 7, .refused))
        bench = try CollarBench.paired(capabilities: .sounder)
        let own = HostMessage(requestID: 8, receiverID: 77, content: try content(3))
        #expect(try bench.receive(own) == .requestNotExecuted(requestID: 8, .unsupported))
        #expect(try bench.sendAll().map(\.message) == [result(8, .unsupported)])
    }
}

extension CollarBench {
    mutating func receive(_ message: HostMessage) throws -> Reception {
        let log = collar.log
        return try receive([UInt8](capacity: 253) { output in try message.encode(address: 9, log: log, into: &output) })
    }
}
