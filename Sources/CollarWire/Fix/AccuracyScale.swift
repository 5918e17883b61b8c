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
        let (sum, isCarried) = exact.addingReportingOverflow(
            exact.multipliedFullWidth(by: AccuracyScale.growth).high &+ 1)
        exact = sum
        if isCarried {
            exact = exact &>> 1 | 1 &<< 31
            fractionBitCount &-= 1
        }
        millimeters = (exact &>> (fractionBitCount &- 1) &+ 1) &>> 1
    }
}
