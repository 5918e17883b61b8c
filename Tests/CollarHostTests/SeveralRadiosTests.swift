import CollarARQ
import CollarWire
import Testing

@testable import CollarHost

/// One host with two radios that hear the same collar.
struct SeveralRadiosTests {
    private let bench: HostBench
    private let collar: PaperCollar
    private let near: LinkID
    private let far: LinkID

    init() throws {
        bench = try HostBench()
        collar = try PaperCollar()
        near = bench.openLink("near")
        far = bench.openLink("far")
        bench.receive(try collar.identity(next: 5, poll: nil), on: near)
        bench.commit()
        _ = bench.frames()
    }

    /// The links on which acknowledgements go out now.
    private func answeredLinks() throws -> [LinkID] {
        bench.host.deadlineReached(at: bench.time)
        bench.commit()
        return bench.frames().filter { $0.bytes[0] & 31 == MessageType.acknowledgement.rawValue }.map(\.link)
    }

    private func receive(_ frame: [UInt8], strengthDBm: Int16, on link: LinkID) throws {
        bench.receive(frame, on: link)
        let report = SignalReport(
            packetCRC: FrameCRC.sent(in: frame.span), signal: RadioSignal(strengthDBm: strengthDBm))
        bench.receive(
            try [UInt8](capacity: 51) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try report.encode(into: &output)
            }, on: link)
    }

    @Test(arguments: [true, false])
    func theAnswerGoesOutOnceWithTheStrongestSignal(isFarFirst: Bool) throws {
        // From the first signal report of a radio on, the host waits for a report after each fix.
        for link in [near, far] { try receive(try collar.fix(0), strengthDBm: -90, on: link) }
        let poll = try collar.fix(1, poll: 1)
        let heard: [(LinkID, Int16)] = [(near, -60), (far, -110)]
        for (link, strength) in isFarFirst ? heard.reversed() : heard {
            try receive(poll, strengthDBm: strength, on: link)
            #expect(try answeredLinks().isEmpty)
            bench.wait(seconds: 0.002)
        }
        #expect(try answeredLinks().isEmpty)
        bench.wait(seconds: 0.001)
        #expect(try answeredLinks() == [near])
        bench.wait(seconds: 1)
        #expect(try answeredLinks().isEmpty)
    }

    @Test func aCopyThatComesLateIsNotAnswered() throws {
        let poll = try collar.fix(1, poll: 1)
        bench.receive(poll, on: far)
        bench.wait(seconds: 0.005)
        #expect(try answeredLinks() == [far])
        bench.wait(seconds: 0.05)
        bench.receive(poll, on: near)
        bench.wait(seconds: 0.005)
        #expect(try answeredLinks().isEmpty)
        #expect(bench.host.statistics.duplicates == 1)
    }

    @Test func aPollThatIsRepeatedIsAnsweredAgain() throws {
        let poll = try collar.fix(1, poll: 1)
        for link in [far, far, near] {
            bench.receive(poll, on: link)
            bench.wait(seconds: 0.3)
            #expect(try answeredLinks() == [link])
        }
        bench.receive(try collar.fix(1, poll: 2), on: near)
        bench.wait(seconds: 0.005)
        #expect(try answeredLinks() == [near])
    }

    /// If only one link is open, the host answers a poll at once.
    @Test func oneRadioDoesNotWait() throws {
        bench.host.linkClosed(far, at: bench.time)
        bench.receive(try collar.fix(1, poll: 1), on: near)
        #expect(try answeredLinks() == [near])
    }

    @Test func aDamagedFrameIsNoCopy() throws {
        let poll = try collar.fix(1, poll: 1)
        var damaged = poll
        damaged[5] ^= 1
        bench.receive(damaged, on: far)
        bench.receive(poll, on: near)
        bench.wait(seconds: 0.005)
        #expect(try answeredLinks() == [near])
    }

    @Test func aStrangerIsAskedOnceWhoItIs() throws {
        let stranger = try PaperCollar(deviceID: 0xC1)
        var asking = stranger
        asking.address = 44
        let poll = try asking.fix(1, poll: 1)
        for link in [near, far] { bench.receive(poll, on: link) }
        #expect(bench.frames().map(\.link) == [near])
    }

    /// An answer that waits for other radios is dropped if its own radio is unplugged meanwhile. The collar repeats its poll.
    @Test func anAnswerThatWaitsGoesWithItsLink() throws {
        bench.receive(try collar.fix(1, poll: 1), on: far)
        bench.host.linkClosed(far, at: bench.time)
        bench.wait(seconds: 0.005)
        #expect(try answeredLinks().isEmpty)
        #expect(bench.host.nextDeadline.map { $0 > bench.now } ?? true)
    }
}
