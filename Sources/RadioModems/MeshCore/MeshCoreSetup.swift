import CollarARQ

/// The conversation that sets up a MeshCore modem and checks what it holds.
///
/// The modem answers OK to any setting, and repeats what was asked even if its radio refused it. Its airtime query is computed
/// from the settings that the radio holds, so it shows the bandwidth, the spreading factor and the coding rate.
struct MeshCoreSetup: Sendable {
    /// A question to the modem.
    ///
    /// Neighbours have different answers: a question that was repeated because of a slow line has a second answer, which must not
    /// count for the next question.
    enum Step: Int, CaseIterable, Sendable {
        case ping, name, version, previousSettings, radio, shortAirtime, power, readBack, longAirtime, signalReports
    }

    enum Result: Equatable, Sendable {
        /// The frame answers nothing.
        case unrelated
        /// A question is due: the next one, or the same one again.
        case next
        /// The modem holds the settings.
        case complete
        /// The modem does not hold a setting.
        case refused(ModemSetting, wanted: Int64, actual: Int64?)
    }

    /// Lengths whose airtimes are compared. Their difference does not depend on the preamble.
    private static let shortByteCount = 51
    private static let longByteCount = 250
    /// The longest airtime of a frame that is believed, in milliseconds. The slowest LoRa radio needs some minutes.
    private static let airtimeLimitMilliseconds: Int64 = 3_600_000
    /// The most that a frequency may differ, in hertz: the modem computes with 32-bit floating-point numbers.
    private static let frequencyToleranceHertz: Int64 = 200

    /// The times that a question is asked whose answer is not needed: its answer may be lost, or the modem may have no room for it.
    private static let attemptCount = 3

    private let settings: RadioSettings
    /// The times that the present question was not answered.
    private var missCount = 0
    /// The step whose answer is awaited.
    private(set) var step = Step.ping
    /// The name of the board; nil if the modem does not tell it.
    private(set) var name: String?
    private var shortAirtimeMilliseconds: Int64 = 0
    /// Whether the modem held other settings than these before; it has restarted then, if it was set up before.
    private(set) var hasForgotten = false
    /// The version and the name of the modem; nil if it does not tell them.
    private(set) var version: String?
    /// The timing that the modem's airtimes show.
    private(set) var profile: ModemProfile

    /// The board, if it is known to have an amplifier.
    var board: MeshCoreBoard? { name.flatMap(MeshCoreBoard.named) }

    /// The power of the chip, and that at the antenna, in dBm.
    var power: (chipDBm: Int8, outputDBm: Int8) { MeshCoreBoard.power(of: board, wanted: settings.powerDBm) }

    /// - Parameter name: the name of the board that an earlier setup has found. It holds if the modem does not tell it again.
    init(_ settings: RadioSettings, name: String? = nil) {
        self.settings = settings
        self.name = name
        profile = settings.profile(of: .kiss)
    }

    var question: [KISSFrame] {
        switch step {
        case .ping: [MeshCoreCommand.frame(MeshCoreCommand.ping)]
        case .name: [MeshCoreCommand.frame(MeshCoreCommand.getName)]
        case .version: [MeshCoreCommand.frame(MeshCoreCommand.getVersion)]
        case .radio:
            // Without full duplex the modem waits for a reception in progress to end; with these values it then sends at once.
            [
                KISSFrame(MeshCoreCommand.fullDuplex, [0]), KISSFrame(MeshCoreCommand.persistence, [0xFF]),
                KISSFrame(MeshCoreCommand.transmitDelay, [0]),
                MeshCoreCommand.frame(
                    MeshCoreCommand.setRadio,
                    .littleEndian(settings.frequencyHertz) + .littleEndian(settings.bandwidthHertz)
                        + [settings.spreadingFactor, settings.codingRateDenominator]),
            ]
        case .power: [MeshCoreCommand.frame(MeshCoreCommand.setPower, [UInt8(bitPattern: power.chipDBm)])]
        case .previousSettings, .readBack: [MeshCoreSetup.readBackQuestion]
        case .shortAirtime: [MeshCoreCommand.frame(MeshCoreCommand.getAirtime, [UInt8(MeshCoreSetup.shortByteCount)])]
        case .longAirtime: [MeshCoreCommand.frame(MeshCoreCommand.getAirtime, [UInt8(MeshCoreSetup.longByteCount)])]
        case .signalReports: [MeshCoreCommand.frame(MeshCoreCommand.setSignalReport, [1])]
        }
    }

