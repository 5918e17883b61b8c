import CollarSimulator
import CollarWorld
import Glibc

/// Runs the command that the arguments name: `collar-link-simulation FROM COUNT` runs seeds up to the first finding, which it
/// makes small; `… find FROM COUNT` stops there with one line; `… survey FROM COUNT` runs all seeds and prints a line for each
/// finding; `… trace SEED` prints the run of one seed. `… airtime`, `… return`, `… live`, `… dialects`, `… channel`, `… capacity` and `… power` each
/// print a table of measurements. `… duty-cycle FROM COUNT` checks that a duty cycle is kept.
///
/// Exit code 1 means a finding or a trial that failed, 2 a wrong command line.
func run(_ arguments: [String]) -> Int32 {
    let isSweep = arguments.first.flatMap { UInt64($0) } != nil
    let words = isSweep ? ["sweep"] + arguments : arguments
    let numbers = words.dropFirst().compactMap { UInt64($0) }
    switch (words.first, numbers.count, words.count) {
    case ("airtime", 0, 1): return measure(TrialTables.airtime)
    case ("return", 0, 1): return measure(TrialTables.eightHoursAway)
    case ("live", 0, 1): return measure(TrialTables.live)
    case ("dialects", 0, 1): return measure(TrialTables.dialects)
    case ("channel", 0, 1): return measure(TrialTables.channel)
    case ("capacity", 0, 1): return measure(TrialTables.channelCapacity)
    case ("power", 0, 1): return measure(TrialTables.power)
    case ("trace", 1, 2): return trace(numbers[0])
    case ("sweep", 2, 3): return sweep(from: numbers[0], count: numbers[1], atFinding: .makeSmall)
    case ("find", 2, 3): return sweep(from: numbers[0], count: numbers[1], atFinding: .stop)
    case ("survey", 2, 3): return sweep(from: numbers[0], count: numbers[1], atFinding: .goOn)
    case ("duty-cycle", 2, 3): return tryDutyCycle(from: numbers[0], count: numbers[1])
    default:
        print("usage: collar-link-simulation FROM COUNT | find FROM COUNT | survey FROM COUNT | trace SEED | airtime | return |")
        print("       live | dialects | channel | capacity | power | duty-cycle FROM COUNT")
        return 2
    }
}

/// Prints a table.
func measure<Failure>(_ table: () throws(Failure) -> String) -> Int32 {
    do throws(Failure) {
        print(try table(), terminator: "")
        return 0
    } catch {
        print("the trial fails: \(error)")
        return 1
    }
}

/// Checks that a collar that reboots at any moment never sends more in an hour than its duty cycle allows.
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

/// Prints the run of a seed. If the seed finds something, its plan is shrunk first.
func trace(_ seed: UInt64) -> Int32 {
    let plan = WorldPlan(seed: seed)
    guard let small = Shrinker.shrink(plan) else {
        print(Shrinker.describe(plan, lineLimit: .max))
        return 0
    }
    print(Shrinker.describe(small, lineLimit: .max))
    return 1
}

/// The action of a sweep after a finding, whose line is printed first.
enum AfterFinding {
    /// It makes the plan of the finding small, prints that run, and stops.
    case makeSmall
    case stop
    case goOn
}

/// Runs seeds, and prints a line for each finding.
func sweep(from: UInt64, count: UInt64, atFinding: AfterFinding) -> Int32 {
    let start = clock()
    var totals = WorldStatistics()
    var findings = 0
    for seed in from..<(from + count) {
        let plan = WorldPlan(seed: seed)
        let report = World(plan).run()
        totals.add(report.statistics)
        if atFinding != .goOn, let deviation = totals.waits.deviation {
            print("the first \(seed - from + 1) seeds together break channelIsShared: \(deviation)")
            return 1
        }
        guard let violation = report.violation else { continue }
        print("seed \(seed) breaks \(violation.invariant): \(violation.text)")
        // The output of a long survey is read while it runs.
        fflush(nil)
        findings += 1
        if atFinding == .goOn { continue }
        guard atFinding == .makeSmall else { return 1 }
        print("it takes: \(plan.summary)")
        if let small = Shrinker.shrink(plan) { print("\nmade small:\n" + Shrinker.describe(small)) }
        return 1
    }
    if atFinding == .goOn {
        print("\(count) seeds from \(from): \(totals.text)")
        print("\(findings) of \(count) seeds from \(from) find something")
        if let deviation = totals.nonces.deviation { print("all seeds together break sealIsKept: \(deviation)") }
        if let deviation = totals.waits.deviation { print("all seeds together break channelIsShared: \(deviation)") }
        return findings == 0 && totals.nonces.deviation == nil && totals.waits.deviation == nil ? 0 : 1
    }
    if let deviation = totals.nonces.deviation {
        print("all seeds together break sealIsKept: \(deviation)")
        return 1
    }
    let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
    let rate = seconds > 0 ? Double(count) / seconds : 0
    print("\(count) seeds from \(from): \(totals.text), nothing found; \(Int(rate)) seeds/s")
    return 0
}

extension WorldStatistics {
    var text: String {
        "\(fixes) fixes, \(uplinkFrames) frames up, \(downlinkFrames) down, \(reboots) reboots, "
            + "\(crashes) crashes, \(hostPowerCuts) power cuts, "
            + "\(lines) lines taken, \(requests) requests, "
            + "\(virtualMicroseconds / 3_600_000_000) hours, "
            + "longest calm \(longestCalmMicroseconds / 1_000_000) s, \(coincidences) chance checks, "
            + "\(clones) clones, \(fixesOfClonesAlone) fixes acknowledged by clones alone, "
            + "\(pollsAnsweredTwice) polls answered twice, \(pollsAnsweredDifferently) of them differently, "
            + "\(nonces.pairs) pairs of frames for one poll: \(nonces.equalSalts) equal salts, \(nonces.equalBytes) equal bytes of salts, "
            + "sticks: \(stickSetups) setups, \(stickPacketsUp) packets up, \(stickPacketsDown) down, \(stickResets) resets, "
            + "\(stickFaults) other faults, "
            + "readers: \(readerLives) processes, \(readerEntries) entries, \(readerRepeats) repeated, \(checkedAlerts) alerts, "
            + "\(removedSegments) segments removed"
    }
}

exit(run(Array(CommandLine.arguments.dropFirst())))
