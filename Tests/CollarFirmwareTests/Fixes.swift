import CollarFirmware
import CollarWire

/// A fix whose fields all follow from its number. In some fixes a field is unknown or is coded with an escape.
func fix(_ number: UInt32, sequence: UInt32? = nil) -> Fix {
    let small = Int32(truncatingIfNeeded: number % 997)
    return Fix(
        sequence: sequence ?? number, unixMilliseconds: 1_700_000_000_000 + Int64(number) * 1000 + Int64(number % 3),
        latitudeSteps: 4_800_000 + small, longitudeSteps: -12_200_000 - small,
        altitudeSteps: number % 5 == 0 ? nil : (number % 7 == 0 ? 20_000 : small),
        horizontalAccuracy: AccuracyCode(rawValue: UInt8(small % 120)),
        speedDecimetersPerSecond: number % 4 == 0 ? nil : UInt32(small), batteryPercent: UInt8(small % 101))
}

let logID: UInt32 = 0x2AB_CDEF
let firstLogBlock = 4

func mountLog(_ flash: inout TestFlash, logID id: UInt32 = logID) throws(FlashError) -> FixLog<TestFlash> {
    try FixLog(mounting: &flash, firstBlock: firstLogBlock, logID: id)
}

/// A flash with the fixes 0 ..< `count` in its log.
func flash(holding count: UInt32, blockCount: Int = 7) throws -> TestFlash {
    var flash = TestFlash(blockCount: blockCount)
    var log = try mountLog(&flash)
    for number in 0..<count { _ = try log.append(fix(number), to: &flash) }
    flash.clearHistory()
    return flash
}

extension FixLog {
    mutating func append(_ fix: Fix, to flash: inout Flash) throws(FixLogError) -> UInt32 { try append(.fix(fix), to: &flash) }
}
