import CollarWire

/// The collar's end of reliable delivery: what to send next, and what the receiver is known to have.
///
/// A burst of frames ends with a poll. Then nothing is sent until the answer comes or the time-out passes. Fixes that the
/// answer does not name as durable are sent again. After an unanswered poll the collar sends only one frame with a poll: the
/// newest fixes, a probe or the identity. The time-out doubles with every third unanswered poll, up to a cap.
public struct CollarDelivery: Sendable {
    enum Phase: Equatable {
        /// Free to send.
        case sending(Burst)
        /// A frame with a poll was handed out and is still being sent.
        case transmittingPoll(OpenPoll)
        /// A poll waits for its answer.
        case awaitingAnswer(OpenPoll, deadline: Instant)
    }

    /// The frames since the last answer.
    struct Burst: Equatable {
        /// Number of frames that were handed out to the caller.
        var frameCount = 0
        /// Airtime of these frames, in microseconds.
        var airtimeMicroseconds: Int64 = 0
        /// The newest fix that was sent in a frame of its own.
        var newestSent: UInt32?
        /// The sequence from which the next fix of the backlog is searched.
        var cursor: UInt32
    }

    /// A poll without an answer.
    struct OpenPoll: Equatable {
        let number: PollNumber
        /// Number of unanswered polls directly before this one.
        let attempt: Int
        /// When the frame with the poll began.
        let start: Instant
        /// How many more requests of the host can extend the time-out.
        var extensionsLeft = 2
    }

    /// When the identity is sent.
    enum DueIdentity: Equatable {
        case none
        case next
        /// After the replies that wait, in the same burst.
        case afterReplies
    }

    /// Size in bytes of the largest answer. The time-out is long enough for it.
    static let answerByteCount = Frame.minimumLimitByteCount
    /// A half-duplex burst ends when its airtime is this many times that of the largest answer: polls and answers then cost less
    /// than 3 % of the burst, even if half of them are lost.
    static let burstAnswerMultiple: Int64 = 48

    /// Least time between two answers that can set the first missing sequence back: 10 minutes. Without this limit a
    /// receiver that alternates between two states would get everything again each time.
    static let setBackMicroseconds: Int64 = 600_000_000

    var configuration: Configuration
    var phase: Phase
    var lastPoll: PollNumber?
    var dueIdentity = DueIdentity.next
    var heartbeatDeadline: Instant
    var oldestSequence: UInt32
    var nextSequence: UInt32
    /// The highest sequence that the newest answer names as durable. The receiver may have lost what it acknowledged before,
    /// so no live fix can refer to a fix of an older acknowledgement.
    var anchor: UInt32?
    /// When an answer last set the first missing sequence back.
    private var lastSetBack: Instant?
    /// The current receiver has at some time acknowledged every sequence below this one.
    public internal(set) var acknowledgedEnd: UInt32
    /// The highest sequence sent since the boot. Only fixes above it are sent as live fixes.
    var highestSent: UInt32?
    var batchSize: BatchSize
    var shares = LiveShare()
    var pace = LivePace()
    /// When ``nextTransmission(now:)`` was last called: the time of the frame that is being made.
    private(set) var frameInstant: Instant
    private var budget: AirtimeBudget?
    /// Airtime that the budget must hold before any frame is sent. It is that of the largest frame, because the size of the
    /// next frame is not known yet.
    private let largestFrameMicroseconds: Int64
    var access: ChannelAccess
    /// Before this instant nothing is sent: because of a random delay, the turn, the duty cycle or a change of the receiver.
    var burstStart: Instant?
    /// Whether ``burstStart`` is the turn of a new fix.
    var isTurnAwaited = false
    /// Number of frames of replies that wait to be sent.
    var waitingReplyCount = 0

    /// When a frame that was due last had to wait because the duty cycle was used up; nil if none had to since the boot.
    public private(set) var lastAirtimeWait: Instant?
    /// Airtime since the boot, in microseconds.
    public private(set) var airtimeMicroseconds: Int64 = 0
    /// Number of repeated frames since the boot. A frame of the backlog is a repeat if its first fix is below the `backlogEnd` of
    /// that moment. A frame after an unanswered poll is one if its oldest fix is not above the `highestSent` of that moment.
    public internal(set) var retransmissionCount: UInt32 = 0
    /// One more than the highest sequence that was sent as a part of the backlog since the boot; 0 before that.
    var backlogEnd: UInt32 = 0

    /// What the receiver is known to have.
    public internal(set) var delivered: DeliveredSequences

