/// The model of a live fix: which values are coded, in which order and in which contexts, the same for both directions.
struct LiveTransfer: FieldModel {
    typealias Field = FixCodes.Field

    private let anchor: FixCodes
    /// The fix that is coded: at first its anchor.
    private(set) var fix: FixCodes
    /// Class of the time since the anchor.
    private var interval = 0
    /// Class of the difference of the latitudes.
    private var northClass = 0

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
        guard shape(given, &coder) || Coder.isEncoder, time(given, &coder) || Coder.isEncoder else { return false }
        return fields(given, &coder)
    }

    /// Classes of the time between two fixes, which say how far apart their other fields may be.
    private static func intervalClass(_ seconds: Int64) -> Int {
        let magnitude = seconds < 0 ? 0 &- seconds : seconds
        let short = magnitude > 3001 ? 3001 : Int32(truncatingIfNeeded: magnitude)
        return short <= 2 ? 0 : short <= 20 ? 1 : short <= 250 ? 2 : short <= 700 ? 3 : short <= 3000 ? 4 : 5
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
            rest = coder.integer(Int64(widening: givenRest), LiveBlock.rest.instance(kind))
        }
        guard let seconds = coder.interval(givenSecond &- anchorSecond, LiveBlock.interval), rest >= -500, rest < 500
        else { return false }
        interval = LiveTransfer.intervalClass(seconds)
        fix.unixMilliseconds = (anchorSecond &+ seconds) &* 1000 &+ rest
        return Fix.timeRange.contains(fix.unixMilliseconds)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #else
    @inline(__always)
    #endif
    /// A field, if it is known: as the difference to the anchor's.
    @_lifetime(coder: copy coder)
    mutating func field<Coder: EntropyCoder & ~Copyable & ~Escapable>(
        _ field: Int, _ given: FixCodes, _ coder: inout Coder
    ) -> Bool {
        guard fix.isKnown(field) else { return true }
        var before = anchor.value(field)
        let block: IntegerBlock
        switch field {
        case Field.speed where interval <= 1: block = LiveBlock.speedChange.instance(interval)
        case Field.speed:
            block = LiveBlock.speed.instance(before >= 2 ? 1 : 0)
            before = 0
        case Field.latitude:
            before = FixCodes.rescale(before, decimals: Int(fix.positionStep) &- Int(anchor.positionStep))
            let isMoving = fix.isKnown(Field.speed) && fix.value(Field.speed) >= 2
            block = LiveBlock.latitude.instance(interval &* 2 &+ (isMoving ? 1 : 0))
        case Field.longitude:
            before = FixCodes.rescale(before, decimals: Int(fix.positionStep) &- Int(anchor.positionStep))
            block = LiveBlock.longitude.instance(interval &* 4 &+ northClass)
        case Field.altitude:
            before = FixCodes.rescale(before, decimals: Int(fix.altitudeStep) &- Int(anchor.altitudeStep))
            block = LiveBlock.altitude.instance(interval)
        case Field.course, Field.heading:
            // Over minutes a direction says nothing about the next one.
            guard interval <= 1 else {
                coder.direction(field, given, into: &fix)
                return true
            }
            block = LiveBlock.angle.instance(interval)
        case Field.battery: block = LiveBlock.battery.instance(interval)
        default: block = LiveBlock.accuracy.instance(min(interval, 2))
        }
        let coded = coder.change(
            of: field, given, from: before, block, isFalling: field == Field.battery, into: &fix)
        guard let coded else { return false }
        if field == Field.latitude {
            let north = Int32(truncatingIfNeeded: coded)
            let bitCount = 32 &- (north < 0 ? 0 &- north : north).leadingZeroBitCount
            northClass = min(3, (bitCount &+ 1) &>> 1)
        }
        return true
    }
}
