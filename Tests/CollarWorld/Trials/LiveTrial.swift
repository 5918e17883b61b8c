import CollarARQ
import CollarSimulator
import CollarWire

/// A collar within reach makes fixes for an hour. Measures how soon each fix is stored at the host, and the airtime that this
/// costs. A real collar and a real host run in virtual time over a half-duplex link.
package struct LiveTrial: Sendable {
    /// Time between two fixes, in seconds, at least 1.
    package var secondsApart: Int64
    /// The link.
    package var modem: ModemProfile
    /// Probability that a frame is lost, in each direction, 0 … 1.
    package var lossProbability: Double
    /// The seed of the losses.
    package var seed: UInt64

    /// What a trial measured. Times in microseconds.
    package struct Result: Equatable, Sendable {
        /// Fixes made.
        package var fixCount = 0
        /// Airtime of the collar.
        package var collarMicroseconds: Int64 = 0
        /// Airtime of the host.
        package var hostMicroseconds: Int64 = 0
        /// The time from the making to the storing of each fix that arrived, in order of arrival.
        package var delays: [Int64] = []

        /// Airtime of both ends for each fix made.
        package var airtimePerFix: Double { Double(collarMicroseconds + hostMicroseconds) / Double(fixCount) }
        /// Whether all fixes arrived.
        package var isComplete: Bool { delays.count == fixCount }
        /// The mean delay; 0 if no fix arrived.
        package var meanDelay: Double { Double(delays.reduce(0, +)) / Double(max(1, delays.count)) }
    }

    /// How long the collar makes fixes, in seconds; a trial lasts at most twice as long.
    package static let seconds: Int64 = 3600

    /// Runs until everything is acknowledged.
    /// - Throws: if the collar's flash or the trial itself fails.
    package func run() throws(StationError) -> Result {
        let fixes = SimulatedWalk.fixes(Int(LiveTrial.seconds / secondsApart), secondsApart: secondsApart)
        let link = try TrialLink(
            fixes, firstDue: Instant(microseconds: secondsApart * 1_000_000), secondsApart: secondsApart, modem: modem,
            lossProbability: lossProbability, seed: seed)
        let end = Instant(microseconds: 2 * LiveTrial.seconds * 1_000_000)
        var result = Result()
        result.fixCount = fixes.count
        var noticedCount = 0
        // Fixes that are made and not yet stored at the host.
        var missing: [Int] = []
        try link.run(until: { link.isEverythingMade && link.collar.isEverythingDelivered || link.now >= end }) { sent in
            result.collarMicroseconds += sent.airtime
            guard sent.answers != nil else { return }
            missing += noticedCount..<link.madeCount
            noticedCount = link.madeCount
            let stored = link.host.stored
            for index in missing where stored.contains(UInt32(index)) {
                result.delays.append(link.now.microseconds(since: link.due(index)))
            }
            missing.removeAll { stored.contains(UInt32($0)) }
        } answered: { airtime, _ in result.hostMicroseconds += airtime }
        return result
    }
}
