/// The model of a batch: what is coded of each fix behind the first, in which order and in which contexts, the same for
/// both directions, and what both ends remember from fix to fix.
struct BatchModel {
    typealias Field = FixCodes.Field

    /// The fix that was coded last. Fields that are unknown have the value they had when they were known last.
    private(set) var last: FixCodes
    /// Milliseconds of the last time beyond its nearest second, −500 … 499.
    private var rest: Int32
    /// Milliseconds by which the rest grew last, 0 where it is taken for jitter.
    private var restStep: Int32 = 0
    /// Seconds between the last two fixes.
    private var interval: Int64 = 1
    /// 0 at first, 1 where the interval was new, 2 where it was that before.
    private var history = 0
    private var hasVelocity = false
    /// 64ths of a position step a second.
    private var velocityNorth: Int32 = 0
    private var velocityEast: Int32 = 0
    /// How large differences have been lately, in sixteenths, by ``FixCodes/Field``; some are not used.
    private var sizes: InlineArray<7, Int32> = [16, 0, 0, 32, 64, 64, 0]
    private var sizeNorth: Int32 = 32
    private var sizeEast: Int32 = 32

    /// Begins behind the first fix.
    init(behind first: Fix) {
        last = FixCodes(of: first)
        rest = FixCodes.splitSeconds(first.unixMilliseconds).rest
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Codes the next fix, which is ``last`` then.
    /// - Parameter given: the fix to encode, behind the last one; a decoder's is ignored.
    /// - Returns: the field that is out of its range, or nil. The model must not be used any more then.
    @_lifetime(coder: copy coder)
    mutating func code<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ coder: inout Coder
    ) -> WireField? {
        guard sequence(given, &coder) else { return .sequence }
        guard shape(given, &coder) else { return .source }
        guard time(given, &coder) else { return .difference }
        let isNear = interval >= 0 && interval <= 20
        guard speed(given, isNear, &coder), position(given, isNear, &coder), altitude(given, &coder),
            difference(Field.horizontalAccuracy, given, BatchBlock.accuracy, 0, 0, 126, &coder),
            difference(Field.verticalAccuracy, given, BatchBlock.accuracy, 0, 0, 126, &coder),
            angle(Field.course, given, isNear, &coder), angle(Field.heading, given, isNear, &coder),
            difference(Field.battery, given, BatchBlock.battery, BatchModel.batteryInstance(interval), 0, 100, &coder)
        else { return .difference }
        return nil
    }

