/// The scale of ``AccuracyCode``, code by code from 0 up, computed: a table takes half a kilobyte of a collar's flash.
///
/// The value grows by 9 % a step as a binary number of 32 significant bits. Its growth, of which the bits behind are
/// dropped, is rounded up; a test compares all codes with the formula.
struct AccuracyScale {
    /// The code, 0 … ``AccuracyCode/top``.
    private(set) var code: UInt8 = 0
    /// The value of ``code``, rounded.
    private(set) var millimeters: UInt32 = 0
    /// The value of codes from 10 on without rounding, in millimetres times 2^``fractionBitCount``, at least 2³¹.
    private var exact: UInt32 = 100 &<< 25
    private var fractionBitCount: UInt32 = 25

    /// 0.09 in 2³²nds.
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
