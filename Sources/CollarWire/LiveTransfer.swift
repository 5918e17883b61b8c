/// The model of a live fix: which values are coded, in which order and in which contexts, the same for both directions.
struct LiveTransfer {
    private let anchor: Fix

    /// Codes against this fix.
    init(anchor: Fix) { self.anchor = anchor }

    /// Codes everything but the sequence.
    /// - Parameter given: the fix to encode; a decoder's is ignored.
    /// - Returns: the fix that was coded, or nil where it is none.
    @_lifetime(coder: copy coder)
    func fix<Coder: LiveCoder & ~Escapable>(_ given: Fix, _ coder: inout Coder) -> Fix? {
        guard var fix = shape(given, &coder), let seconds = time(given, into: &fix, &coder) else { return nil }
        let interval = LiveTransfer.intervalClass(seconds)
        guard speed(given, interval: interval, into: &fix, &coder),
            position(given, interval: interval, into: &fix, &coder),
            altitude(given, interval: interval, into: &fix, &coder),
            accuracies(given, interval: interval, into: &fix, &coder),
            angles(given, interval: interval, into: &fix, &coder),
            battery(given, interval: interval, into: &fix, &coder)
        else { return nil }
        return fix
    }

    /// Classes of the time between two fixes, which say how far apart their other fields may be.
    static func intervalClass(_ seconds: Int64) -> Int {
        let magnitude = seconds < 0 ? 0 &- seconds : seconds
        if magnitude <= 2 { return 0 }
        if magnitude <= 20 { return 1 }
        if magnitude <= 250 { return 2 }
        if magnitude <= 700 { return 3 }
        return magnitude <= 3000 ? 4 : 5
    }

    /// Which fields are known, the steps and the source: mostly those of the anchor. Known fields get a placeholder.
    @_lifetime(coder: copy coder)
    private func shape<Coder: LiveCoder & ~Escapable>(_ given: Fix, _ coder: inout Coder) -> Fix? {
        let presence = FieldPresence(of: given)
        let isSame =
            presence == FieldPresence(of: anchor) && given.positionStep == anchor.positionStep
            && given.altitudeStep == anchor.altitudeStep && given.source == anchor.source
        guard coder.bit(!isSame, context: LiveBlock.sameShape) else { return anchor }
        let mask = coder.bits(UInt32(presence.rawValue), count: FieldPresence.bitCount)
        let positionStep = PositionStep(rawValue: UInt8(coder.bits(UInt32(given.positionStep.rawValue), count: 2)))
        let altitudeStep = AltitudeStep(rawValue: UInt8(coder.bits(UInt32(given.altitudeStep.rawValue), count: 1)))
        let source = FixSource(rawValue: UInt8(coder.bits(UInt32(given.source.rawValue), count: 2)))
        guard let positionStep, let altitudeStep, let source else { return nil }
        var fix = anchor
        fix.positionStep = positionStep
        fix.altitudeStep = altitudeStep
        fix.source = source
        let known = FieldPresence(rawValue: UInt8(mask))
        let north = AngleCode(steps: 0)
        fix.altitudeSteps = known.contains(.altitude) ? 0 : nil
        fix.horizontalAccuracy = known.contains(.horizontalAccuracy) ? AccuracyCode(rawValue: 0) : nil
        fix.verticalAccuracy = known.contains(.verticalAccuracy) ? AccuracyCode(rawValue: 0) : nil
        fix.speedDecimetersPerSecond = known.contains(.speed) ? 0 : nil
        fix.course = known.contains(.course) ? north : nil
        fix.heading = known.contains(.heading) ? north : nil
        fix.batteryPercent = known.contains(.battery) ? 0 : nil
        return fix
    }

