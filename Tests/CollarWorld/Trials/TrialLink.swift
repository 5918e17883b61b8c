import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// The link of a trial: a real collar that makes fixes, and a real host, in virtual time over a lossy half-duplex link.
final class TrialLink {
    /// A frame of the collar, after its end or after it was cut short.
    struct SentFrame {
        let byteCount: Int
        let start: Instant
        let end: Instant
        let isCut: Bool
        /// The frames with which the host answers now; nil if the host did not receive the frame.
        let answers: [[UInt8]]?

        var airtime: Int64 { end.microseconds(since: start) }
    }

    let host: InstantHost
    let fixes: [Fix]
    private let firstDue: Instant
    private let secondsApart: Int64
    private let modem: ModemProfile
    private let lossProbability: Double
    private let delivery: CollarDelivery.Configuration
    private let condition: CollarCondition?
    private let flash: FaultyFlash
    private(set) var collar: Collar<FaultyFlash>
    private var random: SeededRandom
    private(set) var now = Instant(microseconds: 0)
    /// How many of the fixes are made so far.
    private(set) var madeCount = 0

    /// Sets up a collar whose first fix is made at `firstDue`.
    /// - Parameters:
    ///   - secondsApart: time between two fixes; 0 if all are made at once.
    ///   - delivery: how the collar sends; by default live fixes and full batches.
    ///   - condition: the part of the collar's status that the firmware knows; nil for no status.
    init(
        _ fixes: [Fix], firstDue: Instant = Instant(microseconds: 0), secondsApart: Int64, modem: ModemProfile,
        lossProbability: Double, delivery: CollarDelivery.Configuration? = nil, condition: CollarCondition? = nil,
        seed: UInt64
    ) throws(StationError) {
        self.fixes = fixes
        self.firstDue = firstDue
        self.secondsApart = secondsApart
        self.modem = modem
        self.lossProbability = lossProbability
        self.condition = condition
        self.delivery = delivery ?? .ofTrial(modem, seed: seed)
        random = SeededRandom(seed: seed)
        flash = FaultyFlash(blockByteCount: 4096, blockCount: fixes.count / 100 + 10, seed: seed)
        collar = try Collar(sending: self.delivery, flash: flash, now: now)
        collar.condition = condition
        host = InstantHost(knowing: collar.log)
    }

    var isEverythingMade: Bool { madeCount == fixes.count }

    /// When a fix is made.
    func due(_ index: Int) -> Instant { firstDue.advanced(byMicroseconds: Int64(index) * secondsApart * 1_000_000) }

    /// Runs a trial.
    /// - Parameters:
    ///   - isOver: whether the trial is over; called before each frame of the collar.
    ///   - isInReach: whether the host can receive the next frame.
    ///   - sent: measures a frame of the collar, before its answers are sent.
    ///   - answered: measures an answer.
    func run(
        until isOver: () -> Bool, isInReach: () -> Bool = { true }, sent: (SentFrame) -> Void,
        answered: (_ airtime: Int64, _ isHeard: Bool) -> Void
    ) throws(StationError) {
        while !isOver() {
            guard let frame = try sendFrame(isInReach: isInReach()) else { continue }
            sent(frame)
            for answer in frame.answers ?? [] {
                let (airtime, reception) = try send(answer)
                answered(airtime, reception != nil)
            }
        }
    }

    /// Advances the clock, and makes the fixes that are due until then.
    func wait(until instant: Instant) throws(StationError) {
        while !isEverythingMade, due(madeCount) <= instant {
            do throws(FixLogError) { _ = try collar.log(fixes[madeCount]) } catch { throw .log(error, index: madeCount) }
            madeCount += 1
        }
        now = instant
    }

    /// The collar sends its next frame. If it has none, the clock advances to the collar's deadline, the next fix or `limit`,
    /// whichever is first.
    /// - Parameter powerCut: when the power is cut, given the airtime of the frame that begins; nil for never.
    /// - Returns: the frame; nil if the collar had none.
    func sendFrame(
        isInReach: Bool = true, limit: Instant? = nil, powerCut: (_ airtime: Int64) -> Instant? = { _ in nil }
    ) throws(StationError) -> SentFrame? {
        guard let frame = try collar.nextFrame(now: now) else {
            let nextFix = isEverythingMade ? nil : due(madeCount)
            guard let next = [nextFix, collar.nextDeadline, limit].compactMap(\.self).min() else {
                preconditionFailure("a silent collar waits for something")
            }
            try wait(until: max(next, now.advanced(byMicroseconds: 1)))
            return nil
        }
        let isLost = !isInReach || random.chance(lossProbability)
        let airtime = modem.airtimeMicroseconds(frameByteCount: frame.count)
        let (start, end) = (now, now.advanced(byMicroseconds: airtime))
        if let cut = powerCut(airtime), cut < end {
            try wait(until: cut)
            return SentFrame(byteCount: frame.count, start: start, end: cut, isCut: true, answers: nil)
        }
        try wait(until: end)
        collar.frameSent(now: now)
        let answers = isLost ? nil : host.answers(to: frame, at: now)
        return SentFrame(byteCount: frame.count, start: start, end: end, isCut: false, answers: answers)
    }

    /// The host sends an answer.
    /// - Returns: its airtime, and how the collar received it; nil if the collar did not receive it.
    func send(_ answer: [UInt8]) throws(StationError) -> (airtime: Int64, reception: Collar<FaultyFlash>.Reception?) {
        let airtime = modem.airtimeMicroseconds(frameByteCount: answer.count)
        let arrival = now.advanced(byMicroseconds: modem.turnaroundMicroseconds + airtime)
        guard !random.chance(lossProbability) else { return (airtime, nil) }
        // A collar whose deadline comes before the answer has sent again by then, and does not hear the answer.
        if let deadline = collar.nextDeadline, deadline < arrival { return (airtime, nil) }
        try wait(until: arrival)
        return (airtime, try hear(answer))
    }

    /// A frame reaches the collar. If it is a command other than *reboot*, the firmware carries it out at once.
    func hear(_ frame: [UInt8]) throws(StationError) -> Collar<FaultyFlash>.Reception {
        do throws(FlashError) {
            let reception = try collar.receive(frame.span, now: now)
            if case .command(let id, let action) = reception, action != .reboot { try collar.finish(requestID: id, outcome: .ok) }
            return reception
        } catch { throw .flash(error) }
    }

    /// The collar boots again.
    func reboot() throws(StationError) {
        collar = try Collar(sending: delivery, flash: flash, now: now)
        collar.condition = condition
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

extension Collar.Configuration {
    /// The collar of a trial.
    static func ofTrial(_ delivery: CollarDelivery.Configuration, deviceID: DeviceID = 0xABC, address: UInt8 = 9) -> Self {
        Self(
            deviceID: deviceID, address: address, firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
            capabilities: .sounder, delivery: delivery)
    }
}

extension Collar {
    /// Boots the collar of a trial.
    init(sending delivery: CollarDelivery.Configuration, flash: Flash, now: Instant) throws(StationError) {
        do throws(FlashError) {
            try self.init(booting: .ofTrial(delivery), flash: flash, randomLogID: 77, now: now)
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
