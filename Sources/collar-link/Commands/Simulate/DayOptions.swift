import CheckedNumbers
import CollarErrors
import CollarSimulator
import CollarWire

/// The options of `simulate --days`, checked.
struct DayOptions {
    let days: Int
    let setup: DaySetup
    let currents: CurrentTable
    /// The capacity of the cell, in milliampere-hours.
    let capacity: Double
    let isDetailed: Bool

    /// The options that go with `--days` only.
    static let own = [
        "--settings", "--sky", "--like", "--state-dir", "--currents", "--capacity", "--time-to-fix", "--no-accelerometer", "--sensing",
    ]
    /// The options that go with and without it.
    private static let shared = ["--days", "--modem", "--loss", "--duty-cycle", "--seed", "--noise", "--stats"]

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let known = DayOptions.own + DayOptions.shared
        if let other = arguments.command.options.map(\.key).first(where: { arguments.has($0) && !known.contains($0) }) {
            throw CommandFailure.excluding(
                arguments.has("--days") ? "--days" : "--like", other,
                remedy: "Days are computed without a terminal and a track. They take \(known.joined(separator: ", ")).")
        }
        if arguments.has("--state-dir"), !arguments.has("--like") { throw CommandFailure(.usage, "`--state-dir` goes with `--like`.") }
        for option in ["--sky", "--loss"] where arguments.has("--like") && arguments.has(option) {
            throw CommandFailure.excluding("--like", option, remedy: "Leave out `\(option)`: the stored fixes tell it.")
        }
        var setup = DaySetup()
        setup.settings = try [Setting](words: (arguments.value("--settings") ?? "").split(separator: ",").map(String.init))
        if let path = arguments.value("--sky") {
            setup.plan = try DayOptions.read(path) { text throws(LineFault) in try DayPlan(text) }
        }
        if let name = arguments.value("--modem") {
            guard case .lora(let spreadingFactor) = SimulatedModem(name: name) else {
                throw CommandFailure(.usage, "With `--days`, `--modem` takes lora:SF7 to lora:SF12, not '\(name)'.")
            }
            setup.spreadingFactor = spreadingFactor
        }
        setup.lossProbability = try arguments.number("--loss", in: 0...1) ?? 0
        var recorded: RecordedDays?
        if arguments.has("--like") {
            let days = try arguments.recordedDays(spreadingFactor: setup.spreadingFactorInForce)
            (setup.plan, setup.lossProbability) = (days.plan, days.lossProbability)
            recorded = days
        }
        days = try arguments.integer("--days", in: 1...366) ?? recorded.map { max(1, min(366, Int($0.microseconds / DayPlan.dayMicroseconds))) } ?? 1
        setup.dutyCyclePartsPerMillion = try arguments.number("--duty-cycle", in: 0.01...100).map { Int64($0 * 10_000) }
        setup.noiseMeters = try arguments.number("--noise", in: 0...1000) ?? setup.noiseMeters
        setup.seed = UInt64(try arguments.integer("--seed", in: 0...Int.max) ?? 0)
        setup.hasAccelerometer = !arguments.has("--no-accelerometer")
        setup.sensesChannel = arguments.has("--sensing")
        if let text = arguments.value("--time-to-fix") { setup.timesToFix = try DayOptions.timesToFix(text) }
        self.setup = setup
        if let path = arguments.value("--currents") {
            currents = try DayOptions.read(path) { text throws(LineFault) in try CurrentTable(text) }
        } else {
            currents = .default
        }
        capacity = try arguments.number("--capacity", in: 1...1e6) ?? 500
        isDetailed = arguments.has("--stats")
    }

    private static func timesToFix(_ text: String) throws(CommandFailure) -> TimesToFix {
        let seconds = text.split(separator: "/", omittingEmptySubsequences: false).map { Double($0, in: 0...600).map { Int64($0 * 1e6) } }
        guard seconds.count == 3, let open = seconds[0], let trees = seconds[1], let cold = seconds[2] else {
            throw CommandFailure(
                .usage, "`--time-to-fix` takes OPEN/TREES/COLD, each from 0 to 600 seconds, not '\(text)'.",
                remedy: "The times are those under an open sky, under trees, and what a receiver without supply needs in addition: "
                    + "`--time-to-fix 8/20/20`.")
        }
        return TimesToFix(open: open, trees: trees, cold: cold)
    }

    /// The most bytes of a file that a person writes.
    private static let byteLimit = 1 << 20

    private static func read<Value>(_ path: String, _ parse: (String) throws(LineFault) -> Value) throws(CommandFailure) -> Value {
        var input = try ChunkInput(path: path)
        var bytes: [UInt8] = []
        while bytes.count <= byteLimit, let chunk = try input.next() { bytes += chunk }
        guard bytes.count <= byteLimit, let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.corruptInput, "\(path) is no text of at most 1 MiB in UTF-8.")
        }
        do throws(LineFault) { return try parse(text) } catch {
            throw CommandFailure(.corruptInput, "\(path) has a wrong line: line \(error.line) \(error.reason).")
        }
    }
}