    /// Asks which settings the modem was given last.
    static let readBackQuestion = MeshCoreCommand.frame(MeshCoreCommand.getRadio)

    /// Whether the modem was given these settings last. After a restart it has zeros until it is given settings.
    static func holds(_ settings: RadioSettings, answer: [UInt8]) -> Bool {
        guard answer.count >= 10, let frequency = answer.littleEndian(), let bandwidth = answer.littleEndian(at: 4) else {
            return false
        }
        return abs(Int64(frequency) - Int64(settings.frequencyHertz)) <= frequencyToleranceHertz
            && abs(Int64(bandwidth) - Int64(settings.bandwidthHertz)) <= frequencyToleranceHertz
            && answer[8] == settings.spreadingFactor && answer[9] == settings.codingRateDenominator
    }

    /// Takes the data of a frame of the type ``MeshCoreCommand/hardware``.
    mutating func take(_ data: [UInt8]) -> Result {
        guard let command = data.first else { return .unrelated }
        let answer = Array(data.dropFirst())
        // The modem had no room for the answer. The question is asked again when its answer is overdue, so that a modem without room
        // is not asked without end.
        if command == MeshCoreCommand.error, answer.first == MeshCoreCommand.busyError { return .unrelated }
        switch (step, command) {
        case (.ping, MeshCoreCommand.ping | MeshCoreCommand.answerBit): return advance()
        case (.name, MeshCoreCommand.getName | MeshCoreCommand.answerBit):
            let text = String(decoding: answer.filter { (32..<127).contains($0) }.prefix(40), as: UTF8.self)
            if !text.isEmpty { name = text }
            return advance()
        case (.version, MeshCoreCommand.getVersion | MeshCoreCommand.answerBit):
            let number = answer.first.map { "version \($0)" }
            version = [name, number].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
            return advance()
        case (.previousSettings, MeshCoreCommand.getRadio | MeshCoreCommand.answerBit):
            hasForgotten = !MeshCoreSetup.holds(settings, answer: answer)
            return advance()
        case (.radio, MeshCoreCommand.ok):
            // A stronger signal than wanted is not sent at all.
            guard power.outputDBm <= settings.powerDBm else {
                return .refused(.power, wanted: Int64(settings.powerDBm), actual: Int64(power.outputDBm))
            }
            return advance()
        case (.power, MeshCoreCommand.ok): return advance()
        case (.radio, MeshCoreCommand.error): return .refused(.frequency, wanted: Int64(settings.frequencyHertz), actual: nil)
        case (.power, MeshCoreCommand.error): return .refused(.power, wanted: Int64(settings.powerDBm), actual: nil)
        case (.readBack, MeshCoreCommand.getRadio | MeshCoreCommand.answerBit): return checkReadBack(answer)
        case (.shortAirtime, MeshCoreCommand.getAirtime | MeshCoreCommand.answerBit):
            let airtime = Int64(answer.littleEndian() ?? 0)
            guard airtime <= MeshCoreSetup.airtimeLimitMilliseconds else {
                return .refused(.airtime, wanted: profile.airtimeMicroseconds(frameByteCount: MeshCoreSetup.shortByteCount) / 1000, actual: airtime)
            }
            shortAirtimeMilliseconds = airtime
            return advance()
        case (.longAirtime, MeshCoreCommand.getAirtime | MeshCoreCommand.answerBit):
            return checkAirtime(longMilliseconds: Int64(answer.littleEndian() ?? 0))
        case (.signalReports, MeshCoreCommand.getSignalReport | MeshCoreCommand.answerBit), (.signalReports, MeshCoreCommand.ok),
            (.name, MeshCoreCommand.error), (.version, MeshCoreCommand.error), (.signalReports, MeshCoreCommand.error):
            return advance()
        default: return .unrelated
        }
    }

