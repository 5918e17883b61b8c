import CollarARQ
import CollarWire

/// A radio's port, as the host knows it. The caller opens and closes it.
final class Link {
    /// Notices about a link that are given at most once a minute.
    enum NoticeKind: Hashable, Sendable { case ignoredPolls, radio, modem, unsupportedFrame, unopenedFrame }

    /// Times after its opening at which a link is reported if no known collar was heard on it, in microseconds.
    private static let silenceTimes: (first: Int64, last: Int64) = (1_000_000, 5_000_000)
    /// The least time between an identity request that answers no poll and the last request before it, in microseconds.
    private static let identityRequestInterval: Int64 = 1_000_000
    /// The time that a known collar has to answer the identity request sent at the opening of a link, in microseconds.
    static let identityTime = silenceTimes.last

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
        var radioProfile: ModemProfile?
        /// The collar heard last.
        var lastCollar: CollarSession?
        /// The collars of the port that are still to be asked for their identities, one after the other.
        fileprivate var unasked: ArraySlice<SessionID> = []
        /// When the next of them is asked, or, after the last, all collars; nil if nothing is left to ask.
        fileprivate var nextQuestion: Instant?
        fileprivate var lastIdentityRequest: Instant?
        fileprivate var establishment: Establishment

        private var profile: ModemProfile? { radioProfile ?? modemSettings.map { ModemProfile($0) } }

        /// The longest time from the end of a frame to the start of its answer; nil if it is not known.
        var turnaroundMicroseconds: Int64? { profile?.turnaroundMicroseconds }

        /// The time between two identity requests of the opening.
        fileprivate var questionInterval: Int64 { max(Link.identityRequestInterval, profile?.exchangeMicroseconds ?? 0) }

        fileprivate var silenceDeadline: Instant? {
            guard case .waiting(let start, let isReported) = establishment else { return nil }
            return start.advanced(byMicroseconds: isReported ? Link.silenceTimes.last : Link.silenceTimes.first)
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
    /// - Parameter known: the collars of the port. If there are several, they are asked one after the other, so that their
    ///   identities do not collide.
    func open(at now: Instant, known: [SessionID]) {
        session = Session(establishment: .waiting(since: now, isReported: false))
        if known.count > 1 { session?.unasked = known[...] }
        session?.nextQuestion = now
    }

    func close() { session = nil }

    /// The next deadline: of the held frame, of an identity request, or of the silence report.
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

    /// A frame of a known collar came in.
    func noteFrame(of collar: CollarSession) {
        session?.establishment = .over
        session?.lastCollar = collar
        if let index = session?.unasked.firstIndex(of: collar.id) { session?.unasked.remove(at: index) }
        identityRequests.earn(1)
    }

    /// Checks whether silence must be reported now; call it when ``nextDeadline`` is reached.
    /// - Returns: for how many seconds no known collar was heard; nil if no report is due.
    func silenceSeconds(at now: Instant) -> Int? {
        guard let session, let due = session.silenceDeadline, now >= due,
            case .waiting(let start, let isReported) = session.establishment
        else { return nil }
        self.session?.establishment = isReported ? .over : .waiting(since: start, isReported: true)
        return Int((isReported ? Link.silenceTimes.last : Link.silenceTimes.first) / 1_000_000)
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
