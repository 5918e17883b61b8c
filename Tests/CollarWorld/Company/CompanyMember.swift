import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// A collar of a ``CompanyTrial``: the real state machine, with a clock of its own, and the times at which PROTOCOL.md lets it send.
struct CompanyMember {
    /// A frame on the air.
    struct Packet {
        let frame: [UInt8]
        let start: Int64
        let end: Int64
        var isDestroyed = false
    }

    /// A clock that is fast by some millionths.
    private struct Clock {
        let partsPerMillion: Int64

        func microseconds(at time: Int64) -> Int64 { time + time * partsPerMillion / 1_000_000 }

        func instant(at time: Int64) -> Instant { Instant(microseconds: microseconds(at: time)) }

        /// The first time at which it shows `instant` or more.
        func time(of instant: Instant) -> Int64 {
            let parts = 1_000_000 + partsPerMillion
            // A deadline of the far future stays in range.
            let (seconds, rest) = min(instant.microseconds, 1 << 50).quotientAndRemainder(dividingBy: parts)
            var time = seconds * 1_000_000 + rest * 1_000_000 / parts
            while microseconds(at: time) < min(instant.microseconds, 1 << 50) { time += 1 }
            return time
        }
    }

    private struct OpenPoll {
        /// The polls before it that were not answered.
        let attempt: Int
        let start: Int64
        let company: Company
        /// When the frame was over; nil while it is on the air.
        var end: Int64?
        /// How often the channel was busy since.
        var busyCount = 0
    }

    private static let never = Int64.max
    /// Times are rounded, in microseconds.
    private static let tolerance: Int64 = 20

    let deviceID: DeviceID
    let address: UInt8
    let key: CollarKey?
    private let clock: Clock
    private let plan: CompanyPlan
    private let index: Int
    private let configuration: Collar<KeptFlash>.Configuration
    private let flash = KeptFlash(blockCount: 12)
    private var collar: Collar<KeptFlash>?
    private var isDeparted = false
    private(set) var onAir: Packet?
    private var lastUplinkEnd: Int64 = .min
    /// When the state machine wants to be called.
    private var due: Int64
    private var nextFix: Int64
    private var fixCount: UInt32 = 0
    /// The fixes that are not acknowledged, oldest first.
    private(set) var unacknowledged: [(sequence: UInt32, made: Int64)] = []

    // MARK: What its frames have shown

    private(set) var turnRule: TurnRule
    private(set) var waits = WaitStatistics()
    private var company = Company.several
    private var open: OpenPoll?
    /// Whether something else than new fixes is on its way.
    private var isBusyOtherwise = true
    /// When the collar booted, on its own clock, until its first frame.
    private var bootTime: Int64?
    private var isFirstOfBurst = true
    private var lastTraffic: Int64 = 0
    /// When the channel was busy, and how often before since it was free.
    private var busy: (time: Int64, count: Int)?
    private var busyInRow = 0

    init(_ plan: CompanyPlan, index: Int) {
        let member = plan.members[index]
        self.plan = plan
        self.index = index
        clock = Clock(partsPerMillion: member.clockPartsPerMillion)
        key = member.key
        deviceID = DeviceID(rawValue: 0xC0_0000 + UInt64(index))
        address = UInt8(index + 1)
        var delivery = CollarDelivery.Configuration.ofTrial(plan.modem, seed: member.seed)
        delivery.sensesChannel = member.sensesChannel
        delivery.heartbeatMicroseconds = plan.heartbeat
        var configuration = Collar<KeptFlash>.Configuration.ofTrial(delivery, deviceID: deviceID, address: address)
        configuration.factoryKey = member.key
        self.configuration = configuration
        due = member.start
        nextFix = (member.start / plan.interval + 1) * plan.interval + member.phase
        turnRule = TurnRule(
            interval: plan.interval, exchange: plan.modem.exchangeMicroseconds,
            listening: member.sensesChannel ? plan.modem.senseMicroseconds : 0)
    }

    var isRunning: Bool { collar != nil && !isDeparted }

    private var listening: Int64 { configuration.delivery.sensesChannel ? plan.modem.senseMicroseconds : 0 }

    // MARK: Time

    /// When to call ``advance(to:)`` or ``endTransmission(at:)``.
    var nextTime: Int64 {
        if isDeparted { return Self.never }
        return min(onAir?.end ?? due, nextFix, plan.members[index].departure ?? .max)
    }

    /// Until when the collar senses the channel; nil if it does not.
    var senseEnd: Instant? { collar?.senseEnd.map { Instant(microseconds: clock.time(of: $0)) } }