    /// Creates the collar's end after a boot. Its first frame is the identity.
    /// - Parameters:
    ///   - configuration: parameters of the traffic.
    ///   - oldestSequence: the oldest sequence in the log.
    ///   - nextSequence: the sequence that the next fix will get.
    ///   - firstUndelivered: every sequence below this one was acknowledged before the boot.
    ///   - now: the time of the boot.
    public init(
        configuration: Configuration, oldestSequence: UInt32, nextSequence: UInt32, firstUndelivered: UInt32,
        now: Instant
    ) {
        self.configuration = configuration
        self.oldestSequence = oldestSequence
        self.nextSequence = nextSequence
        delivered = DeliveredSequences(firstMissing: firstUndelivered)
        acknowledgedEnd = firstUndelivered
        phase = .sending(Burst(cursor: firstUndelivered))
        let largestFrame = CollarDelivery.largestFrameByteCount(configuration)
        batchSize = BatchSize(largest: largestFrame)
        largestFrameMicroseconds = configuration.modem.airtimeMicroseconds(frameByteCount: largestFrame)
        if let partsPerMillion = configuration.dutyCyclePartsPerMillion {
            budget = AirtimeBudget(
                partsPerMillion: partsPerMillion, largestFrameMicroseconds: largestFrameMicroseconds, now: now)
        }
        access = ChannelAccess(configuration)
        heartbeatDeadline = now.advanced(byMicroseconds: configuration.heartbeatMicroseconds)
        frameInstant = now
    }

    /// Size in bytes of the largest frame. The budget of the duty cycle must hold the airtime of this frame, and a deep budget
    /// fills slowly. So the airtime is at most a quarter of what the duty cycle allows in an hour, but the size is
    /// never below 51 bytes.
    private static func largestFrameByteCount(_ configuration: Configuration) -> Int {
        var byteCount = max(configuration.batchFrameByteLimit ?? 0, Frame.minimumLimitByteCount)
        guard let partsPerMillion = configuration.dutyCyclePartsPerMillion else { return byteCount }
        let quarter = AirtimeBudget.quarterMicroseconds(partsPerMillion)
        while byteCount > Frame.minimumLimitByteCount,
            configuration.modem.airtimeMicroseconds(frameByteCount: byteCount) > quarter
        {
            byteCount -= 1
        }
        return byteCount
    }

    /// When to call ``nextTransmission(now:)`` again if nothing else happens; nil while a frame with a poll is on the air.
    public var nextDeadline: Instant? {
        switch phase {
        case .sending: burstStart ?? min(heartbeatDeadline, waitingFixesDue ?? heartbeatDeadline)
        case .transmittingPoll: nil
        case .awaitingAnswer(_, let deadline): max(burstStart ?? deadline, deadline)
        }
    }

    /// Notes that the log now durably holds `oldestSequence` up to but not including `nextSequence`.
    public mutating func logChanged(oldestSequence: UInt32, nextSequence: UInt32) {
        self.oldestSequence = oldestSequence
        self.nextSequence = nextSequence
    }

    /// Receives a request for the identity, which is sent next.
    /// - Parameter endsPoll: whether an open poll is given up. If not, the identity is sent after the answer or the time-out.
    public mutating func identityRequested(endsPoll: Bool = true) {
        dueIdentity = .next
        if endsPoll { startBurst() }
        endWaitForTurn()
    }

    /// Starts a burst. Its backlog begins at the first sequence that is not known to be durable.
    mutating func startBurst() { phase = .sending(Burst(cursor: delivered.firstMissing)) }

    /// Whether an acknowledgement names only sequences that were logged.
    public func isPossible(_ acknowledgement: Acknowledgement) -> Bool {
        acknowledgement.firstMissing <= nextSequence
            && (acknowledgement.durable.count == 0 || acknowledgement.durable[0].last < nextSequence)
    }

    /// Receives an acknowledgement from the collar's own receiver.
    public mutating func receive(
        _ acknowledgement: Acknowledgement, now: Instant
    ) -> AcknowledgementResult {
        guard isPossible(acknowledgement) else { return .impossible }
        access.company = acknowledgement.company
        heartbeatDeadline = now.advanced(byMicroseconds: configuration.heartbeatMicroseconds)
        guard let poll = waitingPoll, poll.number == acknowledgement.poll else {
            // An answer that comes late says less than what is known by now, but nothing false.
            delivered.advance(to: acknowledgement.firstMissing)
            acknowledgedEnd = max(acknowledgedEnd, delivered.firstMissing)
            return .unasked
        }
        takeOver(acknowledgement, now: now)
        access.answered(from: poll.start, attempt: poll.attempt)
        batchSize.answered(delivered)
        startBurst()
        // The wait of a repeat is over.
        burstStart = nil
        return .answer
    }