    /// The modem has not answered the present question. Versions of the firmware that lack a command may be silent.
    /// - Returns: the result without that answer; nil if the answer is needed.
    mutating func skip() -> Result? {
        switch step {
        case .name, .version, .previousSettings, .signalReports:
            missCount += 1
            return missCount < MeshCoreSetup.attemptCount ? .next : advance()
        case .ping, .radio, .power, .readBack, .shortAirtime, .longAirtime: return nil
        }
    }

    private mutating func advance() -> Result {
        missCount = 0
        guard let next = Step(rawValue: step.rawValue + 1) else { return .complete }
        step = next
        return .next
    }

    private mutating func checkReadBack(_ answer: [UInt8]) -> Result {
        guard !MeshCoreSetup.holds(settings, answer: answer) else { return advance() }
        let frequency = answer.littleEndian().map(Int64.init)
        let wanted = Int64(settings.frequencyHertz)
        guard let frequency, abs(frequency - wanted) <= MeshCoreSetup.frequencyToleranceHertz else {
            return .refused(.frequency, wanted: wanted, actual: frequency)
        }
        guard answer.count >= 10, answer[8] == settings.spreadingFactor else {
            let actual = answer.count > 8 ? Int64(answer[8]) : nil
            return .refused(.spreadingFactor, wanted: Int64(settings.spreadingFactor), actual: actual)
        }
        guard answer[9] == settings.codingRateDenominator else {
            return .refused(.codingRate, wanted: Int64(settings.codingRateDenominator), actual: Int64(answer[9]))
        }
        return .refused(.bandwidth, wanted: Int64(settings.bandwidthHertz), actual: answer.littleEndian(at: 4).map(Int64.init))
    }

    /// The modem rounds airtimes down to milliseconds.
    private mutating func checkAirtime(longMilliseconds: Int64) -> Result {
        let short = profile.airtimeMicroseconds(frameByteCount: MeshCoreSetup.shortByteCount)
        let long = profile.airtimeMicroseconds(frameByteCount: MeshCoreSetup.longByteCount)
        let wanted = (long - short) / 1000
        let actual = longMilliseconds - shortAirtimeMilliseconds
        guard abs(actual - wanted) <= 2 + wanted / 100 else { return .refused(.airtime, wanted: wanted, actual: actual) }
        // Other versions of the firmware may send another preamble.
        profile.frameOverheadMicroseconds = max(0, profile.frameOverheadMicroseconds + shortAirtimeMilliseconds * 1000 - short)
        return advance()
    }
}

/// The commands of MeshCore's KISS modem, and what it answers.
///
/// Source: `examples/kiss_modem` of MeshCore 1.17.1.
enum MeshCoreCommand {
    /// KISS types.
    static let data: UInt8 = 0x00
    static let transmitDelay: UInt8 = 0x01
    static let persistence: UInt8 = 0x02
    static let fullDuplex: UInt8 = 0x05
    static let hardware: UInt8 = 0x06

    /// Commands of the type ``hardware``. The answer to a command that reads something has bit 7 set.
    static let setRadio: UInt8 = 0x09
    static let setPower: UInt8 = 0x0A
    static let getRadio: UInt8 = 0x0B
    static let getAirtime: UInt8 = 0x0F
    static let getVersion: UInt8 = 0x11
    static let getName: UInt8 = 0x16
    static let ping: UInt8 = 0x17
    static let reboot: UInt8 = 0x18
    static let setSignalReport: UInt8 = 0x19
    static let getSignalReport: UInt8 = 0x1A

