/// The model of a live fix: which values are coded, in which order and in which contexts. Encoder and decoder share it.
///
/// Functions that change nothing are mutating too: a collar would copy the model for a call of another function.
struct LiveModel: FieldModel {
    typealias Field = FixCodes.Field

    private let anchor: FixCodes
    /// How far the sequence is above that of the anchor.
    private let distance: UInt32
    /// The fix as coded so far. Fields that are not coded yet are still those of the anchor.
    private(set) var fix: FixCodes
    /// Class of the time since the anchor.
    private var interval = 0
    /// Whether the time since the anchor is a usual interval times ``distance``.
    private var isScheduled = false
    /// Whether all fields but the time and the battery's charge are those of the anchor.
    private var isStill = false
    /// Whether the shape is that of the anchor.
    private var isSameShape = true
    /// The instance of the longitude's contexts, which depends on the latitude.
    private var longitudeInstance = 0
    /// The expected way since the anchor; nil if it is unknown.
    private var way: ExpectedWay?
    /// The direction of the way, in degrees from north; nil if it is unknown.
    private var direction: Int32?

    /// Creates a model that codes against `anchor` a fix whose sequence is higher by `distance`.
    init(anchor: Fix, distance: UInt32) {
        self.anchor = FixCodes(of: anchor)
        self.distance = distance
        fix = self.anchor
    }

