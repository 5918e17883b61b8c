import CollarARQ
import CollarControl
import CollarFormats
import CollarHost
import CollarJournal
import CollarWire
import Testing

@testable import CollarReceiver

/// Requests that a receiver takes while it plays a capture: what the collar answers is added to the capture once its id is known.
@Suite struct ReceiverRequestsTests {
    private func bench() throws -> ReceiverBench {
        let bench = try ReceiverBench([.result, .link])
        try bench.write("[animal Athena]\nwears = 00000000000000c0\n", to: "animals")
        bench.configuration.animalPaths = ["\(bench.folder)/animals"]
        return bench
    }

    /// Plays a day on which a collar is heard. Then requests are made, and the rest of the day follows.
    private func play(
        _ bench: ReceiverBench, of collar: RecordedCollar = RecordedCollar(), _ rest: @escaping (Receiver, inout RecordedDay) throws -> Void
    ) throws -> ReceiverBench.Run {
        var day = RecordedDay()
        day.receive(try collar.identity())
        day.wait(seconds: 1)
        let start = day
        bench.onNotice = { receiver, notice in
            guard case .host(.collar(_, .heard)) = notice else { return }
            try rest(receiver, &day)
            day.note(.due)
            // The receiver has not come to the end of the file yet.
            try bench.write(day.bytes, to: "capture", isLonger: true)
        }
        return try bench.play(start)
    }

    private func results(_ run: ReceiverBench.Run) -> [ResultLine] {
        run.text.split(separator: "\n").compactMap { ResultLine(bytes: Array($0.utf8)) }
    }