    static let answerBit: UInt8 = 0x80
    static let ok: UInt8 = 0xF0
    static let error: UInt8 = 0xF1
    static let sent: UInt8 = 0xF8
    static let signal: UInt8 = 0xF9

    /// The error of a modem that is busy or whose output queue is full.
    static let busyError: UInt8 = 7

    /// A frame of the type ``hardware``.
    static func frame(_ command: UInt8, _ data: [UInt8] = []) -> KISSFrame { KISSFrame(hardware, [command] + data) }
}

/// A board with an amplifier behind its radio chip, as MeshCore's modem names it.
///
/// The modem passes a power to the chip as it is (`KissModem.cpp`, `handleSetTxPower`), so the antenna gets more. The gain of an
/// amplifier falls as its input grows: the table has the largest that a source gives, so that the antenna never gets more than
/// wanted. Not measured.
struct MeshCoreBoard: Equatable, Sendable {
    /// How the name of the board begins (`getManufacturerName`).
    let name: String
    /// The largest gain of the amplifier, in decibels.
    let gainDecibels: Int8
    /// The highest power that the chip may be set to, in dBm.
    let maximumInputDBm: Int8

    /// The powers of the chips: the SX1262 and its relatives take -9 … 22 dBm and ignore others. Source: RadioLib, `SX1262::setOutputPower`.
    static let chipPowerDBm: ClosedRange<Int8> = -9...22

    /// Source: MeshCore, `variants/*/platformio.ini`, at `LORA_TX_POWER` and `MAX_LORA_TX_POWER` (heltec_v4, heltec_t096,
    /// station_g2, meshnology_w12, lilygo_tbeam_1w, rak3401 and others).
    private static let amplified = [
        // "9dBm + ~13dB KCT8103L gain"; the older GC1109 has 12 ("configured as 10 … final output will be 22 dbm").
        MeshCoreBoard("Heltec V4", gain: 13), MeshCoreBoard("Heltec Tracker V2", gain: 13), MeshCoreBoard("Heltec T096", gain: 13),
        MeshCoreBoard("Heltec Tower V2", gain: 13),
        // 7 dBm become 27, and 19 is the most "without burning out the PA".
        MeshCoreBoard("Station G2", gain: 20, maximumInput: 19),
        // The input of its GC1109 bears 5 dBm. (H: the gain; 4 dBm are said to become 28 to 30.)
        MeshCoreBoard("Meshnology W12", gain: 26, maximumInput: 4),
        // "22dBm to SX1262, PA module adds ~10dB".
        MeshCoreBoard("LilyGo T-Beam 1W", gain: 10),
        // The booster RAK13302 gives 1 W at 22 dBm. (H: the gain with less input.)
        MeshCoreBoard("RAK 3401", gain: 9),
        // Its module gives 30 dBm at 22. (H: the gain with less input.)
        MeshCoreBoard("GAT562 30S", gain: 9),
    ]

    private init(_ name: String, gain: Int8, maximumInput: Int8 = MeshCoreBoard.chipPowerDBm.upperBound) {
        (self.name, gainDecibels, maximumInputDBm) = (name, gain, maximumInput)
    }

    /// The board with a name; nil if it is not known to have an amplifier.
    static func named(_ name: String) -> MeshCoreBoard? { amplified.first { name.lowercased().hasPrefix($0.name.lowercased()) } }

    /// The power to which the chip is set for a power at the antenna, and the power that the antenna then gets, in dBm.
    /// - Parameter board: the board; nil for one without an amplifier.
    static func power(of board: MeshCoreBoard?, wanted: Int8) -> (chipDBm: Int8, outputDBm: Int8) {
        let gain = Int(board?.gainDecibels ?? 0)
        let highest = board?.maximumInputDBm ?? chipPowerDBm.upperBound
        let chip = min(max(Int8(clamping: Int(wanted) - gain), chipPowerDBm.lowerBound), highest)
        return (chip, Int8(clamping: Int(chip) + gain))
    }
}
