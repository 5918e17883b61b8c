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
        }

        /// What the frame carries.
        public var content: Content
        /// The ask it ends its burst with.
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
        /// Frames between two asks, at least 1.
        public var burstFrameCount: Int
        /// The longest silence, in microseconds.
        public var heartbeatMicroseconds: Int64
        /// The cap of the time-out, in microseconds.
        public var maximumTimeoutMicroseconds: Int64
        /// Timing of the link.
        public var modem: ModemProfile

        /// Creates a configuration.
        public init(
            burstFrameCount: Int = 16, heartbeatMicroseconds: Int64 = 60_000_000,
            maximumTimeoutMicroseconds: Int64 = 30_000_000, modem: ModemProfile
        ) {
            self.burstFrameCount = burstFrameCount
            self.heartbeatMicroseconds = heartbeatMicroseconds
            self.maximumTimeoutMicroseconds = maximumTimeoutMicroseconds
            self.modem = modem
        }
    }

    private enum Phase: Equatable {
        /// Free to send; the burst has this many frames so far.
        case sending(burstCount: Int)
        /// An ask was handed out, its frame is not over yet.
        case transmittingAsk(AskNumber, attempt: Int)
        /// An ask is open.
        case awaitingAnswer(AskNumber, attempt: Int, deadline: Instant)
    }

    /// The bytes of an answer that the time-out allows for.
    private static let answerByteCount = Frame.minimumLimitByteCount

    private let configuration: Configuration
    private var phase: Phase = .sending(burstCount: 0)
    private var lastAsk: AskNumber?
    private var isIdentityDue = true
    private var heartbeatDeadline: Instant
    private var oldestSequence: UInt32
    private var nextSequence: UInt32
    private var resend = SequenceRangeList()
    /// Where the search for the next fix of the backlog starts; goes back when an answer tells what was lost.
    private var cursor: UInt32
    private var newestSent: UInt32?

    /// What the receiver is known to have.
    public private(set) var delivered: DeliveredSequences

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
        heartbeatDeadline = now.advanced(byMicroseconds: configuration.heartbeatMicroseconds)
    }

    /// When ``nextTransmission(now:)`` is worth calling again if nothing else happens; nil while a frame with an ask is
    /// on the air.
    public var nextDeadline: Instant? {
        switch phase {
        case .sending: heartbeatDeadline
        case .transmittingAsk: nil
        case .awaitingAnswer(_, _, let deadline): deadline
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
        phase = .sending(burstCount: 0)
    }

    /// An acknowledgement of the collar's own receiver came in.
    public mutating func received(
        _ acknowledgement: Acknowledgement, now: Instant
    ) -> AcknowledgementResult {
        guard acknowledgement.firstMissing <= nextSequence,
            acknowledgement.durable.count == 0 || acknowledgement.durable[0].last < nextSequence
        else { return .impossible }
        heartbeatDeadline = now.advanced(byMicroseconds: configuration.heartbeatMicroseconds)
        guard isOpen(acknowledgement.ask) else {
            // An answer that comes late says less than what is known by now, but never something false.
            delivered.advance(to: acknowledgement.firstMissing)
            return .unasked
        }
        delivered.update(from: acknowledgement)
        resend = acknowledgement.resend
        startBurst()
        return .answer
    }

    /// The next frame to send, or nil where nothing is due. The caller sends it and then calls ``transmitted(now:)``.
    public mutating func nextTransmission(now: Instant) -> Transmission? {
        switch phase {
        case .transmittingAsk:
            return nil
        case .awaitingAnswer(_, let attempt, let deadline):
            guard now >= deadline else { return nil }
            return outOfContactTransmission(attempt: attempt + 1)
        case .sending(let burstCount):
            return burstTransmission(burstCount: burstCount, now: now)
        }
    }

    /// The frame that ``nextTransmission(now:)`` gave is over; time-outs count from here.
    public mutating func transmitted(now: Instant) {
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
        guard let sequence = takeNextOfBurst() else {
            // A tombstone may have taken what the burst had left: then a probe asks.
            guard burstCount > 0 || now >= heartbeatDeadline else { return nil }
            return Transmission(content: .probe, ask: openAsk(attempt: 0))
        }
        guard burstCount + 1 < configuration.burstFrameCount, hasMoreForBurst else {
            return Transmission(content: .logEntry(sequence), ask: openAsk(attempt: 0))
        }
        phase = .sending(burstCount: burstCount + 1)
        return Transmission(content: .logEntry(sequence), ask: nil)
    }

    /// The newest fix, then what was asked for again, then the backlog, oldest first.
    private mutating func takeNextOfBurst() -> UInt32? {
        if let newest = newestUndelivered, newest != newestSent {
            newestSent = newest
            return newest
        }
        if let again = nextToResend {
            dropFromResend(through: again)
            return again
        }
        guard let sequence = nextOfBacklog else { return nil }
        cursor = sequence + 1
        return sequence
    }

    private var hasMoreForBurst: Bool {
        if let newest = newestUndelivered, newest != newestSent { return true }
        return nextToResend != nil || nextOfBacklog != nil
    }

    private var nextOfBacklog: UInt32? {
        var sequence = delivered.firstMissing(from: cursor)
        if sequence == newestSent { sequence = delivered.firstMissing(from: sequence + 1) }
        return sequence < nextSequence ? sequence : nil
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
