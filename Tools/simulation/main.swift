import CollarSimulator
import CollarWorld
import Glibc

/// Runs seeds and prints what it found: `collar-link-simulation FROM COUNT` up to the first finding, `… survey FROM COUNT`
/// all findings in a line each, `… trace SEED` one seed in full; or measures: `… airtime`, `… return`, `… live`; or checks
/// that a duty cycle is kept: `… duty-cycle FROM COUNT`.
///
/// Prints one line when all is well, and the finding otherwise. Exit code 1 is a finding, 2 a wrong command line.
func run(_ arguments: [String]) -> Int32 {
    if arguments.count == 2, arguments[0] == "trace", let seed = UInt64(arguments[1]) {
        return trace(seed)
    }
    if arguments == ["airtime"] { return measure(AirtimeTable.text) }
    if arguments == ["return"] { return measure(ReturnTable.text) }
    if arguments == ["live"] { return measure(LiveTable.text) }
    if arguments.count == 3, arguments[0] == "duty-cycle", let from = UInt64(arguments[1]), let count = UInt64(arguments[2]) {
        return tryDutyCycle(from: from, count: count)
    }
    if arguments.count == 3, arguments[0] == "survey", let from = UInt64(arguments[1]), let count = UInt64(arguments[2]) {
        return survey(from: from, count: count)
    }
    guard arguments.count == 2, let from = UInt64(arguments[0]), let count = UInt64(arguments[1]) else {
        print("usage: collar-link-simulation FROM COUNT | survey FROM COUNT | trace SEED | airtime | return | live |")
        print("       duty-cycle FROM COUNT")
        return 2
    }
    return sweep(from: from, count: count)
}

/// Prints a table.
func measure(_ table: () throws(StationError) -> String) -> Int32 {
    do throws(StationError) {
        print(try table(), terminator: "")
        return 0
    } catch {
        print("the trial fails: \(error)")
        return 1
    }
}

/// Whether a collar that reboots at any moment ever sends more in an hour than its duty cycle allows.
func tryDutyCycle(from: UInt64, count: UInt64) -> Int32 {
    var most: Int64 = 0
    var frames = 0
    var reboots = 0
    for seed in from..<(from + count) {
        let trial = DutyCycleTrial(seed: seed)
        do throws(StationError) {
            let result = try trial.run()
            guard result.mostMicroseconds <= trial.allowedMicroseconds else {
                print("seed \(seed) has \(result.mostMicroseconds) us of airtime in an hour: \(trial): \(result)")
                return 1
            }
            most = max(most, result.mostMicroseconds)
            frames += result.frameCount
            reboots += result.rebootCount
        } catch {
            print("seed \(seed) fails: \(error)")
            return 1
        }
    }
    print("\(count) seeds from \(from): \(frames) frames, \(reboots) reboots, at most \(most / 1000) ms in an hour")
    return 0
}

/// What a seed does; if it finds something, made small.
func trace(_ seed: UInt64) -> Int32 {
    let plan = WorldPlan(seed: seed)
    guard let small = Shrinker.shrink(plan) else {
        print(Shrinker.describe(plan, lineLimit: .max))
        return 0
    }
    print(Shrinker.describe(small, lineLimit: .max))
    return 1
}

/// Names every seed that finds something, in a line each.
func survey(from: UInt64, count: UInt64) -> Int32 {
    var findings = 0
    for seed in from..<(from + count) {
        guard let violation = World(WorldPlan(seed: seed)).run().violation else { continue }
        print("seed \(seed) breaks \(violation.invariant): \(violation.text)")
        // A long survey is read while it runs.
        fflush(nil)
        findings += 1
    }
    print("\(findings) of \(count) seeds from \(from) find something")
    return findings == 0 ? 0 : 1
}

func sweep(from: UInt64, count: UInt64) -> Int32 {
    let start = clock()
    var totals = WorldStatistics()
    for seed in from..<(from + count) {
        let plan = WorldPlan(seed: seed)
        let report = World(plan).run()
        guard let violation = report.violation else {
            totals.add(report.statistics)
            continue
        }
        print("seed \(seed) breaks \(violation.invariant): \(violation.text)")
        print("it takes: \(plan.summary)")
        if let small = Shrinker.shrink(plan) { print("\nmade small:\n" + Shrinker.describe(small)) }
        return 1
    }
    let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
    let rate = seconds > 0 ? Double(count) / seconds : 0
    print("\(count) seeds from \(from): \(totals.text); \(Int(rate)) seeds/s")
    return 0
}

extension WorldStatistics {
    var text: String {
        "\(fixes) fixes, \(uplinkFrames) frames up, \(downlinkFrames) down, \(reboots) reboots, \(crashes) crashes, \(hostPowerCuts) power cuts, "
            + "\(lines) lines taken, \(orders) orders, "
            + "\(virtualMicroseconds / 3_600_000_000) hours, "
            + "longest calm \(longestCalmMicroseconds / 1_000_000) s, \(coincidences) chance checks, nothing found"
    }
}

exit(run(Array(CommandLine.arguments.dropFirst())))
