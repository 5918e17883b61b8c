import CollarWire

extension SplitMix {
    /// The highest sequence of a fix that has successors.
    private static let highestSequence = Fix.maximumSequence - 10_000

    /// Any valid fix that has successors.
    mutating func fix() -> Fix {
        let bytes = (0..<AnchorBytes.count).map { _ in byte() }
        var fix = AnchorBytes.fix(in: bytes.span, at: 0)
        fix.sequence = min(anyNumber(), SplitMix.highestSequence)
        return fix
    }

    /// A fix that could come after another one.
    mutating func successor(of fix: Fix) -> Fix {
        var next = fix
        next.sequence += 1 + UInt32(below(3))
        next.unixMilliseconds = min(fix.unixMilliseconds + 1000 * Int64(below(30)), Fix.timeRange.upperBound)
        let quarterTurn = fix.positionStep.stepsPerQuarterTurn
        next.latitudeSteps = nearby(fix.latitudeSteps, limit: quarterTurn)
        next.longitudeSteps = nearby(fix.longitudeSteps, limit: 2 * quarterTurn)
        if oneIn(4) { next.batteryPercent = UInt8(below(101)) }
        if oneIn(4) { next.course = AngleCode(steps: UInt8(below(180))) }
        return next
    }

    private mutating func nearby(_ value: Int32, limit: Int32) -> Int32 {
        max(-limit, min(limit, value + Int32(below(201)) - 100))
    }
}
