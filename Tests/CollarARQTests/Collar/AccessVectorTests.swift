import CollarARQ
import CollarWire
import Testing

/// The cases of `Protocol/vectors/access`, which are written from the text alone: each is played with many seeds of the random waits.
@Suite struct AccessVectorTests {
    @Test func thereAreCases() throws { #expect(try AccessVector.all().count >= 45) }

    @Test(arguments: try AccessVector.all())
    func aCase(vector: AccessVector) throws {
        var waits = [[Int64]](repeating: [], count: vector.steps.count)
        for seed in (1...200 as ClosedRange<UInt32>).map({ $0 &* 2_654_435_769 }) {
            var collar = AccessBench(vector, seed: seed)
            for (index, step) in vector.steps.enumerated() {
                do throws(AccessBench.Disagreement) {
                    if let wait = try collar.take(step) { waits[index].append(wait) }
                } catch {
                    Issue.record("seed \(seed), step \(index), \(step.step) at \(step.time): \(error.text)")
                    return
                }
            }
        }
        for (index, step) in vector.steps.enumerated() {
            guard let earliest = step.earliest, let latest = step.latest, let least = waits[index].min(), let most = waits[index].max() else {
                continue
            }
            #expect(5 * (most - least) >= 4 * (latest - earliest), "step \(index): waits of \(least) to \(most) of \(latest - earliest)")
        }
    }
}

/// A collar that a case is played with.
private struct AccessBench {
    struct Disagreement: Error {
        var text: String
    }

    private var delivery: CollarDelivery
    private var now = Instant(microseconds: 0)
    private var nextSequence: UInt32 = 0
    private var poll: PollNumber?

    init(_ vector: AccessVector, seed: UInt32) {
        delivery = CollarDelivery(
            configuration: .init(
                heartbeatMicroseconds: vector.heartbeat, modem: vector.modem.profile, batchFrameByteLimit: 253, jitterSeed: seed,
                sensesChannel: vector.listens),
            oldestSequence: 0, nextSequence: 0, firstUndelivered: 0, now: now)
    }

    /// Plays a step.
    /// - Returns: how long after its earliest time the collar would have begun, if the step is a beginning.
    mutating func take(_ step: AccessVector.Step) throws(Disagreement) -> Int64? {
        let time = Instant(microseconds: step.time)
        let transmission: CollarDelivery.Transmission?
        let start: Instant?
        (start, transmission) = begin(by: time)
        now = time
        guard let earliest = step.earliest, let latest = step.latest else {
            if let start { throw Disagreement(text: "the collar begins at \(start.microseconds)") }
            happens(step)
            return nil
        }
        guard let start else { throw Disagreement(text: "the collar waits until \(delivery.nextDeadline?.microseconds ?? -1)") }
        guard start.microseconds >= earliest, start.microseconds <= latest else {
            throw Disagreement(text: "it begins at \(start.microseconds), \(start.microseconds - earliest) after \(earliest), the latest is \(latest)")
        }
        guard (transmission != nil) == (step.step == .frame) else {
            throw Disagreement(text: transmission == nil ? "it listens" : "it does not listen")
        }
        if let transmission { try send(transmission, step) }
        return start.microseconds - earliest
    }

    /// Lets the collar wait until it begins to listen or to send. That it does only at the time given: as if its duty cycle had not allowed
    /// it before.
    /// - Returns: when it would have begun, and the frame.
    private mutating func begin(by time: Instant) -> (Instant?, CollarDelivery.Transmission?) {
        var instant = now
        while instant <= time {
            var earlier = delivery
            let frame = earlier.nextTransmission(now: instant)
            if frame != nil || earlier.senseEnd != delivery.senseEnd && earlier.senseEnd != nil {
                return (instant, delivery.nextTransmission(now: time))
            }
            delivery = earlier
            guard let deadline = delivery.nextDeadline, deadline > instant else { break }
            instant = deadline
        }
        return (nil, nil)
    }

    private mutating func send(_ transmission: CollarDelivery.Transmission, _ step: AccessVector.Step) throws(Disagreement) {
        poll = transmission.poll
        switch transmission.content {
        case .batch(let first, _):
            var last = first
            while let following = delivery.undelivered(after: last) { last = following }
            poll = delivery.batched(through: last)
        case .newestFixes(let first, let last, _): delivery.sentNewest(from: first, through: last)
        default: break
        }
        guard (poll != nil) == step.poll else { throw Disagreement(text: "\(transmission.content) has poll \(poll?.rawValue ?? 0)") }
        now = Instant(microseconds: step.end ?? step.time)
        delivery.transmitted(frameByteCount: 29, now: now)
    }

    private mutating func happens(_ step: AccessVector.Step) {
        switch step.step {
        case .fix, .urgentFix:
            nextSequence += 1
            delivery.logChanged(oldestSequence: 0, nextSequence: nextSequence)
            if step.step == .urgentFix { delivery.newestIsUrgent() }
        case .reply: delivery.replyWaits(frameCount: 1)
        case .busy: delivery.channelIsBusy(now: now)
        case .answer:
            let durable = (step.durable ?? []).map { $0[0]...$0[1] }
            let answer = Acknowledgement(
                receiverID: 7, poll: poll, firstMissing: step.firstMissing ?? 0, durable: list(durable), resend: list([]),
                company: step.company.flatMap(Company.init(rawValue:)) ?? .alone)
            #expect(delivery.receive(answer, now: now) == .answer)
        case .listen, .frame: break
        }
    }
}