    /// Boots. Its memory is lost.
    mutating func boot(at now: Int64) {
        do throws(FlashError) {
            collar = try Collar(
                booting: configuration, flash: flash, randomLogID: UInt32(index) + 1, now: clock.instant(at: now))
        } catch { preconditionFailure("a flash without faults does not fail") }
        (onAir, open, company, busy) = (nil, nil, .several, nil)
        (isBusyOtherwise, isFirstOfBurst, busyInRow) = (true, true, 0)
        bootTime = clock.microseconds(at: now)
        turnRule.boots()
        // The turn may come from the burst of these fixes.
        if !unacknowledged.isEmpty { turnRule.forget() }
        due = now
    }

    /// Does what is due.
    /// - Returns: the rule that is broken; nil if none is.
    mutating func advance(to now: Int64) -> String? {
        if let departure = plan.members[index].departure, now >= departure {
            (isDeparted, onAir) = (true, nil)
            return nil
        }
        if collar == nil, now >= plan.members[index].start { boot(at: now) }
        if nextFix <= now { makeFix(at: now) }
        guard onAir == nil, due <= now else { return nil }
        return pump(at: now)
    }

    private mutating func makeFix(at now: Int64) {
        nextFix += plan.interval
        if nextFix >= plan.fixesEnd { nextFix = Self.never }
        let isIdle =
            !isBusyOtherwise && open == nil && onAir == nil && unacknowledged.isEmpty
            && clock.microseconds(at: now) - lastTraffic < plan.heartbeat - 1000
        let fix = Fix(
            sequence: fixCount, unixMilliseconds: 1_700_000_000_000 + now / 1000, latitudeSteps: 4_737_690 + Int32(fixCount),
            longitudeSteps: 854_170)
        do throws(FixLogError) {
            guard let sequence = try collar?.log(fix) else { return }
            unacknowledged.append((sequence, now))
        } catch { preconditionFailure("a flash without faults does not fail") }
        fixCount += 1
        busy = nil
        if isIdle { turnRule.fixMade(at: clock.microseconds(at: now), in: company) } else { turnRule.forget() }
        due = now
    }

    private mutating func pump(at now: Int64) -> String? {
        var isFrame = false
        let frame = [UInt8](capacity: Frame.maximumByteCount) { output in
            do throws(FlashError) {
                isFrame = try collar?.nextFrame(now: clock.instant(at: now), into: &output) ?? false
            } catch { preconditionFailure("a flash without faults does not fail") }
        }
        defer { due = collar?.nextDeadline.map { max(clock.time(of: $0), now) } ?? Self.never }
        guard isFrame else {
            if let rule = judgeWaitOfBusyChannel() { return rule }
            if let deadline = collar?.nextDeadline, deadline.microseconds <= clock.microseconds(at: now) { return "a deadline that is reached stays" }
            return nil
        }
        onAir = Packet(frame: frame, start: now, end: now + plan.modem.airtimeMicroseconds(frameByteCount: frame.count))
        return judge(frame, at: clock.microseconds(at: now))
    }

    /// The frame on the air ends now.
    /// - Returns: the frame; nil if there is none.
    mutating func endTransmission(at now: Int64) -> Packet? {
        guard let packet = onAir, packet.end <= now else { return nil }
        onAir = nil
        lastUplinkEnd = now
        lastTraffic = clock.microseconds(at: now)
        collar?.frameSent(now: clock.instant(at: now))
        if open?.end == nil { open?.end = clock.microseconds(at: now) }
        due = now
        return packet
    }

    mutating func destroyTransmission() { onAir?.isDestroyed = true }

    mutating func channelIsBusy(at now: Int64) {
        collar?.channelIsBusy(now: clock.instant(at: now))
        open?.busyCount += 1
        bootTime = nil
        turnRule.channelIsBusy()
        busy = (clock.microseconds(at: now), busyInRow)
        busyInRow += 1
        due = collar?.nextDeadline.map { max(clock.time(of: $0), now) } ?? Self.never
    }

