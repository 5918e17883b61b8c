import CollarARQ
import CollarSimulator
import CollarWire
import RadioModems

/// What sticks answer. The parts are what a simulated stick sent, one after the other; a run gives them to a modem at the same times.
struct StickBorder: Border {
    private static let settings = RadioSettings(
        frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 5, powerDBm: 14)
    /// The time between two answers of the host, in microseconds.
    private static let answerInterval: Int64 = 2_000_000

    private let dialect: Dialect
    private let times: [Instant]
    let name: String
    let seeds: [Input]
    let binaryByteCount: Int

    init(_ dialect: Dialect) {
        self.dialect = dialect
        name = dialect.rawValue
        binaryByteCount = dialect == .rui3 ? 0 : 64
        var dialogue = Dialogue(dialect)
        dialogue.play(until: Instant(microseconds: 14_000_000), with: dialect.makeStick(modem: .serial(bitsPerSecond: 115_200), seed: 1))
        times = dialogue.received.map(\.time)
        seeds = [dialogue.received.map(\.bytes)]
    }

    func run(_ input: Input) {
        var dialogue = Dialogue(dialect)
        for (index, part) in input.enumerated() {
            dialogue.advance(to: index < times.count ? times[index] : dialogue.now.advanced(byMicroseconds: 100_000))
            dialogue.receive(part)
        }
        dialogue.advance(to: dialogue.now.advanced(byMicroseconds: 10_000_000))
    }

    /// A modem that is set up, then answers now and then, under the limits of a region.
    private struct Dialogue {
        private(set) var now = Instant(microseconds: 0)
        private(set) var received: [(time: Instant, bytes: [UInt8])] = []
        private var modem: RadioModem
        private var nextAnswer = Instant(microseconds: 8_000_000)

        init(_ dialect: Dialect) {
            modem = RadioModem(
                ModemConfiguration(
                    dialect: dialect, settings: StickBorder.settings,
                    limits: TransmitLimits(dutyCyclePartsPerMillion: 100_000, dwellMicroseconds: 400_000)),
                kind: .remote, isRested: true, at: now)
        }

        mutating func receive(_ bytes: [UInt8]) { modem.receive(bytes.span, at: now) }

        /// Passes the time, without a stick.
        mutating func advance(to end: Instant) {
            while let due = [modem.nextDeadline, nextAnswer].compactMap({ $0 }).min(), due < end {
                now = max(due, now.advanced(byMicroseconds: 1))
                step()
            }
            now = max(now, end)
            step()
        }

        private mutating func step() {
            if let due = modem.nextDeadline, now >= due { modem.deadlineReached(at: now) }
            if now >= nextAnswer {
                nextAnswer = now.advanced(byMicroseconds: StickBorder.answerInterval)
                for _ in 0..<3 { modem.send([UInt8](repeating: 0x33, count: 200)) }
                modem.flush(at: now)
            }
            while modem.nextEvent() != nil {}
            _ = modem.takeBytes()
        }

        /// Passes the time with a stick, and notes what it sends.
        mutating func play(until end: Instant, with stick: any BaseStick) {
            var stick = stick
            var transmissionEnd: Instant?
            while now < end {
                now = now.advanced(byMicroseconds: 1000)
                if let due = transmissionEnd, now >= due {
                    transmissionEnd = nil
                    stick.transmissionEnded(now: now)
                }
                stick.advance(to: now)
                if let due = modem.nextDeadline, now >= due { modem.deadlineReached(at: now) }
                if now >= nextAnswer {
                    nextAnswer = now.advanced(byMicroseconds: StickBorder.answerInterval)
                    modem.send([0x33, 0x34])
                    modem.flush(at: now)
                    stick.hear([1, 2, 3, 4], signal: RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: 70), now: now)
                }
                while modem.nextEvent() != nil {}
                let bytes = modem.takeBytes()
                if !bytes.isEmpty { stick.receive(bytes, now: now) }
                if transmissionEnd == nil, let transmission = stick.nextTransmission(now: now) {
                    transmissionEnd = now.advanced(byMicroseconds: transmission.airtimeMicroseconds)
                }
                let answer = stick.takeOutput(now: now)
                guard !answer.isEmpty else { continue }
                received.append((now, answer))
                modem.receive(answer.span, at: now)
            }
        }
    }
}