    /// Applies an answer. Fixes that the receiver lacks and the log still has are sent again, even if they were acknowledged
    /// before.
    private mutating func takeOver(_ answer: Acknowledgement, now: Instant) {
        var floor: UInt32?
        let isSetBackDue = lastSetBack.map { now.microseconds(since: $0) >= CollarDelivery.setBackMicroseconds } ?? true
        if answer.firstMissing < delivered.firstMissing, isSetBackDue {
            lastSetBack = now
            floor = oldestSequence
            // The identity tells that the fixes below the oldest sequence are gone.
            if answer.firstMissing < oldestSequence, dueIdentity == .none { dueIdentity = .next }
        }
        delivered.update(from: answer, floor: floor)
        acknowledgedEnd = max(acknowledgedEnd, answer.firstMissing)
        let highest = answer.durable.count > 0 ? answer.durable[0].last + 1 : answer.firstMissing
        anchor = highest > 0 && delivered.contains(highest - 1) ? highest - 1 : nil
    }

    /// The next frame to send, or nil if nothing is due. The caller sends it and then calls
    /// ``transmitted(frameByteCount:now:)``.
    public mutating func nextTransmission(now: Instant) -> Transmission? {
        frameInstant = now
        switch phase {
        case .transmittingPoll:
            return nil
        case .awaitingAnswer(let poll, let deadline):
            guard now >= deadline else { return nil }
            if burstStart == nil {
                let wait = access.waitOfRepeat(attempt: poll.attempt)
                if wait > 0 { burstStart = now.advanced(byMicroseconds: wait) }
            }
            guard mayStart(now: now) else { return nil }
            return outOfContactTransmission(attempt: poll.attempt + 1)
        case .sending(let burst):
            guard isAnythingDue(in: burst, now: now) else {
                // The fix for which a burst was waiting to begin may have been delivered in the meantime.
                burstStart = nil
                isTurnAwaited = false
                return nil
            }
            if burstStart == nil, burst.airtimeMicroseconds == 0 { chooseStart(of: burst, now: now) }
            guard mayStart(now: now) else { return nil }
            return burstTransmission(burst, now: now)
        }
    }

    private mutating func isAnythingDue(in burst: Burst, now: Instant) -> Bool {
        hasMore(for: burst) || burst.frameCount > 0 || now >= heartbeatDeadline
    }

    /// Sets the wait of a burst that begins: until the turn of a new fix, or a random time.
    private mutating func chooseStart(of burst: Burst, now: Instant) {
        let isNews = isNews(burst)
        let wait = isNews ? access.waitOfNews(now: now) : access.waitOfBurst()
        if !isNews { access.newsEnded() }
        isTurnAwaited = isNews && wait > 0
        if wait > 0 { burstStart = now.advanced(byMicroseconds: wait) }
    }

    /// Whether a burst has only fixes that were never sent and may wait.
    private mutating func isNews(_ burst: Burst) -> Bool {
        guard waitingReplyCount == 0, dueIdentity == .none, !pace.isUrgent else { return false }
        let first = delivered.firstMissing(from: burst.cursor)
        return first >= pace.waitingStart && first < nextSequence
    }

    /// Ends the wait for the turn, because something is due that must not wait.
    @inline(never) mutating func endWaitForTurn() {
        guard isTurnAwaited else { return }
        isTurnAwaited = false
        burstStart = nil
    }

    /// Whether the wait is over and the duty cycle allows a frame now. If not, ``nextDeadline`` is when to try again.
    private mutating func mayStart(now: Instant) -> Bool {
        if let burstStart, now < burstStart { return false }
        if budget != nil {
            budget?.refill(now: now)
            if let start = budget?.earliest(airtimeMicroseconds: largestFrameMicroseconds, now: now), start > now {
                burstStart = start
                lastAirtimeWait = now
                return false
            }
        }
        burstStart = nil
        isTurnAwaited = false
        return true
    }

    /// Notes that the frame from ``nextTransmission(now:)`` has been sent. Time-outs count from `now`.
    public mutating func transmitted(frameByteCount: Int, now: Instant) {
        let airtime = configuration.modem.airtimeMicroseconds(frameByteCount: frameByteCount)
        budget?.refill(now: now)
        budget?.spend(airtimeMicroseconds: airtime)
        shares.sent(airtimeMicroseconds: airtime)
        airtimeMicroseconds += airtime
        heartbeatDeadline = now.advanced(byMicroseconds: configuration.heartbeatMicroseconds)
        switch phase {
        case .sending(var burst):
            burst.airtimeMicroseconds += airtime
            phase = .sending(burst)
        case .transmittingPoll(let poll):
            let deadline = now.advanced(byMicroseconds: timeoutMicroseconds(attempt: poll.attempt))
            phase = .awaitingAnswer(poll, deadline: deadline)
        case .awaitingAnswer: break
        }
    }

    private var waitingPoll: OpenPoll? {
        switch phase {
        case .sending: nil
        case .transmittingPoll(let open), .awaitingAnswer(let open, _): open
        }
    }

    mutating func openPoll(attempt: Int) -> PollNumber {
        let poll = lastPoll?.next ?? .first
        lastPoll = poll
        phase = .transmittingPoll(OpenPoll(number: poll, attempt: attempt, start: frameInstant))
        return poll
    }
}
