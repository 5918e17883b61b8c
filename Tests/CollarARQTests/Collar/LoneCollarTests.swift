import CollarARQ
import CollarWire
import Testing

/// The traffic of a collar that knows of no company, with random fixes, losses, requests and links, as a number that changes with the time
/// and the content of any frame.
struct LoneCollarTraffic {
    private static let frameCount = 150
    private static let longestMicroseconds: Int64 = 36_000_000_000

    private var random: UInt64
    private var delivery: CollarDelivery
    private let modem: ModemProfile
    private let lossPercent: UInt64
    private let answerMicroseconds: Int64
    private let interval: Int64
    private let isRegular: Bool
    private var now: Int64 = 0
    private var nextFix: Int64 = 1_000_000
    private var logged: UInt32 = 0
    private var stored: Set<UInt32> = []
    private var arrival: (at: Int64, answer: Acknowledgement)?
    /// FNV-1a of what was sent (G. Fowler, L. C. Noll, P. Vo).
    private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325

    init(seed: UInt64) {
        random = (seed &+ 1) &* 0x9E37_79B9_7F4A_7C15
        let spreadingFactor = UInt8(7 + seed % 6)
        modem =
            seed % 7 == 0
            ? .serial(bitsPerSecond: 9600)
            : ModemProfile(
                lora: LoRaSettings(
                    frequencyHertz: 868_100_000, bandwidthHertz: 125_000, spreadingFactor: spreadingFactor, codingRateDenominator: 5,
                    preambleSymbols: 8, hasExplicitHeader: true, hasCRC: true, optimizesLowDataRate: spreadingFactor > 10, powerDBm: 14),
                turnaroundMicroseconds: 50_000)
        lossPercent = [0, 10, 30][Int(seed / 7 % 3)]
        interval = [1_000_000, 10_000_000, 60_000_000, 180_000_000][Int(seed / 3 % 4)]
        isRegular = seed % 2 == 0
        answerMicroseconds = seed % 5 == 0 ? modem.turnaroundMicroseconds : 5000
        delivery = CollarDelivery(
            configuration: CollarDelivery.Configuration(
                heartbeatMicroseconds: [60_000_000, 270_000_000][Int(seed / 2 % 2)], modem: modem, sendsLiveFixes: seed % 4 != 0,
                batchFrameByteLimit: seed % 3 == 0 ? nil : 253, dutyCyclePartsPerMillion: seed % 11 == 0 ? 10_000 : nil,
                jitterSeed: UInt32(truncatingIfNeeded: seed &+ 1)),
            oldestSequence: 0, nextSequence: 0, firstUndelivered: 0, now: Instant(microseconds: 0))
        delivery.setLiveInterval(microseconds: [0, 500_000, 5_000_000][Int(seed / 5 % 3)])
        // A collar that was told that it is alone.
        _ = delivery.receive(Acknowledgement(receiverID: 1, poll: nil, firstMissing: 0), now: Instant(microseconds: 0))
    }

    private mutating func below(_ bound: UInt64) -> UInt64 {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return random % bound
    }

    private mutating func note(_ value: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { digest = (digest ^ (value >> shift & 0xFF)) &* 0x0000_0100_0000_01B3 }
    }

    mutating func run() -> UInt64 {
        var count = 0
        while count < Self.frameCount, now < Self.longestMicroseconds {
            makeFixes()
            if let (at, answer) = arrival, at <= now {
                arrival = nil
                _ = delivery.receive(answer, now: Instant(microseconds: now))
            }
            if let transmission = delivery.nextTransmission(now: Instant(microseconds: now)) {
                count += 1
                send(transmission)
                continue
            }
            var next = nextFix
            if let deadline = delivery.nextDeadline { next = min(next, deadline.microseconds) }
            if let arrival { next = min(next, arrival.at) }
            now = max(next, now + 1)
        }
        return digest
    }

