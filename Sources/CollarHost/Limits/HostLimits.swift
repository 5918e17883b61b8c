import CollarARQ

/// Limits on the resources that a host uses for the stations it hears, whatever they send.
enum HostLimits {
    /// The most journals of collars heard before that are opened at the start. Each needs two descriptors and some 10 KiB.
    /// A state directory can hold more journals than ``collarCount``: a host that serves a single collar counts no others.
    static let knownCollarCount = 256
    /// A collar not heard before is accepted only while the host counts fewer collars than this: those it serves, and those
    /// whose journal it could not open. As the journals opened at the start count too, a sender of invented collars cannot
    /// fill the memory or the state directory, however often the host is started.
    static let collarCount = 256
    /// The least time between two attempts to open the journal of a collar that is heard, in microseconds.
    static let openingInterval: Int64 = 10_000_000
    /// A sequence is a jump if it exceeds the highest known sequence by more than this. A collar that makes one fix a second
    /// needs 194 days for so many fixes.
    static let sequenceJump: UInt32 = 1 << 24
    /// The least time between two searches for old segments in a journal at its size limit, in microseconds.
    static let removalInterval: Int64 = 60_000_000
    /// The number of answers that a collar may get for each newly stored fix or loss. It suffices even if nine tenths of the
    /// frames and nine tenths of the answers are lost.
    static let answersPerRecord = 16

    /// New collars: sixteen at once, then one a second.
    static var newCollars: TokenBucket { TokenBucket(capacity: 16, microsecondsPerToken: 1_000_000) }
    /// Answers to a collar that sends nothing new: 256 at once, then ten a second.
    static var idleAnswers: TokenBucket { TokenBucket(capacity: 256, microsecondsPerToken: 100_000) }
    /// Identity requests with which the host answers frames on one link, mostly polls of unknown collars: 32 at once, then
    /// four a second. Each frame of a known collar allows one more: if damage changes the address in a known collar's frame,
    /// that frame seems to come from an unknown collar.
    static var identityRequests: TokenBucket { TokenBucket(capacity: 32, microsecondsPerToken: 250_000) }
    /// Logs with which the frames of one link are tried after the likeliest one, unless the frame fits: some 2 % of a processor.
    static var furtherLogTrials: TokenBucket { TokenBucket(capacity: 4096, microsecondsPerToken: 100) }
    /// Sealed frames of one link that do not open, whatever their addresses.
    static var unopenedFrames: TokenBucket { TokenBucket(capacity: 400, microsecondsPerToken: 2500) }
    /// Logs of one collar that are accepted above ``TrackingLimits/promptLogCount``: four at once, then one a minute. A sender
    /// of invented logs needs 42 days to reach ``TrackingLimits/logCount``.
    static var furtherLogs: TokenBucket { TokenBucket(capacity: 4, microsecondsPerToken: 60_000_000) }
    /// Searches in a collar's journal for the stored content of a fix that came again. Each reads a segment.
    static var contentSearches: TokenBucket { TokenBucket(capacity: 16, microsecondsPerToken: 1_000_000) }
    /// Losses of one collar that are reported one by one.
    static var reportedLosses: TokenBucket { TokenBucket(capacity: 16, microsecondsPerToken: 15_000_000) }
}
