import CollarARQ
import CollarSimulator
import CollarWire

/// A collar comes back after hours out of reach. Measures how soon its backlog is delivered, and how soon the fixes that it
/// makes meanwhile arrive. A real collar and a real host run in virtual time over a half-duplex link.
///
/// The bound of the time: the airtime of the backlog in full batches, without loss, answers or pauses, divided by (1 − loss).
/// It does not include the fixes made meanwhile.
package struct ReturnTrial: Sendable {
    /// Fixes made out of reach, at least 1.
    package var backlogCount: Int
    /// Time between two fixes, in seconds, before and after the return.
    package var secondsApart: Int64
    /// The link.
    package var modem: ModemProfile
    /// Probability that a frame is lost after the return, in each direction, 0 ..< 1.
    package var lossProbability: Double
    /// The seed of the losses.
    package var seed: UInt64

    /// What a trial measured. Times in microseconds, counted from the return.
    package struct Result: Equatable, Sendable {
        /// Time until the first frame arrived.
        package var contactMicroseconds: Int64 = 0
        /// Time until the whole backlog was acknowledged; nil if that took longer than ``ReturnTrial/limitSeconds``.
        package var backlogMicroseconds: Int64?
        /// Time until, after the end of the backlog, everything older than a minute was acknowledged for the first time; nil if
        /// that took longer than ``ReturnTrial/limitSeconds``.
        package var caughtUpMicroseconds: Int64?
        /// The bound of ``backlogMicroseconds``.
        package var boundMicroseconds: Double = 0
        /// Airtime of the collar until the backlog was acknowledged.
        package var collarMicroseconds: Int64 = 0
        /// Airtime of the host until the backlog was acknowledged.
        package var hostMicroseconds: Int64 = 0
        /// Fixes made between the arrival of the first frame and the end of the backlog.
        package var liveCount = 0
        /// The time from making to storing of each fix that was made after the return and, when it arrived, was newer than all
        /// stored fixes; until the end of the backlog, in order of arrival.
        package var liveLatencies: [Int64] = []
        /// The longest time between two such arrivals.
        package var longestGapMicroseconds: Int64 = 0
        /// The most sequences from one such arrival to the next.
        package var longestGapSequences: UInt32 = 0

        /// Airtime of both ends until the backlog was acknowledged, as a multiple of the bound.
        package var airtimeOverBound: Double { Double(collarMicroseconds + hostMicroseconds) / boundMicroseconds }
    }

    /// A trial that lasts this long after the return is given up.
    package static let limitSeconds: Int64 = 4 * 3600

    /// Runs until only the fixes of the last minute are not acknowledged.
    /// - Throws: if the collar's flash or the trial itself fails.
    package func run() throws(StationError) -> Result {
        let liveCount = Int(ReturnTrial.limitSeconds / secondsApart) + 1
        let link = try TrialLink(
            SimulatedWalk.fixes(backlogCount + liveCount, secondsApart: secondsApart), secondsApart: secondsApart,
            modem: modem, lossProbability: lossProbability, seed: seed)
        let returned = Instant(microseconds: Int64(backlogCount) * secondsApart * 1_000_000)
        var sinceReturn: Int64 { link.now.microseconds(since: returned) }
        var result = Result()
        result.boundMicroseconds = Double(batchedMicroseconds(link)) / (1 - lossProbability)
        var (madeAtContact, madeAtEnd): (Int?, Int?)
        var lastLive: (sequence: UInt32, at: Instant)?
        try link.run(until: {
            result.caughtUpMicroseconds != nil || sinceReturn >= ReturnTrial.limitSeconds * 1_000_000
        }, isInReach: { sinceReturn >= 0 }) { sent in
            if sent.start >= returned, result.backlogMicroseconds == nil { result.collarMicroseconds += sent.airtime }
            guard sent.answers != nil else { return }
            if madeAtContact == nil {
                result.contactMicroseconds = sinceReturn
                madeAtContact = link.madeCount
            }
            guard result.backlogMicroseconds == nil, let newest = link.host.stored.highest,
                newest > lastLive?.sequence ?? UInt32(backlogCount - 1)
            else { return }
            result.liveLatencies.append(link.now.microseconds(since: link.due(Int(newest))))
            if let lastLive {
                result.longestGapMicroseconds = max(result.longestGapMicroseconds, link.now.microseconds(since: lastLive.at))
                result.longestGapSequences = max(result.longestGapSequences, newest - lastLive.sequence)
            }
            lastLive = (newest, link.now)
        } answered: { airtime, isHeard in
            if result.backlogMicroseconds == nil { result.hostMicroseconds += airtime }
            guard isHeard else { return }
            let delivered = link.collar.firstUndelivered
            if result.backlogMicroseconds == nil, delivered >= UInt32(backlogCount) {
                result.backlogMicroseconds = sinceReturn
                madeAtEnd = link.madeCount
            }
            let isRecent = link.due(Int(delivered)) > link.now.advanced(byMicroseconds: -60_000_000)
            if result.backlogMicroseconds != nil, isRecent { result.caughtUpMicroseconds = sinceReturn }
        }
        if let madeAtContact { result.liveCount = (madeAtEnd ?? link.madeCount) - madeAtContact }
        return result
    }

    /// Airtime of the backlog in full batches.
    private func batchedMicroseconds(_ link: TrialLink) -> Int64 {
        var airtime: Int64 = 0
        var first = 0
        while first < backlogCount {
            var next = first
            var count = 0
            let frame = [UInt8].frame { output throws(EncodeError) in
                count = try Batch.encode(
                    link.fixes[first], address: 9, flags: FrameFlags(poll: nil), log: link.collar.log, into: &output
                ) {
                    next += 1
                    return next < backlogCount ? link.fixes[next] : nil
                }
            }
            first += count
            airtime += modem.airtimeMicroseconds(frameByteCount: frame.count)
        }
        return airtime
    }
}
