import CollarWire

/// The collar's end of reliable delivery: what to send next, and what the receiver is known to have.
///
/// A burst of frames ends with an ask; nothing is sent until the answer comes or its time is over. What the answer
/// does not name durable is sent again. After an unanswered ask only the newest fix or a probe is sent, each with
/// an ask, with a time-out that doubles to a cap.
public struct CollarDelivery: Sendable {
    /// What the next frame shall be.
    public struct Transmission: Equatable, Sendable {
        /// What the frame carries.
        public enum Content: Equatable, Sendable {
            /// Who the collar is.
            case identity
            /// The shortest ask.
            case probe
            /// The fix of this sequence, or the tombstone of a range that starts with it.
            case logEntry(UInt32)
            /// The fix of this sequence, never sent before, as the difference to an acknowledged one.
            case liveFix(UInt32, anchor: UInt32)
            /// As much of the backlog as fits a frame of so many bytes, from this sequence on. Whoever makes the frame
            /// calls ``CollarDelivery/batched(through:)`` to learn whether it asks.
            case batch(first: UInt32, frameByteLimit: Int)
        }

        /// What the frame carries.
        public var content: Content
        /// The ask it ends its burst with; of a batch it is not known yet.
        public var ask: AskNumber?
    }

    /// What an acknowledgement meant.
    public enum AcknowledgementResult: Equatable, Sendable {
        /// It answers the open ask.
        case answer
        /// It says what is durable, but answers an earlier ask or none.
        case unasked
        /// It claims fixes that were never logged, and is ignored.
        case impossible
    }

    /// Numbers that shape the traffic.
    public struct Configuration: Equatable, Sendable {
        /// The most frames between two asks, at least 1.
        public var burstFrameCount: Int
        /// The longest silence, in microseconds.
        public var heartbeatMicroseconds: Int64
        /// The cap of the time-out, in microseconds.
        public var maximumTimeoutMicroseconds: Int64
        /// Timing of the link.
        public var modem: ModemProfile
        /// Whether the newest fix goes out as a live fix where it can.
        public var sendsLiveFixes: Bool
        /// The largest frame a batch may fill, 51 … 253 bytes; nil where every fix has a frame of its own.
        public var batchFrameByteLimit: Int?
        /// The part of every hour in which the collar may send, in millionths; nil for no limit.
        public var dutyCyclePartsPerMillion: Int64?
        /// Where the random delays start that keep collars apart which make fixes at the same moment; nil for none.
        public var jitterSeed: UInt32?

        /// Creates a configuration.
        public init(
            burstFrameCount: Int? = nil, heartbeatMicroseconds: Int64 = 60_000_000,
            maximumTimeoutMicroseconds: Int64 = 30_000_000, modem: ModemProfile, sendsLiveFixes: Bool = false,
            batchFrameByteLimit: Int? = nil, dutyCyclePartsPerMillion: Int64? = nil, jitterSeed: UInt32? = nil
        ) {
            self.burstFrameCount = burstFrameCount ?? (modem.isHalfDuplex ? 255 : 16)
            self.heartbeatMicroseconds = heartbeatMicroseconds
            self.maximumTimeoutMicroseconds = maximumTimeoutMicroseconds
            self.modem = modem
            self.sendsLiveFixes = sendsLiveFixes
            self.batchFrameByteLimit = batchFrameByteLimit
            self.dutyCyclePartsPerMillion = dutyCyclePartsPerMillion
            self.jitterSeed = jitterSeed
        }
    }

    enum Phase: Equatable {
        /// Free to send; the burst has this many frames so far.
        case sending(burstCount: Int)
        /// An ask was handed out, its frame is not over yet.
        case transmittingAsk(AskNumber, attempt: Int)
        /// An ask is open.
        case awaitingAnswer(AskNumber, attempt: Int, deadline: Instant)
    }

