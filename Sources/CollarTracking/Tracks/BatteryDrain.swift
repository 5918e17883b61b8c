import CollarWire

/// How fast a collar's battery is discharged, from the charges in its fixes.
package struct BatteryDrain: Sendable {
    /// Only charges of the last day count, in milliseconds.
    private static let window: Int64 = 86_400_000
    /// Over a shorter time a change of one percent would look like a fast discharge; in milliseconds.
    private static let shortestSpan: Int64 = 3_600_000
    /// A charge that is higher than an earlier one by more than this was raised by a charger; in percent.
    private static let jitterPercent = 2

    private var charges: [(unixMilliseconds: Int64, percent: Int)] = []

    package init() {}

    /// Adds the charge at a time, in milliseconds since 1970. The charges may come in any order.
    package mutating func add(percent: UInt8, unixMilliseconds: Int64) { charges.append((unixMilliseconds, Int(percent))) }

    /// Removes the charges that no longer count, so that a program that runs for months keeps those of a day.
    package mutating func forgetOld() {
        let newest = charges.map(\.unixMilliseconds).max() ?? 0
        charges.removeAll { newest - $0.unixMilliseconds > BatteryDrain.window }
    }

    /// The discharge in thousandths of a percent an hour, from the first charge of the last day, or from the last charging if that
    /// was later, to the newest charge; nil if that is less than an hour.
    ///
    /// Complexity: sorts the charges.
    package var milliPercentPerHour: Int64? {
        let sorted = charges.sorted { $0.unixMilliseconds < $1.unixMilliseconds }
        guard let newest = sorted.last else { return nil }
        var first = newest
        var highest = newest.percent
        for charge in sorted.reversed() {
            guard newest.unixMilliseconds - charge.unixMilliseconds <= BatteryDrain.window,
                highest - charge.percent <= BatteryDrain.jitterPercent
            else { break }
            highest = max(highest, charge.percent)
            first = charge
        }
        let span = newest.unixMilliseconds - first.unixMilliseconds
        guard span >= BatteryDrain.shortestSpan else { return nil }
        return Int64(max(0, first.percent - newest.percent)) * 1000 * 3_600_000 / span
    }

    /// Adds the charge in a fix, if it is known.
    package mutating func add(_ fix: Fix) {
        if let percent = fix.batteryPercent { add(percent: percent, unixMilliseconds: fix.unixMilliseconds) }
    }
}
