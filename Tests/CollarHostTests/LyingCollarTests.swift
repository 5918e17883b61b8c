import CollarARQ
import CollarHost
import CollarJournal
import CollarWire
import Testing

/// Stations that lie, flood or poll without end: what they cost is bounded, others are served, and one notice tells of it.
@Suite struct LyingCollarTests {
    private let bench: HostBench
    private let link: LinkID
    private let collar: PaperCollar

    init() throws {
        bench = try HostBench()
        link = bench.openLink()
        collar = try PaperCollar()
        bench.receive(try collar.identity(poll: nil), on: link)
        bench.commit()
        _ = (bench.frames(), bench.notices())
    }

    private func misbehaviour() -> [Misbehaviour] {
        bench.notices().compactMap { if case .collar(_, .misbehaving(let kind)) = $0 { kind } else { nil } }
    }

    /// Passes a poll to the host, and takes its acknowledgement of the collar's log; nil if there is none.
    private func answer(to poll: [UInt8], of asked: PaperCollar? = nil) throws -> Acknowledgement? {
        _ = bench.frames()
        bench.receive(poll, on: link)
        bench.commit()
        let frames = bench.frames().map(\.bytes).filter {
            $0[0] & 31 == MessageType.acknowledgement.rawValue && FrameCRC.isValid($0.span, log: (asked ?? collar).log)
        }
        return try frames.last.map { try Acknowledgement(decoding: $0.span, header: try FrameHeader($0.span)) }
    }

    private func identityRequestCount() -> Int {
        bench.frames().count { $0.bytes[0] & 31 == MessageType.identityRequest.rawValue }
    }

    @Test func sequencesThatSwingAreStoredOnceAndToldOnce() throws {
        let last = Fix.maximumSequence
        let swing = try (0..<500 as Range<UInt32>).flatMap { [try collar.fix(last - 2 * $0), try collar.fix(2 * $0)] }
        bench.receive(try collar.fix(0), on: link)
        for frame in swing + swing { bench.receive(frame, on: link) }
        let answer = try answer(to: try collar.probe(next: 4, poll: 1))
        #expect(answer?.firstMissing == 1)
        #expect(answer?.durable.closedRanges.first == last...last)
        #expect(misbehaviour() == [.sequenceJump(from: 0, to: last)])
        #expect(bench.takeFixes().count == 1000)
    }

    @Test func lossesOfMillionsOfFixesAreSmallAndNotAllToldOneByOne() throws {
        let top: UInt32 = 1 << 31
        let last = (0..<1000 as Range<UInt32>).map { top + ($0 << 20) + 9 }
        bench.receive(try collar.identity(next: 0xF000_0000, oldest: 1 << 24, poll: nil), on: link)
        bench.receive(try collar.tombstone(1 << 24, top), on: link)
        for first in last { bench.receive(try collar.tombstone(first, first + 11), on: link) }
        let answer = try answer(to: try collar.probe(next: 0, poll: 1))
        #expect(answer?.firstMissing == top + 1)
        #expect(answer?.durable.closedRanges.first == last[999]...(last[999] + 11))
        let notices = bench.notices()
        #expect(notices.count { if case .collar(_, .lost) = $0 { true } else { false } } == 16)
        #expect(notices.count { $0 == .collar(collar.log.deviceID, .misbehaving(.tooManyLosses)) } == 1)
        #expect(try #require(bench.host.reading(at: bench.time).journalByteCount) < 100_000)
    }

    @Test func aGapThatIsFilledMakesRoomForAnother() throws {
        let bench = try HostBench {
            // A loss needs two ranges: one of what is covered, and one of what is lost.
            $0.trackingLimits.rangesOfLog = 4
            $0.trackingLimits.sharedRangeCount = 0
        }
        let link = bench.openLink()
        bench.receive(try collar.identity(next: 100, poll: nil), on: link)
        for first in [10, 20, 30] as [UInt32] { bench.receive(try collar.tombstone(first, first + 1), on: link) }
        bench.commit()
        #expect(bench.notices().contains(.collar(collar.log.deviceID, .misbehaving(.tooManyGaps))))
        #expect(bench.host.reading(at: bench.time).isStorageFailing == false)
        bench.receive(try collar.tombstone(12, 19), on: link)
        bench.receive(try collar.tombstone(30, 31), on: link)
        bench.receive(try collar.tombstone(0, 9, poll: 1), on: link)
        bench.commit()
        let frame = try #require(bench.frames().last).bytes
        let answer = try Acknowledgement(decoding: frame.span, header: try FrameHeader(frame.span))
        #expect(answer.firstMissing == 22)
        #expect(answer.durable.closedRanges == [30...31])
    }

    @Test func ofAThousandLogsFewStayInMemoryAndEachHasItsFixes() throws {
        let logs = try (1...1000 as ClosedRange<UInt32>).map { try PaperCollar(logID: LogID(lowBitsOf: 1000 + $0)) }
        for log in logs {
            bench.receive(try log.identity(poll: nil), on: link)
            bench.receive(try log.fix(0), on: link)
        }
        #expect(try answer(to: try logs[999].probe(next: 1, poll: 1), of: logs[999])?.firstMissing == 1)
        #expect(misbehaviour() == [.tooManyLogs])
        #expect(bench.host.logCount <= 16)
        bench.receive(try logs[0].identity(poll: nil), on: link)
        #expect(try answer(to: try logs[0].probe(next: 1, poll: 1), of: logs[0])?.firstMissing == 1)
        #expect(bench.takeFixes().count == 1000)
    }

