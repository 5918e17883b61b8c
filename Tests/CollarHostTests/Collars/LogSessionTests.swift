import CollarARQ
import CollarWire
import CollarWorld
import Testing

@testable import CollarHost

/// At the first identity of each boot of a collar, the host puts the losses in doubt and requests these fixes again.
struct DoubtedLossesTests {
    private let bench: HostBench
    private let collar: PaperCollar
    private let link: LinkID

    init() throws {
        bench = try HostBench()
        collar = try PaperCollar()
        link = bench.openLink()
        bench.receive(try collar.identity(next: 6, poll: nil), on: link)
        for sequence in [0, 1, 5] as [UInt32] { bench.receive(try collar.fix(sequence), on: link) }
        bench.receive(try collar.tombstone(2, 4), on: link)
    }

    private func answer(to frame: [UInt8]) throws -> Acknowledgement {
        _ = bench.frames()
        bench.receive(frame, on: link)
        bench.commit()
        let frame = try #require(bench.frames().last).bytes
        guard case .acknowledgement(let answer) = try Message.decode(frame.span, log: collar.log, reference: 0) else {
            throw NoAnswer()
        }
        return answer
    }

    private struct NoAnswer: Error {}

    @Test func whatIsLostIsAskedForAfterTheNextBoot() throws {
        let before = try answer(to: try collar.identity(next: 6))
        #expect(before.firstMissing == 6 && before.resend.closedRanges.isEmpty)
        let after = try answer(to: try collar.identity(next: 6, boot: 2, poll: 2))
        #expect(after.firstMissing == 2)
        #expect(after.resend.closedRanges == [2...4])
        #expect(after.durable.closedRanges == [5...5])
        let found = try answer(to: try collar.fix(3, poll: 3))
        #expect(found.resend.closedRanges == [2...2, 4...4])
        bench.receive(try collar.tombstone(2, 2), on: link)
        let lostAgain = try answer(to: try collar.fix(4, poll: 4))
        #expect(lostAgain.firstMissing == 6 && lostAgain.resend.closedRanges.isEmpty)
        #expect(bench.host.statistics.fixes == 5)
    }

    @Test func whatIsBelowTheOldestIsNotInDoubt() throws {
        let after = try answer(to: try collar.identity(next: 6, oldest: 4, boot: 2))
        #expect(after.firstMissing == 4)
        #expect(after.resend.closedRanges == [4...4])
    }

    @Test func theSameBootAsksNotAgain() throws {
        _ = try answer(to: try collar.identity(next: 6, boot: 2))
        bench.receive(try collar.tombstone(2, 4), on: link)
        let again = try answer(to: try collar.identity(next: 6, boot: 2, poll: 2))
        #expect(again.firstMissing == 6 && again.resend.closedRanges.isEmpty)
    }

    @Test func aCollarThatHasNothingNewIsNotAskedForEver() throws {
        var polls = 0
        while try !answer(to: try collar.identity(next: 6, boot: 2)).resend.closedRanges.isEmpty {
            polls += 1
            try #require(polls < 1000)
            bench.wait(seconds: 1)
        }
        #expect(polls == 256)
    }
}
