/// The model of a batch: which values of each fix after the first are coded, in which order and in which contexts, and what
/// both ends remember from fix to fix. Encoder and decoder share it.
struct BatchModel: FieldModel {
    typealias Field = FixCodes.Field

    /// The fix that was coded last. An unknown field keeps its last known value.
    private(set) var last: FixCodes
    /// Milliseconds from the nearest whole second to the time of ``last``, −500 … 499.
    private var rest: Int32
    /// Change of ``rest`` at the last fix, in milliseconds; 0 if that change counts as jitter.
    private var restStep: Int32 = 0
    /// Seconds between the last two fixes.
    private var interval: Int64 = 1
    /// Whether ``interval`` is 0 … 20, so that the last fix predicts the next one.
    private var isNear = true
    /// 0 at first; then 1 if the last interval differed from the interval before, 2 if both were equal.
    private var history = 0
    private var finestStep: UInt8
    /// The place north and east, in ``finestStep``. Of the places that a coarser step does not tell apart, it is the one nearest
    /// to the expected place.
    private var places: InlineArray<2, Int32>
    private var hasVelocity = false
    /// Velocities north and east, in 64ths of ``finestStep`` per second.
    private var velocities = InlineArray<2, Int32>(repeating: 0)
    /// Running means of the magnitudes of recent differences, in sixteenths, by ``FixCodes/Field``; some entries are not used.
    private var sizes: InlineArray<9, Int32> = [16, 0, 0, 32, 64, 64, 0, 32, 32]

    init(after first: FixCodes) {
        last = first
        rest = FixCodes.splitSeconds(first.unixMilliseconds).rest
        finestStep = first.positionStep
        places = [first.value(Field.latitude), first.value(Field.longitude)]
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Codes the next fix, which becomes ``last``.
    ///
    /// If the decoder then knows an invalid field, the model must not be used any more.
    /// - Parameter given: the fix to encode, which follows ``last``; a decoder ignores it.
    @_lifetime(coder: copy coder)
    mutating func code<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ given: FixCodes, _ coder: inout Coder) {
        sequence(given, &coder)
        shape(given, &coder)
        time(given, &coder)
        fields(given, &coder)
    }

