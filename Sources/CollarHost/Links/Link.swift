import CollarARQ
import CollarWire

/// A radio's port, as the host knows it. The caller opens and closes it.
final class Link {
    /// What is reported about a link not more than once a minute.
    enum NoticeKind: Hashable, Sendable { case ignoredAsks, radio, modem }

    /// Times after the opening at which a link without a collar is reported, in microseconds.
    private static let silenceTimes: (first: Int64, last: Int64) = (1_000_000, 5_000_000)
    /// Least time between two identity requests that nobody asked for, in microseconds.
    private static let identityRequestInterval: Int64 = 1_000_000
    /// The longest time that a collar heard before may take to answer the identity request of an opening, in microseconds.
    static let identityTime = silenceTimes.last

    /// Whether a collar has said who it is since the link was opened.
    fileprivate enum Establishment {
        /// No collar since this time.
        case waiting(since: Instant, isReported: Bool)
        /// Over: a collar was heard, or its absence was reported for the last time.
        case over
    }

    /// What a link is while it is open.
    struct Session {
        var stream = StreamDecoder()
        var held = HeldFrame()
        /// The base radio's word about itself.
        var radioIdentity: RadioIdentity?
        /// How the base radio says its modem is set.
        var modemSettings: ModemSettings?
        /// The collar heard last.
        var lastCollar: CollarSession?
        fileprivate var lastIdentityRequest: Instant?
        fileprivate var establishment: Establishment

        /// The longest time from the end of a frame to the start of its answer, if the base radio tells it.
        var turnaroundMicroseconds: Int64? { modemSettings.map { Int64($0.turnaroundMilliseconds) * 1000 } }

        fileprivate var silenceDeadline: Instant? {
            guard case .waiting(let start, let isReported) = establishment else { return nil }
            return start.advanced(byMicroseconds: isReported ? Link.silenceTimes.last : Link.silenceTimes.first)
        }
    }

    let id: LinkID
    let name: String
    var session: Session?
    /// Limits the identity requests to unknown collars that ask.
    private var identityRequests = HostLimits.identityRequests
    private var notices = NoticeLimiter<NoticeKind>()

    init(id: LinkID, name: String) {
        self.id = id
        self.name = name
    }

    /// Opens the link anew: nothing is known of the station at its other end.
    func open(at now: Instant) { session = Session(establishment: .waiting(since: now, isReported: false)) }

    func close() { session = nil }

    /// When something is due: the report of a held frame, or of silence.
    var nextDeadline: Instant? {
        guard let session else { return nil }
        return [session.held.deadline, session.silenceDeadline].compactMap { $0 }.min()
    }

    /// A frame of a known collar came in.
    func heard(_ collar: CollarSession) {
        session?.establishment = .over
        session?.lastCollar = collar
        identityRequests.earn(1)
    }

    /// Whether silence is to be reported now; call it when ``nextDeadline`` is reached.
    /// - Returns: for how many seconds nobody has said who it is; nil where nothing is due.
    func silenceSeconds(at now: Instant) -> Int? {
        guard let session, let due = session.silenceDeadline, now >= due,
            case .waiting(let start, let isReported) = session.establishment
        else { return nil }
        self.session?.establishment = isReported ? .over : .waiting(since: start, isReported: true)
        return Int((isReported ? Link.silenceTimes.last : Link.silenceTimes.first) / 1_000_000)
    }

    /// Whether a notice of a kind is due. One that is counts as given.
    func isNoticeDue(_ kind: NoticeKind, at now: Instant) -> Bool { notices.isDue(kind, at: now) }

    /// Whether an identity request may be sent: to a station that asks while that is not too often, else not more than once a
    /// second. One that may counts as sent.
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
