import CollarARQ
import CollarFirmware
import CollarSimulator
import CollarWire
import Testing

/// Several collars and base sticks on one LoRa channel. Each collar makes one fix and sends it at once.
@Suite("A shared channel") struct SharedChannelTests {
    private static let modem = SimulatedModem.lora(spreadingFactor: 9).profile
    /// When the first collar makes its fix.
    private static let first: Int64 = 1_000_000

    private struct Bench {
        var radio: SharedRadio<MemoryFlash>
        var now = Instant(microseconds: 0)

        /// Lets time pass until `end`, in microseconds, or until a condition holds.
        /// - Returns: what the hosts of both sticks get.
        mutating func run(until end: Int64, or isEnough: (SharedRadio<MemoryFlash>) -> Bool = { _ in false }) throws -> [[UInt8]] {
            var output: [[UInt8]] = [[], []]
            while !isEnough(radio), radio.nextDeadline.microseconds <= end {
                now = max(radio.nextDeadline, now.advanced(byMicroseconds: 1))
                output[0] += try radio.advance(to: now)
                output[1] += radio.takeOutput(of: 1, now: now)
            }
            return output
        }

        /// Whether the first frame of the second collar has ended.
        static func hasSecondSent(_ radio: SharedRadio<MemoryFlash>) -> Bool {
            radio.stations[1].statistics.uplinkFrames > 0 && radio.stations[1].transmission == nil
        }

        /// The host of a stick acknowledges the fix of a collar.
        mutating func answer(collar: Int, at base: Int = 0) throws {
            let log = LogIdentity(deviceID: DeviceID(rawValue: UInt64(collar) + 1), logID: 5)
            let answer = Acknowledgement(receiverID: 77, poll: .first, firstMissing: 1)
            let frame = try [UInt8](capacity: 253) { output in try answer.encode(address: UInt8(collar + 1), log: log, into: &output) }
            let bytes = [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
                StreamEncoder.encode(frame.span, into: &output)
            }
            radio.receive(bytes, at: base, now: now)
        }
    }