    /// The bytes of an answer that the time-out allows for.
    private static let answerByteCount = Frame.minimumLimitByteCount
    /// A half-duplex burst ends when it has lasted this many times as long as the largest answer: asks and answers then
    /// cost a few percent of it, even where half of them are lost.
    private static let burstAnswerMultiple: Int64 = 43

    let configuration: Configuration
    var phase: Phase = .sending(burstCount: 0)
    private var lastAsk: AskNumber?
    private var isIdentityDue = true
    private var heartbeatDeadline: Instant
    private var oldestSequence: UInt32
    var nextSequence: UInt32
    private var resend = SequenceRangeList()
    /// Where the search for the next fix of the backlog starts; goes back when an answer tells what was lost.
    var cursor: UInt32
    var newestSent: UInt32?
    /// The highest sequence that was ever sent on this boot: at or below it nothing is a live fix.
    private var highestSent: UInt32?
    var batchSize: BatchSize
    private var shares = LiveShare()
    private var budget: AirtimeBudget?
    private var jitter: Jitter?
    /// When a burst that began out of silence starts.
    private var burstStart: Instant?
    private var isFirstOfBurst = true
    private var burstMicroseconds: Int64 = 0

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
        cursor = firstUndelivered
        batchSize = BatchSize(largest: configuration.batchFrameByteLimit ?? Frame.minimumLimitByteCount)
        budget = configuration.dutyCyclePartsPerMillion.map { AirtimeBudget(partsPerMillion: $0, now: now) }
        jitter = configuration.jitterSeed.map { Jitter(seed: $0) }
        heartbeatDeadline = now.advanced(byMicroseconds: configuration.heartbeatMicroseconds)
    }

    /// When ``nextTransmission(now:)`` is worth calling again if nothing else happens; nil while a frame with an ask is
    /// on the air.
    public var nextDeadline: Instant? {
        switch phase {
        case .sending: burstStart ?? heartbeatDeadline
        case .transmittingAsk: nil
        case .awaitingAnswer(_, _, let deadline): burstStart ?? deadline
        }
    }

    /// The log now holds `oldestSequence` up to but not including `nextSequence`, durably.
    public mutating func logChanged(oldestSequence: UInt32, nextSequence: UInt32) {
        self.oldestSequence = oldestSequence
        self.nextSequence = nextSequence
    }

    /// Somebody wants to know who the collar is: an open ask is given up, the identity is next.
    public mutating func identityRequested() {
        isIdentityDue = true
        startBurst()
    }

    private mutating func startBurst() {
        cursor = delivered.firstMissing
        newestSent = nil
        isFirstOfBurst = true
        burstMicroseconds = 0
        phase = .sending(burstCount: 0)
    }

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
            return .unasked
        }
        delivered.update(from: acknowledgement)
        batchSize.answered(delivered)
        resend = acknowledgement.resend
        startBurst()
        return .answer
    }

    /// The next frame to send, or nil where nothing is due. The caller sends it and then calls
    /// ``transmitted(frameByteCount:now:)``.
    public mutating func nextTransmission(now: Instant) -> Transmission? {
        switch phase {
        case .transmittingAsk:
            return nil
        case .awaitingAnswer(_, let attempt, let deadline):
            guard now >= deadline, mayStart(now: now, isOutOfSilence: false) else { return nil }
            return outOfContactTransmission(attempt: attempt + 1)
        case .sending(let burstCount):
            guard isAnythingDue(burstCount: burstCount, now: now),
                mayStart(now: now, isOutOfSilence: isFirstOfBurst && burstCount == 0)
            else { return nil }
            return burstTransmission(burstCount: burstCount, now: now)
        }
    }

    private func isAnythingDue(burstCount: Int, now: Instant) -> Bool {
        isIdentityDue || hasMoreForBurst || burstCount > 0 || now >= heartbeatDeadline
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
            let airtime = airtimeOfLargestFrame
            budget?.refill(now: now)
            if let start = budget?.earliest(airtimeMicroseconds: airtime, now: now), start > now {
                burstStart = start
                return false
            }
        }
        burstStart = nil
        return true
    }

    /// What must be in the budget before anything is sent: the frame is not made yet.
    private var airtimeOfLargestFrame: Int64 {
        let bytes = max(configuration.batchFrameByteLimit ?? 0, Frame.minimumLimitByteCount)
        return min(
            configuration.modem.airtimeMicroseconds(frameByteCount: bytes), budget?.depthMicroseconds ?? .max)
    }

    /// The frame that ``nextTransmission(now:)`` gave is over; time-outs count from here.
    public mutating func transmitted(frameByteCount: Int, now: Instant) {
        let airtime = configuration.modem.airtimeMicroseconds(frameByteCount: frameByteCount)
        budget?.refill(now: now)
        budget?.spend(airtimeMicroseconds: airtime)
        shares.sent(airtimeMicroseconds: airtime)
        isFirstOfBurst = false
        burstMicroseconds += airtime
        heartbeatDeadline = now.advanced(byMicroseconds: configuration.heartbeatMicroseconds)
        guard case .transmittingAsk(let ask, let attempt) = phase else { return }
        let deadline = now.advanced(byMicroseconds: timeoutMicroseconds(attempt: attempt))
        phase = .awaitingAnswer(ask, attempt: attempt, deadline: deadline)
    }

    private func isOpen(_ ask: AskNumber?) -> Bool {
        switch phase {
        case .sending: false
        case .transmittingAsk(let open, _), .awaitingAnswer(let open, _, _): ask == open
        }
    }

    private func timeoutMicroseconds(attempt: Int) -> Int64 {
        let modem = configuration.modem
        var timeout =
            modem.turnaroundMicroseconds
            + modem.airtimeMicroseconds(frameByteCount: CollarDelivery.answerByteCount)
        var doublings = attempt
        while doublings > 0, timeout < configuration.maximumTimeoutMicroseconds {
            timeout *= 2
            doublings -= 1
        }
        return min(timeout, configuration.maximumTimeoutMicroseconds)
    }

    private mutating func openAsk(attempt: Int) -> AskNumber {
        let ask = lastAsk?.next ?? .first
        lastAsk = ask
        phase = .transmittingAsk(ask, attempt: attempt)
        return ask
    }

    private mutating func outOfContactTransmission(attempt: Int) -> Transmission {
        let ask = openAsk(attempt: attempt)
        // Who does not know the collar cannot check its fixes: every fourth unanswered ask says who is asking.
        if isIdentityDue || attempt % 4 == 0 {
            isIdentityDue = false
            return Transmission(content: .identity, ask: ask)
        }
        guard let newest = newestUndelivered else { return Transmission(content: .probe, ask: ask) }
        return Transmission(content: .logEntry(newest), ask: ask)
    }

    private var newestUndelivered: UInt32? {
        guard nextSequence > oldestSequence, !delivered.contains(nextSequence - 1) else { return nil }
        return nextSequence - 1
    }

    private mutating func burstTransmission(burstCount: Int, now: Instant) -> Transmission? {
        if isIdentityDue {
            isIdentityDue = false
            return Transmission(content: .identity, ask: openAsk(attempt: 0))
        }
        guard let content = takeNextOfBurst() else {
            // A tombstone may have taken what the burst had left: then a probe asks.
            guard burstCount > 0 || now >= heartbeatDeadline else { return nil }
            return Transmission(content: .probe, ask: openAsk(attempt: 0))
        }
        // Whether it is the last of its burst shows when its fixes are counted.
        if case .batch = content { return Transmission(content: content, ask: nil) }
        return Transmission(content: content, ask: countIntoBurst(burstCount))
    }

    /// One more frame of the burst; the last one asks.
    mutating func countIntoBurst(_ burstCount: Int) -> AskNumber? {
        guard burstCount + 1 < configuration.burstFrameCount, !isBurstLong, hasMoreForBurst else {
            return openAsk(attempt: 0)
        }
        phase = .sending(burstCount: burstCount + 1)
        return nil
    }

    private var isBurstLong: Bool {
        let modem = configuration.modem
        let answer = modem.airtimeMicroseconds(frameByteCount: CollarDelivery.answerByteCount)
        return modem.isHalfDuplex && burstMicroseconds >= CollarDelivery.burstAnswerMultiple * answer
    }

    /// The newest fix, then what was asked for again, then the backlog, oldest first.
    private mutating func takeNextOfBurst() -> Transmission.Content? {
        if let newest = newestDue {
            newestSent = newest
            let isNew = highestSent.map { newest > $0 } ?? true
            highestSent = max(highestSent ?? 0, newest)
            shares.isLive = true
            guard isNew, configuration.sendsLiveFixes, let anchor = delivered.highest,
                newest - anchor <= LiveFix.maximumLead
            else { return .logEntry(newest) }
            return .liveFix(newest, anchor: anchor)
        }
        shares.isLive = false
        if let again = nextToResend {
            dropFromResend(through: again)
            return .logEntry(again)
        }
        guard let sequence = nextOfBacklog else { return nil }
        if configuration.batchFrameByteLimit != nil, backlog(after: sequence) != nil {
            return .batch(first: sequence, frameByteLimit: batchSize.frameByteLimit)
        }
        cursor = sequence + 1
        highestSent = max(highestSent ?? 0, sequence)
        return .logEntry(sequence)
    }

    /// The newest fix, where its turn has come: it opens a burst, and further ones get a quarter of the airtime.
    private var newestDue: UInt32? {
        guard let newest = newestUndelivered, newest != newestSent else { return nil }
        return newestSent == nil || nextOfBacklog == nil || shares.allowsLive ? newest : nil
    }

    var hasMoreForBurst: Bool {
        if let newest = newestUndelivered, newest != newestSent { return true }
        return nextToResend != nil || nextOfBacklog != nil
    }

    private var nextOfBacklog: UInt32? { undelivered(from: cursor) }

    private func undelivered(from start: UInt32) -> UInt32? {
        var sequence = delivered.firstMissing(from: start)
        if sequence == newestSent { sequence = delivered.firstMissing(from: sequence + 1) }
        return sequence < nextSequence ? sequence : nil
    }

    /// The sequence of the backlog that follows `sequence` in a batch; nil where it is the last.
    public func backlog(after sequence: UInt32) -> UInt32? { undelivered(from: sequence + 1) }

    /// A batch that begins where ``Transmission/Content/batch(first:frameByteLimit:)`` said was made of the backlog up
    /// to `last`.
    /// - Returns: the ask its frame carries.
    public mutating func batched(through last: UInt32) -> AskNumber? {
        guard case .sending(let burstCount) = phase else { return nil }
        cursor = last + 1
        highestSent = max(highestSent ?? 0, last)
        batchSize.sent(last: last)
        return countIntoBurst(burstCount)
    }

    /// Where a batch should begin, the log has nothing from `first` to `last`: a tombstone goes instead.
    /// - Returns: the ask its frame carries.
    public mutating func tombstoned(from first: UInt32, through last: UInt32) -> AskNumber? {
        guard case .sending(let burstCount) = phase else { return nil }
        skippedBacklog(from: first, through: last)
        return countIntoBurst(burstCount)
    }

    private var nextToResend: UInt32? {
        guard resend.count > 0, resend[0].first < nextSequence else { return nil }
        return resend[0].first
    }

    private mutating func dropFromResend(through sequence: UInt32) {
        if let rest = SequenceRange(sequence + 1, resend[0].last) {
            resend.replace(at: 0, with: rest)
        } else {
            resend.remove(at: 0)
        }
    }

    /// A range was reported as a tombstone instead of fix by fix: the search goes on behind it, unless older fixes wait.
    public mutating func skippedBacklog(from first: UInt32, through last: UInt32) {
        if first <= cursor, last >= cursor { cursor = last + 1 }
        while resend.count > 0, resend[0].first >= first, resend[0].first <= last {
            dropFromResend(through: min(last, resend[0].last))
        }
    }
}
