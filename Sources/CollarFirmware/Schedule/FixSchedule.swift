import CollarWire

/// How often a collar makes fixes, and for how long it searches, as its settings say (PROTOCOL.md, section 18, *Schedule*).
public struct FixSchedule: Equatable, Sendable {
    /// The time from the beginning of one search to that of the next, in microseconds; 0 if the GNSS receiver is always on.
    public var intervalMicroseconds: Int64
    /// How long a search may take, in microseconds.
    public var timeoutMicroseconds: Int64
    /// The longest time from the beginning of a search without a position to that of the next, in microseconds.
    public var longestWaitMicroseconds: Int64
    /// The horizontal accuracy that is enough, in millimetres; nil if any is.
    public var enoughMillimeters: UInt32?
    /// How long to wait for ``enoughMillimeters`` after the first position, in microseconds.
    public var settlingMicroseconds: Int64

    /// Without an accelerometer, only fixes show that a collar moves again, so it makes one at least this often.
    private static var longestBlindRestMilliseconds: UInt32 { 900_000 }

    /// The schedule of a collar with this battery and motion.
    /// - Parameters:
    ///   - battery: the state of the battery.
    ///   - isStationary: whether the collar is at rest.
    ///   - hasAccelerometer: whether the collar notices without fixes that it moves.
    ///   - settings: the settings in force.
    public init(battery: ThrottlePolicy.Battery, isStationary: Bool, hasAccelerometer: Bool, settings: CollarSettings) {
        let moving = settings[.fixIntervalMilliseconds]
        var interval = moving
        if isStationary, settings[.restFixIntervalMilliseconds] > 0 {
            interval = settings[.restFixIntervalMilliseconds]
            if !hasAccelerometer { interval = min(interval, max(moving, FixSchedule.longestBlindRestMilliseconds)) }
        }
        if interval > 0, battery < .good { interval = max(interval, settings[.lowBatteryCaptureIntervalMilliseconds]) }
        intervalMicroseconds = Int64(widening: interval) &* 1000
        timeoutMicroseconds = Int64(widening: settings[.searchTimeoutSeconds]) &* 1_000_000
        longestWaitMicroseconds = Int64(widening: settings[.searchWaitSeconds]) &* 1_000_000
        let accuracy = settings[.enoughAccuracyCentimeters]
        enoughMillimeters = accuracy > 0 ? accuracy &* 10 : nil
        settlingMicroseconds = Int64(widening: settings[.settlingSeconds]) &* 1_000_000
    }

    /// The time from the beginning of a search to that of the next, in microseconds. It doubles with every search without a position
    /// from the second on.
    func waitMicroseconds(failuresInRow: UInt8) -> Int64 {
        let longest = max(longestWaitMicroseconds, intervalMicroseconds)
        var wait = intervalMicroseconds
        var doublings = failuresInRow
        while doublings > 1, wait < longest {
            wait = wait &* 2
            doublings &-= 1
        }
        return min(wait, longest)
    }

    /// Whether a fix is accurate enough. One that does not tell its accuracy is.
    func isEnough(_ fix: Fix) -> Bool {
        guard let enoughMillimeters, let accuracy = fix.horizontalAccuracy else { return true }
        return accuracy.millimeters <= enoughMillimeters
    }
}
