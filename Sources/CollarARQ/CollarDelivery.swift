import CollarWire

/// The collar's end of reliable delivery: what to send next, and what the receiver is known to have.
///
/// A burst of frames ends with an ask; nothing is sent until the answer comes or its time is over. What the answer
/// does not name durable is sent again. After an unanswered ask only the newest fixes or a probe are sent, in one frame
/// with an ask, with a time-out that doubles with every third one, to a cap.
public struct CollarDelivery: Sendable {
    enum Phase: Equatable {
        /// Free to send.
        case sending(Burst)
        /// An ask was handed out, its frame is not over yet.
        case transmittingAsk(OpenAsk)
        /// An ask is open.
        case awaitingAnswer(OpenAsk, deadline: Instant)
    }

    /// The frames since the last answer.
    struct Burst: Equatable {
        /// Frames that were handed out.
        var frameCount = 0
        /// Their time on the air.
        var airtimeMicroseconds: Int64 = 0
        /// The newest fix that has had its own frame.
        var newestSent: UInt32?
        /// Where the search for the next fix of the backlog starts.
        var cursor: UInt32
    }

    /// An ask without an answer.
    struct OpenAsk: Equatable {
        let number: AskNumber
        /// Asks before it that have gone unanswered.
        let attempt: Int
        /// How often its time-out may still be extended: requests of the host come before its answer.
        var extensionsLeft = 2
    }

    /// When the identity is sent.
    enum DueIdentity: Equatable {
        case none
        case next
        /// After the replies that wait, in the same burst.
        case afterReplies
    }

    /// The bytes of an answer that the time-out allows for.
    static let answerByteCount = Frame.minimumLimitByteCount
    /// A half-duplex burst ends when it has lasted this many times as long as the largest answer: asks and answers then
    /// cost less than 3 % of it, even where half of them are lost.
    static let burstAnswerMultiple: Int64 = 48

    /// A receiver that answers now with one state and now with another gets everything once in so long, 10 minutes.
    static let setBackMicroseconds: Int64 = 600_000_000

    var configuration: Configuration
    var phase: Phase
    var lastAsk: AskNumber?
    var dueIdentity = DueIdentity.next
    var heartbeatDeadline: Instant
    var oldestSequence: UInt32
    var nextSequence: UInt32
    /// The highest sequence that the newest answer names as durable. What was acknowledged before may be gone from the
    /// receiver: nothing can be coded against that.
    var anchor: UInt32?
    /// When an answer set the first missing sequence back last.
    private var lastSetBack: Instant?
    /// Below it everything was acknowledged at some time since the receiver is this one.
    public internal(set) var acknowledgedEnd: UInt32
    /// The highest sequence that was ever sent on this boot: at or below it nothing is a live fix.
    var highestSent: UInt32?
    var batchSize: BatchSize
    var shares = LiveShare()
    private var budget: AirtimeBudget?
    /// What must be in the budget before anything is sent: the frame is not made yet.
    private let largestFrameMicroseconds: Int64
    private var jitter: Jitter?
    /// When a burst that began out of silence starts.
    var burstStart: Instant?
    /// Frames of answers to requests that wait.
    var waitingReplyCount = 0

    /// Microseconds on the air since the boot.
    public private(set) var airtimeMicroseconds: Int64 = 0
    /// Frames since the boot that began with a fix that was sent before or, after an unanswered ask, held one.
    public internal(set) var retransmissionCount: UInt32 = 0
    /// Behind the highest sequence of the backlog that was sent since the boot.
    var backlogEnd: UInt32 = 0

    /// What the receiver is known to have.
    public internal(set) var delivered: DeliveredSequences

