/// Limits on the logs and ranges of one collar that a journal keeps track of, so that a lying collar cannot fill the memory.
/// Each log has ``rangesOfLog`` ranges reserved for itself; all logs share the further ranges.
package struct TrackingLimits: Equatable, Sendable {
    /// The highest number of logs.
    package var logCount = 65_536
    /// The number of logs that are accepted without a call of ``Journal/admitLog()``. Each further log needs one call.
    package var promptLogCount = 4096
    /// Ranges reserved for each log, however many the other logs have.
    package var rangesOfLog = 32
    /// Ranges in addition to the reserved ones, shared by all logs.
    package var sharedRangeCount = 32_768

    /// The limits of every receiver.
    package init() {}
}
