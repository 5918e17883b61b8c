/// How much of one collar's logs a journal keeps track of, so that a collar that lies cannot fill the memory. What a log may always
/// have is out of the reach of other logs.
public struct TrackingLimits: Equatable, Sendable {
    /// The most logs.
    public var logCount = 1024
    /// Logs that came last and are not closed for others: a new log shows in this time that it is in use.
    public var youngLogCount = 16
    /// The most logs that are closed.
    public var closedLogCount = 65_536
    /// Ranges that each log may have, however many others have.
    public var rangesOfLog = 32
    /// Ranges beyond those, of all logs together.
    public var sharedRangeCount = 32_768

    /// The limits of every receiver.
    public init() {}
}
