import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// A collar with a duty cycle that always has something to say, and reboots at any moment: how much airtime does the
/// hour hold that holds most?
///
/// The real collar in virtual time behind a half-duplex link. Strangers ask who is there, the host wants things, frames
/// are lost, and the power is cut in the middle of frames; the airtime up to the cut counts.
package struct DutyCycleTrial: Sendable {
    /// When the collar reboots.
    package enum Reboots: Equatable, Sendable {
        /// Never.
        case none
        /// Now and then, at random times, so many seconds apart on the average.
        case meanSeconds(Int64)
        /// Storms of up to an hour in which it reboots every so many seconds on the average, with calm up to an hour long.
        case storms(meanSeconds: Int64)
    }

    /// The link.
    package var modem: SimulatedModem
    /// Time between two fixes, in seconds, at least 1.
    package var secondsApart: Int64
    /// Probability that a frame is lost, in each direction, 0 … 1.
    package var lossProbability = 0.0
    /// Mean time between two strangers' questions, in milliseconds; nil where nobody asks.
    package var meanQuestionMilliseconds: Int64?
    /// When the first of them asks, in seconds.
    package var questionsBeginAfterSeconds: Int64 = 0
    /// Mean time between two requests of the host, in seconds; nil where it has none.
    package var meanRequestSeconds: Int64?
    /// When it reboots.
    package var reboots = Reboots.none
    /// Probability that the power is cut in the middle of a frame, beside all other reboots; 0 … 1.
    package var cutProbability = 0.0
    /// The part of every hour in which the collar may send, in millionths.
    package var dutyCyclePartsPerMillion: Int64 = 10_000
    /// Virtual time, in hours.
    package var hours: Int64 = 6
    /// What chance depends on.
    package var seed: UInt64

    /// The airtime of an hour that the duty cycle allows, in microseconds.
    package var allowedMicroseconds: Int64 { dutyCyclePartsPerMillion * 3600 }

    /// What a trial measured. Times in microseconds.
    package struct Result: Equatable, Sendable {
        /// Airtime of the hour that held most.
        package var mostMicroseconds: Int64 = 0
        /// When that hour was over, since the start.
        package var mostAt: Int64 = 0
        /// Airtime of the whole trial.
        package var airtimeMicroseconds: Int64 = 0
        /// Frames sent, those that were cut short included.
        package var frameCount = 0
        /// Frames that a reboot cut short.
        package var cutFrameCount = 0
        /// Reboots.
        package var rebootCount = 0
        /// Questions and requests that the collar heard.
        package var heardCount = 0
        /// Fixes that were acknowledged at the end.
        package var deliveredCount: UInt32 = 0
    }

    /// Runs it.
    /// - Throws: where the collar's flash or the trial itself fails.
    package func run() throws(StationError) -> Result {
        var state = try DutyCycleTrialState(self)
        while !state.isOver { try state.step() }
        return state.finished
    }
}

extension DutyCycleTrial {
    /// A trial of which everything comes from one seed.
    package init(seed: UInt64) {
        var random = SeededRandom(seed: seed ^ 0xD07C_C1C1)
        let spreadingFactors: [UInt8] = [7, 9, 12]
        let modem = SimulatedModem.lora(spreadingFactor: spreadingFactors[Int(random.next() % 3)])
        self.init(modem: modem, secondsApart: 1 + Int64(random.next() % 60), seed: seed)
        lossProbability = Double(random.next() % 10) / 10
        // From 16 a second to one in four minutes.
        meanQuestionMilliseconds = random.next() % 4 == 0 ? nil : 60 << Int64(random.next() % 13)
        // Silence until then fills the bucket.
        questionsBeginAfterSeconds = Int64(random.next() % 3) * 3600
        meanRequestSeconds = random.next() % 3 == 0 ? nil : 10 << Int64(random.next() % 8)
        switch random.next() % 4 {
        case 0: reboots = .none
        case 1: reboots = .meanSeconds(30 << Int64(random.next() % 9))
        default: reboots = .storms(meanSeconds: 2 << Int64(random.next() % 8))
        }
        if random.next() % 2 == 0 { cutProbability = Double(1 + random.next() % 9) / 10 }
    }
}
