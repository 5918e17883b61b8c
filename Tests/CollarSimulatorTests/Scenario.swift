import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// What a simulated day is like, all of it from the seed.
struct Scenario {
    var fixCount: Int
    var loss: Double
    var corruption: Double
    /// Probability of each in every step of the simulation.
    var reboot = 0.0
    var powerCut = 0.0
    var hostCrash = 0.0
    /// Probability that the host answers without having made durable what it just heard.
    var lateCommit = 0.0
    /// Probability that an answer takes up to 2 s more.
    var lateAnswer = 0.0
    var blockCount = 8
    var interval: SimulatedTrack.Pace = .interval(microseconds: 50_000)
    /// Whether the host may lose durable fixes once.
    var damage = false
}

/// What became of it.
struct Outcome {
    var host: TestHost
    var torn: Set<UInt32>
    var reboots = 0
    var crashes = 0
    var steps = 0
    var now: Instant
    var isDelivered = false
    var collarWatermark: UInt32 = 0
}

extension Scenario {
    static let modem = ModemProfile(
        nanosecondsPerByte: 100_000, frameOverheadMicroseconds: 500, turnaroundMicroseconds: 30_000)

    static func track(_ count: Int, seed: UInt64) -> [Fix] {
        var random = SeededRandom(seed: seed ^ 0xF1)
        return (0..<count).map { index in
            Fix(
                sequence: UInt32(index), unixMilliseconds: 1_700_000_000_000 + Int64(index) * 1000,
                latitudeSteps: Int32.random(in: -9_000_000...9_000_000, using: &random),
                longitudeSteps: Int32.random(in: -18_000_000...18_000_000, using: &random),
                altitudeSteps: random.chance(0.5) ? Int32.random(in: -500...9000, using: &random) : nil,
                horizontalAccuracy: AccuracyCode(rawValue: UInt8.random(in: 0...126, using: &random)),
                batteryPercent: random.chance(0.5) ? UInt8.random(in: 0...100, using: &random) : nil)
        }
    }

    /// Runs until everything is delivered, or far too many steps are done.
    func run(seed: UInt64) throws -> Outcome {
        var simulation = try Simulation(self, seed: seed)
        while simulation.outcome.steps < 30_000, try !simulation.isFinished { try simulation.step() }
        return simulation.finish()
    }
}
