import CollarARQ
import CollarSimulator
import CollarWire

/// Measures the airtime that the delivery of a backlog costs over a lossy half-duplex link, and compares it with a bound. A
/// real collar and a real host run in virtual time.
///
/// The bound assumes that the collar knows at once which frames arrived, without any acknowledgement. Such a collar sends each fix
/// in the absolute form, in a frame of its own, until the frame arrives: airtime ÷ (1 − loss) for each fix.
package struct AirtimeTrial: Sendable {
    /// The fixes in the collar's log.
    package var fixes: [Fix]
    /// The link.
    package var modem: ModemProfile
    /// Probability that a frame is lost, in each direction, 0 … 1.
    package var lossProbability: Double
    /// How the collar sends.
    package var delivery: CollarDelivery.Configuration
    /// The seed of the losses.
    package var seed: UInt64

    /// What a trial measured. Times in microseconds.
    package struct Result: Equatable, Sendable {
        /// Airtime of the collar.
        package var collarMicroseconds: Int64 = 0
        /// Airtime of the host's acknowledgements.
        package var hostMicroseconds: Int64 = 0
        /// Airtime of the bound.
        package var boundMicroseconds: Double = 0
        /// The part of ``collarMicroseconds`` in bursts of at least eight full frames, with all repetitions until an answer
        /// arrived.
        package var longBurstMicroseconds: Int64 = 0
        /// The part of ``hostMicroseconds`` that answered those bursts.
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

    /// The airtime since the last answer that reached the collar.
    private struct Burst {
        var collarMicroseconds: Int64 = 0
        var hostMicroseconds: Int64 = 0
        var fullFrameCount = 0
    }

    /// Runs until everything is delivered and acknowledged.
    /// - Throws: if the collar's flash or the trial itself fails.
    package func run() throws(StationError) -> Result {
        let link = try TrialLink(
            fixes, secondsApart: 0, modem: modem, lossProbability: lossProbability, delivery: delivery, seed: seed)
        try link.wait(until: link.now)
        var result = Result()
        for fix in fixes {
            let airtime = modem.airtimeMicroseconds(absolute: fix, log: link.collar.log)
            result.boundMicroseconds += Double(airtime) / (1 - lossProbability)
        }
        // A batch ends before the first fix that does not fit any more, so a full batch can be some bytes below the limit.
        let fullFrameByteCount = delivery.batchFrameByteLimit.map { $0 * 9 / 10 } ?? .max
        var burst = Burst()
        try link.run(until: { link.collar.isEverythingDelivered }) { sent in
            result.collarMicroseconds += sent.airtime
            burst.collarMicroseconds += sent.airtime
            if sent.byteCount >= fullFrameByteCount { burst.fullFrameCount += 1 }
        } answered: { airtime, isHeard in
            result.hostMicroseconds += airtime
            burst.hostMicroseconds += airtime
            guard isHeard else { return }
            if burst.fullFrameCount >= 8 {
                result.longBurstMicroseconds += burst.collarMicroseconds
                result.longBurstAnswerMicroseconds += burst.hostMicroseconds
            }
            burst = Burst()
        }
        return result
    }
}
