import CollarWire

/// The collar's end of reliable delivery: what to send next, and what the receiver is known to have.
///
/// A burst of frames ends with a poll. Then nothing is sent until the answer comes or the time-out passes. Fixes that the
/// answer does not name as durable are sent again. After an unanswered poll the collar sends only one frame with a poll: the
/// newest fixes, a probe or the identity. The time-out doubles with every third unanswered poll, up to a cap.
public struct CollarDelivery: Sendable {
    /// The next frame to send.
    public struct Transmission: Equatable, Sendable {
        /// The content of the frame.
        public enum Content: Equatable, Sendable {
            /// The identity of the collar.
            case identity
            /// A probe: a poll that carries neither fixes nor a reply, only the log's tag and the next sequence.
            case probe
            /// The fix of this sequence, or the tombstone of a range that starts with it.
            case logEntry(UInt32)
            /// The fix of this sequence, not sent before in this boot, as the difference from the acknowledged fix `anchor`.
            case liveFix(UInt32, anchor: UInt32)
            /// As much of the backlog, from `first` on, as fits a frame of `frameByteLimit` bytes. The caller that makes the
            /// frame calls ``CollarDelivery/batched(through:)`` to learn whether the frame carries a poll.
            case batch(first: UInt32, frameByteLimit: Int)
            /// The undelivered fixes from `first` to `last`, which is the newest, in one frame of at most `frameByteLimit`
            /// bytes. If they do not fit, older ones are left out; if only the newest is left, it is sent in the absolute form.
            /// The caller that makes the frame calls ``CollarDelivery/sentNewest(from:through:)``.
            case newestFixes(first: UInt32, last: UInt32, frameByteLimit: Int)
            /// The oldest waiting reply to the host.
            case reply
        }

        /// The content of the frame.
        public var content: Content
        /// The poll that the frame carries; nil if it carries none. It is nil for a batch of the backlog, because only the made
        /// batch tells whether it ends the burst.
        public var poll: PollNumber?
    }

    /// The meaning of an acknowledgement.
    public enum AcknowledgementResult: Equatable, Sendable {
        /// It answers the open poll.
        case answer
        /// It answers an earlier poll or no poll. It can only move the first missing sequence forward.
        case unasked
        /// It claims fixes that were never logged, and is ignored.
        case impossible
    }

    /// Parameters of the traffic.
    public struct Configuration: Equatable, Sendable {
        /// The most frames in a burst, including the frame with the poll; at least 1.
        public var burstFrameCount: Int
        /// The longest time, in microseconds, in which the collar sends no frame and receives no acknowledgement. Then it sends a
        /// probe.
        public var heartbeatMicroseconds: Int64
        /// The cap of the time-out, in microseconds.
        public var maximumTimeoutMicroseconds: Int64
        /// Timing of the link.
        public var modem: ModemProfile
        /// Whether the newest fix goes out as a live fix if that is possible.
        public var sendsLiveFixes: Bool
        /// The largest frame that a batch may fill, 51 … 253 bytes; nil if every fix is to have a frame of its own.
        public var batchFrameByteLimit: Int?
        /// The part of every hour in which the collar may send, in millionths; nil for no limit.
        public var dutyCyclePartsPerMillion: Int64?
        /// Seed of the random delays, which separate collars that make fixes at the same moment; nil for no delays.
        public var jitterSeed: UInt32?
        /// Whether the radio senses the channel before it sends; see ``CollarDelivery/senseEnd``.
        public var sensesChannel: Bool

        /// Creates a configuration.
        public init(
            burstFrameCount: Int? = nil, heartbeatMicroseconds: Int64 = 60_000_000,
            maximumTimeoutMicroseconds: Int64 = 30_000_000, modem: ModemProfile, sendsLiveFixes: Bool = false,
            batchFrameByteLimit: Int? = nil, dutyCyclePartsPerMillion: Int64? = nil, jitterSeed: UInt32? = nil,
            sensesChannel: Bool = false
        ) {
            self.burstFrameCount = burstFrameCount ?? (modem.isHalfDuplex ? 255 : 16)
            self.heartbeatMicroseconds = heartbeatMicroseconds
            self.maximumTimeoutMicroseconds = maximumTimeoutMicroseconds
            self.modem = modem
            self.sendsLiveFixes = sendsLiveFixes
            self.batchFrameByteLimit = batchFrameByteLimit
            self.dutyCyclePartsPerMillion = dutyCyclePartsPerMillion
            self.jitterSeed = jitterSeed
            self.sensesChannel = sensesChannel
        }
    }

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

