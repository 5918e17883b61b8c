import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// A real collar that makes fixes, and a host's end, in virtual time over a lossy half-duplex link: what trials drive.
struct TrialLink {
    /// A frame of the collar that is over.
    struct SentFrame {
        let byteCount: Int
        let airtime: Int64
        /// What the host sends now; nil where the frame was lost.
        let answers: [[UInt8]]?
    }

    let host: InstantHost
    let fixes: [Fix]
    private let firstDue: Instant
    private let secondsApart: Int64
    private let modem: ModemProfile
    private let lossProbability: Double
    private(set) var collar: Collar<MemoryFlash>
    private var random: SeededRandom
    private(set) var now = Instant(microseconds: 0)
    /// How many of the fixes are made.
    private(set) var madeCount = 0

    /// Sets a collar up whose first fixes are made at `firstDue`.
    /// - Parameters:
    ///   - secondsApart: time between two fixes; 0 where all are made at once.
    ///   - delivery: how the collar sends; by default live fixes and full batches.
    init(
        _ fixes: [Fix], firstDue: Instant = Instant(microseconds: 0), secondsApart: Int64, modem: ModemProfile,
        lossProbability: Double, delivery: CollarDelivery.Configuration? = nil, seed: UInt64
    ) throws(StationError) {
        self.fixes = fixes
        self.firstDue = firstDue
        self.secondsApart = secondsApart
        self.modem = modem
        self.lossProbability = lossProbability
        random = SeededRandom(seed: seed)
        let flash = MemoryFlash(blockCount: fixes.count / 100 + 8)
        collar = try Collar(sending: delivery ?? .ofTrial(modem, seed: seed), flash: flash, now: now)
        host = InstantHost(knowing: collar.log)
    }

    var isEverythingMade: Bool { madeCount == fixes.count }

    /// When a fix is made.
    func due(_ index: Int) -> Instant { firstDue.advanced(byMicroseconds: Int64(index) * secondsApart * 1_000_000) }

    /// The clock moves on; fixes are made on the way.
    mutating func wait(until instant: Instant) throws(StationError) {
        while !isEverythingMade, due(madeCount) <= instant {
            do throws(FixLogError) { _ = try collar.log(fixes[madeCount]) } catch { throw .log(error, index: madeCount) }
            madeCount += 1
        }
        now = instant
    }

    /// The collar sends its next frame; where it has none, the clock moves on to its deadline or the next fix.
    /// - Returns: nil where it had none.
    mutating func sendFrame(isInReach: Bool = true) throws(StationError) -> SentFrame? {
        guard let frame = try collar.nextFrame(now: now) else {
            let nextFix = isEverythingMade ? nil : due(madeCount)
            guard let next = [nextFix, collar.nextDeadline].compactMap(\.self).min() else {
                preconditionFailure("a silent collar waits for something")
            }
            try wait(until: max(next, now.advanced(byMicroseconds: 1)))
            return nil
        }
        let isHeard = isInReach && !random.chance(lossProbability)
        let airtime = modem.airtimeMicroseconds(frameByteCount: frame.count)
        try wait(until: now.advanced(byMicroseconds: airtime))
        collar.frameSent(now: now)
        let answers = isHeard ? host.answers(to: frame, at: now) : nil
        return SentFrame(byteCount: frame.count, airtime: airtime, answers: answers)
    }

    /// The host sends an answer.
    /// - Returns: its airtime, and whether the collar heard it.
    mutating func send(_ answer: [UInt8]) throws(StationError) -> (airtime: Int64, isHeard: Bool) {
        let airtime = modem.airtimeMicroseconds(frameByteCount: answer.count)
        let arrival = now.advanced(byMicroseconds: modem.turnaroundMicroseconds + airtime)
        guard !random.chance(lossProbability) else { return (airtime, false) }
        // Whoever waits no longer sends by then, and hears nothing.
        if let deadline = collar.nextDeadline, deadline < arrival { return (airtime, false) }
        try wait(until: arrival)
        do throws(FlashError) { _ = try collar.received(answer.span, now: now) } catch { throw .flash(error) }
        return (airtime, true)
    }
}

extension CollarDelivery.Configuration {
    /// Live fixes and full batches.
    static func ofTrial(_ modem: ModemProfile, dutyCyclePartsPerMillion: Int64? = nil, seed: UInt64) -> Self {
        Self(
            modem: modem, sendsLiveFixes: true, batchFrameByteLimit: Frame.maximumByteCount,
            dutyCyclePartsPerMillion: dutyCyclePartsPerMillion, jitterSeed: UInt32(truncatingIfNeeded: seed))
    }
}

extension Collar {
    /// Boots the collar of a trial.
    init(sending delivery: CollarDelivery.Configuration, flash: Flash, now: Instant) throws(StationError) {
        let configuration = Configuration(
            deviceID: 0xABC, address: 9, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
            capabilities: .sounder, delivery: delivery)
        do throws(FlashError) {
            try self.init(booting: configuration, flash: flash, randomLogID: 77, now: now)
        } catch { throw .flash(error) }
    }

    /// The next frame, if one is due.
    mutating func nextFrame(now: Instant, byteLimit: Int = Frame.maximumByteCount) throws(StationError) -> [UInt8]? {
        var isFrame = false
        do throws(FlashError) {
            let frame = try [UInt8](capacity: byteLimit) { (output: inout OutputSpan<UInt8>) throws(FlashError) in
                isFrame = try nextFrame(now: now, into: &output)
            }
            return isFrame ? frame : nil
        } catch { throw .flash(error) }
    }
}

extension [Int64] {
    /// The value that a part of them does not exceed; 0 where there are none.
    package func percentile(_ percent: Int) -> Int64 { isEmpty ? 0 : sorted()[(count - 1) * percent / 100] }
}
