/// An accuracy (a radius or half-height) on a scale of 127 codes. On the wire it has 7 bits; code 127 is invalid.
///
/// Code 0 is exactly 0. Codes 1 … 9 are 1 … 9 cm. From code 10 (0.1 m) to code 126 the value grows by 9 % a step:
/// code c is 100 × 1.09^(c − 10) mm, rounded to the nearest millimetre. The last code means "this or more".
public struct AccuracyCode: Equatable, Sendable {
    /// The code, 0 … ``top``.
    public let rawValue: UInt8

    /// Creates an accuracy from its code; nil above ``top``.
    public init?(rawValue: UInt8) {
        guard rawValue <= AccuracyCode.top else { return nil }
        self.rawValue = rawValue
    }

    /// Creates an accuracy from a code that the caller knows to be at most ``top``.
    init(checked rawValue: UInt8) { self.rawValue = rawValue }

    /// The last code, which means 2195.198 m or more.
    public static var top: UInt8 { 126 }

    /// The accuracy in millimetres, 0 … 2,195,198.
    ///
    /// Complexity: linear in the code.
    public var millimeters: UInt32 {
        var scale = AccuracyScale()
        while scale.code < rawValue { scale.advance() }
        return scale.millimeters
    }

    /// Creates the code whose value is nearest; the smaller of two equally near codes. `millimeters` above the value of the last
    /// code gives the last code.
    ///
    /// Complexity: linear in the code.
    public init(nearestToMillimeters millimeters: UInt32) {
        var scale = AccuracyScale()
        while scale.code < AccuracyCode.top {
            let here = scale
            scale.advance()
            if millimeters <= (here.millimeters &+ scale.millimeters) / 2 {
                rawValue = here.code
                return
            }
        }
        rawValue = scale.code
    }

    /// Creates the code of an accuracy in a fix: the nearest one, but a positive accuracy never gets code 0, because GNSS
    /// receivers report 0 for an unknown accuracy.
    public init(roundingMillimeters millimeters: UInt32) {
        let nearest = AccuracyCode(nearestToMillimeters: millimeters)
        rawValue = nearest.rawValue == 0 && millimeters > 0 ? 1 : nearest.rawValue
    }
}
