import CollarSimulator
import CollarWire

/// The simulator's generator of random numbers. The extension adds the kinds of values that these tests need.
typealias SeededRandom = CollarSimulator.SeededRandom

extension SeededRandom {
    /// 0 … `bound` − 1.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// True with the probability 1 / `bound`.
    mutating func oneIn(_ bound: Int) -> Bool { below(bound) == 0 }

    mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next() &>> 40) }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }

    /// A number of at most n bits, where n is a random number of 0 … 32, so that small and large numbers occur.
    mutating func anyLength() -> UInt32 {
        let bitCount = below(33)
        return bitCount == 0 ? 0 : UInt32(truncatingIfNeeded: next() &>> 32) &>> UInt32(32 - bitCount)
    }
}

extension Fix {
    /// A random valid fix. Values at limits, unknown fields and all steps are frequent.
    init(random: inout SeededRandom) {
        let step = PositionStep(rawValue: UInt8(random.below(3))) ?? .e5
        let quarter = step.stepsPerQuarterTurn
        self.init(
            sequence: Fix.randomSequence(&random), unixMilliseconds: Fix.randomTime(&random),
            source: FixSource(rawValue: UInt8(random.below(3))) ?? .collar, positionStep: step,
            latitudeSteps: random.edgy(in: -quarter...quarter, edges: [0, 1, -1]),
            longitudeSteps: random.edgy(in: -2 * quarter...2 * quarter, edges: [0, 1, -1]),
            altitudeStep: random.oneIn(2) ? .meter : .decimeter)
        if !random.oneIn(4) {
            altitudeSteps = random.edgy(
                in: Fix.altitudeStepsRange, edges: [-1001, -1000, -1, 0, 171, 15_382, 15_383, 15_384])
        }
        if !random.oneIn(4) { horizontalAccuracy = AccuracyCode(rawValue: random.edgy(in: 0...126, edges: [])) }
        if !random.oneIn(4) { verticalAccuracy = AccuracyCode(rawValue: random.edgy(in: 0...126, edges: [])) }
        if !random.oneIn(4) {
            speedDecimetersPerSecond = random.edgy(
                in: 0...Fix.maximumSpeedDecimetersPerSecond, edges: [1, 14, 510, 511, 512])
        }
        if !random.oneIn(4) { course = AngleCode(steps: random.edgy(in: 0...179, edges: [])) }
        if !random.oneIn(4) { heading = AngleCode(steps: random.edgy(in: 0...179, edges: [])) }
        if !random.oneIn(4) { batteryPercent = random.edgy(in: 0...100, edges: []) }
    }

    private static func randomSequence(_ random: inout SeededRandom) -> UInt32 {
        let near: [UInt32] = [0, 0x100, 0x8000, 0x1_0000, 0x100_0000, 0x8000_0000, 0xFFFF_0000, 0xFFFF_FF00]
        switch random.below(3) {
        case 0: return min(random.anyLength(), Fix.maximumSequence)
        case 1: return near[random.below(near.count)] &+ UInt32(random.below(4))
        default: return Fix.maximumSequence - UInt32(random.below(40_000))
        }
    }

    private static func randomTime(_ random: inout SeededRandom) -> Int64 {
        let lastSecond: Int64 = 0xFFFF_FFFF * 1000
        let edges = [lastSecond, lastSecond + 900, lastSecond + 999, lastSecond + 1000, 0, 1, -1, 100, 1000]
        switch random.below(5) {
        case 0: return random.edgy(in: Fix.timeRange, edges: edges)
        case 1: return random.edgy(in: 0...0xFFFF_FFFF, edges: []) * 1000
        case 2: return random.edgy(in: 0...0xFFFF_FFFF, edges: []) * 1000 + Int64(100 * random.below(10))
        case 3: return random.edgy(in: 0...0xFFFF_FFFF, edges: []) * 1000 + Int64(random.below(1000))
        default: return 1_700_000_000_000 + Int64(random.below(1_000_000_000))
        }
    }
}

extension SeededRandom {
    /// A random number of `range`. In half of the calls it is one of the ends of `range` or one of `edges`.
    mutating func edgy<Number: FixedWidthInteger>(in range: ClosedRange<Number>, edges: [Number]) -> Number {
        guard oneIn(2) else { return Number.random(in: range, using: &self) }
        let all = [range.lowerBound, range.upperBound] + edges
        return all[below(all.count)]
    }
}

extension SeededRandom {
    /// Random ranges in ascending order that do not touch, all at or above `floor`. Lengths and distances vary widely.
    mutating func ranges(upTo count: Int, from floor: UInt32) -> [ClosedRange<UInt32>] {
        var ranges: [ClosedRange<UInt32>] = []
        var next = Int64(floor)
        let longest = 1 + below(27)
        while ranges.count < count {
            let first = next + Int64(below(1 &<< below(longest + 1)))
            let last = first + Int64(below(1 &<< below(longest + 1)))
            guard last <= 0xFFFF_FFFE else { break }
            ranges.append(UInt32(first)...UInt32(last))
            next = last + 2
        }
        return ranges
    }
}

/// The number of bits of an Elias gamma code, by its definition.
func gammaBitCount(_ value: UInt32) -> Int { 2 * String(value, radix: 2).count - 1 }

/// The number of bits of each range in the ascending form of sections 9 and 10 of PROTOCOL.md.
func ascendingBitCounts(_ ranges: [ClosedRange<UInt32>]) -> [Int] {
    ranges.indices.map { index in
        let range = ranges[index]
        let start = index == 0 ? 32 : gammaBitCount(range.lowerBound - ranges[index - 1].upperBound - 1)
        return start + gammaBitCount(range.upperBound - range.lowerBound + 1)
    }
}

/// The number of bits of each range in the descending form of section 9 of PROTOCOL.md.
func descendingBitCounts(_ ranges: [ClosedRange<UInt32>], firstMissing: UInt32) -> [Int] {
    ranges.indices.map { index in
        let range = ranges[index]
        let distance =
            index == 0 ? range.upperBound - firstMissing : ranges[index - 1].lowerBound - range.upperBound - 1
        return gammaBitCount(distance) + gammaBitCount(range.upperBound - range.lowerBound + 1)
    }
}

/// The number of items, from the first on, that fit into the budget.
func countThatFits(_ bitCounts: [Int], bitBudget: Int) -> Int {
    var rest = bitBudget
    return bitCounts.prefix { bitCount in
        rest -= bitCount
        return rest >= 0
    }.count
}
