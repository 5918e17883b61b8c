import CollarARQ
import CollarFirmware
import CollarWire
import Testing

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