    struct OpenPoll: Equatable {
        let number: PollNumber
        /// Number of unanswered polls directly before this one.
        let attempt: Int
        /// When the frame with the poll began.
        let start: Instant
        /// How many more requests of the host can extend the time-out.
        var extensionsLeft = 2
    }

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
    /// Whether the last frame carried entries of the log.
    private var areEntriesSent = false
    /// Answers to frames with entries since an answer delivered something.
    private var idleAnswerCount: UInt8 = 0
    /// After this many such answers the receiver may not be able to read what is sent, so it gets the identity.
    private static let idleAnswerLimit: UInt8 = 2
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
    /// Before this instant nothing is sent: because of a random delay, the turn, the duty cycle, the sensing of the channel or a change of
    /// the receiver.
    var burstStart: Instant?
    /// Whether ``burstStart`` is the turn of a new fix.
    var isTurnAwaited = false
    /// Every sequence below this one was sent in frames after which no poll followed yet.
    var unpolledEnd: UInt32 = 0
    /// Number of frames of replies that wait to be sent.
    var waitingReplyCount = 0
    /// When the radio must receive.
    private var window = ReceiveWindow()

    /// When a frame that was due last had to wait because the duty cycle was used up; nil if none had to since the boot.
    public private(set) var lastAirtimeWait: Instant?
    /// Airtime since the boot, in microseconds.
    public private(set) var airtimeMicroseconds: Int64 = 0
    /// Number of repeated frames since the boot. A frame of the backlog is a repeat if its first fix is below the `backlogEnd` of
    /// that moment. A frame after an unanswered poll is one if its oldest fix is not above the `highestSent` of that moment.
    public internal(set) var retransmissionCount: UInt32 = 0
    /// One more than the highest sequence that was sent as a part of the backlog since the boot; 0 before that.
    var backlogEnd: UInt32 = 0

    /// The sequences that the receiver is known to have.
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
            budget = AirtimeBudget(partsPerMillion: partsPerMillion, largestFrameMicroseconds: largestFrameMicroseconds, now: now)
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

    /// Until when the radio must receive; nil if it need not. A packet that has begun by then is received to its end. On a full-duplex
    /// link, which has no windows, it is the last instant that there is.
    public func listeningEnd(now: Instant) -> Instant? {
        guard configuration.modem.isHalfDuplex else { return Instant(microseconds: .max) }
        return window.end.flatMap { now < $0 ? $0 : nil }
    }

    /// Time since the boot in which the radio had to receive, in microseconds; on a full-duplex link 0.
    public func listeningMicroseconds(now: Instant) -> Int64 { window.microseconds(until: now) }

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
    mutating func startBurst() {
        unpolledEnd = 0
        phase = .sending(Burst(cursor: delivered.firstMissing))
    }

    /// Whether an acknowledgement names only sequences that were logged.
    public func isPossible(_ acknowledgement: Acknowledgement) -> Bool {
        acknowledgement.firstMissing <= nextSequence
            && (acknowledgement.durable.count == 0 || acknowledgement.durable[0].last < nextSequence)
    }