    @_lifetime(coder: copy coder)
    private mutating func sequence<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        let next = Int64(widening: last.sequence) &+ 1
        let coded = next &+ coder.integer(Int64(widening: given.sequence) &- next, BatchBlock.gap)
        last.sequence = UInt32(truncatingIfNeeded: coded)
        return coded <= Int64(widening: Fix.maximumSequence)
    }

    /// Source and known fields: mostly those of the fix before.
    @_lifetime(coder: copy coder)
    private mutating func shape<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        let changes = given.presence.rawValue ^ last.presence.rawValue
        let isOther = given.source != last.source
        guard coder.bit(isOther || changes != 0, context: BatchBlock.shape) else { return true }
        if coder.bit(isOther, context: BatchBlock.shape + 1) {
            last.source = UInt8(truncatingIfNeeded: coder.uniform(UInt32(given.source), of: 4))
        }
        var field: UInt8 = 0
        while last.source <= 2, field < 7 {
            let mask: UInt8 = 0x40 &>> field
            if coder.bit(changes & mask != 0, context: BatchBlock.shape + 2 + Int(field)) {
                last.presence.rawValue ^= mask
            }
            field += 1
        }
        return last.source <= 2
    }

    /// The time: what its milliseconds do, and the seconds since the last fix, mostly as many as before.
    @_lifetime(coder: copy coder)
    private mutating func time<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        let isJitter = restStep == 0 && rest >= -8 && rest <= 8
        let kind = !isJitter ? 2 : rest == 0 ? 0 : 1
        // Within the second of the last time.
        let shift = isJitter ? 0 &- rest : restStep
        let origin = last.unixMilliseconds &+ Int64(widening: shift)
        let (givenInterval, givenChange) = FixCodes.splitSeconds(given.unixMilliseconds &- origin)
        let change = coder.integer(Int64(widening: givenChange), BatchBlock.rest, instance: kind)
        guard change >= -500, change <= 499 else { return false }
        var nextHistory = 2
        if coder.bit(givenInterval != interval, context: BatchBlock.sameInterval + history) {
            guard let coded = coder.interval(givenInterval, BatchBlock.interval) else { return false }
            interval = coded
            nextHistory = 1
        }
        let time = origin &+ change &+ interval &* 1000
        guard Fix.timeRange.contains(time) else { return false }
        last.unixMilliseconds = time
        let step = BatchModel.wrapped(shift &+ Int32(truncatingIfNeeded: change))
        rest = BatchModel.wrapped(rest &+ step)
        restStep = step >= -8 && step <= 8 ? 0 : step
        if history == 0, interval < 0 || interval > 20 {
            sizeNorth = 1000
            sizeEast = 1000
        }
        history = nextHistory
        return true
    }

    @_lifetime(coder: copy coder)
    private mutating func speed<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ isNear: Bool, _ coder: inout Coder
    ) -> Bool {
        let highest = Int32(truncatingIfNeeded: Fix.maximumSpeedDecimetersPerSecond)
        if isNear {
            let instance = min(2, BatchModel.magnitudeClass(sizes[Field.speed] &>> 3))
            return difference(Field.speed, given, BatchBlock.speedChange, instance, 0, highest, &coder)
        }
        guard last.isKnown(Field.speed) else { return true }
        let coded = coder.value(
            given.fields[Field.speed], near: 0, BatchBlock.speed, instance: 0, from: 0, to: highest)
        guard let coded else { return false }
        last.fields[Field.speed] = coded
        return true
    }

    @_lifetime(coder: copy coder)
    private mutating func altitude<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        difference(
            Field.altitude, given, BatchBlock.altitude, min(4, BatchModel.magnitudeClass(sizes[Field.altitude] &>> 3)),
            Fix.altitudeStepsRange.lowerBound, Fix.altitudeStepsRange.upperBound, &coder)
    }

    /// The position: what it differs from where the velocity leads.
    @_lifetime(coder: copy coder)
    private mutating func position<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ isNear: Bool, _ coder: inout Coder
    ) -> Bool {
        let isPredicted = hasVelocity && isNear
        let seconds = Int32(truncatingIfNeeded: interval)
        let quarterTurn = last.stepsPerQuarterTurn

        let wayNorth = isPredicted ? (velocityNorth &* seconds &+ 32) &>> 6 : 0
        let latitude = coder.value(
            given.latitudeSteps, near: last.latitudeSteps &+ wayNorth, BatchBlock.position,
            instance: min(8, BatchModel.magnitudeClass((3 &* sizeNorth &+ sizeEast) &>> 4)), from: 0 &- quarterTurn,
            to: quarterTurn)
        guard let latitude else { return false }
        let north = BatchModel.way(from: last.latitudeSteps, to: latitude)
        let growthNorth = BatchModel.growth(BatchModel.way(from: last.latitudeSteps &+ wayNorth, to: latitude))

        let wayEast = isPredicted ? (velocityEast &* seconds &+ 32) &>> 6 : 0
        let longitude = coder.value(
            given.longitudeSteps, near: last.longitudeSteps &+ wayEast, BatchBlock.position,
            instance: min(8, BatchModel.magnitudeClass((2 &* sizeEast &+ sizeNorth &+ growthNorth) &>> 4)),
            from: -2 &* quarterTurn, to: 2 &* quarterTurn)
        guard let longitude else { return false }
        let east = BatchModel.way(from: last.longitudeSteps, to: longitude)
        let growthEast = BatchModel.growth(BatchModel.way(from: last.longitudeSteps &+ wayEast, to: longitude))

        sizeNorth = (sizeNorth &+ growthNorth) &>> 1
        sizeEast = (sizeEast &+ growthEast) &>> 1
        last.latitudeSteps = latitude
        last.longitudeSteps = longitude
        let isTimed = isNear && seconds >= 1
        if isTimed {
            velocityNorth = BatchModel.velocity(hasVelocity ? velocityNorth : nil, following: north, in: seconds)
            velocityEast = BatchModel.velocity(hasVelocity ? velocityEast : nil, following: east, in: seconds)
        }
        hasVelocity = isTimed
        return true
    }

    /// The velocity behind a movement of `way` steps in 1 … 20 seconds.
    private static func velocity(_ before: Int32?, following way: Int32, in seconds: Int32) -> Int32 {
        let current = 64 &* way / seconds
        guard let before else { return current }
        return before &+ (3 &* (current &- before)) &>> 3
    }

    /// A direction: the turn from the last one; over minutes that says nothing.
    @_lifetime(coder: copy coder)
    private mutating func angle<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ field: Int, _ given: FixCodes, _ isNear: Bool, _ coder: inout Coder
    ) -> Bool {
        guard last.isKnown(field) else { return true }
        guard isNear else {
            last.fields[field] = Int32(bitPattern: coder.uniform(UInt32(bitPattern: given.fields[field]), of: 180))
            return true
        }
        let (angle, turn) = coder.angle(
            given.fields[field], near: last.fields[field], BatchBlock.angle, instance: sizes[field] >= 32 ? 1 : 0)
        last.fields[field] = angle
        sizes[field] = (sizes[field] &+ BatchModel.growth(BatchModel.clamped(turn))) &>> 1
        return true
    }

    private static func batteryInstance(_ interval: Int64) -> Int {
        if interval <= 20 { return 0 }
        if interval <= 250 { return 1 }
        if interval <= 1000 { return 2 }
        return interval <= 3000 ? 3 : 4
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// A field that may be unknown: what it differs from the last time it was known.
    @_lifetime(coder: copy coder)
    private mutating func difference<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ field: Int, _ given: FixCodes, _ block: IntegerBlock, _ instance: Int, _ lowest: Int32, _ highest: Int32,
        _ coder: inout Coder
    ) -> Bool {
        guard last.isKnown(field) else { return true }
        let before = last.fields[field]
        let coded = coder.value(
            given.fields[field], near: before, block, instance: instance, from: lowest, to: highest)
        guard let coded else { return false }
        last.fields[field] = coded
        sizes[field] = (sizes[field] &+ BatchModel.growth(coded &- before)) &>> 1
        return true
    }

    /// The way between two positions in steps, at most 2²⁰ in either direction.
    private static func way(from start: Int32, to end: Int32) -> Int32 {
        clamped(Int64(widening: end) &- Int64(widening: start))
    }

    private static func clamped(_ number: Int64) -> Int32 {
        let limit: Int64 = 1 &<< 20
        return Int32(truncatingIfNeeded: number < 0 &- limit ? 0 &- limit : number > limit ? limit : number)
    }

    /// What a difference adds to a running size, in sixteenths.
    private static func growth(_ difference: Int32) -> Int32 {
        let magnitude = difference < 0 ? 0 &- difference : difference
        return magnitude > 4095 ? 16 &* 4095 : 16 &* magnitude
    }

    /// About twice the binary logarithm: 0, 1, 2, 3, 4, 4, 5, 5, 6, …
    private static func magnitudeClass(_ value: Int32) -> Int {
        if value < 2 { return Int(value) }
        let bitCount = 32 - value.leadingZeroBitCount
        return 2 * bitCount - 2 + Int(truncatingIfNeeded: value &>> Int32(truncatingIfNeeded: bitCount - 2) & 1)
    }

    /// A sum of two rests as a rest, −500 … 499.
    private static func wrapped(_ sum: Int32) -> Int32 {
        if sum < -500 { return sum &+ 1000 }
        return sum > 499 ? sum &- 1000 : sum
    }
}
