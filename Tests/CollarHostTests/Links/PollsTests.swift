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

    /// The requests of two radios at once would collide at the collar, each time.
    @Test func theFirstRadioThatHearsAnUnknownLossAsksForTheIdentity() throws {
        let loss = try collar.tombstone(4, 9, poll: 1)
        for link in [far, near] { bench.receive(loss, on: link) }
        let asking = bench.frames().filter { $0.bytes[0] & 31 == MessageType.identityRequest.rawValue }.map(\.link)
        #expect(asking == [far])
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
            bench.wait(seconds: 0.6)
            #expect(try answeredLinks() == [link])
        }
        bench.receive(try collar.fix(1, poll: 2), on: near)
        bench.wait(seconds: 0.005)
        #expect(try answeredLinks() == [near])
    }

    /// Passes a poll to the host, first on the far link, and takes the links of the answers.
    private func answersTo(_ poll: [UInt8], strengthDBm: [Int16] = []) throws -> [LinkID] {
        for (index, link) in [far, near].enumerated() {
            if strengthDBm.isEmpty { bench.receive(poll, on: link) } else { try receive(poll, strengthDBm: strengthDBm[index], on: link) }
            bench.wait(seconds: 0.001)
        }
        bench.wait(seconds: 0.005)
        return try answeredLinks()
    }

    /// A radio that hears best, but cannot send, does not keep the answers: the collar repeats its fix.
    @Test func anUnheardAnswerIsFollowedByOneAtAnotherRadio() throws {
        #expect(try answersTo(try collar.fix(0, poll: 1)) == [far])
        bench.wait(seconds: 0.2)
        #expect(try answersTo(try collar.fix(0, poll: 2)) == [near])
        // New fixes show that the collar hears these answers, so they stay there.
        for number in 1..<20 as Range<UInt32> {
            bench.wait(seconds: 1)
            #expect(try answersTo(try collar.fix(number, poll: UInt8(number % 7) + 1)) == [near])
        }
        // A probe that is no heartbeat shows it, too.
        bench.wait(seconds: 1)
        #expect(try answersTo(try collar.probe(next: 20, poll: 1)) == [far])
        // Both fail: each has its turn.
        var links: Set<LinkID> = []
        for number in 2..<6 as Range<UInt8> {
            bench.wait(seconds: 1)
            links.formUnion(try answersTo(try collar.probe(next: 20, poll: number)))
        }
        #expect(links == [near, far])
    }

    @Test func aHeartbeatTellsNothingOfTheAnswerBefore() throws {
        for number in 1..<6 as Range<UInt8> {
            #expect(try answersTo(try collar.probe(next: 5, poll: number)) == [far])
            bench.wait(seconds: 60)
        }
    }

    /// No receiver measures 30,000 dBm, and what it measured for an earlier poll does not count.
    @Test func onlyPlausibleStrengthsOfThisPollCount() throws {
        for link in [near, far] { try receive(try collar.fix(0), strengthDBm: -90, on: link) }
        #expect(try answersTo(try collar.fix(1, poll: 1), strengthDBm: [30_000, -90]) == [near])
        #expect(try answersTo(try collar.fix(2, poll: 2), strengthDBm: [-40, -90]) == [far])
        #expect(try answersTo(try collar.fix(3, poll: 3), strengthDBm: [-100, -90]) == [near])
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

    /// A radio behind a network may deliver its copy of a frame later than the answer waits.
    @Test(arguments: [0.03, 0.1, 0.4])
    func aPollIsAnsweredOnceHoweverLateACopyComes(seconds: Double) throws {
        for (sequence, links) in [(1, [near, far]), (2, [far, near])] as [(UInt32, [LinkID])] {
            let poll = try collar.fix(sequence, poll: 1)
            bench.receive(poll, on: links[0])
            bench.wait(seconds: 0.005)
            #expect(try answeredLinks() == [links[0]])
            bench.wait(seconds: seconds)
            bench.receive(poll, on: links[1])
            bench.wait(seconds: 0.01)
            #expect(try answeredLinks().isEmpty)
        }
    }

    /// Each of many collars is heard by a radio of its own: no answer waits.
    @Test func aCollarThatOneRadioHearsIsAnsweredAtOnce() throws {
        bench.receive(try collar.fix(1, poll: 1), on: near)
        #expect(try answeredLinks() == [near])
        bench.receive(try collar.fix(1, poll: 1), on: far)
        #expect(try answeredLinks().isEmpty)
        bench.receive(try collar.fix(2, poll: 2), on: far)
        #expect(try answeredLinks().isEmpty)
        bench.wait(seconds: 0.005)
        #expect(try answeredLinks() == [far])
    }

    /// The polls of all collars at once are remembered.
    @Test func copiesOfManyPollsAreNotAnswered() throws {
        let collars = try (0..<UInt64(HostLimits.collarCount) - 1).map { try PaperCollar(deviceID: DeviceID(rawValue: 0x100 + $0), logID: 78) }
        for one in collars {
            bench.wait(seconds: 1)
            bench.receive(try one.identity(), on: near)
        }
        #expect(try answeredLinks().count == collars.count)
        for link in [near, far] { for one in collars { bench.receive(try one.fix(0, poll: 2), on: link) } }
        bench.wait(seconds: 0.005)
        #expect(try answeredLinks().count == collars.count)
    }

    /// The radio with the stronger signal dies while the answer waits: the other one sends it.
    @Test(arguments: [true, false])
    func anotherRadioTakesOver(isFarFirst: Bool) throws {
        for link in [near, far] { try receive(try collar.fix(0), strengthDBm: -90, on: link) }
        let heard: [(LinkID, Int16)] = [(near, -60), (far, -110)]
        for (link, strength) in isFarFirst ? heard.reversed() : heard {
            try receive(try collar.fix(1, poll: 1), strengthDBm: strength, on: link)
        }
        bench.host.linkClosed(near, at: bench.time)
        bench.wait(seconds: 0.005)
        #expect(try answeredLinks() == [far])
        bench.wait(seconds: 1)
        #expect(try answeredLinks().isEmpty)
    }

    /// A radio that dies in the middle of a burst takes nothing with it: the other one has heard the whole burst.
    @Test func aBurstOutlivesARadio() throws {
        for sequence in 0..<4 as Range<UInt32> {
            for link in [near, far] { try receive(try collar.fix(sequence), strengthDBm: link == near ? -60 : -90, on: link) }
        }
        bench.host.linkClosed(near, at: bench.time)
        for sequence in 4..<7 as Range<UInt32> { try receive(try collar.fix(sequence), strengthDBm: -90, on: far) }
        try receive(try collar.fix(7, poll: 1), strengthDBm: -90, on: far)
        #expect(try answeredLinks() == [far])
        #expect(bench.takeFixes().map(\.fix.sequence) == Array(0...7))
    }

    /// An answer that waits is dropped if no radio is left that heard the poll. The collar repeats its poll.
    @Test func anAnswerThatWaitsGoesWithItsLink() throws {
        bench.receive(try collar.fix(1, poll: 1), on: far)
        bench.host.linkClosed(far, at: bench.time)
        bench.wait(seconds: 0.005)
        #expect(try answeredLinks().isEmpty)
        #expect(bench.host.nextDeadline.map { $0 > bench.now } ?? true)
    }
}
