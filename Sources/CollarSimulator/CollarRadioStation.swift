import CollarARQ
import CollarFirmware
import CollarWire

/// A collar and its radio within reach of a base radio, driven by whoever has the clock: times and frames go in, serial
/// bytes come out. ``SharedRadio`` holds several.
package struct CollarRadioStation<Flash: FlashDevice> {
    private struct Downlink {
        let start: Instant
        let due: Instant
        let frame: [UInt8]
    }

    private struct Uplink {
        let end: Instant
        let serialBytes: [UInt8]
        let isAsk: Bool
        let start: Instant
        var isDestroyed = false
    }

    private var collar: Collar<Flash>
    private var radio: LossyRadio
    private let modem: ModemProfile
    private let track: SimulatedTrack
    private let trackStart: Int
    private var origin: Instant
    private var nextIndex: Int
    private var onAir: Uplink?
    private var lastUplinkEnd: Instant
    private var downlinks: [Downlink] = []
    /// Address of the collar on the air.
    package let address: UInt8

    /// Whether a frame that asks reached the host intact and nothing has come back since.
    package private(set) var isAnswerExpected = false

    /// Counts of the simulation.
    package private(set) var statistics = StationStatistics()

    /// Sets a booted collar on a track. Fixes it already has in its log are not made again.
    /// - Parameters:
    ///   - address: what the collar was configured with.
    ///   - start: when its first fix is made; it is silent until then.
    package init(
        collar: consuming Collar<Flash>, address: UInt8, radio: LossyRadio, modem: ModemProfile, track: SimulatedTrack,
        start: Instant
    ) {
        self.address = address
        nextIndex = min(Int(collar.nextSequence), track.fixes.count)
        trackStart = min(nextIndex, max(0, track.fixes.count - 1))
        self.collar = collar
        self.radio = radio
        self.modem = modem
        self.track = track
        origin = start
        lastUplinkEnd = start
    }

    /// Whether every fix of the track is logged and acknowledged.
    package var isDelivered: Bool { nextIndex == track.fixes.count && collar.isEverythingDelivered }

    /// When ``advance(to:)`` is worth calling again if no bytes come in.
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
        return deadline
    }

    /// How long nothing happens but heartbeats, in microseconds: everything made so far is acknowledged, and the next fix
    /// is due then. Nil where something happens; the greatest number where no fix follows.
    package func idleMicroseconds(now: Instant) -> Int64? {
        guard onAir == nil, downlinks.isEmpty, collar.isEverythingDelivered else { return nil }
        guard nextIndex < track.fixes.count else { return .max }
        return max(0, track.due(at: nextIndex, startingWith: trackStart, at: origin).microseconds(since: now))
    }

    /// The next fixes are made so much earlier: a virtual clock would else spend a cat's nap on heartbeats.
    package mutating func skipIdle(microseconds: Int64) { origin = origin.advanced(byMicroseconds: -microseconds) }

    /// When the frame on the air began and when it ends; nil where none is.
    package var transmission: (start: Instant, end: Instant)? { onAir.map { ($0.start, $0.end) } }

    /// Another frame was on the air at the same time: nobody hears this one.
    package mutating func destroyTransmission() { onAir?.isDestroyed = true }

    /// The base radio has begun to send this collar, or all, a frame: an answer is under way.
    package mutating func answerBegan() { isAnswerExpected = false }

    /// The base radio has sent this collar, or all, a frame; the next ``advance(to:)`` takes it in, if it was not lost.
    /// - Parameter start: when the frame began.
    package mutating func received(_ frame: [UInt8], start: Instant, end: Instant) {
        statistics.downlinkFrames += 1
        statistics.downlinkAirtimeMicroseconds += end.microseconds(since: start)
        switch radio.send(frame) {
        case .lost: break
        case .intact(let arrived), .damaged(let arrived):
            downlinks.append(Downlink(start: start, due: end, frame: arrived))
        }
    }

    /// The last serial bytes reached nobody: no host has the port open.
    package mutating func serialBytesWereDropped() { isAnswerExpected = false }

    /// Does everything that is due.
    /// - Returns: serial bytes for the host.
    package mutating func advance(to now: Instant) throws(StationError) -> [UInt8] {
        var output: [UInt8] = []
        try makeFixes(until: now)
        try deliverDownlinks(until: now)
        if let finished = onAir, finished.end <= now {
            onAir = nil
            lastUplinkEnd = finished.end
            output += arrive(finished)
            collar.frameSent(now: now)
        }
        if onAir == nil, now >= origin { try startNextFrame(now: now) }
        return output
    }

    private mutating func makeFixes(until now: Instant) throws(StationError) {
        while nextIndex < track.fixes.count, track.due(at: nextIndex, startingWith: trackStart, at: origin) <= now {
            try makeFix()
        }
    }

    private mutating func makeFix() throws(StationError) {
        statistics.boundMicroseconds +=
            Double(modem.airtimeMicroseconds(absolute: track.fixes[nextIndex], log: collar.log))
            / (1 - min(radio.lossProbability, 0.999))
        do throws(FixLogError) { _ = try collar.log(track.fixes[nextIndex]) } catch {
            throw .log(error, index: nextIndex)
        }
        nextIndex += 1
    }

    private mutating func deliverDownlinks(until now: Instant) throws(StationError) {
        downlinks.sort { $0.due < $1.due }
        while let first = downlinks.first, first.due <= now {
            downlinks.removeFirst()
            // On a half-duplex link who sends is deaf.
            if modem.isHalfDuplex, onAir != nil || lastUplinkEnd > first.start { continue }
            let reception: Collar<Flash>.Reception
            do throws(FlashError) { reception = try collar.received(first.frame.span, now: now) } catch {
                throw .flash(error)
            }
            if case .command(let id, let order) = reception { try carryOut(order, requestID: id) }
        }
    }

    /// Does what the firmware of a collar does. Locating makes the next fix of the track at once; where none is left it
    /// fails.
    private mutating func carryOut(_ order: Command.Order, requestID: UInt16) throws(StationError) {
        var outcome = CommandResult.Outcome.ok
        switch order {
        case .locateNow:
            if nextIndex < track.fixes.count { try makeFix() } else { outcome = .failed }
        case .sound: break
        case .startTracking, .stopTracking, .reboot, .pair, .unpair: return
        }
        do throws(FlashError) { try collar.finish(requestID: requestID, outcome: outcome) } catch { throw .flash(error) }
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
        let serial = [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
        onAir = Uplink(
            end: now.advanced(byMicroseconds: airtime), serialBytes: serial,
            isAsk: FrameFlags(rawValue: frame[1]).ask != nil, start: now)
    }

    private mutating func arrive(_ uplink: Uplink) -> [UInt8] {
        guard !uplink.isDestroyed else {
            statistics.collisions += 1
            return []
        }
        switch radio.send(uplink.serialBytes) {
        case .lost:
            return []
        case .intact(let bytes):
            if uplink.isAsk { isAnswerExpected = true }
            return bytes
        case .damaged(let bytes):
            return bytes
        }
    }
}

/// Why a simulated collar cannot go on.
package enum StationError: Error, Equatable, Sendable {
    /// A fix of the track could not be logged.
    case log(FixLogError, index: Int)
    /// The flash failed.
    case flash(FlashError)
}
