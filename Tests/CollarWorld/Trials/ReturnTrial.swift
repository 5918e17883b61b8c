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

    /// Creates a trial.
    package init(
        backlogCount: Int, secondsApart: Int64, modem: ModemProfile, lossProbability: Double, seed: UInt64
    ) {
        self.backlogCount = backlogCount
        self.secondsApart = secondsApart
        self.modem = modem
        self.lossProbability = lossProbability
        self.seed = seed
    }

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

        /// The latency that a part of the live arrivals does not exceed, in microseconds; 0 where there were none.
        package func liveLatency(percentile: Int) -> Int64 {
            guard !liveLatencies.isEmpty else { return 0 }
            return liveLatencies.sorted()[(liveLatencies.count - 1) * percentile / 100]
        }
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
    private let fixes: [Fix]
    private let returned: Instant
    private var collar: Collar<MemoryFlash>
    private let host: InstantHost
    private var random: SeededRandom
    private var now = Instant(microseconds: 0)
    private var made = 0
    private var hasContact = false
    private var lastLive: (sequence: UInt32, at: Instant)?
    private(set) var result = ReturnTrial.Result()

    init(_ trial: ReturnTrial) throws(StationError) {
        self.trial = trial
        let liveCount = Int(ReturnTrial.limitSeconds / trial.secondsApart) + 1
        fixes = SimulatedWalk.fixes(trial.backlogCount + liveCount, secondsApart: trial.secondsApart)
        returned = Instant(microseconds: Int64(trial.backlogCount) * trial.secondsApart * 1_000_000)
        random = SeededRandom(seed: trial.seed)
        let configuration = Collar<MemoryFlash>.Configuration(
            deviceID: 0xABC, address: 9, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
            delivery: .init(
                modem: trial.modem, sendsLiveFixes: true, batchFrameByteLimit: Frame.maximumByteCount,
                jitterSeed: UInt32(truncatingIfNeeded: trial.seed)))
        let flash = MemoryFlash(blockCount: fixes.count / 100 + 8)
        do throws(FlashError) {
            collar = try Collar(booting: configuration, flash: flash, randomLogID: 77, now: now)
        } catch { throw .flash(error) }
        host = InstantHost(knowing: collar.log)
        result.boundMicroseconds = Double(batchedMicroseconds()) / (1 - trial.lossProbability)
    }

    /// Airtime of the backlog in full batches.
    private func batchedMicroseconds() -> Int64 {
        var airtime: Int64 = 0
        var first = 0
        while first < trial.backlogCount {
            var next = first
            var count = 0
            let frame = [UInt8](capacity: Frame.maximumByteCount) { output in
                do throws(EncodeError) {
                    count = try Batch.encode(
                        fixes[first], address: 9, flags: FrameFlags(ask: nil), log: collar.log, into: &output
                    ) {
                        next += 1
                        return next < trial.backlogCount ? fixes[next] : nil
                    }
                } catch { preconditionFailure("a fix of a walk fits a frame: \(error)") }
            }
            first += count
            airtime += trial.modem.airtimeMicroseconds(frameByteCount: frame.count)
        }
        return airtime
    }

    var isOver: Bool {
        result.caughtUpMicroseconds != nil || sinceReturn >= ReturnTrial.limitSeconds * 1_000_000
    }

    private var sinceReturn: Int64 { now.microseconds(since: returned) }
    private var isBack: Bool { now >= returned }

    private func due(_ index: Int) -> Instant {
        Instant(microseconds: Int64(index) * trial.secondsApart * 1_000_000)
    }

    /// The clock moves on; fixes are made on the way.
    private mutating func wait(until instant: Instant) throws(StationError) {
        while made < fixes.count, due(made) <= instant {
            do throws(FixLogError) { _ = try collar.log(fixes[made]) } catch { throw .log(error, index: made) }
            made += 1
            if isInBacklog, hasContact { result.liveCount += 1 }
        }
        now = instant
    }

    private var isInBacklog: Bool { isBack && result.backlogMicroseconds == nil }

    mutating func step() throws(StationError) {
        var failure: FlashError?
        var isFrame = false
        let frame = [UInt8](capacity: Frame.maximumByteCount) { output in
            do throws(FlashError) { isFrame = try collar.nextFrame(now: now, into: &output) } catch { failure = error }
        }
        if let failure { throw .flash(failure) }
        guard isFrame else {
            var next = made < fixes.count ? due(made) : Instant(microseconds: .max)
            if let deadline = collar.nextDeadline { next = min(next, deadline) }
            return try wait(until: max(next, now.advanced(byMicroseconds: 1)))
        }
        let isHeard = isBack && !random.chance(trial.lossProbability)
        let airtime = trial.modem.airtimeMicroseconds(frameByteCount: frame.count)
        if isInBacklog { result.collarMicroseconds += airtime }
        try wait(until: now.advanced(byMicroseconds: airtime))
        collar.frameSent(now: now)
        guard isHeard else { return }
        let answers = host.answers(to: frame, at: now)
        noteArrival()
        for answer in answers { try send(answer) }
    }

    private mutating func noteArrival() {
        if !hasContact { result.contactMicroseconds = sinceReturn }
        hasContact = true
        guard result.backlogMicroseconds == nil, let newest = host.stored.highest,
            newest > lastLive?.sequence ?? UInt32(trial.backlogCount - 1)
        else { return }
        result.liveLatencies.append(now.microseconds(since: due(Int(newest))))
        if let lastLive {
            result.longestGapMicroseconds = max(result.longestGapMicroseconds, now.microseconds(since: lastLive.at))
            result.longestGapSequences = max(result.longestGapSequences, newest - lastLive.sequence)
        }
        lastLive = (newest, now)
    }

    private mutating func send(_ answer: [UInt8]) throws(StationError) {
        let airtime = trial.modem.airtimeMicroseconds(frameByteCount: answer.count)
        if isInBacklog { result.hostMicroseconds += airtime }
        let arrival = now.advanced(byMicroseconds: trial.modem.turnaroundMicroseconds + airtime)
        guard !random.chance(trial.lossProbability) else { return }
        // Whoever waits no longer sends by then, and hears nothing.
        if let deadline = collar.nextDeadline, deadline < arrival { return }
        try wait(until: arrival)
        do throws(FlashError) { _ = try collar.received(answer.span, now: now) } catch { throw .flash(error) }
        if result.backlogMicroseconds == nil, collar.firstUndelivered >= UInt32(trial.backlogCount) {
            result.backlogMicroseconds = sinceReturn
        }
        if result.backlogMicroseconds != nil, due(Int(collar.firstUndelivered)) > now.advanced(byMicroseconds: -60_000_000) {
            result.caughtUpMicroseconds = sinceReturn
        }
    }
}
