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

/// Computes the values of ``AccuracyCode``, code by code from 0 up. A table would take half a kilobyte of a collar's flash.
///
/// The value grows by 10 mm a step up to code 10, and by 9 % a step after that. From code 10 on it is computed with 32
/// significant bits, and each growth is rounded up in the last of these bits. A test compares all codes with the formula.
struct AccuracyScale {
    /// The code, 0 … ``AccuracyCode/top``.
    private(set) var code: UInt8 = 0
    /// The value of ``code``, rounded to the nearest millimetre.
    private(set) var millimeters: UInt32 = 0
    /// The unrounded value of ``code``, or of code 10 while ``code`` is lower, in millimetres times 2^``fractionBitCount``; at
    /// least 2³¹.
    private var exact: UInt32 = 100 &<< 25
    private var fractionBitCount: UInt32 = 25

    /// 0.09 times 2³².
    private static var growth: UInt32 { 386_547_056 }

    /// Goes on to the next code.
    mutating func advance() {
        code &+= 1
        if code <= 10 {
            millimeters &+= 10
            return
        }
        let (sum, isCarried) = exact.addingReportingOverflow(exact.multipliedFullWidth(by: AccuracyScale.growth).high &+ 1)
        exact = sum
        if isCarried {
            exact = exact &>> 1 | 1 &<< 31
            fractionBitCount &-= 1
        }
        millimeters = (exact &>> (fractionBitCount &- 1) &+ 1) &>> 1
    }
}
