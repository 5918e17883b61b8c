import CollarWire

extension CollarDelivery {
    /// The next frame to send.
    public struct Transmission: Equatable, Sendable {
        /// What the frame carries.
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

        /// What the frame carries.
        public var content: Content
        /// The poll that the frame carries; nil if it carries none. It is nil for a batch of the backlog, because only the made
        /// batch tells whether it ends the burst.
        public var poll: PollNumber?
    }

    /// What an acknowledgement meant.
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
}
