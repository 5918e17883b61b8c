import CollarARQ
import CollarFirmware
import CollarWire

/// A collar, its radio and the base radio's serial side, driven by whoever has the clock: times and serial bytes go
/// in, serial bytes come out.
public struct CollarRadioStation<Flash: FlashDevice> {
    private struct Downlink {
        let start: Instant
        let due: Instant
        let frame: [UInt8]
    }

    private struct Uplink {
        let end: Instant
        let serialBytes: [UInt8]
        let isAsk: Bool
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
    private var hostStream = StreamDecoder()

    /// Whether a frame that asks reached the host intact and nothing has come back since.
    public private(set) var isAnswerExpected = false

    /// Counts of the simulation.
    public private(set) var statistics = StationStatistics()

    /// Sets a booted collar on a track. Fixes it already has in its log are not made again.
    public init(
        collar: consuming Collar<Flash>, radio: LossyRadio, modem: ModemProfile, track: SimulatedTrack, now: Instant
    ) {
        nextIndex = min(Int(collar.nextSequence), track.fixes.count)
        trackStart = min(nextIndex, max(0, track.fixes.count - 1))
        self.collar = collar
        self.radio = radio
        self.modem = modem
        self.track = track
        origin = now
        lastUplinkEnd = now
    }

    /// Whether every fix of the track is logged and acknowledged.
    public var isDelivered: Bool { nextIndex == track.fixes.count && collar.isEverythingDelivered }

    /// When ``advance(to:)`` is worth calling again if no bytes come in.
    public var nextDeadline: Instant {
        var deadline = Instant(microseconds: .max)
        if nextIndex < track.fixes.count {
            deadline = min(deadline, track.due(at: nextIndex, startingWith: trackStart, at: origin))
        }
        if let onAir {
            deadline = min(deadline, onAir.end)
        } else if let due = collar.nextDeadline {
            deadline = min(deadline, due)
        }
        for downlink in downlinks { deadline = min(deadline, downlink.due) }
        return deadline
    }

    /// Where everything made so far is acknowledged, the next fix is made now: a virtual clock would else spend a cat's
    /// nap on heartbeats.
    public mutating func skipIdleTime(now: Instant) {
        guard nextIndex < track.fixes.count, onAir == nil, collar.isEverythingDelivered else { return }
        let due = track.due(at: nextIndex, startingWith: trackStart, at: origin)
        guard due > now else { return }
        origin = origin.advanced(byMicroseconds: now.microseconds(since: due))
    }

    /// Serial bytes that the host wrote to the base radio.
    public mutating func received(_ bytes: [UInt8], now: Instant) {
        var index = 0
        while let event = hostStream.next(in: bytes.span, at: &index) {
            guard case .frame = event else { continue }
            var frame: [UInt8] = []
            let span = hostStream.frame
            for position in span.indices { frame.append(span[position]) }
            isAnswerExpected = false
            statistics.downlinkFrames += 1
            let airtime = modem.airtimeMicroseconds(frameByteCount: frame.count)
            statistics.downlinkAirtimeMicroseconds += airtime
            switch radio.send(frame) {
            case .lost: break
            case .intact(let arrived), .damaged(let arrived):
                downlinks.append(Downlink(start: now, due: now.advanced(byMicroseconds: airtime), frame: arrived))
            }
        }
    }

    /// The last serial bytes reached nobody: no host has the port open.
    public mutating func serialBytesWereDropped() { isAnswerExpected = false }

    /// Does everything that is due.
    /// - Returns: serial bytes for the host.
    public mutating func advance(to now: Instant) throws(StationError) -> [UInt8] {
        var output: [UInt8] = []
        try makeFixes(until: now)
        try deliverDownlinks(until: now)
        if let finished = onAir, finished.end <= now {
            onAir = nil
            lastUplinkEnd = finished.end
            output += arrive(finished)
            collar.frameSent(now: now)
        }
        if onAir == nil { try startNextFrame(now: now) }
        return output
    }

    private mutating func makeFixes(until now: Instant) throws(StationError) {
        while nextIndex < track.fixes.count, track.due(at: nextIndex, startingWith: trackStart, at: origin) <= now {
            statistics.boundMicroseconds +=
                Double(modem.airtimeMicroseconds(absolute: track.fixes[nextIndex], log: collar.log))
                / (1 - min(radio.lossProbability, 0.999))
            do throws(FixLogError) { _ = try collar.log(track.fixes[nextIndex]) } catch {
                throw .log(error, index: nextIndex)
            }
            nextIndex += 1
        }
    }

    private mutating func deliverDownlinks(until now: Instant) throws(StationError) {
        downlinks.sort { $0.due < $1.due }
        while let first = downlinks.first, first.due <= now {
            downlinks.removeFirst()
            // On a half-duplex link who sends is deaf.
            if modem.isHalfDuplex, onAir != nil || lastUplinkEnd > first.start { continue }
            do throws(FlashError) { _ = try collar.received(first.frame.span, now: now) } catch {
                throw .flash(error)
            }
        }
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
            isAsk: FrameFlags(rawValue: frame[1]).ask != nil)
    }

    private mutating func arrive(_ uplink: Uplink) -> [UInt8] {
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

/// What a station has done so far.
public struct StationStatistics: Equatable, Sendable {
    /// Frames the collar sent.
    public var uplinkFrames = 0
    /// Their bytes, as bare frames.
    public var uplinkBytes = 0
    /// Their time on the air, in microseconds.
    public var airtimeMicroseconds: Int64 = 0
    /// Frames the host sent.
    public var downlinkFrames = 0
    /// Their time on the air, in microseconds.
    public var downlinkAirtimeMicroseconds: Int64 = 0
    /// What the fixes made so far would take in the absolute form, one a frame, each as often as it takes until it
    /// arrives: airtime ÷ (1 − loss), in microseconds.
    public var boundMicroseconds = 0.0

    /// Airtime of both ends as a multiple of the bound; 0 where no fix was made.
    public var airtimeOverBound: Double {
        boundMicroseconds > 0 ? Double(airtimeMicroseconds + downlinkAirtimeMicroseconds) / boundMicroseconds : 0
    }
}

/// Why a simulated collar cannot go on.
public enum StationError: Error, Equatable, Sendable {
    /// A fix of the track could not be logged.
    case log(FixLogError, index: Int)
    /// The flash failed.
    case flash(FlashError)
}