    /// Codes everything but the sequence into ``fix``. If the decoder then knows an invalid field, the fix has no meaning.
    /// - Parameter given: the fix to encode; a decoder ignores it.
    @_lifetime(coder: copy coder)
    mutating func code<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ given: FixCodes, _ coder: inout Coder) {
        shape(given, &coder)
        time(given, &coder)
        isStill = still(given, &coder)
        if !isStill { fields(inOrder: LiveModel.order, given, &coder) }
        field(Field.battery, given.givenValue(Field.battery), &coder)
    }

    /// All fields but the battery in coding order, four bits each, the first one in the lowest bits.
    private static var order: UInt32 { 0x5210_8743 }

    /// Codes whether all fields but the battery's charge are those of the anchor, for a collar that has stopped.
    @_lifetime(coder: copy coder)
    private mutating func still<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ given: FixCodes, _ coder: inout Coder) -> Bool {
        guard isSameShape, anchor.value(Field.speed) == 0 else { return false }
        var isEqual = true
        var rest = LiveModel.order
        while rest != 0 {
            let field = Int(truncatingIfNeeded: rest & 0xF)
            if given.givenValue(field) != anchor.value(field) { isEqual = false }
            rest = rest &>> 4
        }
        return coder.bit(isEqual, context: LiveBlock.still &+ interval &+ (isScheduled ? 6 : 0))
    }

    /// The class of the time between two fixes. The longer that time is, the more the other fields of the fixes may differ.
    private static func intervalClass(_ seconds: Int64) -> Int {
        let magnitude = seconds < 0 ? 0 &- seconds : seconds
        let short = magnitude > 3001 ? 3001 : Int32(truncatingIfNeeded: magnitude)
        return short <= 2 ? 0 : short <= 20 ? 1 : short <= 250 ? 2 : short <= 700 ? 3 : short <= 3000 ? 4 : 5
    }

    /// Codes the set of known fields, the steps and the source. All of them mostly equal those of the anchor.
    @_lifetime(coder: copy coder)
    private mutating func shape<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ given: FixCodes, _ coder: inout Coder) {
        let isSame =
            given.presence == anchor.presence && given.positionStep == anchor.positionStep
            && given.altitudeStep == anchor.altitudeStep && given.source == anchor.source
        isSameShape = !coder.bit(!isSame, context: LiveBlock.sameShape)
        if isSameShape { return }
        fix.presence.rawValue = UInt8(truncatingIfNeeded: coder.bits(UInt32(given.presence.rawValue), count: 7))
        fix.positionStep = UInt8(truncatingIfNeeded: coder.bits(UInt32(given.positionStep), count: 2))
        fix.altitudeStep = UInt8(truncatingIfNeeded: coder.bits(UInt32(given.altitudeStep), count: 1))
        fix.source = UInt8(truncatingIfNeeded: coder.bits(UInt32(given.source), count: 2))
        coder.require(fix.positionStep < 3 && fix.source < 3, .difference)
    }

    @_lifetime(coder: copy coder)
    private mutating func time<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ given: FixCodes, _ coder: inout Coder) {
        let (anchorSecond, anchorRest) = FixCodes.splitSeconds(anchor.unixMilliseconds)
        let kind = anchorRest == 0 ? 0 : anchorRest >= -8 && anchorRest <= 8 ? 1 : 2
        if let elapsed = scheduled(given, kind, &coder) {
            isScheduled = true
            fix.unixMilliseconds = Coder.isEncoder ? given.unixMilliseconds : anchor.unixMilliseconds &+ elapsed
        } else {
            let (givenSecond, givenRest) = FixCodes.splitSeconds(given.unixMilliseconds)
            var rest = Int64(widening: anchorRest)
            if coder.bit(givenRest != anchorRest, context: LiveBlock.sameRest + kind) {
                rest = coder.integer(Int64(widening: givenRest), LiveBlock.rest.instance(kind))
            }
            let seconds = coder.interval(givenSecond &- anchorSecond, LiveBlock.interval)
            coder.require(rest >= -500 && rest < 500, .difference)
            let time = (anchorSecond &+ seconds) &* 1000 &+ rest
            fix.unixMilliseconds = Coder.isEncoder ? given.unixMilliseconds : time
        }
        interval = LiveModel.intervalClass(FixCodes.splitSeconds(fix.unixMilliseconds).seconds &- anchorSecond)
        coder.require(Fix.timeRange.contains(fix.unixMilliseconds), .difference)
    }

    /// Codes the time by the usual intervals.
    /// - Parameter kind: the kind of the anchor's milliseconds, 0 … 2 (PROTOCOL.md, section 11).
    /// - Returns: the time since the anchor, in milliseconds; nil if that time is not a usual interval times ``distance``.
    @_lifetime(coder: copy coder)
    private mutating func scheduled<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ given: FixCodes, _ kind: Int, _ coder: inout Coder
    ) -> Int64? {
        let speed = anchor.value(Field.speed)
        let pace = !anchor.isKnown(Field.speed) ? 0 : speed == 0 ? 1 : speed < 5 ? 2 : 3
        let elapsed = given.unixMilliseconds &- anchor.unixMilliseconds
        let known = Coder.isEncoder ? LiveSchedule.code(elapsed: elapsed, distance: distance) : nil
        guard coder.bit(known != nil, context: LiveBlock.scheduled &+ 4 &* kind &+ pace) else { return nil }
        let code = known ?? 0
        let tree = LiveBlock.schedule &+ (pace >= 2 ? 31 : 0) &- 1
        var node = 1
        var place = LiveSchedule.codeBitCount
        while place > 0 {
            place &-= 1
            let bit = coder.bit(code &>> place & 1 == 1, context: tree &+ node)
            node = 2 &* node &+ (bit ? 1 : 0)
        }
        let read = node &- 1 &<< LiveSchedule.codeBitCount
        if Coder.isEncoder { return elapsed }
        coder.require(read < LiveSchedule.count, .difference)
        return LiveSchedule.elapsed(min(read, LiveSchedule.count &- 1), distance: distance)
    }

    /// Computes the expected way since the anchor from the speeds, and its direction from the courses.
    private mutating func expectWay(latitude: Int32) {
        let elapsed = fix.unixMilliseconds &- anchor.unixMilliseconds
        guard fix.isKnown(Field.speed), interval <= 1, elapsed > 0 else { return }
        let speed = fix.value(Field.speed)
        let before = anchor.isKnown(Field.speed) ? anchor.value(Field.speed) : speed
        way = ExpectedWay(
            doubleSpeed: UInt32(bitPattern: speed &+ before), milliseconds: elapsed, latitude: latitude,
            stepsPerDegree: UInt32(bitPattern: fix.stepsPerQuarterTurn) / 90)
        guard fix.isKnown(Field.course), speed >= 2 else { return }
        let course = fix.value(Field.course)
        direction = 2 &* course
        guard anchor.isKnown(Field.course), before >= 2 else { return }
        var turn = course &- anchor.value(Field.course)
        if turn < -90 { turn &+= 180 }
        if turn >= 90 { turn &-= 180 }
        direction = 2 &* anchor.value(Field.course) &+ turn
    }

    #if hasFeature(Embedded)
    @inline(never)
    #else
    @inline(__always)
    #endif
    /// Codes a field, if it is known, mostly as the difference from the anchor's value.
    @_lifetime(coder: copy coder)
    mutating func field<Coder: EntropyCoder & ~Copyable & ~Escapable>(_ field: Int, _ given: Int32, _ coder: inout Coder) {
        guard fix.isKnown(field) else { return }
        var before = anchor.value(field)
        let block: IntegerBlock
        switch field {
        case Field.speed where interval <= 1: block = LiveBlock.speedChange.instance(interval)
        case Field.speed:
            block = LiveBlock.speed.instance(before >= 2 ? 1 : 0)
            before = 0
        case Field.latitude:
            before = FixCodes.rescale(before, decimals: Int(fix.positionStep) &- Int(anchor.positionStep))
            expectWay(latitude: before)
            if let way {
                if let direction { before &+= way.north(direction) }
                block = LiveBlock.latitude.instance(direction != nil ? 28 &+ interval : 12 &+ 8 &* interval &+ way.latitudeClass)
            } else {
                let isMoving = fix.isKnown(Field.speed) && fix.value(Field.speed) >= 2
                block = LiveBlock.latitude.instance(interval &* 2 &+ (isMoving ? 1 : 0))
            }
        case Field.longitude:
            before = FixCodes.rescale(before, decimals: Int(fix.positionStep) &- Int(anchor.positionStep))
            if let way, let direction { before &+= way.east(direction) }
            block = LiveBlock.longitude.instance(longitudeInstance)
        case Field.altitude:
            before = FixCodes.rescale(before, decimals: Int(fix.altitudeStep) &- Int(anchor.altitudeStep))
            block = LiveBlock.altitude.instance(interval)
        case Field.course, Field.heading:
            // If more than 20 s have passed, the anchor's direction does not predict that of the fix.
            guard interval <= 1 else {
                coder.direction(field, given, into: &fix)
                return
            }
            block = LiveBlock.angle.instance(interval)
        case Field.battery: block = LiveBlock.battery.instance(!isStill ? interval : interval < 5 ? 6 : 7)
        default: block = LiveBlock.accuracy.instance(min(interval, 2))
        }
        let coded = coder.change(of: field, to: given, from: before, block, into: &fix)
        if field == Field.latitude { longitudeInstance = instanceOfLongitude(north: coded) }
    }

    /// - Parameter north: the coded difference of the latitude.
    private mutating func instanceOfLongitude(north: Int64) -> Int {
        if let way { return direction != nil ? 40 &+ interval : 24 &+ 8 &* interval &+ way.longitudeClass(north: north) }
        let difference = Int32(truncatingIfNeeded: north)
        let bitCount = 32 &- (difference < 0 ? 0 &- difference : difference).leadingZeroBitCount
        return 4 &* interval &+ min(3, (bitCount &+ 1) &>> 1)
    }
}

