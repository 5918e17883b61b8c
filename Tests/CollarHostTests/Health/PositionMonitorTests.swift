import CollarWire
import Testing

@testable import CollarHost

/// Problems with a collar's positions while the collar is heard. Each worsening is reported once.
@Suite struct PositionProblemTests {
    private let bench: HostBench
    private let link: LinkID
    private let collar: PaperCollar

    init() throws {
        bench = try HostBench()
        link = bench.openLink()
        collar = try PaperCollar()
        bench.receive(try collar.identity(), on: link)
    }

    /// The problems reported since the last call.
    private func problems() -> [PositionProblem] {
        bench.notices().compactMap { if case .collar(_, .positions(let problem)) = $0 { problem } else { nil } }
    }

    /// The frame with the CRC that fits its bytes.
    private func sealed(_ frame: [UInt8], log: LogIdentity?) -> [UInt8] {
        var frame = frame
        let flags = FrameFlags(rawValue: frame[1])
        var bytes = frame.mutableSpan
        FrameCRC.seal(&bytes, flags: flags, log: log)
        return frame
    }

    @Test func anAccuracyAbove50Meters() throws {
        // 50.0 m gets the code for 49.5 m, and 53.0 m gets the code for 54.0 m.
        bench.receive(try collar.fix(0, accuracyMillimeters: 50_000), on: link)
        #expect(problems().isEmpty)
        bench.receive(try collar.fix(1, accuracyMillimeters: 53_000), on: link)
        #expect(problems() == [.poorAccuracy(meters: 54)])
        bench.receive(try collar.fix(2, accuracyMillimeters: 900_000), on: link)
        #expect(problems().isEmpty, "it is still poor")
        bench.receive(try collar.fix(3), on: link)
        bench.receive(try collar.fix(4, accuracyMillimeters: 80_000), on: link)
        #expect(problems().isEmpty, "at most once a minute")
        bench.receive(try collar.fix(5, accuracyMillimeters: 5_000), on: link)
        bench.wait(seconds: 60)
        bench.receive(try collar.fix(6, accuracyMillimeters: 80_000), on: link)
        #expect(problems().count == 1)
    }

    @Test func aLateFixIsNotTheNewest() throws {
        bench.receive(try collar.fix(9, accuracyMillimeters: 5_000), on: link)
        bench.receive(try collar.fix(3, accuracyMillimeters: 80_000), on: link)
        #expect(problems().isEmpty)
    }

    /// A fix that was made before a message and comes after it is the newest one, and messages do not shorten the interval that
    /// is expected between fixes.
    @Test func messagesAreNoFixes() throws {
        var sequence: UInt32 = 0
        for _ in 0..<4 {
            for _ in 0..<5 {
                bench.receive(try collar.message(sequence + 1), on: link)
                bench.receive(try collar.fix(sequence, seconds: Int64(sequence) * 20), on: link)
                sequence += 2
                bench.wait(seconds: 40)
            }
            bench.receive(try collar.message(sequence), on: link)
            sequence += 1
            bench.wait(seconds: 59)
            bench.receive(try collar.probe(next: sequence), on: link)
            #expect(problems().isEmpty)
        }
    }

    @Test func messagesShowThatFixesAreMissing() throws {
        bench.receive(try collar.fix(0), on: link)
        bench.receive(try collar.fix(1, seconds: 1), on: link)
        for sequence in 2..<10 as Range<UInt32> {
            bench.wait(seconds: 10)
            bench.receive(try collar.message(sequence), on: link)
        }
        #expect(problems() == [.stale(microseconds: 60_000_000)])
    }

    @Test func noFixSinceTheCollarIsHeard() throws {
        bench.wait(seconds: 59)
        bench.receive(try collar.probe(next: 0), on: link)
        #expect(problems().isEmpty)
        bench.wait(seconds: 1)
        bench.receive(try collar.probe(next: 0), on: link)
        #expect(problems() == [.noFix(microseconds: 60_000_000)])
        bench.wait(seconds: 100)
        bench.receive(try collar.identity(), on: link)
        #expect(problems().isEmpty, "it was said")
    }

    @Test func aFixOnItsWayIsNotMissed() throws {
        bench.wait(seconds: 70)
        bench.receive(try collar.probe(next: 5), on: link)
        #expect(problems().isEmpty)
    }

    @Test func aFixGrowsStale() throws {
        bench.receive(try collar.fix(0, seconds: 0), on: link)
        bench.receive(try collar.fix(2, seconds: 60), on: link)
        bench.wait(seconds: 89)
        bench.receive(try collar.status(), on: link)
        #expect(problems().isEmpty, "two fixes in a minute: 90 s are three intervals")
        bench.wait(seconds: 1)
        bench.receive(try collar.status(), on: link)
        #expect(problems() == [.stale(microseconds: 90_000_000)])
        bench.wait(seconds: 90)
        bench.receive(try collar.status(), on: link)
        #expect(problems().isEmpty)
        bench.receive(try collar.fix(3, seconds: 200), on: link)
        bench.wait(seconds: 500)
        bench.receive(try collar.status(), on: link)
        #expect(problems() == [.stale(microseconds: 500_000_000)])
    }

