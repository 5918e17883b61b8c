import CollarARQ
import CollarHost
import CollarJournal
import CollarWire
import Testing

/// Reports of a base radio, about itself and about the signal of packets: their effect on fixes and answers.
@Suite struct SignalReportTests {
    private let bench: HostBench
    private let link: LinkID
    private let collar: PaperCollar
    private let strong = RadioSignal(strengthDBm: -60, signalToNoiseTenthsDB: 72)
    private let weak = RadioSignal(strengthDBm: -120)

    init() throws {
        bench = try HostBench()
        link = bench.openLink()
        collar = try PaperCollar()
        bench.receive(try collar.identity(poll: nil), on: link)
    }

    private func radioIdentity(maximumFrameByteCount: UInt8 = 253) throws -> [UInt8] {
        try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try RadioIdentity(
                radioID: 4, firmwareVersion: FirmwareVersion(major: 2, minor: 0, patch: 11), maximumFrameByteCount: maximumFrameByteCount
            ).encode(into: &output)
        }
    }

    private func report(_ packet: [UInt8], _ signal: RadioSignal) throws -> [UInt8] {
        try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try SignalReport(packetCRC: FrameCRC.sent(in: packet.span), signal: signal).encode(into: &output)
        }
    }

    /// The signals of the fixes, in the order of their sequences, after these frames and the time for which a fix waits.
    private func signals(_ frames: [[UInt8]]) throws -> [RadioSignal?] {
        bench.receive(try radioIdentity(), on: link)
        return heard(frames)
    }

    private func heard(_ frames: [[UInt8]]) -> [RadioSignal?] {
        for frame in frames { bench.receive(frame, on: link) }
        bench.wait(seconds: 0.02)
        bench.host.deadlineReached(at: bench.time)
        return bench.takeFixes().sorted { $0.fix.sequence < $1.fix.sequence }.map(\.signal)
    }

    @Test func eachPacketHasItsOwnReportOrNone() throws {
        let fixes = try (0..<4 as Range<UInt32>).map { try collar.fix($0) }
        #expect(
            try signals([
                fixes[0], report(fixes[0], strong), fixes[1], fixes[2], report(fixes[2], weak), collar.probe(next: 3), fixes[3],
                report(fixes[3], strong),
            ]) == [strong, nil, weak, strong])
    }

    @Test func aReportThatIsLateOrOfAnotherPacketIsIgnored() throws {
        let fixes = try (0..<3 as Range<UInt32>).map { try collar.fix($0) }
        #expect(
            try signals([fixes[0], collar.probe(next: 2), report(fixes[0], strong), fixes[1], report(fixes[0], strong), fixes[2]])
                == [nil, nil, nil])
    }

    @Test func theFirstReportShowsThatTheRadioReports() throws {
        let fixes = try (0..<2 as Range<UInt32>).map { try collar.fix($0) }
        #expect(heard([fixes[0], try report(fixes[0], strong), fixes[1], try report(fixes[1], weak)]) == [nil, weak])
    }

    /// The parts of a report arrive in two reads.
    @Test(arguments: [(0.009, true), (0.011, false)])
    func aReportThatComesInPiecesBelongsToItsFixIfItIsInTime(seconds: Double, isInTime: Bool) throws {
        bench.receive(try radioIdentity(), on: link)
        let fix = try collar.fix(0)
        bench.receive(fix, on: link)
        let whole = try report(fix, strong)
        let serial = [UInt8](capacity: 64) { output in StreamEncoder.encode(whole.span, into: &output) }
        for part in [serial[..<9], serial[9...]] {
            bench.wait(seconds: seconds)
            bench.host.deadlineReached(at: bench.time)
            let bytes = Array(part)
            bench.host.receive(bytes.span, on: link, at: bench.time)
        }
        #expect(heard([]) == [isInTime ? strong : nil])
    }

    /// A report that does not come delays the acknowledgement only by a moment; one that comes ends the wait.
    @Test(arguments: [true, false])
    func theAcknowledgementWaitsForTheReport(comes: Bool) throws {
        bench.receive(try radioIdentity(), on: link)
        bench.commit()
        _ = bench.frames()
        let poll = try collar.fix(0, poll: 3)
        bench.receive(poll, on: link)
        bench.commit()
        #expect(bench.frames().isEmpty)
        if comes {
            bench.receive(try report(poll, strong), on: link)
        } else {
            #expect(bench.host.nextDeadline == bench.now.advanced(byMicroseconds: 20_000))
            bench.wait(seconds: 0.02)
            bench.host.deadlineReached(at: bench.time)
        }
        bench.commit()
        #expect(try bench.frames().map { try FrameHeader($0.bytes.span).type } == [.acknowledgement])
    }

    @Test func aLaterConsumerGetsTheSignalFromTheJournal() throws {
        bench.receive(try radioIdentity(), on: link)
        for sequence in 0..<600 as Range<UInt32> {
            let fix = try collar.fix(sequence)
            bench.receive(fix, on: link)
            bench.receive(try report(fix, strong), on: link)
        }
        bench.commit()
        try bench.restart()
        #expect(bench.takeFixes().map(\.signal) == Array(repeating: strong, count: 600))
    }

    @Test func theRadioIsToldOnceAndAnswersFitItsLargestFrame() throws {
        let modem = try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try ModemSettings(modulation: .serial(bitsPerSecond: 9600), turnaroundMilliseconds: 60).encode(into: &output)
        }
        for frame in [try radioIdentity(maximumFrameByteCount: 60), modem, try radioIdentity(maximumFrameByteCount: 60), modem] {
            bench.receive(frame, on: link)
        }
        let told = bench.notices().map { if case .link(_, .radio) = $0 { "radio" } else if case .link(_, .modem) = $0 { "modem" } else { "" } }
        #expect(told.filter { !$0.isEmpty } == ["radio", "modem"])
        for number in 0..<40 as Range<UInt32> { bench.receive(try collar.fix(1000 + 300 * number), on: link) }
        _ = heard([try collar.probe(next: 20_000, poll: 1)])
        let answer = try #require(bench.frames().last { $0.bytes[0] & 31 == MessageType.acknowledgement.rawValue }).bytes
        #expect((51...60).contains(answer.count))
    }
}
