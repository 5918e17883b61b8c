import CollarARQ
import CollarJournal
import CollarWire

/// A radio's port, as the host knows it. The caller opens and closes it.
final class Link {
    /// Notices about a link that are given at most once a minute.
    enum NoticeKind: Hashable, Sendable { case ignoredPolls, radio, modem, unsupportedFrame, unopenedFrame }

    /// Times after its opening at which a link on which no known collar was heard carries another identity request, in microseconds.
    /// At a line, where a collar answers at once, the silence is then reported, too.
    private static let requestTimes: [Int64] = [1_000_000, 5_000_000]
    /// The polls that a collar needs at most until its identity is known.
    private static let identityPolls: Int64 = 4
    /// The least time between an identity request that answers no poll and the last request before it, in microseconds.
    private static let identityRequestInterval: Int64 = 1_000_000

    /// Whether a known collar was heard since the link was opened.
    fileprivate enum Establishment {
        /// No collar was heard since this time. `stepCount` steps of the silence are over.
        case waiting(since: Instant, stepCount: Int)
        /// The wait is over: a known collar was heard, or the last step is over.
        case over
    }

    struct Session {
        var stream = StreamDecoder()
        var held = HeldFrame()
        var radioIdentity: RadioIdentity?
        var modemSettings: ModemSettings?
        /// The timing of the radio, if the caller has told it.
        var radioTiming: ModemProfile?
        /// The packets, as long as no known collar was heard.
        var foreign = ForeignPackets()
        /// The longest silence of a collar, in microseconds.
        let heartbeatMicroseconds: Int64
        var lastCollar: CollarSession?
        /// The collars of the port that are still to be asked for their identities, one after the other.
        fileprivate var unasked: ArraySlice<SessionID> = []
        /// When the next of them is asked, or, after the last, all collars; nil if nothing is left to ask.
        fileprivate var nextQuestion: Instant?
        fileprivate var lastIdentityRequest: Instant?
        fileprivate var establishment: Establishment

        private var timing: ModemProfile? { radioTiming ?? modemSettings.map { ModemProfile($0) } }

        /// The longest time from the end of a frame to the start of its answer; nil if it is not known.
        var turnaroundMicroseconds: Int64? { timing?.turnaroundMicroseconds }

        /// The time in which a collar within reach is heard at a radio on which both ends cannot send at once; nil at a line.
        ///
        /// Such a collar hears nothing but answers to its polls. It polls after a heartbeat, for which it has a quarter more, and then
        /// until it knows that its identity has arrived.
        private var radioSilence: Int64? {
            guard let timing, timing.isHalfDuplex else { return nil }
            let poll = 2 * timing.airtimeMicroseconds(frameByteCount: Frame.minimumLimitByteCount) + timing.turnaroundMicroseconds
            return heartbeatMicroseconds / 4 * 5 + Link.identityPolls * poll
        }

        /// The time that a known collar has to answer the identity request sent at the opening of the link, in microseconds.
        /// A collar that is asked after others has more time.
        var identityMicroseconds: Int64 { (radioSilence ?? Link.requestTimes[1]) + Int64(unasked.count) * questionInterval }

        fileprivate var silenceSteps: [SilenceStep] {
            let asking = Link.requestTimes.map { SilenceStep(microseconds: $0, asks: true, isReported: radioSilence == nil) }
            return asking + (radioSilence.map { [SilenceStep(microseconds: $0, asks: false, isReported: true)] } ?? [])
        }

        /// The time between two identity requests of the opening.
        fileprivate var questionInterval: Int64 { max(Link.identityRequestInterval, timing?.exchangeMicroseconds ?? 0) }

        fileprivate var silenceDeadline: Instant? {
            guard case .waiting(let start, let count) = establishment, count < silenceSteps.count else { return nil }
            return start.advanced(byMicroseconds: silenceSteps[count].microseconds)
        }
    }

    /// A step of the silence: the reaction to the fact that no known collar was heard.
    struct SilenceStep: Equatable {
        /// The time since the opening of the link, in microseconds.
        let microseconds: Int64
        let asks: Bool
        let isReported: Bool
    }

    let id: LinkID
    let name: String
    var session: Session?
    /// Whether a person has said that the link is a serial line.
    var isLineNamed = false
    /// Limits the identity requests that answer a poll.
    private var identityRequests = HostLimits.identityRequests
    /// Limits the logs with which frames are tried after the likeliest one.
    var furtherLogs = HostLimits.furtherLogTrials
    var unopened = UnopenedFrames()
    var notices = NoticeLimiter<NoticeKind>()

