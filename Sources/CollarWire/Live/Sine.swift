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
