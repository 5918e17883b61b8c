import CollarWire

/// The size of an absolute fix, computed from the table of section 6.
enum FixSize {
    static func payloadBitCount(_ fix: Fix, isWide: Bool) -> Int {
        let step = Int(fix.positionStep.rawValue)
        var known: [Int] = []
        if let altitude = fix.altitudeSteps { known.append((-1000...15_382).contains(altitude) ? 14 : 38) }
        if fix.horizontalAccuracy != nil { known.append(7) }
        if fix.verticalAccuracy != nil { known.append(7) }
        if let speed = fix.speedDecimetersPerSecond { known.append(speed <= 510 ? 9 : 29) }
        if fix.course != nil { known.append(8) }
        if fix.heading != nil { known.append(8) }
        if fix.batteryPercent != nil { known.append(7) }
        let mask = known.count == 7 ? 0 : 7
        let position = [25 + 26, 28 + 29, 31 + 32][step]
        return 9 + mask + (isWide ? 24 : 8) + timeBitCount(fix.unixMilliseconds) + position + known.reduce(0, +)
    }

    static func frameByteCount(_ fix: Fix, isWide: Bool) -> Int { 7 + (payloadBitCount(fix, isWide: isWide) + 7) / 8 }

    /// The width of the first time form that is exact.
    private static func timeBitCount(_ time: Int64) -> Int {
        guard time >= 0, time / 1000 <= 4_294_967_295 else { return 48 }
        if time.isMultiple(of: 1000) { return 32 }
        return time.isMultiple(of: 100) ? 36 : 42
    }
}
