import CollarARQ
import CollarHost
import CollarJournal
import CollarWire
import Testing

/// Messages of collars at the host: they are stored, acknowledged and emitted as fixes are.
@Suite struct MessageTests {
    private let collar: PaperCollar

    init() throws { collar = try PaperCollar() }

    private func sequences(_ entries: [EmittedEntry]) -> [String] {
        entries.map { entry in
            switch entry.content {
            case .fix(let record): "fix \(record.fix.sequence)"
            case .message(let record): "message \(record.message.sequence)"
            case .gap(let change): "\(change.event) \(change.range.first)-\(change.range.last)"
            }
        }
    }

    private func answer(_ bench: HostBench) throws -> Acknowledgement? {
        bench.commit()
        var answer: Acknowledgement?
        for frame in bench.frames() {
            let header = try FrameHeader(frame.bytes.span)
            guard header.type == .acknowledgement else { continue }
            answer = try Acknowledgement(decoding: frame.bytes.span, header: header)
        }
        return answer
    }

    @Test(arguments: [false, true])
    func messagesComeOutInTheirPlaces(isOrdered: Bool) throws {
        let bench = try HostBench {
            $0.selection.hasMessages = true
            $0.selection.isSorted = isOrdered
        }
        let link = bench.openLink()
        bench.receive(try collar.identity(next: 4, poll: nil), on: link)
        bench.receive(try collar.fix(0), on: link)
        bench.receive(try collar.message(1), on: link)
        bench.receive(try collar.message(3, poll: 2), on: link)
        let first = try #require(try answer(bench))
        #expect(first.firstMissing == 2)
        #expect(first.durable.closedRanges == [3...3])
        #expect(sequences(bench.entries()) == (isOrdered ? ["fix 0", "message 1"] : ["fix 0", "message 1", "message 3"]))
        bench.receive(try collar.fix(2, poll: 3), on: link)
        #expect(try answer(bench)?.firstMissing == 4)
        #expect(sequences(bench.entries()) == (isOrdered ? ["fix 2", "message 3"] : ["fix 2"]))
        bench.receive(try collar.message(1, poll: 4), on: link)
        #expect(try answer(bench)?.firstMissing == 4)
        #expect(bench.entries().isEmpty)
        #expect(bench.host.statistics.duplicates == 1)
        #expect(bench.host.statistics.fixes == 2)
    }

    @Test func aMessageSurvivesALossOfPower() throws {
        let bench = try HostBench { $0.selection.hasMessages = true }
        let link = bench.openLink()
        bench.receive(try collar.identity(next: 1, poll: nil), on: link)
        bench.receive(try collar.message(0), on: link)
        bench.commit()
        bench.disk.losePower()
        try bench.restart()
        guard case .message(let record) = bench.entries().first?.content else {
            Issue.record("no message comes out")
            return
        }
        #expect(record.message == CollarMessage(sequence: 0, content: PaperCollar.content(0)))
        let again = bench.openLink()
        bench.receive(try collar.identity(next: 1, poll: 5), on: again)
        #expect(try answer(bench)?.firstMissing == 1)
    }

    /// A consumer of fixes alone reads on as if there were no messages.
    @Test func messagesThatNobodyWantsHoldNothingUp() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        bench.receive(try collar.identity(next: 6, poll: nil), on: link)
        for sequence in 0..<6 as Range<UInt32> {
            let isMessage = sequence % 2 == 1
            bench.receive(isMessage ? try collar.message(sequence) : try collar.fix(sequence), on: link)
        }
        bench.commit()
        #expect(sequences(bench.entries()) == ["fix 0", "fix 2", "fix 4"])
        bench.commit()
        try bench.restart()
        #expect(bench.entries().isEmpty)
    }

    @Test func gapsNameMessagesToo() throws {
        let bench = try HostBench {
            $0.selection.hasMessages = true
            $0.selection.hasGaps = true
        }
        let link = bench.openLink()
        bench.receive(try collar.identity(next: 3, poll: nil), on: link)
        bench.receive(try collar.message(2), on: link)
        bench.commit()
        #expect(sequences(bench.entries()) == ["missing 0-1", "message 2"])
        bench.receive(try collar.fix(0), on: link)
        bench.receive(try collar.message(1), on: link)
        bench.commit()
        #expect(sequences(bench.entries()) == ["fix 0", "message 1", "filled 0-1"])
    }

    /// The first content counts, whether it is a fix or a message.
    @Test func aSequenceIsAFixOrAMessage() throws {
        let bench = try HostBench { $0.selection.hasMessages = true }
        let link = bench.openLink()
        bench.receive(try collar.identity(next: 2, poll: nil), on: link)
        bench.receive(try collar.message(0), on: link)
        bench.receive(try collar.fix(0), on: link)
        bench.receive(try collar.fix(1), on: link)
        bench.receive(try collar.message(1), on: link)
        bench.commit()
        #expect(sequences(bench.entries()) == ["message 0", "fix 1"])
    }

    @Test func aMessageGoesToTheCollarUntilItsResultComes() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        var own = collar
        own.receiverID = bench.host.receiverID
        bench.receive(try own.identity(next: 1, poll: nil), on: link)
        bench.receive(try own.fix(0), on: link)
        bench.commit()
        _ = bench.frames()
        let content = PaperCollar.content(7)
        let report = try bench.host.submit(.message(content), to: own.log.deviceID, patience: .untilHeard, at: bench.time)
        var sent: [HostMessage] = []
        for poll in 1...4 as ClosedRange<UInt8> {
            bench.receive(try own.probe(next: 1, poll: poll), on: link)
            bench.commit()
            for frame in bench.frames() {
                if case .hostMessage(let message) = try Message.decode(frame.bytes.span, log: own.log, reference: 0) {
                    sent.append(message)
                }
            }
        }
        #expect(sent.map(\.requestID) == [report.requestID, report.requestID, report.requestID])
        #expect(sent.allSatisfy { $0.receiverID == bench.host.receiverID })
        var expected = content
        expected.unixSeconds = UInt32(HostBench.unixMilliseconds / 1000)
        #expect(sent.first?.content == expected)
        _ = bench.notices()
        bench.receive(try own.result(report.requestID, .busy), on: link)
        let ended = bench.notices().compactMap { if case .requestEnded(let end) = $0 { end.state } else { nil } }
        #expect(ended == [.ended(.result(.busy))])
    }
}
