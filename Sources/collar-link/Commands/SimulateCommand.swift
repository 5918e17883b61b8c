import CollarARQ
import CollarFirmware
import CollarReceiver
import CollarSimulator
import CollarWire
import RadioModems
import SerialDevices

/// `collar-link simulate`: runs simulated collars and a lossy base radio, whose serial port is a pseudo-terminal.
enum SimulateCommand {
    static let spec = CommandSpec(
        name: "simulate",
        title: "run a simulated collar at a pseudo-terminal",
        synopsis: "collar-link simulate --track FILE|- [--link PATH] [--loss P] [--modem NAME] …\n       collar-link simulate --replay FILE [--link PATH] [--speed X|max]",
        summary: """
            Plays a track as a collar would: the collar's firmware behind a lossy radio behind a pseudo-terminal, whose
            path is printed on stdout. 'collar-link --port PATH' in another shell receives it.
            Or plays a capture of 'run --write': each port of it at a pseudo-terminal, with its plug events.
            """,
        options: [
            OptionSpec("--track", value: "FILE", is: "fixes as JSON lines, '-' for stdin; each becomes one fix of the log"),
            OptionSpec("--replay", value: "FILE", is: "play a capture instead; it begins when a program opens the pseudo-terminal"),
            OptionSpec(
                "--walk", value: "W/R/T", is: "instead of a track: W seconds of walk and R of rest by turns, T seconds in all"),
            OptionSpec("--noise", value: "METRES", is: "standard deviation of the GNSS receiver's slowly varying error (0)"),
            OptionSpec(
                "--battery", value: "P[/D]", is: "charge of P percent at first, D percent less an hour (the track's charge)"),
            OptionSpec("--button", value: "KIND@SECONDS", repeatable: true, is: "press the button: short, double or long"),
            OptionSpec("--collars", value: "N", is: "so many collars, 1 to 16, each with the track as its own (1)"),
            OptionSpec("--link", value: "PATH", is: "make PATH a symbolic link to the pseudo-terminal; no file is replaced"),
            OptionSpec("--loss", value: "P", is: "probability that a frame is lost, in each direction (0)"),
            OptionSpec("--burst", value: "FRAMES", is: "losses come in runs, so many frames long on the average"),
            OptionSpec("--corrupt", value: "P", is: "probability that a byte is damaged (0)"),
            OptionSpec("--modem", value: "NAME", is: "serial, ble, or lora:SF7 to lora:SF12 (serial)"),
            OptionSpec("--dialect", value: "NAME", is: "the base stick speaks serial, kiss, rnode or rui3 (serial)"),
            OptionSpec(
                "--stick-fault", value: "KIND@SECONDS", repeatable: true,
                is: "the stick fails: reset, stall, garbage, refuse, busy or full"),
            OptionSpec("--duty-cycle", value: "PERCENT", is: "the part of each hour in which the collar may send (100)"),
            OptionSpec("--speed", value: "X|max", is: "play X times as fast, airtime included; max: in virtual time (1)"),
            OptionSpec("--interval", value: "SECONDS", is: "one fix every SECONDS, whatever the track's times are"),
            OptionSpec("--ask", value: "SECONDS", is: "the collar's application sends a request every SECONDS"),
            OptionSpec("--key-file", value: "FILE", is: "the collars seal their frames with the key in FILE; see 'key'"),
            OptionSpec("--cable", value: "PATH", is: "make PATH a symbolic link to the collar's cable, for 'key exchange'"),
            OptionSpec("--seed", value: "N", is: "what chance depends on (0)"),
            OptionSpec("--flash", value: "FILE", is: "keep the collar's flash in FILE (of several: FILE-1, FILE-2 …)"),
            OptionSpec("--until-delivered", is: "exit when every fix of the track is acknowledged"),
            OptionSpec("--stats", is: "print counts as one JSON line on stderr at the end"),
        ],
        maximumOperandCount: 0,
        notes: """
            The collar's application answers a request ('send message --wants-reply') with the request's own code and data, and
            says on stderr what it is sent.
            SIGUSR1 unplugs the pseudo-terminal for a second; the collar runs on. Starting again with its flash is a reboot.
            SIGUSR2 presses the button twice. A press makes a fix, two open pairing, a long one stops or starts tracking.
            The collar throttles as its settings say: at 20 % charge or less it makes a fix every 5 s, and fixes are sent at most
            every 0.5 s, the others in batches; these times do not shrink with --speed. On stderr it says which signals it gives.
            With --noise, and with --walk and --battery, readings and charge are simulated; else they are those of the track.
            --key-file counts only for a flash that has never held a key.
            Collars are random parts of an interval apart; on lora, frames sent at the same time destroy each other.
            serial is a line of 57,600 bit/s; lora is at 125 kHz and 4/5, and half duplex: who sends is deaf.
            --dialect kiss (MeshCore's KISS modem), rnode or rui3 (RAK) wants a lora modem, and --speed 1 or max. The stick starts
            as after power-up: the collars are heard once the host has set its radio to 869.525 MHz, 125 kHz and the modem's
            spreading factor. SIGUSR1 cuts its power too. Its signal is around -100 dBm and 5 dB.
            over_bound, of --stats, is the airtime of both ends as a multiple of that of the fixes one a frame, absolute,
            each sent until it arrives, with no acknowledgement.
            """)

