import CollarARQ

/// Which collars hear each other, and how strong a base hears them.
package struct CollarHearing: Equatable, Sendable {
    /// A packet that is stronger by this much than another one is received in spite of it, in decibels (LoRa, a common
    /// assumption).
    private static let captureDecibels: Int64 = 6

    private let count: Int
    private var isHidden: [Bool]
    /// The strengths at the base, in decibels; empty if the stronger packet is destroyed too.
    private var strengths: [Int64] = []

    /// All collars hear each other.
    package init(collarCount: Int) {
        count = collarCount
        isHidden = Array(repeating: false, count: collarCount * collarCount)
    }

    /// Collars that hear each other by chance.
    /// - Parameters:
    ///   - hiddenProbability: the part of the pairs that do not hear each other, 0 … 1.
    ///   - hasCapture: whether a base receives the stronger of two packets. The strengths differ by up to 24 dB.
    package init(collarCount: Int, hiddenProbability: Double, hasCapture: Bool = false, seed: UInt64) {
        self.init(collarCount: collarCount)
        var random = SeededRandom(seed: seed)
        for first in 0..<count {
            for second in 0..<first where random.chance(hiddenProbability) {
                isHidden[first * count + second] = true
                isHidden[second * count + first] = true
            }
        }
        if hasCapture { strengths = (0..<count).map { _ in random.between(0, 24) } }
    }

    package func hears(_ listener: Int, _ sender: Int) -> Bool { !isHidden[listener * count + sender] }

    /// Whether a base receives the packet of a collar although another collar sends at the same time.
    func captures(_ sender: Int, from other: Int) -> Bool {
        !strengths.isEmpty && strengths[sender] >= strengths[other] + Self.captureDecibels
    }
}

/// The collars that sense the channel, and the packets that they can notice.
package struct ChannelSenses: Sendable {
    private struct Sense: Sendable {
        let start: Instant
        let end: Instant
        /// Whether the radio misses everything this time.
        let isMissed: Bool
    }

    private struct EndedPacket: Sendable {
        /// The collar that sent it; nil for a base.
        let sender: Int?
        let start: Instant
        let end: Instant
    }

    /// The part of the times in which a radio notices nothing. LMAC (Gamage et al., MobiCom 2020) and Semtech's AN1200.48 say that the
    /// detection is reliable; this is more than they lose.
    private static let missProbability = 0.05
    /// Packets that ended longer ago than this can be noticed no more, in microseconds.
    private static let longestSense: Int64 = 10_000_000

    /// A packet is noticed after a symbol.
    private let symbolMicroseconds: Int64
    private var senses: [Sense?]
    private var sensingCount = 0
    private var ended: [EndedPacket] = []
    private var random: SeededRandom

    package init(collarCount: Int, modem: ModemProfile, seed: UInt64) {
        symbolMicroseconds = max(1, (modem.senseMicroseconds - modem.turnaroundMicroseconds) / 5)
        senses = Array(repeating: nil, count: collarCount)
        random = SeededRandom(seed: seed ^ 0x5E45_E000)
    }

    package var isAny: Bool { sensingCount > 0 }

    package func isSensing(_ collar: Int) -> Bool { senses[collar] != nil }

    /// Notes until when a collar senses the channel; nil if it does not.
    package mutating func note(senseEnd: Instant?, of collar: Int, now: Instant) {
        guard senseEnd != senses[collar]?.end else { return }
        end(collar)
        guard let senseEnd else { return }
        sensingCount += 1
        senses[collar] = Sense(start: now, end: senseEnd, isMissed: random.chance(Self.missProbability))
    }

    package mutating func end(_ collar: Int) {
        if senses[collar] != nil { sensingCount -= 1 }
        senses[collar] = nil
    }

    /// A packet has ended on the air.
    package mutating func ended(from sender: Int?, start: Instant, end: Instant) {
        ended.removeAll { end.microseconds(since: $0.end) > Self.longestSense }
        ended.append(EndedPacket(sender: sender, start: start, end: end))
    }

    /// Whether a collar notices a packet that was on the air from `start` to `end`.
    package func notices(_ collar: Int, _ start: Instant, _ end: Instant) -> Bool {
        guard let sense = senses[collar], !sense.isMissed else { return false }
        return min(end, sense.end).microseconds(since: max(start, sense.start)) >= symbolMicroseconds
    }

    /// Whether a collar notices a packet that has ended.
    package func hasEndedPacket(heardBy collar: Int, in hearing: CollarHearing) -> Bool {
        ended.contains { packet in
            if let sender = packet.sender, sender == collar || !hearing.hears(collar, sender) { return false }
            return notices(collar, packet.start, packet.end)
        }
    }
}