    @_lifetime(coder: copy coder)
    private mutating func sequence<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ given: FixCodes, _ coder: inout Coder) {
        let next = Int64(widening: last.sequence) &+ 1
        let coded = next &+ coder.integer(Int64(widening: given.sequence) &- next, BatchBlock.gap)
        last.sequence = UInt32(truncatingIfNeeded: coded)
        coder.require(coded <= Int64(widening: Fix.maximumSequence), .sequence)
    }

    /// Codes the source, the position step and the set of known fields. All mostly equal those of the fix before. The source
    /// and the position step do not change together.
    @_lifetime(coder: copy coder)
    private mutating func shape<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ given: FixCodes, _ coder: inout Coder) {
        let changes = given.presence.rawValue ^ last.presence.rawValue
        let isOtherStep = given.positionStep != last.positionStep
        let isOther = isOtherStep || given.source != last.source
        guard coder.bit(isOther || changes != 0, context: BatchBlock.shape) else { return }
        if coder.bit(isOther, context: BatchBlock.shape + 1) {
            if coder.bit(isOtherStep, context: BatchBlock.step) {
                let higher: UInt8 = last.positionStep == 2 ? 1 : 2
                let isHigher = coder.bit(given.positionStep == higher, context: BatchBlock.step + 1)
                convert(to: isHigher ? higher : last.positionStep == 0 ? 1 : 0)
            } else {
                last.source = UInt8(truncatingIfNeeded: coder.uniform(UInt32(given.source), of: 4))
                coder.require(last.source <= FixSource.collar.rawValue, .source)
            }
        }
        var field: UInt8 = 0
        while field < 7 {
            let mask: UInt8 = 0x40 &>> field
            if coder.bit(changes & mask != 0, context: BatchBlock.shape + 2 + Int(field)) { last.presence.rawValue ^= mask }
            field += 1
        }
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Changes the position step. What is remembered in that step is converted, and ``finestStep`` never becomes coarser.
    private mutating func convert(to positionStep: UInt8) {
        let ratio = FixCodes.ratio(of: last.positionStep, to: positionStep)
        let isFiner = positionStep > last.positionStep
        let finestRatio = positionStep > finestStep ? FixCodes.ratio(of: finestStep, to: positionStep) : 1
        last.positionStep = positionStep
        finestStep = max(finestStep, positionStep)
        let limit: Int64 = 1 &<< 26
        for axis in 0..<2 {
            let field = Field.latitude &+ axis
            sizes[field] = isFiner ? sizes[field] &* ratio : sizes[field] / ratio
            places[axis] &*= finestRatio
            let faster = Int64(widening: velocities[axis]) &* Int64(widening: finestRatio)
            velocities[axis] = Int32(truncatingIfNeeded: max(0 &- limit, min(limit, faster)))
        }
    }

    /// Codes the time: the difference of its milliseconds from the expected ones, and the seconds since the last fix, which
    /// mostly equal the last interval.
    @_lifetime(coder: copy coder)
    private mutating func time<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ given: FixCodes, _ coder: inout Coder) {
        let isJitter = restStep == 0 && rest >= -8 && rest <= 8
        let kind = !isJitter ? 2 : rest == 0 ? 0 : 1
        // With jitter, the time is expected at a whole second; else its milliseconds are expected to change as before.
        let shift = isJitter ? 0 &- rest : restStep
        let origin = last.unixMilliseconds &+ Int64(widening: shift)
        let (givenInterval, givenChange) = FixCodes.splitSeconds(given.unixMilliseconds &- origin)
        let change = coder.integer(Int64(widening: givenChange), BatchBlock.rest.instance(kind))
        coder.require(change >= -500 && change <= 499, .difference)
        var nextHistory = 2
        if coder.bit(givenInterval != interval, context: BatchBlock.sameInterval + history) {
            interval = coder.interval(givenInterval, BatchBlock.interval)
            nextHistory = 1
        }
        let time = Coder.isEncoder ? given.unixMilliseconds : origin &+ change &+ interval &* 1000
        coder.require(Fix.timeRange.contains(time), .difference)
        last.unixMilliseconds = time
        let step = BatchModel.wrapped(shift &+ Int32(truncatingIfNeeded: change))
        rest = BatchModel.wrapped(rest &+ step)
        restStep = step >= -8 && step <= 8 ? 0 : step
        isNear = interval >= 0 && interval <= 20
        if history == 0, !isNear {
            sizes[Field.latitude] = 1000
            sizes[Field.longitude] = 1000
        }
        history = nextHistory
    }

    #if hasFeature(Embedded)
    @inline(never)
    #else
    @inline(__always)
    #endif
    /// Codes a field, if it is known, mostly as the difference from its last known value. A position is coded as the difference
    /// from the position that the velocity predicts.
    @_lifetime(coder: copy coder)
    mutating func field<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ field: Int, _ given: Int32, _ coder: inout Coder) {
        guard last.isKnown(field) else { return }
        let size = sizes[field]
        var before = last.value(field)
        // The place that the velocity predicts, in ``finestStep``.
        var place: Int32 = 0
        let block: IntegerBlock
        switch field {
        case Field.speed where isNear: block = BatchBlock.speedChange.instance(BatchModel.magnitudeClass(size &>> 3, upTo: 2))
        case Field.speed:
            block = BatchBlock.speed
            before = 0
        case Field.latitude, Field.longitude:
            let other = sizes[Field.latitude &+ Field.longitude &- field]
            // For the latitude, its own size has three times the weight of the longitude's. For the longitude, both sizes have
            // the same weight; the latitude's size already includes this fix.
            let sum = field == Field.latitude ? (3 &* size &+ other) &>> 4 : (size &+ other) &>> 3
            block = BatchBlock.position.instance(BatchModel.magnitudeClass(sum, upTo: 8))
            let axis = field &- Field.latitude
            place = places[axis]
            if hasVelocity, isNear { place &+= (velocities[axis] &* Int32(truncatingIfNeeded: interval) &+ 32) &>> 6 }
            before = FixCodes.rescale(place, decimals: Int(last.positionStep) &- Int(finestStep))
        case Field.altitude: block = BatchBlock.altitude.instance(BatchModel.magnitudeClass(size &>> 3, upTo: 4))
        case Field.course, Field.heading:
            guard isNear else {
                coder.direction(field, given, into: &last)
                return
            }
            block = BatchBlock.angle.instance(size >= 32 ? 1 : 0)
        case Field.battery: block = BatchBlock.battery.instance(BatchModel.batteryInstance(interval))
        default: block = BatchBlock.accuracy
        }
        let coded = coder.change(of: field, to: given, from: before, block, into: &last)
        // A speed that was not predicted says nothing about differences.
        guard isNear || field != Field.speed else { return }
        sizes[field] = (size &+ BatchModel.growth(coded)) &>> 1
        if field >= Field.latitude { reach(Int64(widening: before) &+ coded, field, expected: place) }
    }

    /// Goes on to the place of a coded latitude or longitude.
    /// - Parameters:
    ///   - value: the latitude or longitude, not yet wrapped around.
    ///   - expected: the place that was predicted, in ``finestStep``.
    @inline(__always)
    private mutating func reach(_ value: Int64, _ field: Int, expected: Int32) {
        let axis = field &- Field.latitude
        let ratio = Int64(widening: FixCodes.ratio(of: last.positionStep, to: finestStep))
        let middle = value &* ratio
        let reached = max(middle &- ratio / 2, min(middle &+ ratio / 2, Int64(widening: expected)))
        move(field, by: reached &- Int64(widening: places[axis]))
        let halfTurn = field == Field.longitude ? 2 &* Int64(widening: last.stepsPerQuarterTurn) &* ratio : 0
        places[axis] = Int32(truncatingIfNeeded: FixCodes.wrapped(reached, halfTurn: halfTurn))
    }

    /// Updates the velocity after a movement of `way` finest steps.
    @inline(__always)
    private mutating func move(_ field: Int, by way: Int64) {
        let isTimed = isNear && interval > 0
        if isTimed {
            let current = 64 &* BatchModel.clamped(way) / Int32(truncatingIfNeeded: interval)
            let axis = field &- Field.latitude
            let before = hasVelocity ? velocities[axis] : current
            velocities[axis] = before &+ (3 &* (current &- before)) &>> 3
        }
        if field == Field.longitude { hasVelocity = isTimed }
    }

    private static func batteryInstance(_ interval: Int64) -> Int {
        let seconds = interval > 3001 ? 3001 : Int32(truncatingIfNeeded: interval)
        return interval <= 20 ? 0 : seconds <= 250 ? 1 : seconds <= 1000 ? 2 : seconds <= 3000 ? 3 : 4
    }

    private static func clamped(_ number: Int64) -> Int32 {
        let limit: Int64 = 1 &<< 20
        return Int32(truncatingIfNeeded: number < 0 &- limit ? 0 &- limit : number > limit ? limit : number)
    }

    /// The amount, in sixteenths, that is added to an entry of ``sizes`` for a difference. The sum is then halved.
    private static func growth(_ difference: Int64) -> Int32 {
        let magnitude = difference < 0 ? 0 &- difference : difference
        return magnitude > 4095 ? 16 &* 4095 : 16 &* Int32(truncatingIfNeeded: magnitude)
    }

    /// About twice the binary logarithm of `value`: 0, 1, 2, 3, 4, 4, 5, 5, 6, …, at most `highest`.
    private static func magnitudeClass(_ value: Int32, upTo highest: Int) -> Int {
        if value < 2 { return Int(value) }
        let bitCount = 32 &- value.leadingZeroBitCount
        let half = Int(truncatingIfNeeded: value &>> Int32(truncatingIfNeeded: bitCount &- 2) & 1)
        return min(highest, 2 &* bitCount &- 2 &+ half)
    }

    /// The sum of two rests, wrapped around to −500 … 499 ms.
    private static func wrapped(_ sum: Int32) -> Int32 {
        if sum < -500 { return sum &+ 1000 }
        return sum > 499 ? sum &- 1000 : sum
    }
}