    /// Erase blocks in a simulated collar's flash: 24 MiB in total, with room for half a million fixes.
    private static let flashBlockCount = 6144

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        if let path = arguments.value("--replay") { return try replay(path, arguments) }
        let options = try SimulationOptions(arguments)
        let fixes = try fixes(arguments, seed: options.seed)
        guard let path = arguments.value("--flash") else {
            let flashes = (0..<options.collarCount).map { _ in MemoryFlash(blockCount: flashBlockCount) }
            return try simulate(fixes, flashes: flashes, options: options)
        }
        var flashes: [FileFlash] = []
        for number in 1...options.collarCount {
            let file = options.collarCount == 1 ? path : "\(path)-\(number)"
            do throws(FileFlash.OpenError) {
                flashes.append(try FileFlash(path: file, blockCount: flashBlockCount))
            } catch {
                throw CommandFailure(.cannotCreate, "\(file): \(error.reason)")
            }
        }
        return try simulate(fixes, flashes: flashes, options: options)
    }

    private static func replay(_ path: String, _ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let usable: Set<String> = ["--replay", "--link", "--speed"]
        if let other = arguments.values.keys.sorted().first(where: { !usable.contains($0) }) {
            throw CommandFailure(.usage, "\(other) does not go with --replay", remedy: "--link and --speed do")
        }
        var replay = try CaptureReplay(path: path, link: arguments.value("--link"), speed: try arguments.speed())
        return try replay.run()
    }

    /// The fixes of `--track` or `--walk`.
    private static func fixes(_ arguments: ParsedArguments, seed: UInt64) throws(CommandFailure) -> [Fix] {
        switch (arguments.value("--track"), arguments.value("--walk")) {
        case (let path?, nil):
            let fixes = try TrackFile.fixes(at: path)
            guard !fixes.isEmpty else { throw CommandFailure(.corruptInput, "\(path): there is no fix in it") }
            return fixes
        case (nil, let text?):
            let seconds = text.split(separator: "/", omittingEmptySubsequences: false).map { Int(String($0)) ?? -1 }
            guard seconds.count == 3, seconds[0] >= 0, seconds[1] >= 0, (1...1_000_000).contains(seconds[2]) else {
                throw CommandFailure(
                    .usage, "--walk \(text): W/R/T is wanted", remedy: "seconds of walk, of rest, and in all: --walk 60/120/3600")
            }
            return SimulatedOuting.fixes(walkSeconds: seconds[0], restSeconds: seconds[1], seconds: seconds[2], seed: seed)
        default:
            throw CommandFailure(
                .usage, "simulate wants a track: --track FILE or --walk W/R/T",
                remedy: "a line per fix, as collar-link writes them; '-' reads stdin")
        }
    }

    private static func simulate<Flash: FlashDevice>(
        _ fixes: [Fix], flashes: [Flash], options: SimulationOptions
    ) throws(CommandFailure) -> ExitCode {
        var random = SeededRandom(seed: options.seed)
        let track = SimulatedTrack(fixes: fixes, pace: options.trackPace)
        var stations: [CollarRadioStation<Flash>] = []
        var deviceIDs: [UInt64] = []
        for flash in flashes {
            var deviceID = random.next()
            while stations.contains(where: { $0.address == address(of: deviceID) }) { deviceID = random.next() }
            deviceIDs.append(deviceID)
            // The log id depends on the track too, so that two tracks with the same seed get different log ids: logs with equal
            // ids must contain equal fixes.
            let logID = UInt32(truncatingIfNeeded: random.next() ^ TrackFile.digest(of: fixes))
            let radio = LossyRadio(
                lossProbability: options.loss, corruptionProbability: options.corruption,
                meanBurstLength: options.burst, seed: random.next())
            let start = Instant(
                microseconds: stations.isEmpty ? 0 : Int64(random.next() % UInt64(1 + track.firstIntervalMicroseconds)))
            let device = try startedDevice(deviceID: deviceID, logID: logID, flash: flash, options: options, at: start)
            let noise = options.noiseMeters.map { SimulatedNoise(meters: $0, seed: random.next()) }
            do throws(StationError) {
                stations.append(
                    try CollarRadioStation(
                        device: device, address: address(of: deviceID), radio: radio, modem: options.modem,
                        dialect: options.dialect, track: track, battery: options.battery, noise: noise, start: start,
                        requestInterval: options.requestInterval))
            } catch { throw CommandFailure(.inputOutput, "the simulated collar does not start: \(error)") }
        }
        var simulation = try PortSimulation(
            radio: SharedRadio(
                stations, modem: options.modem, channel: options.channel,
                stick: options.dialect.makeStick(modem: options.modem, seed: random.next()), seed: random.next()),
            deviceIDs: deviceIDs, options: options, fixCount: fixes.count)
        return try simulation.run()
    }

    private static func address(of deviceID: UInt64) -> UInt8 { UInt8(1 + deviceID % 254) }

    private static func startedDevice<Flash: FlashDevice>(
        deviceID: UInt64, logID: UInt32, flash: Flash, options: SimulationOptions, at start: Instant
    ) throws(CommandFailure) -> CollarDevice<Flash> {
        let modem = options.modem
        let configuration = Collar<Flash>.Configuration(
            deviceID: deviceID, address: address(of: deviceID),
            firmwareVersion: FirmwareVersion(major: 0, minor: 1, patch: 0),
            capabilities: Capabilities(rawValue: Capabilities.sounder.rawValue | Capabilities.messages.rawValue),
            delivery: .init(
                modem: modem, sendsLiveFixes: true, batchFrameByteLimit: Frame.maximumByteCount,
                dutyCyclePartsPerMillion: options.dutyCyclePercent.map { max(1, Int64($0 * 10_000)) },
                jitterSeed: modem.isHalfDuplex ? UInt32(truncatingIfNeeded: deviceID >> 32) : nil),
            factoryKey: options.key)
        do throws(FlashError) {
            // The first start is a power-on, which opens the pairing window; a later one is a reset, which does not.
            var mounted = flash
            let isFirst = try SettingsStore(mounting: &mounted).value(of: .bootCount) == nil
            return try CollarDevice(
                starting: configuration, flash: mounted, cause: isFirst ? .powerOn : .external, randomLogID: logID, now: start)
        } catch { throw CommandFailure(.inputOutput, "the collar's flash fails: \(error)") }
    }
}

