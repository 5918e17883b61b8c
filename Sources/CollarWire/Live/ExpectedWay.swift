/// The way that a collar has probably moved since the anchor, computed from the speeds of both fixes and the time between
/// them. The computation uses only integers, so that both ends get the same result.
struct ExpectedWay {
    /// The way, in sixteenths of a step of the latitude; at most ``limit``.
    let way: UInt32
    /// The cosine of the anchor's latitude, times 2¹⁴; at least that of 89°.
    let cosine: UInt32

    static var limit: UInt32 { 131_071 }

    /// - Parameters:
    ///   - doubleSpeed: the sum of both speeds, in tenths of a metre per second.
    ///   - milliseconds: the time between the fixes, 0 … 20,999.
    ///   - latitude: the anchor's latitude in steps of the fix.
    ///   - stepsPerDegree: 10⁵, 10⁶ or 10⁷.
    init(doubleSpeed: UInt32, milliseconds: Int64, latitude: Int32, stepsPerDegree: UInt32) {
        // A step of 1e-5 degree is 1.11195 m: 2 × 1.11195 m × 10⁴ = 22,239, and 16 ÷ 22,239 = 48,282 ÷ 2²⁶.
        let finer = stepsPerDegree / 100_000
        // Each factor of the last product fits 32 bits.
        let timed = UInt64(widening: UInt32(truncatingIfNeeded: milliseconds) &* 48_282)
        let product = UInt64(widening: doubleSpeed &* finer) &* timed
        way = UInt32(truncatingIfNeeded: min(product &>> 26, UInt64(widening: ExpectedWay.limit)))
        let magnitude = UInt32(truncatingIfNeeded: latitude < 0 ? 0 &- latitude : latitude)
        var degrees = magnitude / stepsPerDegree
        var hundredths = magnitude % stepsPerDegree / (stepsPerDegree / 100)
        if degrees >= 89 { (degrees, hundredths) = (89, 0) }
        let above = Sine.scaled(90 &- degrees)
        let below = Sine.scaled(89 &- degrees)
        cosine = (100 &* above &- (above &- below) &* hundredths) / 200
    }

    /// The class of the way, 0 … 7, for the latitude.
    var latitudeClass: Int { ExpectedWay.wayClass(Int64(widening: way) &* Int64(widening: way), scale: 1 &<< 14) }

    /// The class of the part of the way that remains for the longitude after `north` steps of the latitude, 0 … 7.
    func longitudeClass(north: Int64) -> Int {
        let magnitude = north < 0 ? 0 &- north : north
        // That many steps are longer than any way, so nothing remains. The limit keeps the square within 64 bits.
        guard magnitude < 8192 else { return 0 }
        let square = Int64(widening: way) &* Int64(widening: way) &- 256 &* magnitude &* magnitude
        return ExpectedWay.wayClass(square, scale: cosine)
    }

    /// The upper ends of the classes, in sixteenths of a step.
    private static let classEnds: InlineArray<7, UInt16> = [8, 24, 40, 64, 112, 192, 384]

    private static func wayClass(_ square: Int64, scale: UInt32) -> Int {
        var result = 0
        while result < 7 {
            let end = Int64(widening: (UInt32(classEnds[result]) &* scale) &>> 14)
            if square < end &* end { break }
            result &+= 1
        }
        return result
    }

    /// The steps north in a direction, in degrees from north.
    func north(_ degrees: Int32) -> Int32 {
        projected(degrees) { size in (size &+ 8) &>> 4 }
    }

    /// The steps east in a direction, in degrees from north.
    func east(_ degrees: Int32) -> Int32 {
        projected(degrees &- 90) { size in (size &<< 14 / cosine &+ 8) &>> 4 }
    }

    /// The part of the way along an axis, with the sign of the cosine of `degrees`, −180 … 450.
    @inline(__always)
    private func projected(_ degrees: Int32, _ steps: (UInt32) -> UInt32) -> Int32 {
        let turn = degrees < 0 ? degrees &+ 360 : degrees >= 360 ? degrees &- 360 : degrees
        let quarter = turn / 90
        let rest = UInt32(bitPattern: turn % 90)
        let size = (way &* Sine.scaled(quarter & 1 == 1 ? rest : 90 &- rest)) &>> 15
        let magnitude = Int32(bitPattern: steps(size))
        return quarter == 1 || quarter == 2 ? 0 &- magnitude : magnitude
    }
}

/// The sine of whole degrees. PROTOCOL.md has a table of the same values.
public enum Sine {
    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// The sine of 0° … 90°, times 2¹⁵, rounded. Other angles give no meaningful value.
    ///
    /// A polynomial takes less of a collar's flash than a table: sin(90° × x) is nearly x × (a − x² × (b − x² × (c − x² × d))). The
    /// coefficients are such that every rounded result is exact, which a test checks.
    public static func scaled(_ degrees: UInt32) -> UInt32 {
        // x is the fraction of 90° in 2⁻³², the coefficients are in 2⁻³⁰; a product of both is in 2⁻³⁰.
        let x = degrees &* 47_721_858
        let square = high(x, x)
        let factor = 1_686_622_500 &- high(square, 693_512_241 &- high(square, 85_281_572 &- high(square, 4_652_887)))
        return (high(x, factor) &+ 1 &<< 14) &>> 15
    }

    /// The upper 32 bits of the product.
    @inline(__always)
    private static func high(_ left: UInt32, _ right: UInt32) -> UInt32 { left.multipliedFullWidth(by: right).high }
}
