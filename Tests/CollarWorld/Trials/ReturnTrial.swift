import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// An animal comes back after hours out of reach: how soon its backlog is brought in, and how the fixes it goes on
/// making fare meanwhile. A real collar and a host's end in virtual time over a half-duplex link.
///
/// The bound of the time: the backlog in full batches one behind the other, without a loss, an answer or a pause,
/// divided by (1 − loss). Fixes made meanwhile are not in it.
package struct ReturnTrial: Sendable {
    /// Fixes made out of reach, at least 1.
    package var backlogCount: Int
    /// Time between two fixes, before and after, in seconds.
    package var secondsApart: Int64
    /// The link.
    package var modem: ModemProfile
    /// Probability that a frame is lost once the animal is back, in each direction, 0 ..< 1.
    package var lossProbability: Double
    /// What the losses are drawn from.
    package var seed: UInt64

    /// What a trial measured. Times in microseconds, counted from the return.
    package struct Result: Equatable, Sendable {
        /// Time until the first frame arrived.
        package var contactMicroseconds: Int64 = 0
        /// Time until the whole backlog was acknowledged; nil where it was not within ``ReturnTrial/limitSeconds``.
        package var backlogMicroseconds: Int64?
        /// Time until everything older than a minute was acknowledged, for the first time after the backlog; nil as above.
        package var caughtUpMicroseconds: Int64?
        /// The bound of ``backlogMicroseconds``.
        package var boundMicroseconds: Double = 0
        /// Airtime of the collar until the backlog was acknowledged.
        package var collarMicroseconds: Int64 = 0
        /// Airtime of the host until then.
        package var hostMicroseconds: Int64 = 0
        /// Fixes made between the first frame that arrived and the end of the backlog.
        package var liveCount = 0
        /// From making to storing, for each fix made since the return that was newer than all that had arrived before;
        /// until the end of the backlog, in order of arrival.
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
    /// - Throws: where the collar's flash or the trial itself fails.
    package func run() throws(StationError) -> Result {
        var state = try ReturnTrialState(self)
        while !state.isOver { try state.step() }
        return state.result
    }
}

/// A trial under way.
private struct ReturnTrialState {
    private let trial: ReturnTrial
    private let returned: Instant
    private var link: TrialLink
    private var hasContact = false
    private var lastLive: (sequence: UInt32, at: Instant)?
    private(set) var result = ReturnTrial.Result()

    init(_ trial: ReturnTrial) throws(StationError) {
        self.trial = trial
        let liveCount = Int(ReturnTrial.limitSeconds / trial.secondsApart) + 1
        let fixes = SimulatedWalk.fixes(trial.backlogCount + liveCount, secondsApart: trial.secondsApart)
        returned = Instant(microseconds: Int64(trial.backlogCount) * trial.secondsApart * 1_000_000)
        link = try TrialLink(
            fixes, secondsApart: trial.secondsApart, modem: trial.modem, lossProbability: trial.lossProbability,
            seed: trial.seed)
        result.boundMicroseconds = Double(batchedMicroseconds()) / (1 - trial.lossProbability)
    }

    /// Airtime of the backlog in full batches.
    private func batchedMicroseconds() -> Int64 {
        var airtime: Int64 = 0
        var first = 0
        while first < trial.backlogCount {
            var next = first
            var count = 0
            let frame = [UInt8].frame { output throws(EncodeError) in
                count = try Batch.encode(
                    link.fixes[first], address: 9, flags: FrameFlags(ask: nil), log: link.collar.log, into: &output
                ) {
                    next += 1
                    return next < trial.backlogCount ? link.fixes[next] : nil
                }
            }
            first += count
            airtime += trial.modem.airtimeMicroseconds(frameByteCount: frame.count)
        }
        return airtime
    }

    var isOver: Bool { result.caughtUpMicroseconds != nil || sinceReturn >= ReturnTrial.limitSeconds * 1_000_000 }

    private var sinceReturn: Int64 { link.now.microseconds(since: returned) }
    private var isInBacklog: Bool { sinceReturn >= 0 && result.backlogMicroseconds == nil }

    mutating func step() throws(StationError) {
        let (counts, madeCount) = (isInBacklog, link.madeCount)
        let sent = try link.sendFrame(isInReach: sinceReturn >= 0)
        if counts {
            result.collarMicroseconds += sent?.airtime ?? 0
            if hasContact { result.liveCount += link.madeCount - madeCount }
        }
        guard let answers = sent?.answers else { return }
        noteArrival()
        for answer in answers { try send(answer) }
    }

    private mutating func noteArrival() {
        if !hasContact { result.contactMicroseconds = sinceReturn }
        hasContact = true
        guard result.backlogMicroseconds == nil, let newest = link.host.stored.highest,
            newest > lastLive?.sequence ?? UInt32(trial.backlogCount - 1)
        else { return }
        result.liveLatencies.append(link.now.microseconds(since: link.due(Int(newest))))
        if let lastLive {
            result.longestGapMicroseconds = max(result.longestGapMicroseconds, link.now.microseconds(since: lastLive.at))
            result.longestGapSequences = max(result.longestGapSequences, newest - lastLive.sequence)
        }
        lastLive = (newest, link.now)
    }

    private mutating func send(_ answer: [UInt8]) throws(StationError) {
        let (counts, madeCount) = (isInBacklog, link.madeCount)
        let (airtime, isHeard) = try link.send(answer)
        if counts {
            result.hostMicroseconds += airtime
            result.liveCount += link.madeCount - madeCount
        }
        guard isHeard else { return }
        if result.backlogMicroseconds == nil, link.collar.firstUndelivered >= UInt32(trial.backlogCount) {
            result.backlogMicroseconds = sinceReturn
        }
        let isRecent = link.due(Int(link.collar.firstUndelivered)) > link.now.advanced(byMicroseconds: -60_000_000)
        if result.backlogMicroseconds != nil, isRecent { result.caughtUpMicroseconds = sinceReturn }
    }
}