enum LiveBlock {
    static let sameShape = 0
    static let scheduled = 1
    static let schedule = 13
    static let still = 75
    static let sameRest = 87
    static var rest: IntegerBlock { IntegerBlock(base: 90, exponentCount: 9, depth: 0, isSigned: true) }
    static var interval: IntervalBlocks {
        IntervalBlocks(
            minutes: IntegerBlock(base: 124, exponentCount: 8, depth: 3, isSigned: false),
            seconds: IntegerBlock(base: 179, exponentCount: 5, depth: 2, isSigned: false),
            secondRest: IntegerBlock(base: 198, exponentCount: 5, depth: 4, isSigned: true), lastRestInstance: 2)
    }
    static var speedChange: IntegerBlock { IntegerBlock(base: 342, exponentCount: 6, depth: 1, isSigned: true) }
    static var speed: IntegerBlock { IntegerBlock(base: 370, exponentCount: 6, depth: 1, isSigned: false) }
    static var latitude: IntegerBlock { IntegerBlock(base: 396, exponentCount: 10, depth: 0, isSigned: true) }
    static var longitude: IntegerBlock { IntegerBlock(base: 756, exponentCount: 10, depth: 0, isSigned: true) }
    static var altitude: IntegerBlock { IntegerBlock(base: 1260, exponentCount: 8, depth: 1, isSigned: true) }
    static var accuracy: IntegerBlock { IntegerBlock(base: 1368, exponentCount: 5, depth: 1, isSigned: true) }
    static var angle: IntegerBlock { IntegerBlock(base: 1404, exponentCount: 7, depth: 0, isSigned: true) }
    static var battery: IntegerBlock { IntegerBlock(base: 1422, exponentCount: 6, depth: 0, isSigned: true, isFalling: true) }
}

/// The usual intervals between fixes, in milliseconds, in the order of their codes. PROTOCOL.md has the same table.
enum LiveSchedule {
    static let count = 28
    static let codeBitCount = 5

    /// The intervals below a minute in milliseconds, and from code ``minuteCode`` on the others in minutes.
    private static let intervals: InlineArray<28, UInt16> = [
        100, 200, 250, 500, 1000, 2000, 3000, 4000, 5000, 10_000, 15_000, 20_000, 30_000, 1, 2, 3, 5, 10, 15, 20, 30, 60, 120,
        240, 360, 480, 720, 1440,
    ]
    private static let minuteCode = 13

    /// The time of `distance` intervals, in milliseconds.
    static func elapsed(_ code: Int, distance: UInt32) -> Int64 {
        let interval = UInt32(intervals[code])
        return Int64(widening: distance) &* Int64(widening: code < minuteCode ? interval : interval &* 60_000)
    }

    /// The code of the interval of which `elapsed` is `distance` times; nil if it is no usual interval.
    static func code(elapsed: Int64, distance: UInt32) -> Int? {
        var code = 0
        while code < count {
            if LiveSchedule.elapsed(code, distance: distance) == elapsed { return code }
            code &+= 1
        }
        return nil
    }
}