    /// - Returns: whole seconds since the anchor.
    @_lifetime(coder: copy coder)
    private func time<Coder: LiveCoder & ~Escapable>(
        _ given: Fix, into fix: inout Fix, _ coder: inout Coder
    ) -> Int64? {
        let (anchorSecond, anchorRest) = LiveTransfer.split(anchor.unixMilliseconds)
        let (givenSecond, givenRest) = LiveTransfer.split(given.unixMilliseconds)
        let kind = anchorRest == 0 ? 0 : anchorRest >= -8 && anchorRest <= 8 ? 1 : 2
        var rest = anchorRest
        if coder.bit(givenRest != anchorRest, context: LiveBlock.sameRest + kind) {
            rest = coder.integer(givenRest, .rest, instance: kind)
        }
        let givenSeconds = givenSecond &- anchorSecond
        let isBackward = coder.bit(givenSeconds < 0, context: LiveBlock.backward)
        let magnitude = givenSeconds < 0 ? 0 &- givenSeconds : givenSeconds
        let givenMinutes = (magnitude &+ 30) / 60
        let minutes = coder.integer(givenMinutes, .minutes)
        var seconds: Int64
        if minutes == 0 {
            seconds = coder.integer(magnitude, .seconds)
        } else {
            let instance = minutes <= 4 ? 0 : minutes < 30 ? 1 : 2
            let secondRest = coder.integer(magnitude &- 60 &* givenMinutes, .secondRest, instance: instance)
            seconds = minutes &* 60 &+ secondRest
        }
        guard rest >= -500, rest < 500, seconds >= 0, seconds <= 1 &<< 40 else { return nil }
        if isBackward { seconds = 0 &- seconds }
        fix.unixMilliseconds = (anchorSecond &+ seconds) &* 1000 &+ rest
        return Fix.timeRange.contains(fix.unixMilliseconds) ? seconds : nil
    }

    /// The nearest second (halves up) and what is left, −500 … 499 ms.
    private static func split(_ milliseconds: Int64) -> (second: Int64, rest: Int64) {
        let shifted = milliseconds &+ 500
        let remainder = shifted % 1000
        let second = (shifted &- remainder) / 1000 &- (remainder < 0 ? 1 : 0)
        return (second, milliseconds &- second &* 1000)
    }

    @_lifetime(coder: copy coder)
    private func speed<Coder: LiveCoder & ~Escapable>(
        _ given: Fix, interval: Int, into fix: inout Fix, _ coder: inout Coder
    ) -> Bool {
        guard fix.speedDecimetersPerSecond != nil else { return true }
        let value = Int64(widening: given.speedDecimetersPerSecond ?? 0)
        let before = Int64(widening: anchor.speedDecimetersPerSecond ?? 0)
        let coded: Int64
        if interval <= 1 {
            coded = coder.integer(value &- before, .speedChange, instance: interval) &+ before
        } else {
            coded = coder.integer(value, .speed, instance: before >= 2 ? 1 : 0)
        }
        guard coded >= 0, coded <= Int64(widening: Fix.maximumSpeedDecimetersPerSecond) else { return false }
        fix.speedDecimetersPerSecond = UInt32(truncatingIfNeeded: coded)
        return true
    }

    @_lifetime(coder: copy coder)
    private func position<Coder: LiveCoder & ~Escapable>(
        _ given: Fix, interval: Int, into fix: inout Fix, _ coder: inout Coder
    ) -> Bool {
        let step = fix.positionStep
        let anchorLatitude = LiveTransfer.rescale(anchor.latitudeSteps, from: anchor.positionStep, to: step)
        let anchorLongitude = LiveTransfer.rescale(anchor.longitudeSteps, from: anchor.positionStep, to: step)
        let isMoving = (fix.speedDecimetersPerSecond ?? 0) >= 2
        let north = coder.integer(
            Int64(widening: given.latitudeSteps) &- anchorLatitude, .latitude,
            instance: interval * 2 + (isMoving ? 1 : 0))
        let northBitCount = 64 - UInt64(bitPattern: north < 0 ? 0 &- north : north).leadingZeroBitCount
        let east = coder.integer(
            Int64(widening: given.longitudeSteps) &- anchorLongitude, .longitude,
            instance: interval * 4 + min(3, (northBitCount + 1) / 2))
        let latitude = anchorLatitude &+ north
        let longitude = anchorLongitude &+ east
        let quarterTurn = Int64(widening: step.stepsPerQuarterTurn)
        guard latitude >= 0 &- quarterTurn, latitude <= quarterTurn, longitude >= -2 &* quarterTurn,
            longitude <= 2 &* quarterTurn
        else { return false }
        fix.latitudeSteps = Int32(truncatingIfNeeded: latitude)
        fix.longitudeSteps = Int32(truncatingIfNeeded: longitude)
        return true
    }

    /// The same angle in another step; halves away from zero.
    private static func rescale(_ value: Int32, from old: PositionStep, to new: PositionStep) -> Int64 {
        let wide = Int64(widening: value)
        let oldTurn = Int64(widening: old.stepsPerQuarterTurn)
        let newTurn = Int64(widening: new.stepsPerQuarterTurn)
        if newTurn >= oldTurn { return wide &* (newTurn / oldTurn) }
        let divisor = oldTurn / newTurn
        let half = divisor / 2
        return (wide < 0 ? wide &- half : wide &+ half) / divisor
    }

