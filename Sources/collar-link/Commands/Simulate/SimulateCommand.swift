import CheckedNumbers
import CollarARQ
import CollarErrors
import CollarFirmware
import CollarSimulator
import CollarWire
import LinuxBoard

enum SimulateCommand: Command {
    static let spec = CommandSpec(
        name: "simulate",
        title: "run a simulated collar at a pseudo-terminal",
        synopsis: """
            collar-link simulate --track FILE|- [options]
            collar-link simulate --walk W/R/T [options]
            collar-link simulate --days N [options]
            """,
        summary: """
            Runs the firmware of a collar with a simulated radio and a base stick at a pseudo-terminal. The path of the terminal is
            printed on stdout. `collar-link --port PATH` in another shell receives the collar.

            With `--days`, computes instead for how many days a battery lasts, and prints that.
            """,
        options: [
            OptionSpec("--track", value: "FILE", is: "make the fixes in this file, one JSON line each; `-` is stdin"),
            OptionSpec(
                "--walk", value: "W/R/T",
                is: "make one fix per second for T seconds: W seconds of walking at 1.4 m/s, R seconds of rest, and so on"),
            OptionSpec("--link", value: "PATH", is: "make a symbolic link to the terminal; an existing file is not replaced"),
            OptionSpec("--collars", value: "N", is: "number of collars with this track, 1 to 64 (default 1)"),
            OptionSpec(
                "--phases", value: "KIND",
                is: "with `--collars`: when the collars make their fixes: random, same (all at once) or even (default random)"),
            OptionSpec(
                "--hidden", value: "P", is: "with `--collars`: part of the pairs of collars that do not hear each other, 0 to 1 (default 0)"),
            OptionSpec("--capture", is: "with `--collars`: the base receives a packet that is 6 dB stronger than the others"),
            OptionSpec(
                "--drift", value: "PPM",
                is: "most by which a collar's intervals are longer or shorter, 0 to 1000 millionths; each collar has its own factor (default 0)"),
            OptionSpec("--no-sensing", is: "collars that do not sense the channel before they send"),
            OptionSpec("--speed", value: "X|max", is: "play X times as fast, 0.001 to 1e6; `max`: in virtual time (default 1)"),
            OptionSpec("--interval", value: "SECONDS", is: "time between two fixes, 0.001 to 1e6 seconds (default: as in the track)"),
            OptionSpec("--noise", value: "METRES", is: "error of the GNSS receiver: standard deviation, 0 to 1000 metres (default: no error)"),
            OptionSpec(
                "--battery", value: "P[/D]",
                is: "battery charge: P percent at the start, minus D percent per hour (default: as in the track)"),
            OptionSpec(
                "--button", value: "KIND@SECONDS", repeatable: true,
                is: "press the button SECONDS after the start: `short`, `double` or `long` (repeatable)"),
            OptionSpec("--loss", value: "P", is: "probability that a frame is lost, in each direction, 0 to 1 (default 0)"),
            OptionSpec("--burst", value: "FRAMES", is: "average number of frames lost in a row, 1 to 1000 (default: independent losses)"),
            OptionSpec("--corrupt", value: "P", is: "probability that a byte is damaged, 0 to 1 (default 0)"),
            OptionSpec("--modem", value: "NAME", is: "speed and timing of the link: serial, ble, or lora:SF7 to lora:SF12 (default serial)"),
            OptionSpec(
                "--duty-cycle", value: "PERCENT", is: "share of each hour in which the collar may send, 0.01 to 100 percent (default: no limit)"),
            OptionSpec("--dialect", value: "NAME", is: "firmware of the base stick: serial, kiss, rnode or rui3 (default serial)"),
            OptionSpec("--stick-release", value: "X", is: "release of that firmware, such as 4.0.1 of rui3 (default: the latest below)"),
            OptionSpec(
                "--stick-fault", value: "KIND@SECONDS", repeatable: true,
                is: "make the stick fail SECONDS after the start: stall, garbage, reset, refuse, busy, full, amplifier or stuck (repeatable)"),
            OptionSpec("--request", value: "SECONDS", is: "the collar's application sends a request every 0.001 to 1e6 seconds (default: never)"),
            OptionSpec("--key-file", value: "FILE", is: "seal all frames with the key in this file (default: no key)"),
            OptionSpec("--cable", value: "PATH", is: "make a symbolic link to the collar's cable, for `collar-link key exchange`"),
            OptionSpec("--flash", value: "FILE", is: "keep the collar's flash in this file; of several collars FILE-1, FILE-2 …"),
            OptionSpec("--seed", value: "N", is: "seed of all random numbers and ids, 0 or more (default 0)"),
            OptionSpec("--days", value: "N", is: "simulate 1 to 366 days of a collar, without a terminal"),
            OptionSpec("--settings", value: "K=V,…", is: "with `--days`: settings of the collar, as for `send settings set`"),
            OptionSpec("--sky", value: "FILE", is: "with `--days`: sky, reach and motion of a day (default: open, in reach, moving)"),
            OptionSpec(
                "--like", value: "ID|NAME",
                is: "with or without `--days`: sky, reach, motion and losses of a collar or animal, as the stored fixes tell (default: all their days)"),
            .readStateDirectory,
            OptionSpec("--capacity", value: "MAH", is: "with `--days`: capacity of the battery, 1 to 1e6 mAh (default 500)"),
            OptionSpec("--currents", value: "FILE", is: "with `--days`: currents of the parts (default: those of hardware/power/currents.txt)"),
            OptionSpec(
                "--time-to-fix", value: "O/T/C",
                is: "with `--days`: seconds to a position under an open sky, under trees, and in addition after a time without supply (default 8/20/20)"),
            OptionSpec("--no-accelerometer", is: "with `--days`: a collar that notices motion by its fixes alone"),
            OptionSpec("--sensing", is: "with `--days`: a collar that senses the channel before it sends"),
            OptionSpec("--until-delivered", is: "exit when every fix is acknowledged (default: run until Ctrl-C)"),
            OptionSpec("--stats", is: "print counts as a line of JSON on stderr at the end; with `--days`, a table on stdout"),
        ],
        notes: """
            signals:
              kill -USR1  unplug the terminal for a second; the collar goes on
              kill -USR2  press the button twice

            the collar:
            A press makes a fix, two presses open pairing for a minute, and a long press stops or starts tracking. Signals of the
            collar, and messages for its application, appear on stderr. The application answers a message of
            `send message --wants-reply` with the same code and data.

            With `--flash`, each new start is a reboot; the first is a power-on. `--key-file` counts only for a flash that
            has never had a key. The ids of the collars depend on `--seed`: the first collar of seed 1 is 910a2dec89025cc1.

            time:
            `--speed max` works in virtual time. With one collar and without `--duty-cycle` it also skips idle time, and the heartbeats in
            it. The receiver runs in real time: it accepts 16 new collars at once, then one a second. At 20 % charge or less, a collar
            makes a fix every 5 s; it sends fixes at most every 0.5 s, and the others in batches. `--speed` does not change these times.

            A collar signals a warning when its charge is 20 %, and again below 10 %.

            modems:
              serial     57,600 bit/s
              ble        a BLE bridge: about 100 kbit/s, answers within 200 ms
              lora:SF7   LoRa at 125 kHz and 4/5, half duplex; frames that overlap are lost

            On a LoRa modem, a collar senses the channel before it sends, and waits if it notices a packet. It notices 95 % of the packets
            of the base and of the collars that it hears. The base and a collar always hear each other.

            sticks:
            `--dialect kiss` (MeshCore), `rnode` and `rui3` (RAK) need a LoRa modem, and `--speed 1` or `max`. The stick starts without
            settings: it hears the collar after `run` has set it to 869.525 MHz, 125 kHz and this spreading factor (`--region EU868
            --spreading-factor 7`). `kill -USR1` also cuts its power. Releases that differ:
              kiss   1.13, 1.16, 1.17.1
              rnode  1.86
              rui3   3.4.2, 3.5.3, 4.0.1, 4.0.5, 4.1.0, 4.2.0

            faults of sticks:
              stall    no bytes in either direction for 10 s
              garbage  random bytes to the host
              reset    restarts and forgets its settings (not serial)
              refuse   refuses settings until it restarts (not serial)
              busy     channel busy for 5 s (not serial)
              full     no room for a packet for 5 s (not serial)
              stuck    takes packets and sends none until it restarts (kiss)

            days:
            The program of the collar runs on a simulated board, and a base hears it and acknowledges everything after 75 ms. `--modem`
            takes a LoRa modem (default lora:SF9). The charge is computed: seconds by currents. 80 % of the capacity counts. A spell of
            `--sky` begins at a time of day and lasts until the next one. It is `open`, `trees` or `roof`, in reach or `out-of-reach`,
            and `moving` or `rest`:

              00:00 roof rest
              06:30 trees
              09:00 open out-of-reach
              19:00 roof rest

            the line of `--stats`:
              uplink_frames        frames of the collars
              unpolled_frames      those that do not ask for an acknowledgement
              uplink_bytes         bytes of all frames of the collars
              airtime_ms           airtime of all frames of the collars
              collisions           frames of the collars that another frame destroyed
              collided_pct         the same in percent of all frames of the collars
              busy                 times that a collar noticed a packet and waited
              delay_p50_ms         time from a fix to its acknowledgement: half of the
                                   fixes do not exceed it
              delay_p95_ms         the same for 95 % of the fixes
              delay_max_ms         the same for all fixes
              downlink_frames      frames of the base
              downlink_airtime_ms  airtime of the frames of the base
              over_bound           airtime of both ends, divided by the airtime of one
                                   absolute frame per fix that is sent until it arrives,
                                   without acknowledgements
              second_half          counts of the collars from the middle of the track on
              collars              counts of each collar, and its id; frames of the base
                                   are those to this collar or to all

            examples:
              collar-link simulate --walk 60/120/3600 --noise 3 --link /tmp/collar
              collar-link simulate --track track.ndjson --loss 0.2 --speed max
              collar-link simulate --days 7 --settings fix_interval_ms=180000 --stats
              collar-link --port /tmp/collar --state-dir /tmp/trial

            exit codes:
              0   ended by a signal, or by `--until-delivered`
              64  wrong usage
              65  the track, the key file or a file of `--days` is damaged
              66  no such file
              73  the link or the flash file cannot be created
              74  I/O error
              77  no permission
            """)

