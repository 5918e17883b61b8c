import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire

/// What it costs on the air to bring a backlog over a lossy half-duplex link: a real collar and a real host's end in
/// virtual time, beside the bound.
///
/// The bound knows at once what arrived and spends nothing on saying so: every fix in a frame of its own, absolute, as
/// often as it takes, airtime ÷ (1 − loss) a fix.
package struct AirtimeTrial: Sendable {
    /// The fixes in the collar's log.
    package var fixes: [Fix]
    /// The link.
    package var modem: ModemProfile
    /// Probability that a frame is lost, in each direction, 0 … 1.
    package var lossProbability: Double
    /// How the collar sends.
    package var delivery: CollarDelivery.Configuration
    /// What the losses are drawn from.
    package var seed: UInt64

    /// What a trial measured. Times in microseconds.
    package struct Result: Equatable, Sendable {
        /// Airtime of the collar.
        package var collarMicroseconds: Int64 = 0
        /// Airtime of the host's acknowledgements.
        package var hostMicroseconds: Int64 = 0
        /// Airtime of the bound.
        package var boundMicroseconds: Double = 0
        /// The part of ``collarMicroseconds`` of bursts of eight full frames or more, what was repeated until they were
        /// answered included.
        package var longBurstMicroseconds: Int64 = 0
        /// The part of ``hostMicroseconds`` that answered those.
        package var longBurstAnswerMicroseconds: Int64 = 0

        /// Airtime of both ends, as a multiple of the bound.
        package var overBound: Double { Double(collarMicroseconds + hostMicroseconds) / boundMicroseconds }
        /// The acknowledgements' part of the airtime.
        package var acknowledgementShare: Double {
            Double(hostMicroseconds) / Double(collarMicroseconds + hostMicroseconds)
        }
        /// The acknowledgements' part of the airtime of bursts of eight full frames or more; nil without such a burst.
        package var longBurstAcknowledgementShare: Double? {
            let total = longBurstMicroseconds + longBurstAnswerMicroseconds
            return total > 0 ? Double(longBurstAnswerMicroseconds) / Double(total) : nil
        }
    }

    /// Runs until everything is delivered and acknowledged.
    /// - Throws: where the collar's flash or the trial itself fails.
    package func run() throws(StationError) -> Result {
        var state = try AirtimeTrialState(self)
        while !state.link.collar.isEverythingDelivered { try state.step() }
        return state.result
    }
}

/// A trial under way.
private struct AirtimeTrialState {
    let trial: AirtimeTrial
    var link: TrialLink
    var result = AirtimeTrial.Result()
    private var burst = Burst()

    /// What was sent since the last answer that reached the collar.
    private struct Burst {
        var collarMicroseconds: Int64 = 0
        var hostMicroseconds: Int64 = 0
        var fullFrameCount = 0
    }

    init(_ trial: AirtimeTrial) throws(StationError) {
        self.trial = trial
        link = try TrialLink(
            trial.fixes, secondsApart: 0, modem: trial.modem, lossProbability: trial.lossProbability,
            delivery: trial.delivery, seed: trial.seed)
        try link.wait(until: link.now)
        for fix in trial.fixes {
            let airtime = trial.modem.airtimeMicroseconds(absolute: fix, log: link.collar.log)
            result.boundMicroseconds += Double(airtime) / (1 - trial.lossProbability)
        }
    }

    mutating func step() throws(StationError) {
        guard let sent = try link.sendFrame() else { return }
        result.collarMicroseconds += sent.airtime
        burst.collarMicroseconds += sent.airtime
        if let full = fullFrameByteCount, sent.byteCount >= full { burst.fullFrameCount += 1 }
        for answer in sent.answers ?? [] { try send(answer) }
    }

    private mutating func send(_ answer: [UInt8]) throws(StationError) {
        let (airtime, isHeard) = try link.send(answer)
        result.hostMicroseconds += airtime
        burst.hostMicroseconds += airtime
        guard isHeard else { return }
        if burst.fullFrameCount >= 8 {
            result.longBurstMicroseconds += burst.collarMicroseconds
            result.longBurstAnswerMicroseconds += burst.hostMicroseconds
        }
        burst = Burst()
    }

    /// A batch ends before the fix that no longer fits, some bytes below the limit.
    private var fullFrameByteCount: Int? { trial.delivery.batchFrameByteLimit.map { $0 * 9 / 10 } }
}