    /// Receives an acknowledgement from the collar's own receiver.
    public mutating func receive(_ acknowledgement: Acknowledgement, now: Instant) -> AcknowledgementResult {
        guard isPossible(acknowledgement) else { return .impossible }
        access.company = acknowledgement.company
        heartbeatDeadline = now.advanced(byMicroseconds: configuration.heartbeatMicroseconds)
        guard let poll = waitingPoll, poll.number == acknowledgement.poll else {
            // An answer that comes late says less than what is known by now, but nothing false.
            delivered.advance(to: acknowledgement.firstMissing)
            acknowledgedEnd = max(acknowledgedEnd, delivered.firstMissing)
            return .unasked
        }
        window.close(at: now)
        let missing = delivered.missingCount(below: nextSequence)
        takeOver(acknowledgement, now: now)
        noteProgress(missingBefore: missing)
        let sentEnd = highestSent.map { $0 + 1 } ?? 0
        access.answered(from: poll.start, attempt: poll.attempt, missingCount: delivered.missingCount(below: sentEnd))
        batchSize.answered(delivered)
        startBurst()
        // The wait of a repeat is over.
        endWait()
        return .answer
    }

    /// Makes the identity due after answers that deliver nothing. A receiver that was told of sequences which do not exist cannot read
    /// the fixes. It asks for the identity between the frames of a burst, where the radio of a half-duplex collar sleeps.
    private mutating func noteProgress(missingBefore: UInt32) {
        guard delivered.missingCount(below: nextSequence) >= missingBefore else {
            idleAnswerCount = 0
            return
        }
        guard areEntriesSent else { return }
        idleAnswerCount &+= 1
        guard idleAnswerCount >= CollarDelivery.idleAnswerLimit else { return }
        idleAnswerCount = 0
        if dueIdentity == .none { dueIdentity = .next }
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
        case .transmittingPoll: return nil
        case .awaitingAnswer(let poll, let deadline):
            guard now >= deadline else { return nil }
            if burstStart == nil {
                let wait = access.waitOfRepeat(attempt: poll.attempt)
                if wait > 0 { burstStart = now.advanced(byMicroseconds: wait) }
            }
            guard mayStart(isFirst: true, now: now) else { return nil }
            window.close(at: now)
            return noted(outOfContactTransmission(attempt: poll.attempt + 1))
        case .sending(let burst):
            guard hasMore(for: burst) || burst.frameCount > 0 || now >= heartbeatDeadline else {
                // The fix for which a burst was waiting to begin may have been delivered in the meantime.
                endWait()
                return nil
            }
            let isFirst = burst.airtimeMicroseconds == 0
            if burstStart == nil, isFirst { chooseStart(of: burst, now: now) }
            guard mayStart(isFirst: isFirst, now: now) else { return nil }
            window.close(at: now)
            return noted(burstTransmission(burst, now: now))
        }
    }

    /// Notes whether a transmission carries entries of the log.
    /// - Returns: the same transmission.
    private mutating func noted(_ transmission: Transmission?) -> Transmission? {
        switch transmission?.content {
        case .logEntry, .liveFix, .batch, .newestFixes: areEntriesSent = true
        case .identity, .probe, .reply: areEntriesSent = false
        case nil: break
        }
        return transmission
    }

    /// Sets the wait of a burst that begins: until the turn of a new fix, or a random time.
    private mutating func chooseStart(of burst: Burst, now: Instant) {
        let isNews = isNews(burst)
        let wait = isNews ? access.waitOfNews(now: now) : access.waitOfBurst()
        if !isNews { access.newsEnded() }
        isTurnAwaited = access.newsStart != nil && wait > 0
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

    /// Whether the wait is over, the duty cycle allows a frame now, and the channel was sensed and is free if it is the first frame of a
    /// burst. If not, ``nextDeadline`` is when to try again.
    private mutating func mayStart(isFirst: Bool, now: Instant) -> Bool {
        if let burstStart, now < burstStart { return false }
        if budget != nil {
            budget?.refill(now: now)
            if let start = budget?.earliest(airtimeMicroseconds: largestFrameMicroseconds, now: now), start > now {
                burstStart = start
                lastAirtimeWait = now
                return false
            }
        }
        burstStart = isFirst ? access.sense(now: now) : nil
        isTurnAwaited = false
        return burstStart == nil
    }

    /// Until when the radio must look for packets of others on its channel, before the next frame; nil if it need not. It need not look all
    /// the time: at the beginning and at the end is enough, because the pause of an exchange of others is shorter.
    public var senseEnd: Instant? { access.senseEnd }

    /// Notes that the radio has noticed a packet of another radio, whether a collar or not, in the time of ``senseEnd``.
    public mutating func channelIsBusy(now: Instant) {
        guard senseEnd != nil else { return }
        burstStart = now.advanced(byMicroseconds: access.waitOfBusyChannel())
    }

    private mutating func endWait() {
        burstStart = nil
        isTurnAwaited = false
        access.endSensing()
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
            // A frame that ended a burst without a poll is no part of the burst that follows.
            guard burst.frameCount > 0 else { return }
            burst.airtimeMicroseconds += airtime
            phase = .sending(burst)
        case .transmittingPoll(let poll):
            let deadline = now.advanced(byMicroseconds: timeoutMicroseconds(attempt: poll.attempt))
            // A receiver that is slower than the turnaround is heard at repeats.
            window.open(from: now, to: min(deadline, now.advanced(byMicroseconds: answerMicroseconds * (poll.attempt > 0 ? 2 : 1))))
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
        access.polled()
        phase = .transmittingPoll(OpenPoll(number: poll, attempt: attempt, start: frameInstant))
        return poll
    }

    // MARK: How often new fixes are sent

    /// Sets the shortest time between two newest fixes that are sent, in microseconds; 0 for no limit. New fixes that wait go
    /// together in a batch.
    public mutating func setLiveInterval(microseconds: Int64) { pace.intervalMicroseconds = microseconds }

    /// Notes that the newest entry of the log must not wait for the live interval.
    public mutating func newestIsUrgent() {
        pace.isUrgent = true
        endWaitForTurn()
        // It needs a poll, also if the sensing for a new fix has begun.
        if senseEnd != nil { access.newsEnded() }
    }

    /// Whether the newest entry of the log was sent since the boot.
    public var isNewestSent: Bool { pace.waitingStart >= nextSequence }

    /// When the fixes that wait for the live interval are due; nil if none waits.
    var waitingFixesDue: Instant? {
        guard pace.isWaiting(now: frameInstant), delivered.firstMissing < nextSequence else { return nil }
        return pace.due
    }

    /// Sets the longest time between two polls while no answer comes, in microseconds. It counts from the next poll on.
    public mutating func setLongestWait(microseconds: Int64) { configuration.maximumTimeoutMicroseconds = microseconds }

    // MARK: The effects of requests of the host

    /// Notes that a request of the host came in. In a window a request comes before the answer, so the time for the answer
    /// begins again, at most twice.
    public mutating func requestReceived(now: Instant) {
        guard case .awaitingAnswer(var poll, let deadline) = phase, poll.extensionsLeft > 0 else { return }
        poll.extensionsLeft -= 1
        let later = now.advanced(byMicroseconds: answerMicroseconds)
        window.extend(to: later)
        phase = .awaitingAnswer(poll, deadline: max(deadline, later))
    }

    /// Notes that a reply waits to be sent, in `frameCount` frames.
    public mutating func replyWaits(frameCount: Int) {
        waitingReplyCount += frameCount
        endWaitForTurn()
    }

    /// Notes that the collar has another receiver, or none. Nothing counts as delivered, and an open poll is given up. The collar
    /// waits as long as an answer can take. Then it sends the waiting replies, and then its identity.
    public mutating func receiverChanged(now: Instant) {
        delivered = DeliveredSequences(firstMissing: 0)
        acknowledgedEnd = 0
        anchor = nil
        dueIdentity = .afterReplies
        startBurst()
        endWait()
        burstStart = now.advanced(byMicroseconds: answerMicroseconds)
        access.newsEnded()
    }

    /// Sets the time without traffic after which the collar probes, in microseconds. It counts from `now`. The identity, which
    /// names it, follows the replies that wait.
    public mutating func setHeartbeat(microseconds: Int64, now: Instant) {
        configuration.heartbeatMicroseconds = microseconds
        if dueIdentity == .none { dueIdentity = .afterReplies }
        endWaitForTurn()
        heartbeatDeadline = now.advanced(byMicroseconds: microseconds)
    }
}