    /// Erase blocks in a simulated collar's flash: 24 MiB in total, with room for half a million fixes.
    private static let flashBlockCount = 6144

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        if arguments.has("--days") || arguments.has("--like") { return try simulateDays(try DayOptions(arguments)) }
        if let option = DayOptions.own.first(where: { arguments.has($0) }) {
            throw CommandFailure(.usage, "`\(option)` goes with `--days`.")
        }
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
            } catch { throw CommandFailure(.cannotCreate, "\(file) cannot be used: \(error.reason).") }
        }
        return try simulate(fixes, flashes: flashes, options: options)
    }

    /// The fixes of `--track` or `--walk`.
    private static func fixes(_ arguments: ParsedArguments, seed: UInt64) throws(CommandFailure) -> [Fix] {
        switch (arguments.value("--track"), arguments.value("--walk")) {
        case (let path?, nil):
            return try TrackFile.fixes(at: path, arguments.readingStdin(insteadOf: "--track"))
        case (nil, let text?):
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            let seconds = parts.compactMap { Int($0, in: 0...1_000_000) }
            guard parts.count == 3, seconds.count == 3, seconds[2] > 0 else {
                throw CommandFailure(
                    .usage, "`--walk` takes W/R/T, each at most 1000000, not '\(text)'.",
                    remedy: "It takes seconds of walk, of rest, and in all: `--walk 60/120/3600`.")
            }
            return SimulatedOuting.fixes(walkSeconds: seconds[0], restSeconds: seconds[1], seconds: seconds[2], seed: seed)
        case (_?, _?):
            throw CommandFailure.excluding(
                "--track", "--walk", remedy: "Leave out `--walk` to make the fixes in the file, or `--track` to make those of a walk.")
        case (nil, nil):
            throw CommandFailure(
                .usage, "`simulate` needs a track: `--track FILE` or `--walk W/R/T`, or else `--days N`.",
                remedy: "A track has a line per fix, as collar-link writes them; '-' reads stdin.")
        }
    }

    private static func simulate<Flash: FlashDevice>(
        _ fixes: [Fix], flashes: [Flash], options: SimulationOptions
    ) throws(CommandFailure) -> ExitCode {
        var random = SeededRandom(seed: options.seed)
        var stations: [CollarRadioStation<Flash>] = []
        var deviceIDs: [DeviceID] = []
        for flash in flashes {
            var deviceID = DeviceID(rawValue: random.next())
            while stations.contains(where: { $0.address == address(of: deviceID) }) { deviceID = DeviceID(rawValue: random.next()) }
            deviceIDs.append(deviceID)
            let track = SimulatedTrack(fixes: fixes, pace: options.trackPace(of: deviceID))
            // The log id depends on the track too, so that two tracks with the same seed get different log ids: logs with equal
            // ids must contain equal fixes.
            let logID = UInt32(truncatingIfNeeded: random.next() ^ TrackFile.digest(of: fixes))
            let radio = LossyRadio(
                lossProbability: options.loss, corruptionProbability: options.corruption,
                meanBurstLength: options.burst, seed: random.next())
            let start = Instant(
                microseconds: (options.phases ?? .random).start(
                    of: stations.count, count: flashes.count, intervalMicroseconds: track.firstIntervalMicroseconds, random: &random))
            let device = try startedDevice(deviceID: deviceID, logID: logID, flash: flash, options: options, at: start)
            let noise = options.noiseMeters.map { SimulatedNoise(meters: $0, seed: random.next()) }
            do throws(StationError) {
                stations.append(
                    try CollarRadioStation(
                        device: device, address: address(of: deviceID), radio: radio, modem: options.modem,
                        dialect: options.dialect, track: track, battery: options.battery, noise: noise, start: start,
                        requestInterval: options.requestInterval))
            } catch { throw CommandFailure(.inputOutput, "The simulated collar does not start: \(error).") }
        }
        let (stickSeed, radioSeed, hearingSeed) = (random.next(), random.next(), random.next())
        var simulation = try PortSimulation(
            radio: SharedRadio(
                stations, modem: options.modem, channel: options.channel,
                stick: options.dialect.makeStick(modem: options.modem, release: options.stickRelease, seed: stickSeed),
                hearing: options.hearing(seed: hearingSeed), seed: radioSeed),
            deviceIDs: deviceIDs, options: options, fixCount: fixes.count)
        return try simulation.run()
    }

    private static func address(of deviceID: DeviceID) -> UInt8 { UInt8(1 + deviceID.rawValue % 254) }

    private static func startedDevice<Flash: FlashDevice>(
        deviceID: DeviceID, logID: UInt32, flash: Flash, options: SimulationOptions, at start: Instant
    ) throws(CommandFailure) -> CollarDevice<Flash> {
        let modem = options.modem
        let configuration = Collar<Flash>.Configuration(
            deviceID: deviceID, address: address(of: deviceID),
            firmwareVersion: FirmwareVersion(major: 0, minor: 1, patch: 0),
            capabilities: Capabilities(rawValue: Capabilities.sounder.rawValue | Capabilities.messages.rawValue),
            delivery: .init(
                modem: modem, sendsLiveFixes: true, batchFrameByteLimit: Frame.maximumByteCount,
                dutyCyclePartsPerMillion: options.dutyCyclePercent.map { max(1, Int64($0 * 10_000)) },
                jitterSeed: modem.isHalfDuplex ? UInt32(truncatingIfNeeded: deviceID.rawValue >> 32) : nil,
                sensesChannel: options.sensesChannel),
            factoryKey: options.key)
        do throws(FlashError) {
            // The first start is a power-on, which opens the pairing window; a later one is a reset, which does not.
            var mounted = flash
            let isFirst = try SettingsStore(mounting: &mounted).value(of: .bootCount) == nil
            return try CollarDevice(
                starting: configuration, flash: mounted, cause: isFirst ? .powerOn : .external, randomLogID: logID, now: start)
        } catch { throw CommandFailure(.inputOutput, "The collar's flash fails: \(error).") }
    }
}