    @Test func ofTenThousandInventedCollarsFewAreAccepted() throws {
        var heard: [DeviceID] = []
        var refusals: [CollarRefusal] = []
        func take() {
            for case .collar(let deviceID, let notice) in bench.notices() {
                if case .heard = notice { heard.append(deviceID) }
                if case .refused(_, let refusal) = notice { refusals.append(refusal) }
            }
        }
        func identity(_ number: UInt64) throws -> [UInt8] {
            try PaperCollar(deviceID: DeviceID(rawValue: 0x1000 + number), logID: 99).identity(poll: nil)
        }
        for number in 0..<10_000 as Range<UInt64> { bench.receive(try identity(number), on: link) }
        take()
        // The collar of this test was the first of sixteen.
        #expect(heard.count == 15)
        #expect(refusals == [.tooManyAtOnce])
        for number in 15..<300 as Range<UInt64> {
            bench.wait(seconds: 1)
            bench.receive(try identity(number), on: link)
        }
        take()
        #expect(heard.count == 255)
        #expect(refusals.contains(.tooManyCollars(limit: 256)))
        // A collar that has a journal is always served, and a receiver that serves one collar counts no others.
        #expect(try answer(to: try collar.fix(0, poll: 1))?.firstMissing == 1)
        bench.commit()
        try bench.restart()
        let again = bench.openLink()
        bench.receive(try identity(5), on: again)
        bench.receive(try identity(5000), on: again)
        heard = []
        refusals = []
        take()
        #expect(heard == [0x1005])
        #expect(refusals == [.tooManyCollars(limit: 256)])
    }

    @Test func pollsOfUnknownCollarsAreNotAnsweredWithoutEnd() throws {
        var stranger = try PaperCollar(deviceID: 0xC1, logID: 78)
        stranger.address = 44
        for number in 0..<1000 as Range<UInt32> { bench.receive(try stranger.fix(number, poll: UInt8(number % 7) + 1), on: link) }
        #expect((32...34).contains(identityRequestCount()))
        for _ in 0..<10 {
            bench.wait(seconds: 1)
            for number in 0..<50 as Range<UInt32> { bench.receive(try stranger.fix(number, poll: UInt8(number % 7) + 1), on: link) }
            #expect(identityRequestCount() == 4)
        }
        #expect(bench.notices() == [.link("radio", .unknownPollsIgnored)])
        #expect(try answer(to: try collar.fix(0, poll: 1))?.firstMissing == 1)
        bench.receive(try stranger.identity(), on: link)
        #expect(try answer(to: try stranger.fix(0, poll: 1), of: stranger)?.firstMissing == 1)
    }

    /// Damage changes the address in many polls. At least as many frames arrive undamaged.
    @Test func damagedAddressesAreNoFlood() throws {
        var stranger = try PaperCollar(deviceID: 0xC1, logID: 78)
        stranger.address = 44
        for sequence in 0..<400 as Range<UInt32> {
            bench.receive(try collar.fix(sequence), on: link)
            bench.receive(try stranger.fix(sequence, poll: 1 + UInt8(sequence % 7)), on: link)
        }
        #expect(bench.takeFixes().count == 400)
        #expect(bench.notices().isEmpty)
    }

    @Test func pollsThatBringNothingNewAreAnsweredUpToALimit() throws {
        bench.receive(try collar.fix(0), on: link)
        var answers = 0
        for number in 0..<500 as Range<Int> {
            if try answer(to: try collar.fix(0, poll: UInt8(number % 7) + 1)) != nil { answers += 1 }
        }
        #expect((256...273).contains(answers))
        #expect(misbehaviour() == [.tooManyPolls])
        bench.wait(seconds: 1)
        let later = try (0..<50).count { _ in try answer(to: try collar.fix(0, poll: 1)) != nil }
        #expect(later == 10)
        #expect(try answer(to: try collar.fix(1, poll: 2))?.firstMissing == 2, "a new fix is answered at once")
    }

    @Test func aThousandFixesWithAPollEachAreAllAnswered() throws {
        for sequence in 0..<1000 as Range<UInt32> {
            #expect(try answer(to: try collar.fix(sequence, poll: UInt8(sequence % 7) + 1))?.firstMissing == sequence + 1)
        }
        #expect(misbehaviour().isEmpty)
    }

    /// A collar that is refused can be named.
    @Test func theOnlyCollarThatIsServedIsAcceptedBesideAnyNumberOfJournals() throws {
        for number in 0..<300 as Range<UInt64> {
            let name = String(0x1000 + number, radix: 16)
            #expect(try bench.disk.makeDirectory(at: "/state/" + String(repeating: "0", count: 16 - name.count) + name))
        }
        try bench.restart()
        let stranger = try PaperCollar(deviceID: 0xABC, logID: 78)
        bench.receive(try stranger.identity(poll: nil), on: bench.openLink())
        #expect(bench.notices().contains { if case .collar(0xABC, .refused) = $0 { true } else { false } })
        let named = try HostBench(on: bench.disk) { $0.deviceID = 0xABC }
        let link = named.openLink()
        named.receive(try stranger.identity(poll: nil), on: link)
        named.receive(try stranger.fix(0), on: link)
        #expect(named.takeFixes().count == 1)
    }
}
