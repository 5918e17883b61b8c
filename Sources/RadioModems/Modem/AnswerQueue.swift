import CollarARQ

/// The answers that wait for a stick. It keeps to the limits of the region, and drops an answer that would come too late: the
/// collar does not wait for it any more and polls again.
struct AnswerQueue: Sendable {
    private struct Answer: Sendable {
        var packets: [[UInt8]]
        let queuedAt: Instant
    }

    private static let capacity = 64
    /// The longest wait for the first airtime after the opening of a port that is not reported, in microseconds.
    private static let quietStart: Int64 = 30_000_000

    private let limits: TransmitLimits?
    /// The timing with which airtime is computed.
    var profile: ModemProfile
    /// Nil where no region limits the duty cycle.
    private var airtime: RegionAirtime?
    private var hasSent = false
    private var answers: [Answer] = []

    /// - Parameters:
    ///   - frequencyHertz: the frequency of the radio.
    ///   - isRested: whether nothing was sent in the last hour. Otherwise the budget of airtime is empty at first.
    init(limits: TransmitLimits?, frequencyHertz: UInt32, profile: ModemProfile, isRested: Bool, at now: Instant) {
        self.limits = limits
        self.profile = profile
        airtime = limits?.dutyCyclePartsPerMillion.map {
            RegionAirtime(
                partsPerMillion: $0, frequencyHertz: frequencyHertz,
                largestFrameMicroseconds: profile.airtimeMicroseconds(frameByteCount: 51), isRested: isRested, at: now)
        }
    }

    var isEmpty: Bool { answers.isEmpty }

    mutating func add(_ packets: [[UInt8]], at now: Instant) {
        if answers.count == AnswerQueue.capacity { answers.removeFirst() }
        answers.append(Answer(packets: packets, queuedAt: now))
    }

    /// Removes the oldest answer that may be sent now.
    /// - Returns: its packets; nil if there is none.
    mutating func next(at now: Instant, reportingTo output: inout ModemOutput) -> [[UInt8]]? {
        while !answers.isEmpty {
            var answer = answers.removeFirst()
            // The collar's owner was told this turnaround. After it the collar sends again, and would not hear the answer.
            guard now.microseconds(since: answer.queuedAt) < profile.turnaroundMicroseconds else { continue }
            // Without a region nothing is sent, which was reported when the stick was found.
            guard let limits else { continue }
            if let dwell = limits.dwellMicroseconds {
                answer.packets.removeAll { packet in
                    let airtime = profile.airtimeMicroseconds(frameByteCount: packet.count)
                    guard airtime > dwell else { return false }
                    output.report(.dwellTimeExceeded(airtimeMicroseconds: airtime, limitMicroseconds: dwell), kind: "dwell", at: now)
                    return true
                }
            }
            let microseconds = answer.packets.reduce(0) { $0 + profile.airtimeMicroseconds(frameByteCount: $1.count) }
            airtime?.refill(at: now, reportingTo: &output)
            if let wait = airtime?.wait(forMicroseconds: microseconds, at: now), wait > 0 {
                // The budget of a stick that is set up begins empty. A collar does not notice so short a wait.
                guard hasSent || wait > AnswerQueue.quietStart else { continue }
                output.report(.dutyCycleReached(microseconds: wait, isStart: !hasSent), kind: "duty", at: now)
                continue
            }
            guard !answer.packets.isEmpty else { continue }
            hasSent = true
            output.events.append(.transmits(airtimeMicroseconds: microseconds))
            airtime?.spend(microseconds: microseconds, at: now, reportingTo: &output)
            return answer.packets
        }
        return nil
    }

    mutating func removeAll() { answers.removeAll() }
}