    init(id: LinkID, name: String) {
        self.id = id
        self.name = name
    }

    /// Opens the link. Nothing is known yet of the station at its other end.
    /// - Parameters:
    ///   - heartbeatMicroseconds: the longest silence of a collar.
    ///   - known: the collars of the port. If there are several, they are asked one after the other, so that their identities do
    ///     not collide.
    func open(timing: ModemProfile?, heartbeatMicroseconds: Int64, known: [SessionID], at now: Instant) {
        session = Session(
            radioTiming: timing, heartbeatMicroseconds: heartbeatMicroseconds, establishment: .waiting(since: now, stepCount: 0))
        // At a full-duplex line nothing collides.
        if known.count > 1, timing?.isHalfDuplex != false { session?.unasked = known[...] }
        session?.nextQuestion = now
    }

    func close() { session = nil }

    /// The next deadline: of the held frame, of an identity request, or of a step of the silence.
    var nextDeadline: Instant? {
        // A copy of the session would cost more than the answer.
        Instant.earliest(Instant.earliest(session?.held.deadline, session?.nextQuestion), session?.silenceDeadline)
    }

    /// Whom an identity request of the opening asks now.
    enum Question { case collar(SessionID), all }

    /// The identity request of the opening that is due; nil if none is. Collars that were heard meanwhile are not asked.
    func takeQuestion(at now: Instant) -> Question? {
        guard let due = session?.nextQuestion, now >= due, let interval = session?.questionInterval else { return nil }
        guard let next = session?.unasked.popFirst() else {
            session?.nextQuestion = nil
            return .all
        }
        session?.nextQuestion = now.advanced(byMicroseconds: interval)
        return .collar(next)
    }

    /// Whether collars are still asked one after the other.
    var isAsking: Bool { session?.nextQuestion != nil }

    func noteFrame(of collar: CollarSession) {
        session?.establishment = .over
        if session?.lastCollar !== collar { session?.lastCollar = collar }
        if let index = session?.unasked.firstIndex(of: collar.id) { session?.unasked.remove(at: index) }
        identityRequests.earn(1)
    }

    /// Checks whether something is due because of the silence; call it when ``nextDeadline`` is reached.
    /// - Returns: the next step; nil if none is due.
    func silenceStep(at now: Instant) -> SilenceStep? {
        guard let session, let due = session.silenceDeadline, now >= due, case .waiting(let start, let count) = session.establishment
        else { return nil }
        self.session?.establishment = count + 1 < session.silenceSteps.count ? .waiting(since: start, stepCount: count + 1) : .over
        return session.silenceSteps[count]
    }

    /// Whether an identity request may be sent. A request that answers a poll may, unless polls are too frequent. Any other
    /// request may if the last one was sent at least a second ago. A request that may be sent counts as sent.
    func mayRequestIdentity(isAnswer: Bool, at now: Instant) -> Bool {
        guard let session else { return false }
        if isAnswer {
            guard identityRequests.take(at: now) else { return false }
        } else if let last = session.lastIdentityRequest,
            now.microseconds(since: last) < Link.identityRequestInterval
        {
            return false
        }
        self.session?.lastIdentityRequest = now
        return true
    }
}

/// Identifies a link of a ``Host``: a radio's port, open or not.
package struct LinkID: Hashable, Sendable { let index: Int }

/// The newest frame with fixes or a message, from a base radio that sends a signal report after such a frame. The frame is held
/// until its report comes.
struct HeldFrame {
    /// The longest wait for a report, in microseconds. At 115,200 baud a report takes 2 ms.
    private static let longestWait: Int64 = 20_000
    /// After this many frames in a row without a report, frames are no longer held. Holding resumes when a report comes.
    private static let patience = 8

    /// The bare frame that was held last; empty before the first one.
    private(set) var bytes: [UInt8] = []
    /// When the held frame is released even without a report; nil if none is held.
    private(set) var deadline: Instant?
    /// Frames in a row whose report did not come.
    private var missedCount = 0
    private(set) var isRadioKnown = false

    var isReporting: Bool { isRadioKnown && missedCount < HeldFrame.patience }

    /// The base radio sent its identity or its modem settings.
    mutating func radioSpoke() { isRadioKnown = true }

    /// A signal report came, about any frame.
    mutating func reportCame() {
        isRadioKnown = true
        missedCount = 0
    }

