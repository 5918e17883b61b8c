import CollarErrors
import RadioModems

extension ModemNotice {
    /// The code of the error; nil if it is none.
    package var code: ErrorCode? {
        switch self {
        case .settingsMissing, .regionMissing: .regionMissing
        case .refused, .firmwareTooOld: .radioSettingRefused
        case .packetRefused, .fault: .radioFault
        case .notSending: .radioNotSending
        case .restarted: .radioRestarted
        case .notAnswering: .radioNotAnswering
        case .busy, .queueFull: .radioBusy
        case .airtimeShort: .airtimeShort
        case .dutyCycleReached: .dutyCycleReached
        case .dwellTimeExceeded: .dwellTimeExceeded
        case .stranger: .unknownRadio
        case .found, .ready, .powerReduced, .powerRaised, .amplified, .boardUnknown, .answersAgain: nil
        }
    }

    private static let airtimeRemedy =
        "Let each collar send its fixes in batches, for example every five minutes: `collar-link send --collar ID settings set "
        + "interval_ms=300000 stationary_interval_ms=300000` (with other keys at 20 % of the battery or less: `collar-link send --help`). Or "
        + "choose a lower spreading factor, or a frequency with a higher duty cycle, at both ends. Or give half of the collars a second "
        + "receiver at another frequency."

    /// The message, whose code the receiver adds.
    package func message(port: String) -> UserMessage {
        switch self {
        case .found(let dialect, let version):
            UserMessage("\(port): this is the \(dialect.firmwareName)" + (version.map { " (\($0))." } ?? "."))
        case .ready(let dialect, let settings, let turnaround):
            UserMessage(
                "\(port): the radio is set to \(settings.text).",
                "A collar with other settings cannot hear it. First give them to the collar over a cable, or over a stick at which it is "
                    + "heard now: `collar-link send settings set \(settings.collarSettings(for: dialect, turnaround))`. Then restart the "
                    + "collar, and last start collar-link with this radio.")
        case .settingsMissing(let dialect):
            UserMessage(
                "\(port): the stick runs the \(dialect.firmwareName), and no region is set: its radio is not used.",
                "Name the region in which you are: `--region EU868`, or `region = EU868` in the configuration file.")
        case .regionMissing:
            UserMessage(
                "\(port): no region is set: the radio only listens, and no collar gets an acknowledgement.",
                "Name the region in which you are: `--region EU868`, or `region = EU868` in the configuration file.")
        case .refused(.airtime, let wanted, let actual):
            UserMessage(
                .radioSettingRefused,
                "\(port): the stick has another bandwidth, spreading factor or coding rate than wanted: 199 bytes take \(actual ?? 0) ms "
                    + "on the air, not \(wanted) ms; it is not used.",
                ofCollar: nil)
        case .refused(let setting, let wanted, let actual):
            UserMessage(
                .radioSettingRefused,
                "\(port): the stick does not hold the \(setting.name) \(setting.text(wanted))"
                    + (actual.map { ": it has \(setting.text($0))" } ?? "") + "; it is not used.",
                ofCollar: nil)
        case .powerReduced(let wanted, let actual):
            UserMessage("\(port): the stick sends with \(actual) dBm, not \(wanted) dBm: it has no more.")
        case .powerRaised(let wanted, let actual):
            UserMessage("\(port): the stick sends with \(actual) dBm, not \(wanted) dBm: it has no less.")
        case .amplified(let board, let chip, let output):
            UserMessage(
                "\(port): the board \(board) has an amplifier: its radio chip is set to \(chip) dBm, so that the antenna gets at most "
                    + "\(output) dBm.")
        case .boardUnknown(let dialect):
            UserMessage(
                "\(port): the \(dialect.firmwareName) does not tell its board: one with an amplifier sends with more power than set.")
        case .firmwareTooOld(let dialect, let version):
            UserMessage(
                "\(port): the \(dialect.firmwareName) (\(version)) cannot receive and send without a command in between; it is not used.",
                "Write a newer release of the firmware to the stick: RUI3 3.4 or later.")
        case .packetRefused(let dialect, let byteCount, let status):
            UserMessage(
                "\(port): the \(dialect.firmwareName) refused a frame of \(byteCount) bytes: \(status.prefix(40)).",
                "If it lasts, use a stick with MeshCore's KISS modem.")
        case .notSending(let dialect):
            UserMessage(
                "\(port): the \(dialect.firmwareName) takes frames and sends none of them; it is restarted.",
                "If that happens again, unplug the stick, and write a newer release of its firmware to it.")
        case .restarted(let dialect):
            UserMessage(
                "\(port): the \(dialect.firmwareName) restarted and forgot its settings; it is set up again.",
                "If that happens often, use another cable or USB port, and no hub without a power supply.")
        case .notAnswering(let dialect):
            UserMessage(
                "\(port): the \(dialect.firmwareName) does not answer; it is tried again.",
                "Unplug the stick and plug it in again. If `--dialect` names its firmware, leave that out: the firmware is found without it.")
        case .answersAgain(let dialect): UserMessage("\(port): the \(dialect.firmwareName) answers again.")
        case .busy(let dialect):
            UserMessage(
                "\(port): the \(dialect.firmwareName) is busy and did not take a frame.",
                "Wait; if it lasts, another transmitter uses the channel: choose another frequency at both ends.")
        case .queueFull(let dialect):
            UserMessage(
                "\(port): the queue of the \(dialect.firmwareName) is full; it dropped a frame.",
                "Wait; if it lasts, another transmitter uses the channel: choose another frequency at both ends.")
        case .fault(let dialect, let code):
            UserMessage("\(port): the \(dialect.firmwareName) reports fault \(code).", "Unplug the stick and plug it in again.")
        case .airtimeShort(let used, let partsPerMillion, let frequencyHertz):
            UserMessage(
                "\(port): airtime runs short: answers took \(used / 1_000_000) s of the last hour, and the region allows "
                    + "\(RadioText.percent(partsPerMillion)) % of it at \(RadioText.megahertz(frequencyHertz)) MHz, which is "
                    + "\(partsPerMillion * 3600 / 1_000_000) s. Collars are asked to poll with every fourth fix only; if it goes on, answers "
                    + "will not be sent.",
                ModemNotice.airtimeRemedy)
        case .dutyCycleReached(let wait, isStart: true):
            UserMessage(
                "\(port): an answer is not sent: the airtime of the last hour is not known, so that all of it counts as used; the first "
                    + "answer can be sent in \((wait + 999_999) / 1_000_000) s.",
                "Wait. A lower spreading factor, or a frequency with a higher duty cycle, at both ends makes the wait shorter.")
        case .dutyCycleReached(let wait, isStart: false):
            UserMessage(
                "\(port): the region's duty cycle is used up: an answer is not sent; the next one can be sent in \((wait + 999_999) / 1_000_000) s.",
                ModemNotice.airtimeRemedy)
        case .dwellTimeExceeded(let airtime, let limit):
            UserMessage(
                "\(port): a frame of \(airtime / 1000) ms is not sent: the region allows \(limit / 1000) ms a frame.",
                "Choose a lower spreading factor or a larger bandwidth, at both ends.")
        case .stranger(let stranger): stranger.message(port: port)
        }
    }
}

