import CollarWire

/// How much a collar makes and sends, as its battery and its motion allow and its settings say (PROTOCOL.md, section 14).
public struct ThrottlePolicy: Equatable, Sendable {
    /// The state of the battery as far as it limits a collar.
    public enum Battery: UInt8, Equatable, Comparable, Sendable {
        /// Below 10 %.
        case critical = 0
        /// 10 … 20 %.
        case low = 1
        /// Above 20 %, or unknown.
        case good = 2

        /// The state at a charge of 0 … 100 percent; nil if the charge is unknown.
        public init(percent: UInt8?) {
            guard let percent else {
                self = .good
                return
            }
            self = percent < 10 ? .critical : percent <= 20 ? .low : .good
        }

        /// Whether `left` is the emptier one.
        public static func < (left: Battery, right: Battery) -> Bool { left.rawValue < right.rawValue }

        /// The same in a status.
        var throttleState: Status.ThrottleState {
            switch self {
            case .good: .none
            case .low: .lowBattery
            case .critical: .criticalBattery
            }
        }
    }

    /// The shortest time between two newest fixes that are sent, in milliseconds. What is not sent then goes in batches.
    public let liveIntervalMilliseconds: UInt32
    /// The shortest time between two fixes that are logged, in milliseconds; nil if every reading of the GNSS receiver is logged.
    public let captureIntervalMilliseconds: UInt32?

    /// The policy for a collar with this battery and motion.
    public init(battery: Battery, isStationary: Bool, settings: CollarSettings) {
        let live: SettingKey
        switch (battery, isStationary) {
        case (.good, false): live = .intervalMilliseconds
        case (.good, true): live = .stationaryIntervalMilliseconds
        case (.low, false): live = .lowBatteryMovingIntervalMilliseconds
        case (.low, true): live = .lowBatteryStationaryIntervalMilliseconds
        case (.critical, _): live = .criticalBatteryIntervalMilliseconds
        }
        liveIntervalMilliseconds = settings[live]
        captureIntervalMilliseconds = battery < .good ? settings[.lowBatteryCaptureIntervalMilliseconds] : nil
    }
}

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

/// Decides whether a collar is stationary: whether it has moved less than a distance for a time.
///
/// The time is that of the fixes. A fix at least the distance away from the place where the collar was last seen to move is
/// another movement, and becomes that place.
public struct MotionDetector: Sendable {
    private struct Place {
        let latitude: Int32
        let longitude: Int32
        let unixMilliseconds: Int64
        let accuracyMillimeters: UInt32
    }

    private var place: Place?
    /// Whether the collar is stationary, as of the last fix.
    public private(set) var isStationary = false

    /// Creates the state of a collar that has made no fix.
    public init() {}

    /// Notes a fix.
    /// - Parameters:
    ///   - fix: the newest position.
    ///   - distanceCentimeters: the least distance that is a movement, 1 … 100,000 cm.
    ///   - seconds: how long a stationary collar has not moved.
    ///   - isSparse: whether each fix comes from a search of its own. The errors of such fixes do not depend on one another, so a
    ///     movement is also at least three times as long as the larger of the accuracies: two fixes of a collar that lies still are
    ///     seldom farther apart.
    public mutating func note(_ fix: Fix, distanceCentimeters: UInt32, seconds: UInt32, isSparse: Bool = false) {
        let here = Place(
            latitude: MotionDetector.finest(fix.latitudeSteps, fix.positionStep),
            longitude: MotionDetector.finest(fix.longitudeSteps, fix.positionStep), unixMilliseconds: fix.unixMilliseconds,
            accuracyMillimeters: fix.horizontalAccuracy?.millimeters ?? 0)
        // A clock that is set back makes the time at the place unknown.
        var limit = 10 * Int64(widening: distanceCentimeters)
        if isSparse, let place {
            limit = max(limit, 3 * Int64(widening: max(place.accuracyMillimeters, here.accuracyMillimeters)))
        }
        guard let place, here.unixMilliseconds >= place.unixMilliseconds, MotionDetector.isNear(place, here, millimeters: limit)
        else {
            self.place = here
            isStationary = false
            return
        }
        isStationary = here.unixMilliseconds - place.unixMilliseconds >= Int64(widening: seconds) * 1000
    }

    /// A latitude or longitude in 1e-7 degree.
    private static func finest(_ steps: Int32, _ step: PositionStep) -> Int32 {
        steps &* (PositionStep.e7.stepsPerQuarterTurn / step.stepsPerQuarterTurn)
    }

    /// Whether two places are less than `limit` apart, on a flat map, which suffices for a kilometre.
    private static func isNear(_ first: Place, _ second: Place, millimeters limit: Int64) -> Bool {
        let turn = 4 * Int64(widening: PositionStep.e7.stepsPerQuarterTurn)
        let north = abs(Int64(widening: second.latitude) - Int64(widening: first.latitude))
        var east = abs(Int64(widening: second.longitude) - Int64(widening: first.longitude))
        if east > turn / 2 { east = turn - east }
        let degrees = UInt32(truncatingIfNeeded: min(89, abs(first.latitude) / 10_000_000))
        // 1e-7 degree is 11.12 mm. Far away, the squares would not fit 64 bits.
        let northMillimeters = north * 1112 / 100
        let eastMillimeters = (east * 1112 / 100 * Int64(widening: Sine.scaled(90 - degrees))) &>> 15
        guard northMillimeters < limit, eastMillimeters < limit else { return false }
        return northMillimeters * northMillimeters + eastMillimeters * eastMillimeters < limit * limit
    }
}
