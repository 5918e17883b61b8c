import CollarWire

/// A batch of the first fixes, and their number: as many as fit into `room` bytes, but not more than `most`.
func batch(
    of fixes: [Fix], flags: FrameFlags = FrameFlags(poll: nil), log: LogIdentity = .sample,
    room: Int = Frame.maximumByteCount, most: Int = .max
) throws(EncodeError) -> (frame: [UInt8], count: Int) {
    var count = 0
    var index = 0
    let bytes = try frame(room: room) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
        count = try Batch.encode(fixes[0], address: 7, flags: flags, log: log, into: &output) {
            index += 1
            return index < min(fixes.count, most) ? fixes[index] : nil
        }
    }
    return (bytes, count)
}

extension Batch {
    /// All fixes, oldest first.
    var fixes: [Fix] {
        var fixes: [Fix] = []
        forEach { fixes.append($0) }
        return fixes
    }
}

extension Message {
    /// The fixes of a batch; nil for any other message.
    var batchedFixes: [Fix]? {
        guard case .batch(let batch) = self else { return nil }
        return batch.fixes
    }
}

extension Fix {
    /// Fixes of one log in the order of their sequences, all with the same position step and altitude step. They form a walk
    /// with random jumps. `wildness`, 0 … 10, is the average number of jumps in ten fixes.
    static func track(_ count: Int, wildness: Int, random: inout SeededRandom) -> [Fix] {
        var fix = Fix(random: &random)
        fix.sequence = random.edgy(in: 0...Fix.maximumSequence, edges: [Fix.maximumSequence - 100])
        var fixes: [Fix] = [fix]
        while fixes.count < count, fix.sequence < Fix.maximumSequence {
            fix.walk(&random)
            if wildness > 0, random.below(10) < wildness { fix.jump(&random) }
            fixes.append(fix)
        }
        return fixes
    }

    /// Makes this the next fix of a walk: at most a few seconds later and a few steps away.
    private mutating func walk(_ random: inout SeededRandom) {
        sequence += 1
        move(&unixMilliseconds, by: [1000, 1000, 1000, 1001, 999, 250, 5000, 0][random.below(8)], within: Fix.timeRange)
        let quarter = positionStep.stepsPerQuarterTurn
        move(&latitudeSteps, by: Int32(random.below(9)) - 4, within: -quarter...quarter)
        move(&longitudeSteps, by: Int32(random.below(9)) - 4, within: -2 * quarter...2 * quarter)
        if let altitude = altitudeSteps {
            var moved = altitude
            move(&moved, by: Int32(random.below(3)) - 1, within: Fix.altitudeStepsRange)
            altitudeSteps = moved
        }
        if let steps = course?.steps { course = AngleCode(steps: UInt8((Int(steps) + 177 + random.below(7)) % 180)) }
    }

    /// Skips sequences, and sets some fields to random values.
    private mutating func jump(_ random: inout SeededRandom) {
        let other = Fix(random: &random)
        sequence += min(random.anyLength(), Fix.maximumSequence - sequence)
        let quarter = positionStep.stepsPerQuarterTurn
        if random.oneIn(3) { unixMilliseconds = other.unixMilliseconds }
        if random.oneIn(3) { source = other.source }
        if random.oneIn(3) { latitudeSteps = random.edgy(in: -quarter...quarter, edges: []) }
        if random.oneIn(3) { longitudeSteps = random.edgy(in: -2 * quarter...2 * quarter, edges: []) }
        if random.oneIn(3) { altitudeSteps = other.altitudeSteps }
        if random.oneIn(3) { horizontalAccuracy = other.horizontalAccuracy }
        if random.oneIn(3) { verticalAccuracy = other.verticalAccuracy }
        if random.oneIn(3) { speedDecimetersPerSecond = other.speedDecimetersPerSecond }
        if random.oneIn(3) { course = other.course }
        if random.oneIn(3) { heading = other.heading }
        if random.oneIn(3) { batteryPercent = other.batteryPercent }
    }

    private func move<Number: FixedWidthInteger>(
        _ number: inout Number, by way: Number, within range: ClosedRange<Number>
    ) {
        let (sum, isBeyond) = number.addingReportingOverflow(way)
        if !isBeyond, range.contains(sum) { number = sum }
    }
}

/// The size of an absolute fix, computed from the table of section 6.
enum FixSize {
    static func payloadBitCount(_ fix: Fix, isWide: Bool) -> Int {
        let step = Int(fix.positionStep.rawValue)
        var known: [Int] = []
        if let altitude = fix.altitudeSteps { known.append((-1000...15_382).contains(altitude) ? 14 : 38) }
        if fix.horizontalAccuracy != nil { known.append(7) }
        if fix.verticalAccuracy != nil { known.append(7) }
        if let speed = fix.speedDecimetersPerSecond { known.append(speed <= 510 ? 9 : 29) }
        if fix.course != nil { known.append(8) }
        if fix.heading != nil { known.append(8) }
        if fix.batteryPercent != nil { known.append(7) }
        let mask = known.count == 7 ? 0 : 7
        let position = [25 + 26, 28 + 29, 31 + 32][step]
        return 9 + mask + (isWide ? 24 : 8) + timeBitCount(fix.unixMilliseconds) + position + known.reduce(0, +)
    }

    static func frameByteCount(_ fix: Fix, isWide: Bool) -> Int { 7 + (payloadBitCount(fix, isWide: isWide) + 7) / 8 }

    /// The width of the first time form that is exact.
    private static func timeBitCount(_ time: Int64) -> Int {
        guard time >= 0, time / 1000 <= 4_294_967_295 else { return 48 }
        if time.isMultiple(of: 1000) { return 32 }
        return time.isMultiple(of: 100) ? 36 : 42
    }
}
