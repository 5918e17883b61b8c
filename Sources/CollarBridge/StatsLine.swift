/// Figures at one moment: one line of JSON, as `Protocol/schema/stats.schema.json` describes it. A line is about the receiver
/// as a whole, or about one collar.
public struct StatsLine: Equatable, Sendable {
    /// Counters of the receiver since its start.
    public struct Receiver: Equatable, Sendable {
        /// Seconds since the start.
        public var uptimeSeconds: Int64 = 0
        /// Lines written.
        public var lineCount = 0
        /// Frames used.
        public var frameCount = 0
        /// Frames whose check fails, or that are cut or stuffed wrongly.
        public var damagedFrameCount = 0
        /// Frames that may be whole but belong to no known collar.
        public var unknownFrameCount = 0
        /// Frames of a type, version or flag that is not known.
        public var unsupportedFrameCount = 0
        /// Frames with a valid check and an impossible content.
        public var malformedFrameCount = 0
        /// For how long the consumer has not read, in milliseconds; nil while it reads.
        public var outputBlockedMilliseconds: Int64?
        /// Whether the journal does not store, and so nothing is acknowledged.
        public var isStorageFailing = false

        /// Nothing counted.
        public init() {}
    }

    /// Figures of one collar.
    public struct Collar: Equatable, Sendable {
        /// The collar's factory id.
        public var deviceID: UInt64
        /// The log heard last; nil before there is one.
        public var logID: UInt32?
        /// The highest sequence that is known of the log; nil before there is one.
        public var highestSequence: UInt32?
        /// Sequences of the log up to the highest that are neither stored nor known to be lost for ever.
        public var missingCount: UInt64 = 0

        /// A collar of which nothing is known.
        public init(deviceID: UInt64) { self.deviceID = deviceID }
    }

    /// What a line is about.
    public enum Subject: Equatable, Sendable {
        /// The receiver, with all its collars.
        case receiver(Receiver)
        /// One collar.
        case collar(Collar)
    }

    /// What it is about.
    public var subject: Subject
    /// When, in milliseconds since 1970 by the host's clock.
    public var unixMilliseconds: Int64
    /// Fixes stored since the receiver's start.
    public var fixCount = 0
    /// Fixes that came again since the receiver's start.
    public var duplicateCount = 0
    /// Bytes of the journal; nil where that is not known.
    public var journalByteCount: Int?
    /// Bytes of the journal that the consumer does not have yet; nil where that is not known.
    public var lagByteCount: Int?
    /// How long the oldest fix that the consumer does not have yet has waited, in milliseconds; nil where that is not known.
    public var lagMilliseconds: Int64?

    /// A line in which nothing is counted.
    public init(_ subject: Subject, unixMilliseconds: Int64) {
        self.subject = subject
        self.unixMilliseconds = unixMilliseconds
    }

    /// The line as text in UTF-8, which ends with a line feed.
    public var bytes: [UInt8] {
        var object = ObjectText(type: "stats")
        object.add("unix_ms", unixMilliseconds)
        if case .collar(let collar) = subject {
            object.add("collar", MessageText.hexadecimal(collar.deviceID))
            object.add("log", collar.logID.map { Int64($0) })
        }
        object.add("fixes_stored", Int64(fixCount))
        object.add("duplicates", Int64(duplicateCount))
        switch subject {
        case .collar(let collar):
            object.add("highest_seq", collar.highestSequence.map { Int64($0) })
            object.add("missing", Int64(collar.missingCount))
        case .receiver(let receiver):
            add(receiver, to: &object)
        }
        object.add("journal_bytes", journalByteCount.map { Int64($0) })
        object.add("lag_bytes", lagByteCount.map { Int64($0) })
        object.add("lag_ms", lagMilliseconds)
        return object.line
    }

    private func add(_ receiver: Receiver, to object: inout ObjectText) {
        object.add("uptime_s", receiver.uptimeSeconds)
        object.add("lines", Int64(receiver.lineCount))
        object.add("frames", Int64(receiver.frameCount))
        object.add("frames_damaged", Int64(receiver.damagedFrameCount))
        object.add("frames_unknown", Int64(receiver.unknownFrameCount))
        object.add("frames_unsupported", Int64(receiver.unsupportedFrameCount))
        object.add("frames_malformed", Int64(receiver.malformedFrameCount))
        object.add("output_blocked_ms", receiver.outputBlockedMilliseconds)
        object.add("storage_failing", receiver.isStorageFailing)
    }
}
