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

    private var collar: Collar<Flash>
    private var radio: LossyRadio
    private let modem: ModemProfile
    private let dialect: Dialect
    private let track: SimulatedTrack
    private let trackStart: Int
    private var origin: Instant
    private let boot: Instant
    private var condition = SimulatedCondition()
    private var nextIndex: Int
    /// When the application sends its next request; nil if it sends none.
    private var requestDeadline: Instant?
    /// Time between two requests of the application, in microseconds.
    private let requestInterval: Int64?
    private var onAir: Uplink?
    private var lastUplinkEnd: Instant
    private var downlinks: [Downlink] = []
    /// Address of the collar on the air.
    package let address: UInt8

    /// Whether a poll has reached the host intact, and the base radio has not begun to send the collar a frame since.
    package private(set) var isAnswerExpected = false

    /// The messages of hosts that the application has taken and the caller has not removed, oldest first.
    package var takenMessages: [ApplicationMessage] = []

    /// Counts of the simulation.
    package private(set) var statistics = StationStatistics()

    /// Creates a station from a booted collar and its track. Fixes that are already in the collar's log are not made again.
    /// - Parameters:
    ///   - address: the address with which the collar was configured.
    ///   - dialect: what the base radio speaks; the form of the packets on the air depends on it.
    ///   - start: when the first fix is made; the collar is silent until then.
    ///   - messageCount: how many messages are in the collar's log.
    ///   - requestInterval: the time between two requests that the application sends to the host, in microseconds; nil for none.
    package init(
        collar: consuming Collar<Flash>, address: UInt8, radio: LossyRadio, modem: ModemProfile,
        dialect: Dialect = .serial, track: SimulatedTrack, start: Instant, messageCount: Int = 0, requestInterval: Int64? = nil
    ) {
        self.requestInterval = requestInterval
        requestDeadline = requestInterval.map(start.advanced(byMicroseconds:))
        self.address = address
        nextIndex = min(Int(collar.nextSequence) - messageCount, track.fixes.count)
        trackStart = min(nextIndex, max(0, track.fixes.count - 1))
        self.collar = collar
        self.radio = radio
        self.modem = modem
        self.dialect = dialect
        self.track = track
        origin = start
        boot = start
        lastUplinkEnd = start
        self.collar.condition = condition.condition
    }

    /// Whether every fix of the track is logged and acknowledged.
    package var isDelivered: Bool { nextIndex == track.fixes.count && collar.isEverythingDelivered }

    /// The collar counts every entry of its log below this sequence as delivered.
    package var firstUndelivered: UInt32 { collar.firstUndelivered }

    /// When to call ``advance(to:)`` again if no bytes come in.
    package var nextDeadline: Instant {
        var deadline = Instant(microseconds: .max)
        if nextIndex < track.fixes.count {
            deadline = min(deadline, track.due(at: nextIndex, startingWith: trackStart, at: origin))
        }
        if let onAir {
            deadline = min(deadline, onAir.end)
        } else if let due = collar.nextDeadline {
            deadline = min(deadline, max(due, origin))
        }
        for downlink in downlinks { deadline = min(deadline, downlink.due) }
        if let requestDeadline { deadline = min(deadline, requestDeadline) }
        return deadline
    }

    /// Time until the next fix, in microseconds, if every fix made so far is acknowledged, no frame is on the air and the
    /// application sends no requests, so that only heartbeats are due before that fix; nil otherwise. `Int64.max` if no fix is
    /// left.
    package func idleMicroseconds(now: Instant) -> Int64? {
        guard onAir == nil, downlinks.isEmpty, requestDeadline == nil, collar.isEverythingDelivered else { return nil }
        guard nextIndex < track.fixes.count else { return .max }
        return max(0, track.due(at: nextIndex, startingWith: trackStart, at: origin).microseconds(since: now))
    }

    /// Moves all further fixes to an earlier time. Otherwise a virtual clock would step through the pauses of a track, such as a
    /// cat's nap, heartbeat by heartbeat.
    package mutating func skipIdle(microseconds: Int64) { origin = origin.advanced(byMicroseconds: -microseconds) }

    /// When the frame on the air began and when it ends; nil if there is none.
    package var transmission: (start: Instant, end: Instant)? { onAir.map { ($0.start, $0.end) } }

    /// Notes that another frame overlaps the collar's frame on the air, so that the collar's frame does not arrive.
    package mutating func destroyTransmission() { onAir?.isDestroyed = true }

    /// Notes that the base radio has begun to send a frame to this collar or to all: an answer is under way.
    package mutating func answerBegan() { isAnswerExpected = false }

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

    /// Notes that no host got the last packet: the base radio did not hear it, or no host has the port open.
    package mutating func packetReachedNoHost() { isAnswerExpected = false }

    /// Presses the button of the collar.
    package mutating func pressButton(now: Instant) { collar.openPairingWindow(now: now) }

    /// Receives a bare frame from the cable of the collar. If the key of the collar changes, the collar boots.
    /// - Parameters:
    ///   - randomKey: 16 random bytes, for a new key.
    ///   - randomLogID: the id of a new log.
    /// - Returns: the frame that the collar sends on its cable; nil if it sends none.
    package mutating func receiveFromCable(
        _ frame: [UInt8], randomKey: CollarKey, randomLogID: UInt32, now: Instant
    ) throws(StationError) -> [UInt8]? {
        do throws(FlashError) {
            switch try collar.receiveFromCable(frame.span, randomKey: randomKey, now: now) {
            case .ignored: return nil
            case .answered:
                return try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(FlashError) in
                    _ = try collar.nextCableFrame(into: &output)
                }
            case .keyChanged:
                onAir = nil
                downlinks = []
                try collar.reboot(randomLogID: randomLogID, now: now)
                return nil
            }
        } catch { throw .flash(error) }
    }

    /// Does everything that is due.
    /// - Returns: the packet that has arrived at the base radio; nil if none has.
    package mutating func advance(to now: Instant) throws(StationError) -> ArrivedPacket? {
        var arrived: ArrivedPacket?
        try makeFixes(until: now)
        try sendRequest(at: now)
        try deliverDownlinks(until: now)
        if let finished = onAir, finished.end <= now {
            onAir = nil
            lastUplinkEnd = finished.end
            arrived = arrive(finished)
            collar.frameSent(now: now)
        }
        if onAir == nil, now >= origin { try startNextFrame(now: now) }
        return arrived
    }

    private mutating func makeFixes(until now: Instant) throws(StationError) {
        while nextIndex < track.fixes.count, track.due(at: nextIndex, startingWith: trackStart, at: origin) <= now {
            try makeFix(at: now)
        }
    }

    private mutating func makeFix(at now: Instant) throws(StationError) {
        statistics.boundMicroseconds +=
            Double(modem.airtimeMicroseconds(absolute: track.fixes[nextIndex], log: collar.log))
            / (1 - min(radio.lossProbability, 0.999))
        do throws(FixLogError) { _ = try collar.log(track.fixes[nextIndex]) } catch {
            throw .log(error, index: nextIndex)
        }
        condition.note(
            track.fixes[nextIndex], uptimeMilliseconds: now.microseconds(since: boot) / 1000, settings: collar.settings)
        nextIndex += 1
        collar.condition = condition.condition
    }

    private mutating func deliverDownlinks(until now: Instant) throws(StationError) {
        downlinks.sort { $0.due < $1.due }
        while let first = downlinks.first, first.due <= now {
            downlinks.removeFirst()
            // On a half-duplex link a collar that sends cannot receive.
            if modem.isHalfDuplex, onAir != nil || lastUplinkEnd > first.start { continue }
            let reception: Collar<Flash>.Reception
            do throws(FlashError) { reception = try collar.receive(first.frame.span, now: now) } catch {
                throw .flash(error)
            }
            switch reception {
            case .command(let id, let action): try carryOut(action, requestID: id, at: now)
            case .message(let message): try take(message)
            default: break
            }
        }
    }

    /// Carries out an action as the firmware of a collar does. Locating makes the next fix of the track at once, and fails if
    /// none is left.
    private mutating func carryOut(
        _ action: Command.Action, requestID: UInt16, at now: Instant
    ) throws(StationError) {
        var outcome = CommandResult.Outcome.ok
        switch action {
        case .locateNow:
            if nextIndex < track.fixes.count { try makeFix(at: now) } else { outcome = .failed }
        case .sound: break
        case .startTracking, .stopTracking, .reboot, .pair, .unpair: return
        }
        do throws(FlashError) { try collar.finish(requestID: requestID, outcome: outcome) } catch { throw .flash(error) }
    }

    /// The application takes a message. It answers a request with the request's own code and data.
    private mutating func take(_ message: HostMessage) throws(StationError) {
        takenMessages.append(message.content)
        if message.content.kind == .request {
            var reply = message.content
            reply.kind = .reply(to: UInt32(message.requestID), .ok)
            try log(reply)
        }
        do throws(FlashError) { try collar.finish(requestID: message.requestID, outcome: .ok) } catch { throw .flash(error) }
    }

    /// The application sends a request, if one is due.
    private mutating func sendRequest(at now: Instant) throws(StationError) {
        guard let due = requestDeadline, let requestInterval, due <= now else { return }
        requestDeadline = due.advanced(byMicroseconds: requestInterval)
        let data = Array("request \(collar.nextSequence)".utf8)
        guard let request = ApplicationMessage(kind: .request, code: 1, unixSeconds: 0, data: data.span) else { return }
        try log(request)
    }

    /// Logs a message with the time of the last fix.
    private mutating func log(_ message: ApplicationMessage) throws(StationError) {
        var message = message
        message.unixSeconds = nextIndex > 0 ? UInt32(clamping: track.fixes[nextIndex - 1].unixMilliseconds / 1000) : 0
        do throws(FixLogError) { _ = try collar.log(message) } catch { throw .log(error, index: nextIndex) }
    }

    private mutating func startNextFrame(now: Instant) throws(StationError) {
        var isFrame = false
        var failure: FlashError?
        let frame = [UInt8](capacity: Frame.maximumByteCount) { output in
            do throws(FlashError) { isFrame = try collar.nextFrame(now: now, into: &output) } catch { failure = error }
        }
        if let failure { throw .flash(failure) }
        guard isFrame else { return }
        let airtime = modem.airtimeMicroseconds(frameByteCount: frame.count)
        statistics.uplinkFrames += 1
        statistics.uplinkBytes += frame.count
        statistics.airtimeMicroseconds += airtime
        onAir = Uplink(
            end: now.advanced(byMicroseconds: airtime), bytes: bytesOnAir(of: frame),
            isPoll: FrameFlags(rawValue: frame[1]).poll != nil, start: now)
    }

    /// The bytes that carry a frame to the base radio.
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
    /// When the packet began.
    package let start: Instant
}

/// Why a simulated collar cannot go on.
package enum StationError: Error, Equatable, Sendable {
    /// A fix of the track, or a message before it, could not be logged.
    case log(FixLogError, index: Int)
    /// The flash failed.
    case flash(FlashError)
}
