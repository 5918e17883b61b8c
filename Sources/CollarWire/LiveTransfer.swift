/// The model of a live fix: which values are coded, in which order and in which contexts, the same for both directions.
struct LiveTransfer {
    typealias Field = FixCodes.Field

    private let anchor: FixCodes
    /// The fix that is coded: at first its anchor.
    private(set) var fix: FixCodes
    /// Class of the time since the anchor.
    private var interval = 0

    /// Codes against this fix.
    init(anchor: Fix) {
        self.anchor = FixCodes(of: anchor)
        fix = self.anchor
    }

    /// Codes everything but the sequence into ``fix``.
    /// - Parameter given: the fix to encode; a decoder's is ignored.
    /// - Returns: whether what was coded is a fix.
    @_lifetime(coder: copy coder)
    mutating func code<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ given: FixCodes, _ coder: inout Coder) -> Bool {
        shape(given, &coder) && time(given, &coder) && speed(given, &coder) && position(given, &coder)
            && altitude(given, &coder) && accuracy(Field.horizontalAccuracy, given, &coder)
            && accuracy(Field.verticalAccuracy, given, &coder) && angle(Field.course, given, &coder)
            && angle(Field.heading, given, &coder) && battery(given, &coder)
    }

    /// Classes of the time between two fixes, which say how far apart their other fields may be.
    private static func intervalClass(_ seconds: Int64) -> Int {
        let magnitude = seconds < 0 ? 0 &- seconds : seconds
        if magnitude <= 2 { return 0 }
        if magnitude <= 20 { return 1 }
        if magnitude <= 250 { return 2 }
        if magnitude <= 700 { return 3 }
        return magnitude <= 3000 ? 4 : 5
    }

    /// Which fields are known, the steps and the source: mostly those of the anchor.
    @_lifetime(coder: copy coder)
    private mutating func shape<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        let isSame =
            given.presence == anchor.presence && given.positionStep == anchor.positionStep
            && given.altitudeStep == anchor.altitudeStep && given.source == anchor.source
        guard coder.bit(!isSame, context: LiveBlock.sameShape) else { return true }
        fix.presence.rawValue = UInt8(truncatingIfNeeded: coder.bits(UInt32(given.presence.rawValue), count: 7))
        fix.positionStep = UInt8(truncatingIfNeeded: coder.bits(UInt32(given.positionStep), count: 2))
        fix.altitudeStep = UInt8(truncatingIfNeeded: coder.bits(UInt32(given.altitudeStep), count: 1))
        fix.source = UInt8(truncatingIfNeeded: coder.bits(UInt32(given.source), count: 2))
        return fix.positionStep < 3 && fix.source < 3
    }

    @_lifetime(coder: copy coder)
    private mutating func time<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        let (anchorSecond, anchorRest) = FixCodes.splitSeconds(anchor.unixMilliseconds)
        let (givenSecond, givenRest) = FixCodes.splitSeconds(given.unixMilliseconds)
        let kind = anchorRest == 0 ? 0 : anchorRest >= -8 && anchorRest <= 8 ? 1 : 2
        var rest = Int64(widening: anchorRest)
        if coder.bit(givenRest != anchorRest, context: LiveBlock.sameRest + kind) {
            rest = coder.integer(Int64(widening: givenRest), LiveBlock.rest, instance: kind)
        }
        guard let seconds = coder.interval(givenSecond &- anchorSecond, LiveBlock.interval), rest >= -500, rest < 500
        else { return false }
        interval = LiveTransfer.intervalClass(seconds)
        fix.unixMilliseconds = (anchorSecond &+ seconds) &* 1000 &+ rest
        return Fix.timeRange.contains(fix.unixMilliseconds)
    }

    @_lifetime(coder: copy coder)
    private mutating func speed<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        let before = anchor.fields[Field.speed]
        let highest = Int32(truncatingIfNeeded: Fix.maximumSpeedDecimetersPerSecond)
        if interval <= 1 {
            return value(Field.speed, given, near: before, LiveBlock.speedChange, interval, 0, highest, &coder)
        }
        return value(Field.speed, given, near: 0, LiveBlock.speed, before >= 2 ? 1 : 0, 0, highest, &coder)
    }

    @_lifetime(coder: copy coder)
    private mutating func position<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        let finer = Int(fix.positionStep) - Int(anchor.positionStep)
        let latitude = FixCodes.rescale(anchor.latitudeSteps, decimals: finer)
        let longitude = FixCodes.rescale(anchor.longitudeSteps, decimals: finer)
        let isMoving = fix.isKnown(Field.speed) && fix.fields[Field.speed] >= 2
        let quarterTurn = fix.stepsPerQuarterTurn
        let codedLatitude = coder.value(
            given.latitudeSteps, near: latitude, LiveBlock.latitude, instance: interval * 2 + (isMoving ? 1 : 0),
            from: 0 &- quarterTurn, to: quarterTurn)
        guard let codedLatitude else { return false }
        let north = codedLatitude &- latitude
        let northBitCount = 32 - (north < 0 ? 0 &- north : north).leadingZeroBitCount
        let codedLongitude = coder.value(
            given.longitudeSteps, near: longitude, LiveBlock.longitude,
            instance: interval * 4 + min(3, (northBitCount + 1) / 2), from: -2 &* quarterTurn, to: 2 &* quarterTurn)
        guard let codedLongitude else { return false }
        fix.latitudeSteps = codedLatitude
        fix.longitudeSteps = codedLongitude
        return true
    }

    @_lifetime(coder: copy coder)
    private mutating func altitude<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        let finer = Int(fix.altitudeStep) - Int(anchor.altitudeStep)
        let before = FixCodes.rescale(anchor.fields[Field.altitude], decimals: finer)
        return value(
            Field.altitude, given, near: before, LiveBlock.altitude, interval, Fix.altitudeStepsRange.lowerBound,
            Fix.altitudeStepsRange.upperBound, &coder)
    }

    @_lifetime(coder: copy coder)
    private mutating func accuracy<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ field: Int, _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        value(field, given, near: anchor.fields[field], LiveBlock.accuracy, min(interval, 2), 0, 126, &coder)
    }

    /// Over minutes a direction says nothing about the next one.
    @_lifetime(coder: copy coder)
    private mutating func angle<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ field: Int, _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        guard fix.isKnown(field) else { return true }
        if interval > 1 {
            fix.fields[field] = Int32(bitPattern: coder.uniform(UInt32(bitPattern: given.fields[field]), of: 180))
        } else {
            fix.fields[field] =
                coder.angle(given.fields[field], near: anchor.fields[field], LiveBlock.angle, instance: interval).angle
        }
        return true
    }

    /// The charge: how much it fell.
    @_lifetime(coder: copy coder)
    private mutating func battery<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        guard fix.isKnown(Field.battery) else { return true }
        let coded = coder.value(
            0 &- given.fields[Field.battery], near: 0 &- anchor.fields[Field.battery], LiveBlock.battery,
            instance: interval, from: -100, to: 0)
        guard let coded else { return false }
        fix.fields[Field.battery] = 0 &- coded
        return true
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// A field that may be unknown, as the difference to another value.
    @_lifetime(coder: copy coder)
    private mutating func value<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ field: Int, _ given: FixCodes, near other: Int32, _ block: IntegerBlock, _ instance: Int, _ lowest: Int32,
        _ highest: Int32, _ coder: inout Coder
    ) -> Bool {
        guard fix.isKnown(field) else { return true }
        let coded = coder.value(
            given.fields[field], near: other, block, instance: instance, from: lowest, to: highest)
        guard let coded else { return false }
        fix.fields[field] = coded
        return true
    }
}