enum BatchBlock {
    static var gap: IntegerBlock { IntegerBlock(base: 0, exponentCount: 4, depth: 0, isSigned: false) }
    static let shape = 5
    static var rest: IntegerBlock { IntegerBlock(base: 14, exponentCount: 4, depth: 1, isSigned: true) }
    static let sameInterval = 44
    static var interval: IntervalBlocks {
        IntervalBlocks(
            minutes: IntegerBlock(base: 48, exponentCount: 9, depth: 1, isSigned: false),
            seconds: IntegerBlock(base: 67, exponentCount: 6, depth: 1, isSigned: false),
            secondRest: IntegerBlock(base: 80, exponentCount: 6, depth: 0, isSigned: true), lastRestInstance: 1)
    }
    static var speedChange: IntegerBlock { IntegerBlock(base: 96, exponentCount: 5, depth: 0, isSigned: true) }
    static var speed: IntegerBlock { IntegerBlock(base: 117, exponentCount: 5, depth: 1, isSigned: false) }
    static var position: IntegerBlock { IntegerBlock(base: 128, exponentCount: 8, depth: 0, isSigned: true, isCircular: true) }
    static var altitude: IntegerBlock { IntegerBlock(base: 218, exponentCount: 6, depth: 0, isSigned: true) }
    static var accuracy: IntegerBlock { IntegerBlock(base: 258, exponentCount: 4, depth: 0, isSigned: true) }
    static var angle: IntegerBlock { IntegerBlock(base: 264, exponentCount: 6, depth: 0, isSigned: true) }
    static var battery: IntegerBlock { IntegerBlock(base: 280, exponentCount: 4, depth: 0, isSigned: true) }
    static let step = 310
}