    /// Creates the end of a collar that has just booted; its first frame is its identity.
    /// - Parameters:
    ///   - oldestSequence: the oldest sequence in the log.
    ///   - nextSequence: the sequence the next fix will get.
    ///   - firstUndelivered: everything below was acknowledged before the boot.
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
        jitter = configuration.jitterSeed.map { Jitter(seed: $0) }
        heartbeatDeadline = now.advanced(byMicroseconds: configuration.heartbeatMicroseconds)
    }

    /// Batches are no larger than a quarter of the duty cycle's hour carries: a budget that held more would fill slowly.
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

    /// When ``nextTransmission(now:)`` is worth calling again if nothing else happens; nil while a frame with an ask is
    /// on the air.
    public var nextDeadline: Instant? {
        switch phase {
        case .sending: burstStart ?? heartbeatDeadline
        case .transmittingAsk: nil
        case .awaitingAnswer(_, let deadline): max(burstStart ?? deadline, deadline)
        }
    }

    /// The log now holds `oldestSequence` up to but not including `nextSequence`, durably.
    public mutating func logChanged(oldestSequence: UInt32, nextSequence: UInt32) {
        self.oldestSequence = oldestSequence
        self.nextSequence = nextSequence
    }

    /// Somebody wants to know who the collar is: an open ask is given up, the identity is next.
    public mutating func identityRequested() {
        dueIdentity = .next
        startBurst()
    }

    /// The backlog begins again with what the last answer has shown to be missing.
    mutating func startBurst() { phase = .sending(Burst(cursor: delivered.firstMissing)) }

    /// Whether an acknowledgement names only what was logged.
    public func isPossible(_ acknowledgement: Acknowledgement) -> Bool {
        acknowledgement.firstMissing <= nextSequence
            && (acknowledgement.durable.count == 0 || acknowledgement.durable[0].last < nextSequence)
    }

    /// An acknowledgement of the collar's own receiver came in.
    public mutating func received(
        _ acknowledgement: Acknowledgement, now: Instant
    ) -> AcknowledgementResult {
        guard isPossible(acknowledgement) else { return .impossible }
        heartbeatDeadline = now.advanced(byMicroseconds: configuration.heartbeatMicroseconds)
        guard isOpen(acknowledgement.ask) else {
            // An answer that comes late says less than what is known by now, but never something false.
            delivered.advance(to: acknowledgement.firstMissing)
            acknowledgedEnd = max(acknowledgedEnd, delivered.firstMissing)
            return .unasked
        }
        takeOver(acknowledgement, now: now)
        batchSize.answered(delivered)
        startBurst()
        return .answer
    }

    /// What the receiver lacks and the log still has is sent again, whatever was acknowledged before.
    private mutating func takeOver(_ answer: Acknowledgement, now: Instant) {
        var floor: UInt32?
        let isSetBackDue = lastSetBack.map { now.microseconds(since: $0) >= CollarDelivery.setBackMicroseconds } ?? true
        if answer.firstMissing < delivered.firstMissing, isSetBackDue {
            lastSetBack = now
            floor = oldestSequence
            // That the rest is gone the identity tells.
            if answer.firstMissing < oldestSequence, dueIdentity == .none { dueIdentity = .next }
        }
        delivered.update(from: answer, floor: floor)
        acknowledgedEnd = max(acknowledgedEnd, answer.firstMissing)
        let highest = answer.durable.count > 0 ? answer.durable[0].last + 1 : answer.firstMissing
        anchor = highest > 0 && delivered.contains(highest - 1) ? highest - 1 : nil
    }

    /// The next frame to send, or nil where nothing is due. The caller sends it and then calls
    /// ``transmitted(frameByteCount:now:)``.
    public mutating func nextTransmission(now: Instant) -> Transmission? {
        switch phase {
        case .transmittingAsk:
            return nil
        case .awaitingAnswer(let ask, let deadline):
            // The first repeat goes at once, for a loss is likelier than a collision; collars that collided go apart then.
            guard now >= deadline, mayStart(now: now, isOutOfSilence: ask.attempt > 0) else { return nil }
            return outOfContactTransmission(attempt: ask.attempt + 1)
        case .sending(let burst):
            guard isAnythingDue(in: burst, now: now) else {
                // What a burst waited to begin with may have been delivered meanwhile.
                burstStart = nil
                return nil
            }
            guard mayStart(now: now, isOutOfSilence: burst.airtimeMicroseconds == 0) else { return nil }
            return burstTransmission(burst, now: now)
        }
    }

    private func isAnythingDue(in burst: Burst, now: Instant) -> Bool {
        hasMore(for: burst) || burst.frameCount > 0 || now >= heartbeatDeadline
    }

    /// Whether duty cycle and random delay let a frame go now; else ``nextDeadline`` is when they do.
    private mutating func mayStart(now: Instant, isOutOfSilence: Bool) -> Bool {
        if let burstStart {
            guard now >= burstStart else { return false }
        } else if isOutOfSilence, configuration.modem.isHalfDuplex, let delay = jitter?.next() {
            let airtime = configuration.modem.airtimeMicroseconds(frameByteCount: CollarDelivery.answerByteCount)
            burstStart = now.advanced(byMicroseconds: airtime * Int64(widening: delay) / 65_536)
            return mayStart(now: now, isOutOfSilence: false)
        }
        if budget != nil {
            budget?.refill(now: now)
            if let start = budget?.earliest(airtimeMicroseconds: largestFrameMicroseconds, now: now), start > now {
                burstStart = start
                return false
            }
        }
        burstStart = nil
        return true
    }

    /// The frame that ``nextTransmission(now:)`` gave is over; time-outs count from here.
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
        case .transmittingAsk(let ask):
            let deadline = now.advanced(byMicroseconds: timeoutMicroseconds(attempt: ask.attempt))
            phase = .awaitingAnswer(ask, deadline: deadline)
        case .awaitingAnswer: break
        }
    }

    private func isOpen(_ ask: AskNumber?) -> Bool {
        switch phase {
        case .sending: false
        case .transmittingAsk(let open), .awaitingAnswer(let open, _): ask == open.number
        }
    }

    /// The longest time from the end of an ask to the end of its answer.
    var answerMicroseconds: Int64 {
        let modem = configuration.modem
        return modem.turnaroundMicroseconds
            + modem.airtimeMicroseconds(frameByteCount: CollarDelivery.answerByteCount)
    }

    private func timeoutMicroseconds(attempt: Int) -> Int64 {
        var timeout = answerMicroseconds
        // Half of the asks go unanswered where three frames in ten are lost: a time-out that doubled with each would make
        // the silence of a lossy link grow without a bound.
        var doublings = attempt / 3
        while doublings > 0, timeout < configuration.maximumTimeoutMicroseconds {
            timeout *= 2
            doublings -= 1
        }
        return min(timeout, configuration.maximumTimeoutMicroseconds)
    }

    mutating func openAsk(attempt: Int) -> AskNumber {
        let ask = lastAsk?.next ?? .first
        lastAsk = ask
        phase = .transmittingAsk(OpenAsk(number: ask, attempt: attempt))
        return ask
    }
}