    /// Receives a frame of the base, if the radio listened when it began.
    /// - Returns: the rule that is broken; nil if none is.
    mutating func receive(_ frame: [UInt8], since start: Int64, at now: Int64) -> String? {
        guard isRunning, onAir == nil, lastUplinkEnd <= start,
            collar?.listeningEnd(now: clock.instant(at: start)) != nil
        else { return nil }
        let reception: Collar<KeptFlash>.Reception?
        do throws(FlashError) { reception = try collar?.receive(frame.span, now: clock.instant(at: now)) } catch {
            preconditionFailure("a flash without faults does not fail")
        }
        switch reception {
        case .acknowledgement(let result):
            company = Company(of: frame)
            lastTraffic = clock.microseconds(at: now)
            // What waits may be delivered.
            busy = nil
            if result == .impossible { return "an acknowledgement names what was never logged" }
            guard result == .answer, let answered = open else { break }
            turnRule.answered(from: answered.start, attempt: answered.attempt, in: company)
            (open, isBusyOtherwise, isFirstOfBurst) = (nil, false, true)
            busyInRow = 0
        case .identityRequest:
            // An open poll is given up, but not for a request in clear, which anyone can send.
            if key == nil { (open, isFirstOfBurst) = (nil, true) }
            (isBusyOtherwise, busy) = (true, nil)
            turnRule.forget()
        default: break
        }
        due = now
        return nil
    }

    /// Removes the fixes that are acknowledged.
    /// - Returns: how long each waited since it was made, or since the last fault.
    mutating func removeAcknowledged(at now: Int64, since lastFault: Int64) -> [Int64] {
        guard let first = collar?.firstUndelivered else { return [] }
        let count = unacknowledged.prefix { $0.sequence < first }.count
        defer { unacknowledged.removeFirst(count) }
        return unacknowledged.prefix(count).map { now - max($0.made, lastFault) }
    }

    // MARK: The times of its frames, on its own clock

    private mutating func judge(_ frame: [UInt8], at start: Int64) -> String? {
        let poll = FrameFlags(rawValue: frame[1]).poll
        defer {
            (bootTime, busy, busyInRow) = (nil, nil, 0)
            isFirstOfBurst = false
            if poll != nil { open = OpenPoll(attempt: open.map { $0.attempt + 1 } ?? 0, start: start, company: company) }
        }
        if let open { return judgeRepeat(of: open, at: start) }
        guard isFirstOfBurst else {
            // The time of the frame with the poll says nothing about the turn.
            turnRule.forget()
            return nil
        }
        if let bootTime { return note(start - bootTime - listening, in: plan.modem.exchangeMicroseconds, .burst) }
        let type = try? FrameHeader(ofAny: frame.span).type
        guard type == .absoluteFix || type == .liveFix, poll != nil else {
            turnRule.otherBurstBegins()
            isBusyOtherwise = true
            return nil
        }
        return turnRule.begins(at: start)
    }

    private mutating func judgeRepeat(of open: OpenPoll, at start: Int64) -> String? {
        guard let end = open.end else { return "a frame while its poll is on the air" }
        let modem = plan.modem
        let first = modem.turnaroundMicroseconds + modem.airtimeMicroseconds(frameByteCount: Frame.minimumLimitByteCount)
        let timeout = min(configuration.delivery.maximumTimeoutMicroseconds, first << Int64(min(open.attempt / 3, 20)))
        let wait = start - end - timeout - listening
        if wait < -Self.tolerance { return "a frame \(start - end) us after a poll without an answer, and the time-out is \(timeout) us" }
        // A late answer to an earlier poll may have told another company.
        guard open.busyCount == 0, open.company == company else { return nil }
        // A lone collar sends its first repeat at the end of the time-out.
        guard company != .alone || open.attempt > 0 else { return wait <= Self.tolerance ? nil : "a lone collar waits for \(wait) us before its first repeat" }
        let window =
            company == .alone
            ? modem.airtimeMicroseconds(frameByteCount: Frame.minimumLimitByteCount)
            : min(modem.exchangeMicroseconds << Int64(min(open.attempt + 2, 7)), 2 * company.assumedCount * modem.exchangeMicroseconds)
        return note(wait, in: window, open.attempt == 0 ? .firstRepeat : .laterRepeat)
    }

    /// The channel was busy; the collar listens again now, or waits for that.
    private mutating func judgeWaitOfBusyChannel() -> String? {
        guard let end = collar?.senseEnd, let busy else { return nil }
        self.busy = nil
        let window = plan.modem.exchangeMicroseconds << Int64(min(busy.count, 4))
        return note(end.microseconds - listening - busy.time, in: window, .busyChannel)
    }

    /// Compares a wait with its window. Half an interval limits some windows, and a collar may reckon with a part of the interval.
    private mutating func note(_ wait: Int64, in window: Int64, _ kind: WaitStatistics.Kind) -> String? {
        guard wait >= -Self.tolerance, wait <= window + Self.tolerance else { return "a wait (\(kind)) of \(wait) us, and the window is \(window) us" }
        if window <= plan.interval / 10 { waits.add(Double(wait) / Double(window), kind) }
        return nil
    }
}
