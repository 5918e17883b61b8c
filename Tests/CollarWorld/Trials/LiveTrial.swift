import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// An animal within reach makes fixes for an hour: how soon each is stored at the host, and what that costs on the air.
/// A real collar and a host's end in virtual time over a half-duplex link.
package struct LiveTrial: Sendable {
    /// Time between two fixes, in seconds, at least 1.
    package var secondsApart: Int64
    /// The link.
    package var modem: ModemProfile
    /// Probability that a frame is lost, in each direction, 0 … 1.
    package var lossProbability: Double
    /// What the losses are drawn from.
    package var seed: UInt64

    /// Creates a trial.
    package init(secondsApart: Int64, modem: ModemProfile, lossProbability: Double, seed: UInt64) {
        self.secondsApart = secondsApart
        self.modem = modem
        self.lossProbability = lossProbability
        self.seed = seed
    }

    /// What a trial measured. Times in microseconds.
    package struct Result: Equatable, Sendable {
        /// Fixes made.
        package var fixCount = 0
        /// Airtime of the collar.
        package var collarMicroseconds: Int64 = 0
        /// Airtime of the host.
        package var hostMicroseconds: Int64 = 0
        /// From making to storing, for each fix that arrived, in order of arrival.
        package var delays: [Int64] = []

        /// Airtime of both ends for each fix made.
        package var airtimePerFix: Double { Double(collarMicroseconds + hostMicroseconds) / Double(fixCount) }
        /// Whether all fixes arrived.
        package var isComplete: Bool { delays.count == fixCount }
        /// The mean delay; 0 where nothing arrived.
        package var meanDelay: Double { Double(delays.reduce(0, +)) / Double(max(1, delays.count)) }

        /// The delay that a part of the fixes does not exceed; 0 where nothing arrived.
        package func delay(percentile: Int) -> Int64 {
            guard !delays.isEmpty else { return 0 }
            return delays.sorted()[(delays.count - 1) * percentile / 100]
        }
    }

    /// How long fixes are made; a trial lasts at most twice as long.
    package static let seconds: Int64 = 3600

    /// Runs until everything is acknowledged.
    /// - Throws: where the collar's flash or the trial itself fails.
    package func run() throws(StationError) -> Result {
        var state = try LiveTrialState(self)
        while !state.isOver { try state.step() }
        return state.result
    }
}

/// A trial under way.
private struct LiveTrialState {
    private let trial: LiveTrial
    private let fixes: [Fix]
    private var collar: Collar<MemoryFlash>
    private let host: InstantHost
    private var random: SeededRandom
    private var now = Instant(microseconds: 0)
    private var made = 0
    /// Made, and not at the host.
    private var missing: [Int] = []
    private(set) var result = LiveTrial.Result()

    init(_ trial: LiveTrial) throws(StationError) {
        self.trial = trial
        fixes = SimulatedWalk.fixes(Int(LiveTrial.seconds / trial.secondsApart), secondsApart: trial.secondsApart)
        result.fixCount = fixes.count
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
    }

    var isOver: Bool {
        made == fixes.count && collar.isEverythingDelivered || now.microseconds >= 2 * LiveTrial.seconds * 1_000_000
    }

    private func due(_ index: Int) -> Instant {
        Instant(microseconds: Int64(index + 1) * trial.secondsApart * 1_000_000)
    }

    /// The clock moves on; fixes are made on the way.
    private mutating func wait(until instant: Instant) throws(StationError) {
        while made < fixes.count, due(made) <= instant {
            do throws(FixLogError) { _ = try collar.log(fixes[made]) } catch { throw .log(error, index: made) }
            missing.append(made)
            made += 1
        }
        now = instant
    }

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
        let airtime = trial.modem.airtimeMicroseconds(frameByteCount: frame.count)
        result.collarMicroseconds += airtime
        try wait(until: now.advanced(byMicroseconds: airtime))
        collar.frameSent(now: now)
        guard !random.chance(trial.lossProbability) else { return }
        let answers = host.answers(to: frame, at: now)
        for index in missing where host.stored.contains(UInt32(index)) {
            result.delays.append(now.microseconds(since: due(index)))
        }
        missing = missing.filter { [stored = host.stored] in !stored.contains(UInt32($0)) }
        for answer in answers { try send(answer) }
    }

    private mutating func send(_ answer: [UInt8]) throws(StationError) {
        let airtime = trial.modem.airtimeMicroseconds(frameByteCount: answer.count)
        result.hostMicroseconds += airtime
        let arrival = now.advanced(byMicroseconds: trial.modem.turnaroundMicroseconds + airtime)
        guard !random.chance(trial.lossProbability) else { return }
        // Whoever waits no longer sends by then, and hears nothing.
        if let deadline = collar.nextDeadline, deadline < arrival { return }
        try wait(until: arrival)
        do throws(FlashError) { _ = try collar.received(answer.span, now: now) } catch { throw .flash(error) }
    }
}
