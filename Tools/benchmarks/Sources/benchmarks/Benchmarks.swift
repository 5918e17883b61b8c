import CollarFormats
import CollarLink
import CollarWire

/// A piece of work that is done to every element of a set, again and again.
struct Benchmark {
    let name: String
    /// Bytes of frames or of text per element.
    let bytesPerElement: Double
    /// Elements per round.
    let elementCount: Int
    /// Runs one round. The result depends on all of the work, so that nothing is optimized away.
    let round: () -> Int
}

/// The data of the benchmarks: a walk at 1 Hz with every field known.
struct Samples {
    static let count = 4096
    let log: LogIdentity
    let fixes: [Fix]
    /// Bare frames, one per fix.
    let frames: [[UInt8]]
    /// The frames on a serial line.
    let stream: [UInt8]

    init() throws {
        let log = LogIdentity(deviceID: 0x0123_4567_89AB_CDEF, logID: 44_813_807)
        var fixes: [Fix] = []
        var random = SystemIndependentRandom()
        var latitude: Int32 = 4_737_690
        var longitude: Int32 = 854_170
        for sequence in 0..<UInt32(Samples.count) {
            latitude += Int32(random.below(5)) - 2
            longitude += Int32(random.below(7)) - 3
            fixes.append(
                Fix(
                    sequence: sequence, unixMilliseconds: 1_700_000_000_000 + Int64(sequence) * 1000,
                    latitudeSteps: latitude, longitudeSteps: longitude, altitudeSteps: 408 + Int32(random.below(3)),
                    horizontalAccuracy: AccuracyCode(rawValue: UInt8(45 + random.below(3))),
                    verticalAccuracy: AccuracyCode(rawValue: UInt8(50 + random.below(3))),
                    speedDecimetersPerSecond: UInt32(12 + random.below(5)),
                    course: AngleCode(steps: UInt8(40 + random.below(4))),
                    heading: AngleCode(steps: UInt8(60 + random.below(4))), batteryPercent: 85))
        }
        self.log = log
        self.fixes = fixes
        frames = try fixes.map { fix in
            try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try AbsoluteFix.encode(
                    fix, address: 1, flags: FrameFlags(poll: nil), log: log, reference: fix.sequence, into: &output)
            }
        }
        stream = frames.flatMap { frame in
            [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
                StreamEncoder.encode(frame.span, into: &output)
            }
        }
    }

    func received(_ fix: Fix) -> ReceivedFix {
        ReceivedFix(
            deviceID: log.deviceID, logID: log.logID, receivedUnixMilliseconds: 1_700_000_000_123, fix: fix)
    }
}

/// A small linear congruential generator (D. Knuth, MMIX): the same numbers on every machine.
struct SystemIndependentRandom {
    private var state: UInt64 = 1

    mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(truncatingIfNeeded: state &>> 33) % bound
    }
}