extension Stranger {
    fileprivate func message(port: String) -> UserMessage {
        let (reason, remedy): (String, String) =
            switch self {
            case .nmea: ("a GNSS receiver speaks (NMEA sentences)", "Name the port of the radio: `--port PATH`.")
            case .bootloader: (
                "a board writes the text of its bootloader and then nothing that is known",
                "Put MeshCore's KISS modem or RNode firmware on the board, or press its reset button.")
            case .meshtastic: (
                "the board runs Meshtastic, which carries no frames of other programs",
                "Put MeshCore's KISS modem or RNode firmware on it.")
            case .companion: (
                "the board runs MeshCore's companion firmware, which carries no frames of other programs",
                "Put MeshCore's KISS modem or RNode firmware on it.")
            case .console: (
                "a login or a command line speaks",
                "Name the port of the radio: `--port PATH`. If the radio is at this port, end the login there.")
            case .echo: (
                "whatever is written comes back, and nothing answers",
                "Look whether the radio is connected and has power, and whether two wires of the line touch.")
            case .silentKISS: (
                "KISS frames come in, but the firmware answers neither as MeshCore's modem nor as an RNode",
                "If it is one of them, unplug it and plug it in again; else put one of these firmwares on it.")
            case .otherModem: (
                "a modem answers to AT commands, but it is not RUI3 in point-to-point mode",
                "Name the port of the radio: `--port PATH`.")
            case .silent(let dialect): (
                "the stick was used with the \(dialect.firmwareName) before and does not answer now",
                "Unplug it and plug it in again. If it has other firmware now, say so: `--dialect NAME`.")
            case .text(let line): (
                "text comes in, and no frames: \"\(line.prefix(60))\"",
                "Name the port of the radio: `--port PATH`. Or name its dialect: `--dialect NAME`.")
            case .bytesWithoutFrames: (
                "bytes come in, but no frames",
                "Use firmware whose port has 115,200 bit/s. Or name the port of the radio: `--port PATH`.")
            }
        return UserMessage("\(port): \(reason); nothing is sent to it.", remedy)
    }
}

extension Dialect {
    /// The firmware of the dialect, for a person.
    package var firmwareName: String {
        switch self {
        case .serial: "serial line of CollarLink"
        case .kiss: "MeshCore KISS modem"
        case .rnode: "RNode firmware"
        case .rui3: "RUI3 firmware"
        }
    }
}

extension RadioSettings {
    /// The modem settings of a collar that is heard through a stick of this dialect, as `send settings set` takes them.
    fileprivate func collarSettings(for dialect: Dialect, _ turnaroundMicroseconds: Int64) -> String {
        "spreading_factor=\(spreadingFactor) turnaround_ms=\((turnaroundMicroseconds + 999) / 1000) "
            + "modem_header_bytes=\(dialect == .rnode ? 1 : 0)"
    }

    fileprivate var text: String {
        "\(RadioText.megahertz(frequencyHertz)) MHz, \(RadioText.kilohertz(bandwidthHertz)) kHz, SF\(spreadingFactor), "
            + "4/\(codingRateDenominator), \(powerDBm) dBm"
    }
}

extension ModemSetting {
    fileprivate var name: String {
        switch self {
        case .frequency: "frequency"
        case .bandwidth: "bandwidth"
        case .spreadingFactor: "spreading factor"
        case .codingRate: "coding rate"
        case .power: "power"
        case .preamble: "preamble"
        case .airtime: "airtime"
        case .radioState: "radio state"
        case .mode: "mode"
        }
    }

    fileprivate func text(_ value: Int64) -> String {
        switch self {
        case .frequency, .bandwidth: "\(value) Hz"
        case .power: "\(value) dBm"
        case .airtime: "\(value) ms"
        case .preamble: "\(value) symbols"
        case .codingRate: "4/\(value)"
        case .spreadingFactor, .radioState, .mode: "\(value)"
        }
    }
}
