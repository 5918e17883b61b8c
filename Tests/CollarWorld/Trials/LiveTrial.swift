import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// An animal within reach makes fixes for an hour: how soon each is stored at the host, and what that costs on the air.
/// A real collar and a host's end in virtual time over a half-duplex link.
package struct LiveTrial: Sendable {
    /// Time between two fixes, in seconds, at least 1.
    package var secondsApart: Int64
    /// The link.
    package var modem: ModemProfile
    /// Probability that a frame is lost, in each direction, 0 … 1.
    package var lossProbability: Double
    /// What the losses are drawn from.
    package var seed: UInt64

    /// What a trial measured. Times in microseconds.
    package struct Result: Equatable, Sendable {
        /// Fixes made.
        package var fixCount = 0
        /// Airtime of the collar.
        package var collarMicroseconds: Int64 = 0
        /// Airtime of the host.
        package var hostMicroseconds: Int64 = 0
        /// From making to storing, for each fix that arrived, in order of arrival.
        package var delays: [Int64] = []

        /// Airtime of both ends for each fix made.
        package var airtimePerFix: Double { Double(collarMicroseconds + hostMicroseconds) / Double(fixCount) }
        /// Whether all fixes arrived.
        package var isComplete: Bool { delays.count == fixCount }
        /// The mean delay; 0 where nothing arrived.
        package var meanDelay: Double { Double(delays.reduce(0, +)) / Double(max(1, delays.count)) }
    }

    /// How long fixes are made; a trial lasts at most twice as long.
    package static let seconds: Int64 = 3600

    /// Runs until everything is acknowledged.
    /// - Throws: where the collar's flash or the trial itself fails.
    package func run() throws(StationError) -> Result {
        var state = try LiveTrialState(self)
        while !state.isOver { try state.step() }
        return state.result
    }
}

/// A trial under way.
private struct LiveTrialState {
    private let trial: LiveTrial
    private var link: TrialLink
    private var noticedCount = 0
    /// Made, and not at the host.
    private var missing: [Int] = []
    private(set) var result = LiveTrial.Result()

    init(_ trial: LiveTrial) throws(StationError) {
        self.trial = trial
        let fixes = SimulatedWalk.fixes(Int(LiveTrial.seconds / trial.secondsApart), secondsApart: trial.secondsApart)
        result.fixCount = fixes.count
        link = try TrialLink(
            fixes, firstDue: Instant(microseconds: trial.secondsApart * 1_000_000), secondsApart: trial.secondsApart,
            modem: trial.modem, lossProbability: trial.lossProbability, seed: trial.seed)
    }

    var isOver: Bool {
        link.isEverythingMade && link.collar.isEverythingDelivered
            || link.now.microseconds >= 2 * LiveTrial.seconds * 1_000_000
    }

    mutating func step() throws(StationError) {
        guard let sent = try link.sendFrame() else { return }
        result.collarMicroseconds += sent.airtime
        guard let answers = sent.answers else { return }
        missing += noticedCount..<link.madeCount
        noticedCount = link.madeCount
        let stored = link.host.stored
        for index in missing where stored.contains(UInt32(index)) {
            result.delays.append(link.now.microseconds(since: link.due(index)))
        }
        missing.removeAll { stored.contains(UInt32($0)) }
        for answer in answers { result.hostMicroseconds += try link.send(answer).airtime }
    }
}
