import CollarErrors
import CollarLink
import FoundationEssentials
import Glibc

/// A collar and a receiver in virtual time, with a radio between them that loses, damages and delays: the code that a collar and
/// `collar-link run` run. A test that passes here with a loss of 0.3 passes outside.
///
///     let session = try FlakySession(loss: 0.3, seed: 7)
///     var count = 0
///     for try await fix in session.collar.fixes(.everything) { count += 1 }
///     #expect(count == session.fixCount)
///
/// The streams of its ``collar`` end by themselves: when the walk is over and everything has arrived. Time passes only while a stream or a
/// request waits, so that hours take milliseconds.
public final class FlakySession: Sendable {
    /// The collar of the session.
    public let collar: Collar
    /// The clock of the session.
    public let clock: VirtualClock
    /// The number of fixes that the collar makes.
    public let fixCount: Int
    private let directory: TemporaryDirectory
    private let driver: FlakyDriver

    /// Sets up a session; nothing happens before a stream or a request waits.
    /// - Parameters:
    ///   - walk: the fixes that the collar makes, in the order of their times; their sequences do not matter.
    ///   - interval: the time between two fixes, in seconds, 0.1 … 86,400.
    ///   - loss: the probability that a frame is lost, 0 … 0.95, in each direction.
    ///   - burst: the average number of frames that are lost in a row, at least 1; nil if each loss is independent of the others.
    ///   - corrupt: the probability that a byte is damaged, 0 … 0.1.
    ///   - seed: the same seed gives the same session.
    /// - Throws: if a value is outside of its range, or a fix cannot be sent.
    public init(
        walk: [LocationFix] = FlakySession.walk(), interval: Double = 1, loss: Double = 0, burst: Double? = nil, corrupt: Double = 0,
        seed: UInt64 = 1
    ) throws(UserFacingError) {
        func check(_ isValid: Bool, _ text: String) throws(UserFacingError) {
            if !isValid { throw UserFacingError(.badRequest, reason: "A session needs \(text).") }
        }
        try check((0.1...86_400).contains(interval), "an interval from 0.1 to 86,400 seconds, not \(interval)")
        try check((0...0.95).contains(loss), "a loss from 0 to 0.95, not \(loss)")
        try check((0...0.1).contains(corrupt), "a probability of damage from 0 to 0.1 for each byte, not \(corrupt)")
        if let burst {
            try check((1...1000).contains(burst) && burst * (1 - loss) >= loss, "bursts of 1 to 1,000 frames that suit the loss, not \(burst)")
        }
        try check(!walk.isEmpty, "at least one fix")
        let directory = try TemporaryDirectory()
        let clock = VirtualClock(start: walk[0].timestamp)
        driver = try FlakyDriver(
            FlakyDriver.Plan(
                fixes: try FlakyDriver.fixes(of: walk), intervalMicroseconds: Int64(interval * 1_000_000), loss: loss, burst: burst,
                corrupt: corrupt, seed: seed), directory: directory.path, clock: clock)
        (self.directory, self.clock, fixCount) = (directory, clock, walk.count)
        collar = Collar(nil, SessionAccess(directory: directory, clock: clock, driver: driver))
    }

    /// A walk of a cat: 106 fixes, a second apart, around a house.
    public static func walk() -> [LocationFix] {
        (0..<106).map { index in
            // A loop of about 120 m, with a rest in the middle.
            let angle = Double(min(index, 40) + max(0, index - 60)) / 86 * 2 * Double.pi
            let sample = LocationFix.sample(sequence: index + 1)
            return LocationFix(
                timestamp: sample.timestamp, source: .collar,
                coordinate: LocationFix.Coordinate(
                    latitude: 50.1704 + 0.0002 * sin(angle), longitude: -5.1139 + 0.0003 * cos(angle)),
                altitudeMeters: 80, horizontalAccuracyMeters: 3, verticalAccuracyMeters: 5, speedMetersPerSecond: 1, courseDegrees: 90,
                batteryFraction: 0.8, sequence: index)
        }
    }

    /// A collar by its name or id, as `Collar(_:)` takes it; the animals file of the session says which animal wears which collar.
    public func collar(named name: String) -> Collar { Collar(name, SessionAccess(directory: directory, clock: clock, driver: driver)) }

    /// The state directory of the session, for tests that write an animals file or a places file into it (`animals`, `places`).
    public var stateDirectory: String { directory.path }

    /// Ends the receiver as `kill -9` would, and starts another one with the same files: what the former one had only in memory is gone.
    public func restartReceiver() async throws(UserFacingError) { try await driver.restartReceiver() }

    /// Switches the radio of the receiver off and on.
    /// - Parameter isPluggedIn: false to pull it out.
    public func setRadio(isPluggedIn: Bool) async { await driver.setRadio(isPluggedIn: isPluggedIn) }
}