    /// A bench with two sticks.
    /// - Parameters:
    ///   - starts: when each collar makes its fix, in microseconds.
    ///   - senses: whether the collars sense the channel.
    ///   - seed: the seed of the random waits and of the sensing; nil for no waits.
    private func bench(starts: [Int64], senses: Bool = false, hearing: CollarHearing? = nil, seed: UInt32? = nil) throws -> Bench {
        var stations: [CollarRadioStation<MemoryFlash>] = []
        for (index, start) in starts.enumerated() {
            let (address, start) = (UInt8(index + 1), Instant(microseconds: start))
            let device = try CollarDevice(
                starting: .init(
                    deviceID: DeviceID(rawValue: UInt64(address)), address: address,
                    firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0),
                    delivery: CollarDelivery.Configuration(
                        modem: Self.modem, jitterSeed: seed.map { 100 * $0 + UInt32(address) }, sensesChannel: senses)),
                flash: MemoryFlash(blockByteCount: 512, blockCount: 10), cause: .external, randomLogID: 5, now: start)
            stations.append(
                try CollarRadioStation(
                    device: device, address: address, radio: LossyRadio(lossProbability: 0, corruptionProbability: 0, seed: 1),
                    modem: Self.modem,
                    track: SimulatedTrack(
                        fixes: [Fix(sequence: 0, unixMilliseconds: 1_700_000_000_000, latitudeSteps: 1, longitudeSteps: 1)], pace: .speed(1)),
                    start: start))
        }
        var radio = SharedRadio(stations, modem: Self.modem, hearing: hearing, seed: UInt64(seed ?? 0))
        radio.addBase(SerialStick(modem: Self.modem))
        return Bench(radio: radio)
    }

    private func hearing(hidden: Double, capture: Bool = false, seed: UInt64 = 1) -> CollarHearing {
        CollarHearing(collarCount: 2, hiddenProbability: hidden, hasCapture: capture, seed: seed)
    }

    /// Airtime of the fix, in microseconds.
    private func fixMicroseconds() throws -> Int64 {
        var alone = try bench(starts: [Self.first])
        _ = try alone.run(until: Self.first + 1)
        return alone.radio.statistics.airtimeMicroseconds
    }

    @Test("a frame destroys an answer only for the collars that hear it", arguments: [0.0, 1.0])
    func destroyedAnswers(hidden: Double) throws {
        let second = try Self.first + fixMicroseconds() + 20_000
        var bench = try bench(starts: [Self.first, second], hearing: hearing(hidden: hidden))
        _ = try bench.run(until: second - 1) { $0.isAnswerExpected }
        try bench.answer(collar: 0)
        _ = try bench.run(until: second + 500_000)
        #expect(bench.radio.stations[0].isDelivered == (hidden == 1))
        // The base that sends does not hear the second collar.
        #expect(bench.radio.stations[1].statistics.collisions > 0)
    }

    /// The first waits of both are random parts of an exchange. The sensing misses a packet in 5 % of the cases, and those that begin within
    /// a symbol of each other.
    @Test("collars that sense the channel seldom collide if they hear each other", arguments: [0.0, 1.0])
    func sensing(hidden: Double) throws {
        var (busyCount, collidedCount) = (0, 0)
        for seed in 1...40 as ClosedRange<UInt32> {
            var bench = try bench(
                starts: [Self.first, Self.first + 100_000], senses: true, hearing: hearing(hidden: hidden), seed: seed)
            _ = try bench.run(until: Self.first + 2_000_000) { $0.stations.allSatisfy { $0.statistics.uplinkFrames > 0 && $0.transmission == nil } }
            let statistics = bench.radio.statistics
            busyCount += statistics.busyCount
            if statistics.collisions > 0 { collidedCount += 1 }
        }
        if hidden == 0 {
            #expect(busyCount >= 10)
            #expect(collidedCount <= 6)
        } else {
            #expect(busyCount == 0)
            #expect(collidedCount >= 10)
        }
    }

    @Test("a collar that senses waits for an answer of a base")
    func sensingAnswers() throws {
        let second = try Self.first + Self.modem.senseMicroseconds + fixMicroseconds() + 20_000
        var bench = try bench(starts: [Self.first, second], senses: true)
        _ = try bench.run(until: second - 1) { $0.isAnswerExpected }
        try bench.answer(collar: 0)
        _ = try bench.run(until: second + 1_000_000, or: Bench.hasSecondSent)
        #expect(bench.radio.stations[0].isDelivered)
        #expect(bench.radio.stations[1].statistics.busyCount > 0)
    }

    @Test("of two packets at once, a base receives one that is much stronger, and never both")
    func capture() throws {
        var counts = [0, 0, 0]
        for seed: UInt64 in 0..<50 {
            for capture in [false, true] {
                var bench = try bench(starts: [Self.first, Self.first], hearing: hearing(hidden: 0, capture: capture, seed: seed))
                _ = try bench.run(until: Self.first + 500_000)
                let collisions = bench.radio.statistics.collisions
                if capture { counts[collisions] += 1 } else { #expect(collisions == 2) }
            }
        }
        // Of strengths from 0 to 24 dB, 61 % of the pairs are 6 dB apart.
        #expect(counts[0] == 0)
        #expect((22...38).contains(counts[1]))
    }

    @Test("all bases hear a collar, and a collar hears each of them", arguments: [0, 1])
    func bases(answering: Int) throws {
        var bench = try bench(starts: [Self.first])
        let bytes = try bench.run(until: Self.first + 1_000_000) { $0.isAnswerExpected }
        #expect(bytes[0].count > 20 && bytes[0] == bytes[1])
        try bench.answer(collar: 0, at: answering)
        _ = try bench.run(until: Self.first + 2_000_000) { $0.isDelivered }
        #expect(bench.radio.isDelivered)
    }

    @Test("frames of two bases destroy each other; those of one base come one after the other", arguments: [[0, 1], [0, 0]])
    func twoAnswers(bases: [Int]) throws {
        var bench = try bench(starts: [Self.first])
        _ = try bench.run(until: Self.first + 1_000_000) { $0.isAnswerExpected }
        for base in bases { try bench.answer(collar: 0, at: base) }
        _ = try bench.run(until: Self.first + 1_000_000)
        #expect(bench.radio.isDelivered == (bases == [0, 0]))
        #expect(bench.radio.statistics.downlinkFrames == 2)
    }
}