    @_lifetime(coder: copy coder)
    private func altitude<Coder: LiveCoder & ~Escapable>(
        _ given: Fix, interval: Int, into fix: inout Fix, _ coder: inout Coder
    ) -> Bool {
        guard fix.altitudeSteps != nil else { return true }
        var before = Int64(widening: anchor.altitudeSteps ?? 0)
        if fix.altitudeStep != anchor.altitudeStep {
            before = fix.altitudeStep == .decimeter ? before &* 10 : (before &+ (before < 0 ? -5 : 5)) / 10
        }
        let value = Int64(widening: given.altitudeSteps ?? 0)
        let coded = coder.integer(value &- before, .altitude, instance: interval) &+ before
        guard coded >= Int64(widening: Fix.altitudeStepsRange.lowerBound),
            coded <= Int64(widening: Fix.altitudeStepsRange.upperBound)
        else { return false }
        fix.altitudeSteps = Int32(truncatingIfNeeded: coded)
        return true
    }

    @_lifetime(coder: copy coder)
    private func accuracies<Coder: LiveCoder & ~Escapable>(
        _ given: Fix, interval: Int, into fix: inout Fix, _ coder: inout Coder
    ) -> Bool {
        let instance = min(interval, 2)
        if fix.horizontalAccuracy != nil {
            let coded = accuracy(given.horizontalAccuracy, anchor.horizontalAccuracy, instance, &coder)
            guard let coded else { return false }
            fix.horizontalAccuracy = coded
        }
        if fix.verticalAccuracy != nil {
            let coded = accuracy(given.verticalAccuracy, anchor.verticalAccuracy, instance, &coder)
            guard let coded else { return false }
            fix.verticalAccuracy = coded
        }
        return true
    }

    @_lifetime(coder: copy coder)
    private func accuracy<Coder: LiveCoder & ~Escapable>(
        _ given: AccuracyCode?, _ before: AccuracyCode?, _ instance: Int, _ coder: inout Coder
    ) -> AccuracyCode? {
        let old = Int64(widening: before?.rawValue ?? 0)
        let coded = coder.integer(Int64(widening: given?.rawValue ?? 0) &- old, .accuracy, instance: instance) &+ old
        guard coded >= 0, coded <= 126 else { return nil }
        return AccuracyCode(rawValue: UInt8(truncatingIfNeeded: coded))
    }

    @_lifetime(coder: copy coder)
    private func angles<Coder: LiveCoder & ~Escapable>(
        _ given: Fix, interval: Int, into fix: inout Fix, _ coder: inout Coder
    ) -> Bool {
        if fix.course != nil {
            guard let coded = angle(given.course, anchor.course, interval, &coder) else { return false }
            fix.course = coded
        }
        if fix.heading != nil {
            guard let coded = angle(given.heading, anchor.heading, interval, &coder) else { return false }
            fix.heading = coded
        }
        return true
    }

    /// Over minutes a direction says nothing about the next one.
    @_lifetime(coder: copy coder)
    private func angle<Coder: LiveCoder & ~Escapable>(
        _ given: AngleCode?, _ before: AngleCode?, _ interval: Int, _ coder: inout Coder
    ) -> AngleCode? {
        let value = UInt32(given?.steps ?? 0)
        guard interval <= 1 else { return AngleCode(steps: UInt8(coder.uniform(value, of: 180))) }
        let old = UInt32(before?.steps ?? 0)
        let turn = Int64(widening: (value + 180 - old + 90) % 180) &- 90
        let coded = coder.integer(turn, .angle, instance: interval)
        let turned = UInt32(truncatingIfNeeded: coded % 180 &+ 180) &+ old
        return AngleCode(steps: UInt8(turned % 180))
    }

    @_lifetime(coder: copy coder)
    private func battery<Coder: LiveCoder & ~Escapable>(
        _ given: Fix, interval: Int, into fix: inout Fix, _ coder: inout Coder
    ) -> Bool {
        guard fix.batteryPercent != nil else { return true }
        let before = Int64(widening: anchor.batteryPercent ?? 0)
        let drained = before &- Int64(widening: given.batteryPercent ?? 0)
        let coded = before &- coder.integer(drained, .battery, instance: interval)
        guard coded >= 0, coded <= 100 else { return false }
        fix.batteryPercent = UInt8(truncatingIfNeeded: coded)
        return true
    }
}
