import CollarWire

extension CollarDelivery {
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
            /// The undelivered fixes from the first of these sequences to the last, which is the newest, in one frame of so
            /// many bytes at most. Where they do not fit, only newer ones; the newest alone is absolute. Whoever makes the
            /// frame calls ``CollarDelivery/sentNewest(from:through:)``.
            case newestFixes(first: UInt32, last: UInt32, frameByteLimit: Int)
            /// The oldest answer to a request of the host that waits.
            case reply
        }

        /// What the frame carries.
        public var content: Content
        /// The ask it ends its burst with; of a batch of the backlog it is not known yet.
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
}