extension ParsedArguments {
    /// `--speed X|max`: a multiple of real time, 1 without the option; nil for as fast as it goes.
    fileprivate func speed() throws(CommandFailure) -> Double? {
        value("--speed") == "max" ? nil : try number("--speed", in: 0.001...1e6) ?? 1
    }
}

/// The options of `simulate`, checked.
struct SimulationOptions {
    let collarCount: Int
    let link: PortLink?
    let loss: Double
    /// The average number of frames lost in a row; nil if losses are independent.
    let burst: Double?
    let corruption: Double
    /// The modem between the collar and the base radio.
    private let modemKind: SimulatedModem
    /// The dialect of the base stick.
    let dialect: Dialect
    /// The settings of the collars' radios; nil where the stick has no radio that is set.
    let channel: RadioSettings?
    /// The faults of the stick, in the order of their times.
    let stickFaults: [ScheduledFault]
    /// The presses of the button, in the order of their times.
    let presses: [ScheduledPress]
    /// The standard deviation of the error of the GNSS receiver, in metres; nil for no error.
    let noiseMeters: Double?
    /// The battery; nil if the charge is that of the track.
    let battery: SimulatedBattery?
    /// The percentage of each hour in which the collar is allowed to send; nil for no limit.
    let dutyCyclePercent: Double?
    /// Speed as a multiple of real time; nil for virtual time.
    let speed: Double?
    let interval: Double?
    /// The time between two requests of the collar's application, in seconds; nil for none.
    private let askInterval: Double?
    /// The key of the collars; nil if they send in clear.
    let key: CollarKey?
    /// Where the link to the collar's cable is made; nil for no cable.
    let cable: String?
    let seed: UInt64
    let endsWhenDelivered: Bool
    let printsStatistics: Bool

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        collarCount = try arguments.integer("--collars", in: 1...16) ?? 1
        link = arguments.value("--link").map(PortLink.init)
        loss = try arguments.number("--loss", in: 0...1) ?? 0
        burst = try arguments.number("--burst", in: 1...1000)
        if let burst, loss >= 1 || burst < loss / (1 - loss) {
            throw CommandFailure(
                .usage, "--burst \(burst): with a loss of \(loss) runs are longer",
                remedy: "at least P / (1 - P) frames for --loss P, and a loss below 1")
        }
        corruption = try arguments.number("--corrupt", in: 0...1) ?? 0
        let modemName = arguments.value("--modem") ?? SimulatedModem.serial.name
        guard let known = SimulatedModem(name: modemName) else {
            throw CommandFailure(
                .usage, "--modem \(modemName): there is no such modem" + Suggestion.text(for: modemName, among: SimulatedModem.names),
                remedy: "serial, ble, or lora:SF7 to lora:SF12")
        }
        modemKind = known
        dialect =
            try arguments.choice("--dialect", of: ["serial": .serial, "kiss": .kiss, "rnode": .rnode, "rui3": .rui3]) ?? .serial
        channel = try Self.channel(for: dialect, modem: known)
        stickFaults = try ScheduledFault.parse(arguments.values["--stick-fault"] ?? [], for: dialect)
        presses = try ScheduledPress.parse(arguments.values["--button"] ?? [])
        noiseMeters = try arguments.number("--noise", in: 0...1000)
        battery = try arguments.value("--battery").map { text throws(CommandFailure) in try Self.battery(text) }
        dutyCyclePercent = try arguments.number("--duty-cycle", in: 0.01...100)
        speed = try arguments.speed()
        if dialect != .serial, let speed, speed != 1 {
            throw CommandFailure(
                .usage, "--speed \(speed): a stick of the dialect \(dialect.rawValue) keeps its own times",
                remedy: "--speed 1 or max")
        }
        interval = try arguments.number("--interval", in: 0.001...1e6)
        askInterval = try arguments.number("--ask", in: 0.001...1e6)
        key = try arguments.key()
        cable = arguments.value("--cable")
        if cable != nil, collarCount > 1 {
            throw CommandFailure(.usage, "--cable leads to one collar, and --collars wants \(collarCount)")
        }
        seed = UInt64(try arguments.integer("--seed", in: 0...Int.max) ?? 0)
        endsWhenDelivered = arguments.has("--until-delivered")
        printsStatistics = arguments.has("--stats")
    }

    /// The modem's timing; in a simulation faster than real time the airtimes are shorter.
    var modem: ModemProfile { channel?.profile(of: dialect) ?? modemKind.profile(timesFaster: max(1, speed ?? 1)) }

    private static func battery(_ text: String) throws(CommandFailure) -> SimulatedBattery {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Double(String($0)) }
        guard let start = numbers[0], let drain = numbers.count == 2 ? numbers[1] : numbers.count == 1 ? 0 : nil,
            (0...100).contains(start), (0...1e6).contains(drain)
        else {
            throw CommandFailure(
                .usage, "--battery \(text): P or P/D is wanted",
                remedy: "percent at first, 0 to 100, and percent less an hour: --battery 25/10")
        }
        return SimulatedBattery(startPercent: start, percentPerHour: drain)
    }

    /// The settings of the collars' radios; nil for a serial line, which has none.
    private static func channel(
        for dialect: Dialect, modem: SimulatedModem
    ) throws(CommandFailure) -> RadioSettings? {
        guard dialect != .serial else { return nil }
        guard case .lora(let spreadingFactor) = modem else {
            throw CommandFailure(
                .usage, "--dialect \(dialect.rawValue): the stick's radio is LoRa, and the modem is \(modem.name)",
                remedy: "--modem lora:SF7 to lora:SF12")
        }
        return RadioSettings(
            frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: spreadingFactor, codingRateDenominator: 5,
            powerDBm: 14)
    }

    /// The time between two requests of the collar's application, in microseconds; nil for none.
    var requestInterval: Int64? { askInterval.map { Int64($0 * 1e6 / (speed ?? 1)) } }

    var trackPace: SimulatedTrack.Pace {
        if let interval { return .interval(microseconds: Int64(interval * 1e6 / (speed ?? 1))) }
        return .speed(speed ?? 1)
    }
}