    @Test func aRequestIsAcceptedAndItsResultHasALine() throws {
        let bench = try bench()
        let collar = RecordedCollar()
        var queued: ResultLine?
        let run = try play(bench) { receiver, day in
            let line = receiver.submit(ControlRequest(.command(.command(.locateNow)), deviceID: 0xC0))
            queued = line
            day.receive(try collar.identity())
            day.wait(seconds: 2)
            day.receive(try collar.result(try #require(line.requestID)))
        }
        let line = try #require(queued)
        #expect(line.outcome == .queued && line.deviceID == 0xC0 && line.name == "Athena" && line.verb == "locate")
        #expect(line.unixMilliseconds == RecordedDay.start.unixMilliseconds)
        let result = try #require(results(run).first)
        #expect(results(run).count == 1)
        #expect(result.outcome == .ok && result.requestID == line.requestID && result.name == "Athena" && result.verb == "locate")
        #expect(result.unixMilliseconds == RecordedDay.start.unixMilliseconds + 3000)
        #expect(try bench.events(.result) == run.lines(.result))
    }

    private static let outcomes: [(CommandResult.Outcome, ResultLine.Outcome)] = [
        (.ok, .ok), (.unknown, .unknown), (.unsupported, .unsupported), (.invalid, .invalid), (.refused, .refused), (.conflict, .conflict),
        (.busy, .busy), (.timeout, .timeout), (.failed, .failed),
    ]

    @Test(arguments: outcomes)
    func eachOutcomeHasItsWord(outcome: CommandResult.Outcome, word: ResultLine.Outcome) throws {
        let collar = RecordedCollar()
        let run = try play(try bench()) { receiver, day in
            let line = receiver.submit(ControlRequest(.command(.command(.sound(milliseconds: 100))), deviceID: 0xC0))
            day.receive(try collar.identity())
            day.wait(seconds: 2)
            day.receive(try collar.result(try #require(line.requestID), outcome))
        }
        #expect(results(run).map(\.outcome) == [word])
    }

    /// The state of an earlier request can be asked for while it waits, and after its end.
    @Test func theStateOfARequestIsTold() throws {
        let bench = try bench()
        let collar = RecordedCollar()
        var requestID: UInt16?
        var waiting: ResultLine?
        _ = try play(bench) { receiver, day in
            let id = try #require(receiver.submit(ControlRequest(.command(.command(.locateNow)), deviceID: 0xC0)).requestID)
            requestID = id
            waiting = receiver.submit(ControlRequest(.await(requestID: id), deviceID: 0xC0))
            day.receive(try collar.identity())
            day.wait(seconds: 2)
            day.receive(try collar.result(id))
        }
        let id = try #require(requestID)
        #expect(waiting?.outcome == .queued && waiting?.requestID == id && waiting?.name == "Athena" && waiting?.verb == "locate")
        var ended: ResultLine?
        var unknown: ResultLine?
        _ = try play(bench) { receiver, _ in
            ended = receiver.submit(ControlRequest(.await(requestID: id), deviceID: 0xC0))
            unknown = receiver.submit(ControlRequest(.await(requestID: id &+ 1), deviceID: 0xC0))
        }
        #expect(ended?.outcome == .ok && ended?.requestID == id && ended?.name == "Athena")
        #expect(unknown?.outcome == .rejected && unknown?.name == "Athena" && unknown?.code != nil)
    }

    @Test func aNewerRequestReplacesTheOneBefore() throws {
        var ids: [UInt16?] = []
        let run = try play(try bench()) { receiver, _ in
            let request = ControlRequest(.command(.command(.locateNow)), deviceID: 0xC0, mode: .latest)
            for _ in 0..<3 { ids.append(receiver.submit(request).requestID) }
        }
        try #require(Set(ids).count == 3)
        #expect(results(run).map(\.outcome) == [.replaced, .replaced])
        #expect(results(run).map(\.requestID) == Array(ids.prefix(2)))
        #expect(results(run).map(\.name) == ["Athena", "Athena"])
    }

    /// A request that may wait for a time only ends after it, and not before.
    @Test func aRequestThatIsNotAnsweredExpires() throws {
        let run = try play(try bench()) { receiver, day in
            for milliseconds in [5000, 8000] as [Int64] {
                _ = receiver.submit(
                    ControlRequest(
                        .command(.command(.sound(milliseconds: 1))), deviceID: 0xC0, mode: .now, timeoutMicroseconds: milliseconds * 1000))
            }
            day.pass(seconds: 20)
        }
        #expect(results(run).map(\.outcome) == [.expired, .expired])
        #expect(results(run).map(\.unixMilliseconds).map { $0 - RecordedDay.start.unixMilliseconds } == [5000, 8000])
    }

    @Test func whatIsRefusedSaysWhy() throws {
        var lines: [ResultLine] = []
        let run = try play(try bench()) { receiver, _ in
            lines.append(receiver.submit(ControlRequest(.command(.command(.locateNow)), deviceID: 0xBAD)))
            lines.append(receiver.submit(ControlRequest(.await(requestID: 1), deviceID: 0xBAD)))
        }
        #expect(lines.map(\.outcome) == [.rejected, .rejected])
        #expect(lines.map(\.deviceID) == [0xBAD, 0xBAD])
        #expect(lines.map(\.verb) == ["locate", "await"])
        #expect(lines.map(\.name) == [nil, nil] && lines.allSatisfy { $0.reason != nil && $0.code != nil })
        #expect(results(run).isEmpty, "only the one who asked is told")
    }

    /// A request waits for its collar from one run to the next.
    @Test func aRequestWaitsAcrossRuns() throws {
        let bench = try bench()
        var requestID: UInt16?
        let first = try play(bench) { receiver, _ in
            requestID = receiver.submit(ControlRequest(.command(.command(.locateNow)), deviceID: 0xC0)).requestID
        }
        #expect(results(first).isEmpty)
        let id = try #require(requestID)
        let second = try play(bench) { _, day in
            day.receive(try RecordedCollar().identity())
            day.wait(seconds: 2)
            day.receive(try RecordedCollar().result(id))
        }
        #expect(results(second).map(\.outcome) == [.ok])
        #expect(results(second).map(\.requestID) == [id])
    }
}