    private mutating func makeFixes() {
        while nextFix <= now {
            logged += 1
            delivery.logChanged(oldestSequence: 0, nextSequence: logged)
            if below(20) == 0 { delivery.newestIsUrgent() }
            if below(15) == 0 { delivery.replyWaits(frameCount: 1) }
            nextFix += isRegular ? interval : Int64(below(UInt64(2 * interval))) + 1
        }
    }

    private mutating func send(_ transmission: CollarDelivery.Transmission) {
        var poll = transmission.poll
        var sequences: [UInt32] = []
        let byteCount: Int
        switch transmission.content {
        case .identity: byteCount = 43
        case .probe: byteCount = 14
        case .reply: byteCount = 21
        case .logEntry(let sequence): (byteCount, sequences) = (26, [sequence])
        case .liveFix(let sequence, let anchor): (byteCount, sequences) = (13 + (sequence - anchor > 8 ? 1 : 0), [sequence])
        case .batch(let first, let limit):
            sequences = [first]
            while sequences.count < (limit - 20) / 6, let next = delivery.undelivered(after: sequences[sequences.count - 1]) {
                sequences.append(next)
            }
            byteCount = 20 + 6 * sequences.count
            poll = delivery.batched(through: sequences[sequences.count - 1])
        case .newestFixes(let first, let last, _):
            sequences = [first]
            while let next = delivery.undelivered(after: sequences[sequences.count - 1]) { sequences.append(next) }
            byteCount = 20 + 6 * sequences.count
            delivery.sentNewest(from: first, through: last)
        }
        note(UInt64(now))
        note(UInt64(byteCount))
        note(UInt64(poll?.rawValue ?? 99))
        for sequence in sequences { note(UInt64(sequence)) }
        now += modem.airtimeMicroseconds(frameByteCount: byteCount)
        delivery.transmitted(frameByteCount: byteCount, now: Instant(microseconds: now))
        guard below(100) >= lossPercent else { return }
        stored.formUnion(sequences)
        guard let poll else { return }
        let answer = answer(to: poll)
        guard below(100) >= lossPercent else { return }
        arrival = (now + answerMicroseconds + modem.airtimeMicroseconds(frameByteCount: 18), answer)
    }

    private func answer(to poll: PollNumber) -> Acknowledgement {
        var firstMissing: UInt32 = 0
        while stored.contains(firstMissing) { firstMissing += 1 }
        var answer = Acknowledgement(receiverID: 1, poll: poll, firstMissing: firstMissing)
        var above = stored.filter { $0 > firstMissing }.sorted()
        while let last = above.popLast(), !answer.durable.isFull {
            var first = last
            while above.last == first - 1 { first = above.removeLast() }
            if let range = SequenceRange(first, last) { answer.durable.append(range) }
        }
        return answer
    }
}

/// A collar that is alone sends as one that knows of no company.
@Suite struct LoneCollarTests {
    /// The traffic of blocks of a hundred seeds, computed once with the delivery of commit 67fcfab, which knew of no company: this file ran
    /// with the sources of that commit.
    static let digests: [UInt64] = [
        0x9AA1_2AFC_4EC5_080D, 0x985C_4305_2352_1E6C, 0x1A0C_870E_2F90_FACE, 0x97DF_0648_2510_B1E1, 0x0DED_8C31_AC24_CA70,
        0x944D_C478_0FFF_F507, 0x8A63_7E99_0A1B_A141, 0x5C22_DD28_11A6_DA78, 0xC2A0_1A4D_A5A6_89DF, 0x2AB3_0842_AE52_B06A,
    ]

    @Test("Every time and frame is the same as before company", arguments: 0..<UInt64(digests.count))
    func aLoneCollarSendsAsBefore(block: UInt64) {
        var digest: UInt64 = 0
        for seed in (block * 100)..<(block * 100 + 100) {
            var traffic = LoneCollarTraffic(seed: seed)
            digest = (digest ^ traffic.run()) &* 0x0000_0100_0000_01B3
        }
        #expect(digest == Self.digests[Int(block)])
    }
}
