import CollarARQ
import CollarFirmware
import CollarWire
import RadioModems

/// A collar and its radio within reach of a base radio. The caller owns the clock: it passes times and frames to the station,
/// and gets from it what arrives at the base radio. ``SharedRadio`` holds several stations.
package struct CollarRadioStation<Flash: FlashDevice> {
    private struct Downlink {
        let start: Instant
        let due: Instant
        let frame: [UInt8]
    }

    private struct Uplink {
        let end: Instant
        let bytes: [UInt8]
        let isPoll: Bool
        let start: Instant
        var isDestroyed = false
    }

    private var device: CollarDevice<Flash>
    private var radio: LossyRadio
    private let modem: ModemProfile
    private let dialect: Dialect
    private let track: SimulatedTrack
    private let trackStart: Int
    private var origin: Instant
    private let battery: SimulatedBattery?
    private var noise: SimulatedNoise?
    private var nextIndex: Int
    private var search: SimulatedSearch
    /// When the application sends its next request; nil if it sends none.
    private var requestDeadline: Instant?
    /// Time between two requests of the application, in microseconds.
    private let requestInterval: Int64?
    private var onAir: Uplink?
    private var lastUplinkEnd: Instant
    /// When ``advance(to:)`` was last called.
    private var now: Instant
    /// Distinguishes the logs of a collar whose log is made again.
    private var random: SeededRandom
    private var downlinks: [Downlink] = []
    package let address: UInt8

    /// Whether a poll has reached the host intact, and the base radio has not begun to send the collar a frame since. The owner of the
    /// base radio sets it to false when that begins, and when no host got the last packet: the base radio did not hear it, or no host
    /// has the port open.
    package internal(set) var isAnswerExpected = false

    /// The messages of hosts that the application has taken and the caller has not removed, oldest first.
    package var takenMessages: [ApplicationMessage] = []

    /// The signals that the collar has given to the people near it and the caller has not removed, oldest first.
    package var givenSignals: [GivenSignal] = []
    private var lastSignal: Instant?
    /// The application keeps it over the restarts of the collar.
    private var sharedState = SharedStateCell()

    /// How many fixes of the track the collar did not log, because it was stopped or its battery low.
    package private(set) var skippedFixCount = 0

    package private(set) var statistics = StationStatistics()
    /// The counts when the second half of the track began, and the fixes made until then; nil before that.
    private var firstHalf: (counts: StationStatistics, fixCount: Int)?
    /// The fixes that are not acknowledged: their sequences in the log, and when they were made.
    package private(set) var unacknowledged: ArraySlice<(sequence: UInt32, made: Instant)> = []

    /// Creates a station from a collar that has started, and its track. The track goes on after the newest fix in the log.
    /// - Parameters:
    ///   - address: the address with which the collar was configured.
    ///   - dialect: what the base radio speaks; the form of the packets on the air depends on it.
    ///   - battery: the battery of the collar; nil if the charge is that of the fixes.
    ///   - noise: the error of the GNSS receiver; nil for none.
    ///   - start: when the first fix is made; the collar is silent until then.
    ///   - search: how long the GNSS receiver searches for a fix of the collar's schedule.
    ///   - requestInterval: the time between two requests that the application sends to the host, in microseconds; nil for none.
    package init(
        device: consuming CollarDevice<Flash>, address: UInt8, radio: LossyRadio, modem: ModemProfile,
        dialect: Dialect = .serial, track: SimulatedTrack, battery: SimulatedBattery? = nil, noise: SimulatedNoise? = nil,
        start: Instant, search: SimulatedSearch = SimulatedSearch(), requestInterval: Int64? = nil
    ) throws(StationError) {
        self.search = search
        self.requestInterval = requestInterval
        requestDeadline = requestInterval.map(start.advanced(byMicroseconds:))
        self.address = address
        self.device = device
        do throws(FlashError) { nextIndex = track.index(after: try self.device.newestFix()) } catch { throw .flash(error) }
        trackStart = min(nextIndex, max(0, track.fixes.count - 1))
        self.radio = radio
        self.modem = modem
        self.dialect = dialect
        self.track = track
        self.battery = battery
        self.noise = noise
        origin = start
        lastUplinkEnd = start
        now = start
        random = SeededRandom(seed: self.device.collar.log.deviceID.rawValue)
        lastSignal = self.device.newestSignal?.start
    }

    /// The counts since the second half of the track began; nil before that.
    package var secondHalf: StationStatistics? { firstHalf.map { statistics.since($0.counts, fixCount: $0.fixCount) } }

    /// Whether the track is over and every fix of the log is acknowledged.
    package var isDelivered: Bool { nextIndex == track.fixes.count && device.collar.isEverythingDelivered }

    package var log: LogIdentity { device.collar.log }

    /// The collar counts every entry of its log below this sequence as delivered.
    package var firstUndelivered: UInt32 { device.collar.firstUndelivered }

    /// When to call ``advance(to:)`` again if no bytes come in.
    package var nextDeadline: Instant {
        var deadline = Instant(microseconds: .max)
        if nextIndex < track.fixes.count {
            deadline = min(deadline, track.due(at: nextIndex, startingWith: trackStart, at: origin))
        }
        if let onAir { deadline = min(deadline, onAir.end) }
        // The call is `mutating` so that the firmware does not copy the device for it.
        var device = device
        if let due = device.nextDeadline(now: now, isSending: onAir != nil) { deadline = min(deadline, max(due, origin)) }
        for downlink in downlinks { deadline = min(deadline, downlink.due) }
        if let requestDeadline { deadline = min(deadline, requestDeadline) }
        if let positionDue = search.positionDue { deadline = min(deadline, positionDue) }
        return deadline
    }

    /// Time until the next fix, in microseconds, if every fix made so far is acknowledged, no frame is on the air and the
    /// application sends no requests, so that only heartbeats are due before that fix; nil otherwise. `Int64.max` if no fix is
    /// left.
    package func idleMicroseconds(now: Instant) -> Int64? {
        guard onAir == nil, downlinks.isEmpty, requestDeadline == nil, device.collar.isEverythingDelivered else { return nil }
        guard nextIndex < track.fixes.count else { return .max }
        return max(0, track.due(at: nextIndex, startingWith: trackStart, at: origin).microseconds(since: now))
    }

    /// Moves all further fixes to an earlier time. Otherwise a virtual clock would step through the pauses of a track, such as a
    /// cat's nap, heartbeat by heartbeat.
    package mutating func skipIdle(microseconds: Int64) { origin = origin.advanced(byMicroseconds: -microseconds) }

    /// When the frame on the air began and when it ends; nil if there is none.
    package var transmission: (start: Instant, end: Instant)? { onAir.map { ($0.start, $0.end) } }

    /// See ``CollarDelivery/senseEnd``.
    package var senseEnd: Instant? { device.senseEnd }

    /// See ``CollarDelivery/channelIsBusy(now:)``.
    package mutating func channelIsBusy(now: Instant) {
        statistics.busyCount += 1
        device.channelIsBusy(now: now)
    }

    /// Notes that another frame overlaps the collar's frame on the air, so that the collar's frame does not arrive.
    package mutating func destroyTransmission() { onAir?.isDestroyed = true }

    /// Notes that the base radio has sent a frame to this collar or to all. The next ``advance(to:)`` gives it to the collar,
    /// if it was not lost.
    /// - Parameter start: when the frame began.
    package mutating func receive(_ frame: [UInt8], start: Instant, end: Instant) {
        statistics.downlinkFrames += 1
        statistics.downlinkAirtimeMicroseconds += end.microseconds(since: start)
        switch radio.send(frame) {
        case .lost: break
        case .intact(let arrived): downlinks.append(Downlink(start: start, due: end, frame: arrived))
        case .damaged(let arrived):
            if dialect == .serial { downlinks.append(Downlink(start: start, due: end, frame: arrived)) }
        }
    }

    /// Presses the button of the collar: shortly, twice, or for as long as a long press takes.
    package mutating func press(_ press: ButtonDecoder.Press, now: Instant) throws(StationError) {
        do throws(FlashError) {
            for _ in 0..<(press == .double ? 2 : 1) {
                try device.buttonRead(isPressed: true, now: now)
                let held = press == .long ? ButtonDecoder.longMicroseconds : 0
                try device.buttonRead(isPressed: false, now: now.advanced(byMicroseconds: held))
            }
        } catch { throw .flash(error) }
        noteSignal()
    }

    /// Receives a bare frame from the cable of the collar. If the key of the collar changes, the collar starts again.
    /// - Parameters:
    ///   - randomKey: 16 random bytes, for a new key.
    ///   - randomLogID: the id of a new log.
    /// - Returns: the frame that the collar sends on its cable; nil if it sends none.
    package mutating func receiveFromCable(
        _ frame: [UInt8], randomKey: CollarKey, randomLogID: UInt32, now: Instant
    ) throws(StationError) -> [UInt8]? {
        do throws(FlashError) {
            guard try device.receiveFromCable(frame.span, randomKey: randomKey, now: now) else {
                if device.isResetDue(now: now) { try reset(randomLogID: randomLogID, now: now) }
                return nil
            }
            return try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(FlashError) in
                _ = try device.nextCableFrame(into: &output, now: now)
            }
        } catch { throw .flash(error) }
    }

    private mutating func reset(randomLogID: UInt32, now: Instant) throws(FlashError) {
        onAir = nil
        downlinks = []
        try device.restart(randomLogID: randomLogID, now: now)
    }

    /// Does everything that is due.
    /// - Returns: the packet that has arrived at the base radio; nil if none has.
    package mutating func advance(to now: Instant) throws(StationError) -> ArrivedPacket? {
        self.now = now
        var arrived: ArrivedPacket?
        while nextIndex < track.fixes.count, track.due(at: nextIndex, startingWith: trackStart, at: origin) <= now {
            try makeFix(at: now)
        }
        try sendRequest(at: now)
        try deliverDownlinks(until: now)
        do throws(FlashError) { try device.deadlineReached(now: now) } catch { throw .flash(error) }
        if device.isFixAwaited { try makeAwaitedFix(at: now) }
        try searchPosition(at: now)
        if let finished = onAir, finished.end <= now {
            onAir = nil
            lastUplinkEnd = finished.end
            arrived = arrive(finished)
            device.frameSent(now: now)
        }
        if onAir == nil, device.isResetDue(now: now) {
            do throws(FlashError) { try reset(randomLogID: UInt32(truncatingIfNeeded: random.next()), now: now) } catch {
                throw .flash(error)
            }
        }
        if onAir == nil, now >= origin { try startNextFrame(now: now) }
        while let first = unacknowledged.first, first.sequence < firstUndelivered {
            statistics.delays.append(now.microseconds(since: first.made))
            unacknowledged.removeFirst()
        }
        noteSignal()
        return arrived
    }

    /// The GNSS receiver makes the next fix of the track.
    private mutating func makeFix(at now: Instant) throws(StationError) {
        let fix = track.fixes[nextIndex]
        statistics.boundMicroseconds +=
            Double(modem.airtimeMicroseconds(absolute: fix, log: device.collar.log)) / (1 - min(radio.lossProbability, 0.999))
        if nextIndex == track.fixes.count / 2, firstHalf == nil {
            firstHalf = (statistics, statistics.delays.count + unacknowledged.count)
        }
        try give(fix, now: now)
        nextIndex += 1
    }

    /// A fix that was asked for is made at once. After the end of the track the animal stays where it is.
    private mutating func makeAwaitedFix(at now: Instant) throws(StationError) {
        guard nextIndex == track.fixes.count else { return try makeFix(at: now) }
        guard var last = track.fixes.last else { return }
        let elapsed = now.microseconds(since: track.due(at: nextIndex - 1, startingWith: trackStart, at: origin))
        last.unixMilliseconds += max(1, elapsed / 1000)
        try give(last, now: now)
    }

    /// A collar that makes its fixes by a schedule gets the next position of the track when its receiver has searched for long enough.
    private mutating func searchPosition(at now: Instant) throws(StationError) {
        search.note(isSearching: device.isSearching, now: now)
        if search.takePosition(now: now) { try makeAwaitedFix(at: now) }
    }

    private mutating func give(_ fix: Fix, now: Instant) throws(StationError) {
        let elapsed = fix.unixMilliseconds - track.fixes[0].unixMilliseconds
        device.batteryRead(battery?.reading(afterMilliseconds: elapsed) ?? BatteryReading(percent: fix.batteryPercent), now: now)
        do throws(FixLogError) {
            let sequence: UInt32?
            if noise == nil {
                sequence = try device.fixMade(fix, now: now)
            } else {
                var reading = GNSSReading(fix)
                noise?.disturb(&reading)
                sequence = try device.gnssRead(reading, now: now)
            }
            if let sequence { unacknowledged.append((sequence, now)) } else { skippedFixCount += 1 }
        } catch { throw .log(error, index: nextIndex) }
    }

    private mutating func noteSignal() {
        guard let newest = device.newestSignal, newest.start != lastSignal else { return }
        lastSignal = newest.start
        givenSignals.append(.signal(newest.signal))
    }

    private mutating func deliverDownlinks(until now: Instant) throws(StationError) {
        downlinks.sort { $0.due < $1.due }
        while let first = downlinks.first, first.due <= now {
            downlinks.removeFirst()
            // On a half-duplex link a collar that sends cannot receive, and outside the window after a poll its radio sleeps.
            if modem.isHalfDuplex, onAir != nil || lastUplinkEnd > first.start || device.listeningEnd(now: first.start) == nil { continue }
            let reception: Collar<Flash>.Reception
            do throws(FlashError) { reception = try device.receive(first.frame.span, now: now) } catch { throw .flash(error) }
            switch reception {
            case .message(let message): try take(message, now: now)
            case .command(_, .sound(let milliseconds)): givenSignals.append(.sound(milliseconds: milliseconds))
            default: break
            }
        }
    }

    /// The application takes a message. It answers a request with the request's own code and data, or with the shared state.
    private mutating func take(_ message: HostMessage, now: Instant) throws(StationError) {
        takenMessages.append(message.content)
        if let reply = sharedState.take(message, unixSeconds: 0) {
            try log(reply, now: now)
        } else if message.content.kind == .request {
            var reply = message.content
            reply.kind = .reply(to: UInt32(message.requestID), .ok)
            try log(reply, now: now)
        }
        do throws(FlashError) { try device.finish(requestID: message.requestID, outcome: .ok, now: now) } catch { throw .flash(error) }
    }

    /// The application changes the shared state.
    /// - Parameter state: at most `SharedStateMessage.stateLimit` bytes.
    /// - Returns: false, with nothing changed, if the state is too long.
    package mutating func changeSharedState(to state: [UInt8], now: Instant) throws(StationError) -> Bool {
        guard let notice = sharedState.change(to: state.span, unixMilliseconds: fixUnixMilliseconds) else { return false }
        try log(notice, now: now)
        return true
    }

    /// The time of the last fix, in milliseconds since 1970; 0 before the first one.
    private var fixUnixMilliseconds: Int64 { nextIndex > 0 ? track.fixes[nextIndex - 1].unixMilliseconds : 0 }

    private mutating func sendRequest(at now: Instant) throws(StationError) {
        guard let due = requestDeadline, let requestInterval, due <= now else { return }
        requestDeadline = due.advanced(byMicroseconds: requestInterval)
        let data = Array("request \(device.collar.nextSequence)".utf8)
        guard let request = ApplicationMessage(kind: .request, code: 1, unixSeconds: 0, data: data.span) else { return }
        try log(request, now: now)
    }

    /// Logs a message with the time of the last fix.
    private mutating func log(_ message: ApplicationMessage, now: Instant) throws(StationError) {
        var message = message
        message.unixSeconds = UInt32(clamping: fixUnixMilliseconds / 1000)
        do throws(FixLogError) { _ = try device.log(message, now: now) } catch { throw .log(error, index: nextIndex) }
    }

    private mutating func startNextFrame(now: Instant) throws(StationError) {
        var isFrame = false
        var failure: FlashError?
        let frame = [UInt8](capacity: Frame.maximumByteCount) { output in
            do throws(FlashError) { isFrame = try device.nextFrame(now: now, into: &output) } catch { failure = error }
        }
        if let failure { throw .flash(failure) }
        guard isFrame else { return }
        let airtime = modem.airtimeMicroseconds(frameByteCount: frame.count)
        statistics.uplinkFrames += 1
        statistics.uplinkBytes += frame.count
        statistics.airtimeMicroseconds += airtime
        let isPoll = FrameFlags(rawValue: frame[1]).poll != nil
        if !isPoll { statistics.unpolledFrames += 1 }
        onAir = Uplink(end: now.advanced(byMicroseconds: airtime), bytes: bytesOnAir(of: frame), isPoll: isPoll, start: now)
    }

    private func bytesOnAir(of frame: [UInt8]) -> [UInt8] {
        switch dialect {
        case .serial:
            [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
                StreamEncoder.encode(frame.span, into: &output)
            }
        // The upper half of the first byte differs between packets; the lower half says that the packet is whole.
        case .rnode: [UInt8(truncatingIfNeeded: statistics.uplinkFrames << 4)] + frame
        case .kiss, .rui3: frame
        }
    }

    private mutating func arrive(_ uplink: Uplink) -> ArrivedPacket? {
        guard !uplink.isDestroyed else {
            statistics.collisions += 1
            return nil
        }
        switch radio.send(uplink.bytes) {
        case .lost: return nil
        case .intact(let bytes):
            if uplink.isPoll { isAnswerExpected = true }
            return ArrivedPacket(bytes: bytes, start: uplink.start)
        case .damaged(let bytes):
            // The CRC of LoRa finds the damage. A line has none.
            return dialect == .serial ? ArrivedPacket(bytes: bytes, start: uplink.start) : nil
        }
    }
}

