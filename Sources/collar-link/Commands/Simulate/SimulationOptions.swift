import CheckedNumbers
import CollarARQ
import CollarErrors
import CollarFirmware
import CollarSimulator
import CollarWire
import RadioModems
import SerialDevices

/// The options of `simulate`, checked. Nil stands for what the help names as the default.
struct SimulationOptions {
    let collarCount: Int
    let phases: CollarPhases?
    /// The part of the pairs of collars that do not hear each other, 0 … 1.
    private let hiddenProbability: Double
    private let hasCapture: Bool
    /// Whether the radios of the collars sense the channel.
    let sensesChannel: Bool
    /// The most by which the intervals of a collar are longer or shorter, in millionths.
    private let driftPartsPerMillion: Double
    let link: PortLink?
    let loss: Double
    let burst: Double?
    let corruption: Double
    private let modemKind: SimulatedModem
    let dialect: Dialect
    let stickRelease: StickRelease?
    /// The settings of the collars' radios; nil where the stick has no radio that is set.
    let channel: RadioSettings?
    let stickFaults: [Scheduled<StickFault>]
    let presses: [Scheduled<ButtonDecoder.Press>]
    let noiseMeters: Double?
    let battery: SimulatedBattery?
    let dutyCyclePercent: Double?
    /// Speed as a multiple of real time; nil for virtual time.
    let speed: Double?
    let interval: Double?
    private let requestSeconds: Double?
    let key: CollarKey?
    let cable: String?
    let seed: UInt64
    let endsWhenDelivered: Bool
    let printsStatistics: Bool

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        collarCount = try arguments.integer("--collars", in: 1...64) ?? 1
        if let option = ["--phases", "--hidden", "--capture"].first(where: arguments.has), !arguments.has("--collars") {
            throw CommandFailure(.usage, "`\(option)` goes with `--collars`.")
        }
        phases = try arguments.choice("--phases")
        hiddenProbability = try arguments.number("--hidden", in: 0...1) ?? 0
        hasCapture = arguments.has("--capture")
        driftPartsPerMillion = try arguments.number("--drift", in: 0...1000) ?? 0
        link = arguments.value("--link").map(PortLink.init)
        loss = try arguments.number("--loss", in: 0...1) ?? 0
        burst = try arguments.number("--burst", in: 1...1000)
        // Rounding makes 0.8 / (1 - 0.8) a little more than 4.
        if let burst, loss >= 1 || burst < loss / (1 - loss) * (1 - 1e-9) {
            throw CommandFailure(
                .usage, "`--burst \(burst)` is too short: with a loss of \(loss) runs are longer.",
                remedy: "Bursts have at least P / (1 - P) frames for `--loss P`, and a loss below 1.")
        }
        corruption = try arguments.number("--corrupt", in: 0...1) ?? 0
        let modemName = arguments.value("--modem") ?? SimulatedModem.serial.name
        guard let known = SimulatedModem(name: modemName) else {
            throw CommandFailure(
                .usage, "`--modem` takes no '\(modemName)'." + Suggestion.text(for: modemName, among: SimulatedModem.names),
                remedy: "It takes serial, ble, or lora:SF7 to lora:SF12.")
        }
        modemKind = known
        let isHalfDuplex = known.profile.isHalfDuplex
        if !isHalfDuplex, let option = ["--hidden", "--capture", "--no-sensing"].first(where: arguments.has) {
            throw Self.needsLoRa(option, known)
        }
        sensesChannel = isHalfDuplex && !arguments.has("--no-sensing")
        dialect =
            try arguments.choice("--dialect", of: ["serial": .serial, "kiss": .kiss, "rnode": .rnode, "rui3": .rui3]) ?? .serial
        stickRelease = try arguments.value("--stick-release").map { [dialect] text throws(CommandFailure) in
            guard let release = StickRelease(rawValue: text, of: dialect) else {
                let names = StickRelease.all(of: dialect).map(\.rawValue)
                throw CommandFailure(
                    .usage, "`--stick-release` takes no '\(text)': a stick of the dialect \(dialect.rawValue) has no such release.",
                    remedy: names.isEmpty ? "A serial line has none." : "It takes \(names.joined(separator: ", ")).")
            }
            return release
        }
        channel = try Self.channel(for: dialect, modem: known)
        let names = StickFault.allCases.filter { [dialect] in $0.isPossible(in: dialect) }.map(\.rawValue)
        let kinds = names.joined(separator: ", ")
        stickFaults = try Scheduled.parse(arguments.values["--stick-fault"], "--stick-fault", kinds: kinds) {
            [dialect] kind, text throws(CommandFailure) in
            if let fault = StickFault(rawValue: kind), fault.isPossible(in: dialect) { return fault }
            throw CommandFailure(
                .usage, "`--stick-fault` takes no '\(text)': a stick of the dialect \(dialect.rawValue) has no such fault."
                    + Suggestion.text(for: kind, among: names),
                remedy: "The kinds are \(kinds).")
        }
        presses = try Scheduled.parse(arguments.values["--button"], "--button", kinds: "short, double and long") { kind, _ in
            ["short": .short, "double": .double, "long": .long][kind]
        }
        noiseMeters = try arguments.number("--noise", in: 0...1000)
        battery = try arguments.value("--battery").map { text throws(CommandFailure) in try Self.battery(text) }
        dutyCyclePercent = try arguments.number("--duty-cycle", in: 0.01...100)
        speed = arguments.value("--speed") == "max" ? nil : try arguments.number("--speed", in: 0.001...1e6) ?? 1
        if dialect != .serial, let speed, speed != 1 {
            throw CommandFailure(
                .usage, "`--speed \(speed)` is not possible: a stick of the dialect \(dialect.rawValue) keeps its own times.",
                remedy: "With this dialect, `--speed` takes 1 or max.")
        }
        interval = try arguments.number("--interval", in: 0.001...1e6)
        requestSeconds = try arguments.number("--request", in: 0.001...1e6)
        key = try arguments.key()
        cable = arguments.value("--cable")
        if cable != nil, collarCount > 1 {
            throw CommandFailure.excluding(
                "--cable", "--collars \(collarCount)", remedy: "Leave out `--collars`, because a cable leads to one collar, or `--cable`.")
        }
        seed = UInt64(try arguments.integer("--seed", in: 0...Int.max) ?? 0)
        endsWhenDelivered = arguments.has("--until-delivered")
        printsStatistics = arguments.has("--stats")
    }

    /// The modem's timing; in a simulation faster than real time the airtimes are shorter.
    var modem: ModemProfile { channel?.profile(of: dialect) ?? modemKind.profile(timesFaster: max(1, speed ?? 1)) }

    private static func battery(_ text: String) throws(CommandFailure) -> SimulatedBattery {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Double($0, in: 0...1e6) }
        guard let start = numbers[0], let drain = numbers.count == 2 ? numbers[1] : numbers.count == 1 ? 0 : nil, start <= 100
        else {
            throw CommandFailure(
                .usage, "`--battery` takes P or P/D, not '\(text)'.",
                remedy: "P is the charge at the start, 0 to 100 percent, and D is the percent that it falls in an hour: `--battery 25/10`.")
        }
        return SimulatedBattery(startPercent: start, percentPerHour: drain)
    }

    private static func needsLoRa(_ option: String, _ modem: SimulatedModem) -> CommandFailure {
        CommandFailure(
            .usage, "`\(option)` needs a LoRa modem, and the modem is \(modem.name).",
            remedy: "With this option, `--modem` takes lora:SF7 to lora:SF12.")
    }

    /// The settings of the collars' radios; nil for a serial line, which has none.
    private static func channel(for dialect: Dialect, modem: SimulatedModem) throws(CommandFailure) -> RadioSettings? {
        guard dialect != .serial else { return nil }
        guard case .lora(let spreadingFactor) = modem else {
            throw needsLoRa("--dialect \(dialect.rawValue)", modem)
        }
        return RadioSettings(
            frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: spreadingFactor, codingRateDenominator: 5,
            powerDBm: 14)
    }

    /// The time between two requests of the collar's application, in microseconds; nil for none.
    var requestInterval: Int64? { requestSeconds.map { Int64($0 * 1e6 / (speed ?? 1)) } }

    /// Whether idle time is left out. It matters to a duty cycle, and to collars that share a channel: they send heartbeats in it.
    var skipsIdleTime: Bool { speed == nil && collarCount == 1 && dutyCyclePercent == nil }

    /// Which collars hear each other.
    func hearing(seed: UInt64) -> CollarHearing {
        CollarHearing(collarCount: collarCount, hiddenProbability: hiddenProbability, hasCapture: hasCapture, seed: seed)
    }

    /// The pace of a collar. Its intervals are longer or shorter by a factor of its own.
    func trackPace(of deviceID: DeviceID) -> SimulatedTrack.Pace {
        var random = SeededRandom(seed: deviceID.rawValue)
        let factor = 1 + Double(random.between(-1000, 1000)) / 1000 * driftPartsPerMillion / 1e6
        let pace = interval.map { SimulatedTrack.Pace.interval(microseconds: Int64($0 * 1e6 / (speed ?? 1))) } ?? .speed(speed ?? 1)
        return pace.stretched(by: factor)
    }
}

/// Something that happens at a time of the simulation: `KIND@SECONDS`.
struct Scheduled<Event> {
    let event: Event
    /// When it happens, from the start of the simulation.
    let time: Instant

    /// Reads the values of an option.
    /// - Parameter event: finds the event of a kind.
    /// - Returns: the events in the order of their times.
    fileprivate static func parse(
        _ texts: [String]?, _ option: String, kinds: String, event: (_ kind: String, _ text: String) throws(CommandFailure) -> Event?
    ) throws(CommandFailure) -> [Scheduled] {
        var events: [Scheduled] = []
        for text in texts ?? [] {
            let parts = text.split(separator: "@", maxSplits: 1).map(String.init)
            guard parts.count == 2, let seconds = Double(parts[1], in: 0...1e6), let event = try event(parts[0], text) else {
                throw CommandFailure(.usage, "`\(option)` takes KIND@SECONDS, not '\(text)'.", remedy: "The kinds are \(kinds).")
            }
            events.append(Scheduled(event: event, time: Instant(microseconds: Int64(seconds * 1e6))))
        }
        return events.sorted { $0.time < $1.time }
    }
}
