import CollarARQ
import CollarSimulator
import CollarWire

@testable import CollarFirmware

/// The supply of a receiver in virtual time. An interval of 3 min, a time-out of 60 s, waits up to an hour, an accuracy of 20 m for which
/// it waits 10 s.
final class SupplyBench {
    var supply = ReceiverSupply()
    var now = Instant(microseconds: 0)
    var schedule: FixSchedule
    /// The fixes that the schedule chose.
    private(set) var chosen: [Fix] = []
    private var made: UInt32 = 0

    init(intervalSeconds: Int64 = 180) {
        schedule = FixSchedule(
            battery: .good, isStationary: false, hasAccelerometer: false, settings: CollarSettings(heartbeatSeconds: 60))
        schedule.intervalMicroseconds = intervalSeconds * 1_000_000
    }

    var seconds: Double { Double(now.microseconds) / 1_000_000 }

    func demand(_ demand: ReceiverSupply.Demand) {
        supply.demand(demand)
        advance()
    }

    /// Puts the present schedule in force.
    func obey() { demand(.scheduled(schedule)) }

    func advance() { while let fix = supply.advance(to: now) { chosen.append(fix) } }

    /// Lets the time pass, with each deadline obeyed.
    func run(seconds: Double) {
        let end = now.advanced(byMicroseconds: Int64(seconds * 1_000_000))
        while let deadline = supply.nextDeadline, deadline <= end {
            now = max(now, deadline)
            advance()
        }
        now = end
        advance()
    }

    /// Lets the time pass until the receiver is switched on or off.
    /// - Returns: the seconds that it took.
    func runToSwitch() -> Double {
        let (begin, isOn) = (now, supply.supply == .on)
        while (supply.supply == .on) == isOn, let deadline = supply.nextDeadline {
            now = max(now, deadline)
            advance()
        }
        return Double(now.microseconds(since: begin)) / 1_000_000
    }

    /// The receiver makes a position with this accuracy.
    /// - Returns: whether the schedule chose a fix.
    @discardableResult
    func position(meters: UInt32? = 5) -> Bool {
        made += 1
        var fix = Fix(sequence: made, unixMilliseconds: 1_700_000_000_000, latitudeSteps: 0, longitudeSteps: 0)
        fix.horizontalAccuracy = meters.map { AccuracyCode(nearestToMillimeters: $0 * 1000) }
        guard let fix = supply.accept(fix, now: now) else { return false }
        chosen.append(fix)
        advance()
        return true
    }

    /// A receiver with its orbits, in backup, directly after a fix that was found in this time.
    static func rested(intervalSeconds: Int64 = 180, timeToFix: Double = 8) -> SupplyBench {
        let bench = SupplyBench(intervalSeconds: intervalSeconds)
        bench.obey()
        bench.run(seconds: 8)
        bench.position()
        _ = bench.runToSwitch()
        bench.find(in: timeToFix)
        if bench.supply.supply == .on { _ = bench.runToSwitch() }
        return bench
    }

    /// Waits for the next search, and lets it succeed.
    func find(in seconds: Double) {
        if supply.supply != .on { _ = runToSwitch() }
        run(seconds: seconds)
        position()
    }

    /// Waits for the next search, and lets it fail.
    func fail() {
        if supply.supply != .on { _ = runToSwitch() }
        _ = runToSwitch()
    }
}
