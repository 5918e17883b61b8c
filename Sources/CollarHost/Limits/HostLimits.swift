/// What one host spends on the stations it hears, whatever they send.
enum HostLimits {
    /// Journals that are opened for collars heard before; each costs two descriptors and some 10 KiB.
    static let knownCollarCount = 256
    /// A collar not heard before is taken up while fewer than this many have a journal. So a sender of invented collars
    /// fills neither the memory nor the state directory, however often the host is started.
    static let collarCount = 64
    /// Least time between two tries to open the journal of a collar that is heard, in microseconds.
    static let openingInterval: Int64 = 10_000_000
    /// A sequence that is this far above the highest one known is a jump: 194 days of a fix a second.
    static let sequenceJump: UInt32 = 1 << 24
    /// Least time between two searches for old segments in a journal that is as large as it may be, in microseconds.
    static let removalInterval: Int64 = 60_000_000
    /// Answers that a newly stored fix or loss earns its collar: enough where nine of ten frames and answers are lost.
    static let answersPerRecord = 16

    /// New collars: sixteen at once, then one a second.
    static var newCollars: TokenBucket { TokenBucket(capacity: 16, microsecondsPerToken: 1_000_000) }
    /// Answers to a collar that brings nothing new.
    static var idleAnswers: TokenBucket { TokenBucket(capacity: 256, microsecondsPerToken: 100_000) }
    /// Identity requests on a link to unknown collars that ask. Each frame of a known collar earns one more: with many of
    /// its frames most unknown ones are its own, with a damaged address.
    static var identityRequests: TokenBucket { TokenBucket(capacity: 32, microsecondsPerToken: 250_000) }
    /// Logs of one collar that are closed for new ones: four at once, then one a minute. So a log that comes has time to show
    /// that it is in use.
    static var closedLogs: TokenBucket { TokenBucket(capacity: 4, microsecondsPerToken: 60_000_000) }
    /// Searches in a collar's journal for the first content of a fix that came again: each reads a segment.
    static var contentSearches: TokenBucket { TokenBucket(capacity: 16, microsecondsPerToken: 1_000_000) }
    /// Losses of one collar that are reported one by one.
    static var reportedLosses: TokenBucket { TokenBucket(capacity: 16, microsecondsPerToken: 15_000_000) }
}
