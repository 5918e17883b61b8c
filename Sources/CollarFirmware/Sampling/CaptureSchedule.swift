import CollarWire

/// Decides which readings of the GNSS receiver become fixes.
public struct CaptureSchedule: Sendable {
    private var lastUnixMilliseconds: Int64?

    /// The times of a receiver's readings vary by less than this, in milliseconds.
    private static let tolerance: Int64 = 50

    /// Creates the schedule of a collar that has made no fix.
    public init() {}

    /// Whether a reading becomes a fix. If the clock was set back, it does.
    /// - Parameters:
    ///   - unixMilliseconds: the time of the reading, in milliseconds since 1970.
    ///   - intervalMilliseconds: the shortest time between two fixes; nil if every reading becomes one.
    public func isDue(unixMilliseconds: Int64, intervalMilliseconds: UInt32?) -> Bool {
        guard let intervalMilliseconds, let lastUnixMilliseconds else { return true }
        let elapsed = unixMilliseconds - lastUnixMilliseconds
        return elapsed < 0 || elapsed + Self.tolerance >= Int64(widening: intervalMilliseconds)
    }

    /// Notes that a reading of this time became a fix.
    public mutating func made(unixMilliseconds: Int64) { lastUnixMilliseconds = unixMilliseconds }
}
