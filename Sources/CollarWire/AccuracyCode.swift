/// An accuracy (a radius or half-height) on a scale of 127 codes, 7 bits on the wire; the 128th code is invalid there.
///
/// Code 0 is exactly 0. Codes 1 … 9 are centimetres. Codes 10 … 126 grow by 9 % a step from 0.1 m:
/// code c is 100 × 1.09^(c − 10) mm, rounded to the nearest millimetre. The last code means "this or more".
public struct AccuracyCode: Equatable, Sendable {
    /// The code, 0 … ``top``.
    public let rawValue: UInt8

    /// Creates an accuracy from its code; nil above ``top``.
    public init?(rawValue: UInt8) {
        guard rawValue <= AccuracyCode.top else { return nil }
        self.rawValue = rawValue
    }

    /// The last code, which means 2195.198 m or more.
    public static let top: UInt8 = 126

    /// The accuracy in millimetres, 0 … 2,195,198.
    public var millimeters: UInt32 { AccuracyCode.millimeterTable[Int(rawValue)] }

    /// The code whose value is nearest; between two, the smaller. Above the last code's value, the last code.
    ///
    /// Complexity: a binary search over 127 values.
    public init(nearestToMillimeters millimeters: UInt32) {
        var low = 0
        var high = Int(AccuracyCode.top)
        while low < high {
            let middle = (low + high) / 2
            let here = AccuracyCode.millimeterTable[middle]
            let above = AccuracyCode.millimeterTable[middle + 1]
            if millimeters <= here + (above - here) / 2 { high = middle } else { low = middle + 1 }
        }
        rawValue = UInt8(low)
    }

    /// The value of each code in millimetres. A literal, so that it lies in read-only memory.
    static let millimeterTable: InlineArray<127, UInt32> = [
        0, 10, 20, 30, 40, 50, 60, 70, 80,
        90, 100, 109, 119, 130, 141, 154, 168, 183,
        199, 217, 237, 258, 281, 307, 334, 364, 397,
        433, 472, 514, 560, 611, 666, 726, 791, 862,
        940, 1_025, 1_117, 1_217, 1_327, 1_446, 1_576, 1_718, 1_873,
        2_041, 2_225, 2_425, 2_644, 2_882, 3_141, 3_424, 3_732, 4_068,
        4_434, 4_833, 5_268, 5_742, 6_259, 6_822, 7_436, 8_105, 8_834,
        9_630, 10_496, 11_441, 12_471, 13_593, 14_816, 16_150, 17_603, 19_187,
        20_914, 22_797, 24_848, 27_085, 29_522, 32_179, 35_075, 38_232, 41_673,
        45_424, 49_512, 53_968, 58_825, 64_119, 69_890, 76_180, 83_036, 90_509,
        98_655, 107_534, 117_212, 127_761, 139_260, 151_793, 165_455, 180_346, 196_577,
        214_268, 233_553, 254_572, 277_484, 302_457, 329_679, 359_350, 391_691, 426_943,
        465_368, 507_251, 552_904, 602_665, 656_905, 716_027, 780_469, 850_711, 927_275,
        1_010_730, 1_101_696, 1_200_849, 1_308_925, 1_426_728, 1_555_134, 1_695_096, 1_847_655, 2_013_943,
        2_195_198,
    ]
}
