import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// Measures the largest airtime in any hour. A collar with a duty cycle always has something to send, and reboots at any
/// moment.
///
/// A real collar runs in virtual time on a half-duplex link. Other receivers send identity requests, the host sends requests,
/// frames are lost, and the power is cut in the middle of frames. The airtime up to the cut counts.
package struct DutyCycleTrial: Sendable {
    /// When the collar reboots.
    package enum Reboots: Equatable, Sendable {
        /// Never.
        case none
        /// At random times, with this mean distance in seconds.
        case meanSeconds(Int64)
        /// In storms of up to an hour, in which the collar reboots with this mean distance in seconds, with up to an hour of calm
        /// between them.
        case storms(meanSeconds: Int64)
    }

    /// The link.
    package var modem: SimulatedModem
    /// Time between two fixes, in seconds, at least 1.
    package var secondsApart: Int64
    /// Probability that a frame is lost, in each direction, 0 … 1.
    package var lossProbability = 0.0
    /// Mean time between two identity requests of other receivers, in milliseconds; nil for no such requests.
    package var meanQuestionMilliseconds: Int64?
    /// Time of the first of these identity requests, in seconds.
    package var questionsBeginAfterSeconds: Int64 = 0
    /// Mean time between two requests of the host, in seconds; nil for no requests.
    package var meanRequestSeconds: Int64?
    /// When the collar reboots.
    package var reboots = Reboots.none
    /// Probability that the power is cut in the middle of a frame, in addition to all other reboots; 0 … 1.
    package var cutProbability = 0.0
    /// The part of every hour in which the collar may send, in millionths.
    package var dutyCyclePartsPerMillion: Int64 = 10_000
    /// Virtual time, in hours.
    package var hours: Int64 = 6
    /// The seed of everything random.
    package var seed: UInt64

    /// The airtime of an hour that the duty cycle allows, in microseconds.
    package var allowedMicroseconds: Int64 { dutyCyclePartsPerMillion * 3600 }

    /// What a trial measured. Times in microseconds.
    package struct Result: Equatable, Sendable {
        /// Largest airtime in any hour.
        package var mostMicroseconds: Int64 = 0
        /// End of that hour, counted from the start.
        package var mostAt: Int64 = 0
        /// Airtime of the whole trial.
        package var airtimeMicroseconds: Int64 = 0
        /// Frames sent, including those that were cut short.
        package var frameCount = 0
        /// Frames that a reboot cut short.
        package var cutFrameCount = 0
        /// Reboots.
        package var rebootCount = 0
        /// Frames that the collar received, except acknowledgements and commands that it executed.
        package var heardCount = 0
        /// The first sequence that was not delivered at the end: all fixes below it were acknowledged.
        package var deliveredCount: UInt32 = 0
    }

    /// Runs the trial.
    /// - Throws: if the collar's flash or the trial itself fails.
    package func run() throws(StationError) -> Result {
        var state = try DutyCycleTrialState(self)
        while !state.isOver { try state.step() }
        return state.finished
    }
}

extension DutyCycleTrial {
    /// A trial in which everything comes from one seed.
    package init(seed: UInt64) {
        var random = SeededRandom(seed: seed ^ 0xD07C_C1C1)
        let spreadingFactors: [UInt8] = [7, 9, 12]
        let modem = SimulatedModem.lora(spreadingFactor: spreadingFactors[Int(random.next() % 3)])
        self.init(modem: modem, secondsApart: 1 + Int64(random.next() % 60), seed: seed)
        lossProbability = Double(random.next() % 10) / 10
        // From one every 60 ms to one in four minutes.
        meanQuestionMilliseconds = random.next() % 4 == 0 ? nil : 60 << Int64(random.next() % 13)
        // Until then the collar sends less, and the bucket fills.
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