/// A packet of a collar that arrives at the base radio.
package struct ArrivedPacket: Equatable, Sendable {
    /// The bytes on the air. On a serial line they have its stuffing and delimiters.
    package let bytes: [UInt8]
    package let start: Instant
}

/// Why a simulated collar cannot go on.
package enum StationError: Error, Equatable, Sendable {
    /// A fix of the track, or a message before it, could not be logged.
    case log(FixLogError, index: Int)
    case flash(FlashError)
}

/// A signal that a simulated collar gives to the people near it.
package enum GivenSignal: Equatable, CustomStringConvertible {
    case signal(Signal)
    /// The sound that a host commanded, and its length.
    case sound(milliseconds: UInt16)

    package var description: String {
        switch self {
        case .signal(let signal): "\(signal)"
        case .sound(let milliseconds): "a sound of \(Double(milliseconds) / 1000) s"
        }
    }
}

extension ModemProfile {
    /// Airtime of a fix in an absolute frame of its own, in microseconds.
    package func airtimeMicroseconds(absolute fix: Fix, log: LogIdentity) -> Int64 {
        let frame = [UInt8](capacity: Frame.maximumByteCount) { output in
            do throws(EncodeError) {
                try AbsoluteFix.encode(
                    fix, address: 9, flags: FrameFlags(poll: nil), log: log, reference: fix.sequence, into: &output)
            } catch { preconditionFailure("a logged fix fits a frame: \(error)") }
        }
        return airtimeMicroseconds(frameByteCount: frame.count)
    }
}