    /// While the collar delivers what it has kept, the airtime is spent on that.
    @Test func nothingIsStaleWhileABacklogComesIn() throws {
        bench.receive(try collar.identity(next: 100), on: link)
        for sequence in 98...99 as ClosedRange<UInt32> { bench.receive(try collar.fix(sequence, seconds: Int64(sequence)), on: link) }
        // A duty cycle allows a frame every few minutes.
        for sequence in 0..<98 as Range<UInt32> {
            bench.wait(seconds: sequence < 90 ? 20 : 500)
            bench.receive(try collar.status(), on: link)
            bench.receive(try collar.fix(sequence, seconds: Int64(sequence)), on: link)
        }
        #expect(problems().isEmpty)
        bench.wait(seconds: 59)
        bench.receive(try collar.status(), on: link)
        #expect(problems().isEmpty)
        bench.wait(seconds: 1)
        bench.receive(try collar.status(), on: link)
        #expect(problems() == [.stale(microseconds: (90 * 20 + 8 * 500 + 60) * 1_000_000)])
    }

    @Test func aBacklogThatStops() throws {
        bench.receive(try collar.identity(next: 100), on: link)
        for sequence in [98, 99, 0] as [UInt32] { bench.receive(try collar.fix(sequence, seconds: Int64(sequence)), on: link) }
        bench.wait(seconds: 999)
        bench.receive(try collar.status(), on: link)
        #expect(problems().isEmpty)
        bench.wait(seconds: 1)
        bench.receive(try collar.status(), on: link)
        #expect(problems() == [.stale(microseconds: 1_000_000_000)])
    }

    /// After a start of the receiver the newest fix may be known, and only older ones come.
    @Test func aBacklogIsNoMissingFix() throws {
        bench.receive(try collar.fix(9), on: link)
        bench.commit()
        try bench.restart()
        let link = bench.openLink()
        for sequence in 0..<9 as Range<UInt32> {
            bench.receive(try collar.probe(next: 10), on: link)
            bench.wait(seconds: 20)
            bench.receive(try collar.fix(sequence), on: link)
        }
        #expect(problems().isEmpty)
    }

    @Test func aFixIsNotStaleWithinAMinute() throws {
        for sequence in 0...1 as ClosedRange<UInt32> { bench.receive(try collar.fix(sequence, seconds: Int64(sequence)), on: link) }
        bench.wait(seconds: 59.9)
        bench.receive(try collar.status(), on: link)
        #expect(problems().isEmpty)
        bench.wait(seconds: 0.1)
        bench.receive(try collar.status(), on: link)
        #expect(problems() == [.stale(microseconds: 60_000_000)])
    }

    @Test func trackingOrGNSSSwitchedOff() throws {
        bench.receive(try collar.status(isTracking: false, gnss: .off), on: link)
        #expect(problems() == [.trackingOff])
        bench.wait(seconds: 100)
        bench.receive(try collar.status(isTracking: false, gnss: .off), on: link)
        #expect(problems().isEmpty, "the missing fixes have a cause that was said")
        bench.receive(try collar.status(gnss: .searching), on: link)
        bench.receive(try collar.status(gnss: .off), on: link)
        #expect(problems().contains(.gnssOff))
    }

    @Test func aGNSSFault() throws {
        bench.receive(try collar.status(gnss: .fault), on: link)
        bench.receive(try collar.status(gnss: .fault), on: link)
        #expect(problems() == [.gnssFault])
        bench.receive(try collar.status(), on: link)
        bench.wait(seconds: 61)
        bench.receive(try collar.status(gnss: .fault), on: link)
        #expect(problems().contains(.gnssFault))
    }

    @Test func aFixThatCannotBeDecoded() throws {
        // A frame of the type of a fix, with an invalid payload and the right CRC.
        var frame = try collar.fix(0)
        for index in 4..<frame.count - 3 { frame[index] = 0xFF }
        bench.receive(sealed(frame, log: collar.log), on: link)
        #expect(problems() == [.undecodable])
        #expect(bench.host.statistics.malformedFrames == 1)
    }

    @Test func anotherVersionOfTheProtocol() throws {
        var frame = try collar.identity()
        frame[0] |= 0xE0
        func unsupported() -> Int { bench.notices().count { if case .link(_, .unsupportedFrame) = $0 { true } else { false } } }
        bench.receive(frame, on: link)
        #expect(unsupported() == 0, "the check is wrong: it may be damage")
        for _ in 0..<2 { bench.receive(sealed(frame, log: nil), on: link) }
        #expect(unsupported() == 1)
        #expect(bench.host.statistics.unsupportedFrames == 3)
    }
}
