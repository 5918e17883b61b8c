import CollarARQ
import CollarWire

/// A radio's port, as the host knows it. The caller opens and closes it.
final class Link {
    /// Notices about a link that are given at most once a minute.
    enum NoticeKind: Hashable, Sendable { case ignoredPolls, radio, modem, unsupportedFrame, unopenedFrame }

    /// Times after its opening at which a link is reported if no known collar was heard on it, in microseconds. At a line a collar
    /// answers at once.
    private static let silenceTimes: (first: Int64, last: Int64) = (1_000_000, 5_000_000)
    /// The polls that a collar needs at most until its identity is known.
    private static let identityPolls: Int64 = 4
    /// The least time between an identity request that answers no poll and the last request before it, in microseconds.
    private static let identityRequestInterval: Int64 = 1_000_000
    /// Whether a known collar was heard since the link was opened.
    fileprivate enum Establishment {
        /// No collar was heard since this time.
        case waiting(since: Instant, isReported: Bool)
        /// The wait is over: a known collar was heard, or the silence was reported for the last time.
        case over
    }

    /// The state of an open link.
    struct Session {
        var stream = StreamDecoder()
        var held = HeldFrame()
        /// The identity that the base radio sent last.
        var radioIdentity: RadioIdentity?
        /// The modem settings that the base radio sent last.
        var modemSettings: ModemSettings?
        /// The timing of the radio, if the caller has told it.
        var radioTiming: ModemProfile?
        /// The packets, as long as no known collar was heard.
        var foreign = ForeignPackets()
        /// The longest silence of a collar, in microseconds.
        let heartbeatMicroseconds: Int64
        /// The collar heard last.
        var lastCollar: CollarSession?
        fileprivate var lastIdentityRequest: Instant?
        fileprivate var establishment: Establishment

        /// The timing of the radio; nil if it is not known.
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
        var identityMicroseconds: Int64 { radioSilence ?? Link.silenceTimes.last }

        /// Whether no further report of the silence follows the one that is due.
        fileprivate func isLastReport(_ isReported: Bool) -> Bool { isReported || radioSilence != nil }

        /// The time from the opening of the link to the report of the silence that is due next.
        fileprivate func silenceMicroseconds(_ isReported: Bool) -> Int64 {
            isLastReport(isReported) ? identityMicroseconds : Link.silenceTimes.first
        }

        fileprivate var silenceDeadline: Instant? {
            guard case .waiting(let start, let isReported) = establishment else { return nil }
            return start.advanced(byMicroseconds: silenceMicroseconds(isReported))
        }
    }

    let id: LinkID
    let name: String
    var session: Session?
    /// Limits the identity requests that answer a poll.
    private var identityRequests = HostLimits.identityRequests
    /// Limits the logs with which frames are tried after the likeliest one.
    var furtherLogs = HostLimits.furtherLogTrials
    /// The sealed frames that did not open.
    var unopened = UnopenedFrames()
    private var notices = NoticeLimiter<NoticeKind>()

    init(id: LinkID, name: String) {
        self.id = id
        self.name = name
    }

    /// Opens the link. Nothing is known yet of the station at its other end.
    /// - Parameter heartbeatMicroseconds: the longest silence of a collar.
    func open(timing: ModemProfile?, heartbeatMicroseconds: Int64, at now: Instant) {
        session = Session(
            radioTiming: timing, heartbeatMicroseconds: heartbeatMicroseconds, establishment: .waiting(since: now, isReported: false))
    }

    func close() { session = nil }

    /// The next deadline: of the held frame, or of the silence report.
    var nextDeadline: Instant? {
        // A copy of the session would cost more than the answer.
        Instant.earliest(session?.held.deadline, session?.silenceDeadline)
    }

    /// A frame of a known collar came in.
    func noteFrame(of collar: CollarSession) {
        session?.establishment = .over
        session?.lastCollar = collar
        identityRequests.earn(1)
    }

    /// Checks whether silence must be reported now; call it when ``nextDeadline`` is reached.
    /// - Returns: for how many seconds no known collar was heard; nil if no report is due.
    func silenceSeconds(at now: Instant) -> Int? {
        guard let session, let due = session.silenceDeadline, now >= due,
            case .waiting(let start, let isReported) = session.establishment
        else { return nil }
        self.session?.establishment = session.isLastReport(isReported) ? .over : .waiting(since: start, isReported: true)
        return Int(session.silenceMicroseconds(isReported) / 1_000_000)
    }

    /// Whether a notice of this kind is due. If so, it counts as given.
    func isNoticeDue(_ kind: NoticeKind, at now: Instant) -> Bool { notices.isDue(kind, at: now) }

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
