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

    /// The result of an answer.
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

    /// What the chip is set to, and what the antenna gets then, in dBm.
    var power: (chipDBm: Int8, outputDBm: Int8) { MeshCoreBoard.power(of: board, wanted: settings.powerDBm) }

    /// - Parameter name: the name of the board that an earlier setup has found. It holds if the modem does not tell it again.
    init(_ settings: RadioSettings, name: String? = nil) {
        self.settings = settings
        self.name = name
        profile = settings.profile(of: .kiss)
    }

    /// The frames that ask the question of the present step.
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
        case (.radio, MeshCoreCommand.error):
            return .refused(.frequency, wanted: Int64(settings.frequencyHertz), actual: nil)
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
        guard MeshCoreSetup.holds(settings, answer: answer) else {
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
            return .refused(
                .bandwidth, wanted: Int64(settings.bandwidthHertz), actual: answer.littleEndian(at: 4).map(Int64.init))
        }
        return advance()
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