    /// Holds a frame that has come in.
    /// - Parameter turnaroundMicroseconds: time within which the frame's sender expects an answer; nil if unknown. The wait
    ///   takes at most a quarter of it.
    /// - Precondition: no frame is held.
    mutating func hold(_ frame: Span<UInt8>, now: Instant, turnaroundMicroseconds: Int64?) {
        precondition(deadline == nil, "one frame is held at a time")
        bytes.removeAll(keepingCapacity: true)
        for index in frame.indices { bytes.append(frame[index]) }
        let wait = min(HeldFrame.longestWait, (turnaroundMicroseconds ?? .max) / 4)
        deadline = now.advanced(byMicroseconds: wait)
    }

    /// Whether the signal of a frame is stored: that of a frame with fixes or a message.
    static func isSignalStored(of frame: Span<UInt8>) -> Bool {
        switch (try? FrameHeader(ofAny: frame))?.type {
        case .absoluteFix, .liveFix, .batch, .collarMessage: true
        default: false
        }
    }

    /// The signal in `frame` if `frame` is the report about the held frame; else nil.
    func signal(in frame: Span<UInt8>) -> RadioSignal? {
        guard deadline != nil, case .signalReport(let report)? = try? Message.decode(frame, log: nil, reference: 0),
            report.packetCRC == FrameCRC.sent(in: bytes.span)
        else { return nil }
        return report.signal
    }

    /// The frame is no longer held. ``bytes`` keeps it until the next one is held.
    mutating func release(isReported: Bool) {
        deadline = nil
        missedCount = isReported ? 0 : min(missedCount + 1, HeldFrame.patience)
    }
}

package enum ForeignPacketKind: Equatable, Sendable {
    /// Frames without their first byte: the stick takes it for its own, and the collar does not send such a byte.
    case headerByteMissing
    /// Frames with a byte in front, which the stick does not take.
    case headerByteAdded
    case unknown
}

/// Tells what the packets of a radio are if none of them is a frame.
///
/// It examines packets until a collar is heard or something is found. A radio hears other programs with the same settings, and
/// collars whose frames begin one byte too early or too late, because a stick's firmware takes a byte in front of each packet for its
/// own, or does not.
struct ForeignPackets: Sendable {
    /// The packets that show that no frames come.
    private static let neededCount = 4
    private static let limit = 64
    /// The least signal-to-noise ratio of a packet that counts, in tenths of a decibel. LoRa receives signals below the noise, too.
    private static let leastSignalToNoise: Int16 = 0

    private var examinedCount = 0
    /// The packets that count: all but weak ones that are no frames.
    private var count = 0
    /// Packets with the header of a frame, which other packets have by chance.
    private var plausibleCount = 0
    private var isOver = false

    /// Takes a packet.
    /// - Returns: what the packets are, once that is known; nil before, and afterwards.
    mutating func take(_ packet: Span<UInt8>, signal: RadioSignal?) -> ForeignPacketKind? {
        guard !isOver else { return nil }
        let kind = kind(of: packet, signal)
        isOver = kind != nil || examinedCount >= ForeignPackets.limit
        return kind
    }

    private mutating func kind(of packet: Span<UInt8>, _ signal: RadioSignal?) -> ForeignPacketKind? {
        examinedCount += 1
        count += 1
        if ForeignPackets.hasHeader(packet) {
            plausibleCount += 1
            if FrameCRC.isValid(packet, log: nil) { examinedCount = ForeignPackets.limit }
            return nil
        }
        let bytes = packet.indices.map { packet[$0] }
        if ForeignPackets.isFrame(Array(bytes.dropFirst())) { return .headerByteAdded }
        for typeCode in 0..<UInt8(32) where ForeignPackets.isFrame([Frame.protocolVersion << 5 | typeCode] + bytes) {
            return .headerByteMissing
        }
        if let ratio = signal?.signalToNoiseTenthsDB, ratio < ForeignPackets.leastSignalToNoise { count -= 1 }
        return count >= ForeignPackets.neededCount && 2 * plausibleCount < count ? .unknown : nil
    }

    /// Whether bytes are certainly a frame. The CRC of a frame that is bound to a log shows nothing here.
    private static func isFrame(_ bytes: [UInt8]) -> Bool { hasHeader(bytes.span) && FrameCRC.isValid(bytes.span, log: nil) }

    private static func hasHeader(_ frame: Span<UInt8>) -> Bool { (try? FrameHeader(ofAny: frame))?.type != nil }
}
