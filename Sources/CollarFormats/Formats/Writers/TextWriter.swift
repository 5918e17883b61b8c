
import CollarJournal
import CollarWire

/// Lines for people: fixes, messages and gaps. An unknown value is "?".
struct TextWriter: FormatWriter {
    private struct Keys {
        let afterTime = InlineBytes("  ")
        let beforeLongitude = InlineBytes(", ")
        let accuracy = InlineBytes("  ±")
        let speed = InlineBytes(" m  ")
        let battery = InlineBytes(" m/s  battery ")
        let afterBattery = InlineBytes(" %  ")
        let unknown = InlineBytes("?")
    }

    private struct LogTexts {
        /// The name, if it is known, and the collar.
        let wearer: [UInt8]
    }

    private let keys = Keys()
    private let numbers = NumberBytes()
    private let accuracies = AccuracyTexts { MessageDescription.meters(millimeters: $0) }
    private let zone: TimeZoneOffset?
    private var times: ZonedTimeTexts
    private var scratch = LineScratch()
    private var logs: LogMemory<LogTexts>

    /// - Parameter zone: the time zone of the times; nil for UTC.
    init(_ zone: TimeZoneOffset?, _ deployments: DeploymentTable) {
        self.zone = zone
        times = ZonedTimeTexts(zone)
        logs = LogMemory(deployments) { LogTexts(wearer: TextWriter.wearer($0.animal, of: $0.deviceID) + "  fix ".utf8) }
    }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        logs.find(received)
        scratch.removeAll()
        times.append(fix.unixMilliseconds, to: &scratch)
        scratch.append(keys.afterTime)
        appendDegrees(fix.latitudeSteps, fix.positionStep)
        scratch.append(keys.beforeLongitude)
        appendDegrees(fix.longitudeSteps, fix.positionStep)
        scratch.append(keys.accuracy)
        if let accuracy = fix.horizontalAccuracy { scratch.append(accuracies[accuracy]) } else { scratch.append(keys.unknown) }
        scratch.append(keys.speed)
        if let speed = fix.speedDecimetersPerSecond {
            scratch.append(speed / 10, numbers: numbers)
            scratch.append(fraction: speed % 10)
        } else {
            scratch.append(keys.unknown)
        }
        scratch.append(keys.battery)
        if let battery = fix.batteryPercent {
            scratch.append(numbers.text(below1000: UInt32(battery)))
        } else {
            scratch.append(keys.unknown)
        }
        scratch.append(keys.afterBattery)
        scratch.copy(to: &bytes)
        bytes += logs.current.wearer
        scratch.removeAll()
        scratch.append(Int64(fix.sequence))
        scratch.append(character: UInt8(ascii: "\n"))
        scratch.copy(to: &bytes)
    }

    /// All digits of the step, so that the lines stand below one another.
    @inline(__always)
    private mutating func appendDegrees(_ steps: Int32, _ step: PositionStep) {
        scratch.appendMinus(if: steps < 0)
        scratch.append(
            tenMillionths: steps.magnitude &* LineScratch.tenMillionths(in: step), fractionDigits: step.fractionDigits,
            numbers: numbers)
    }

    mutating func append(_ message: JournaledMessage, deviceID: UInt64, to bytes: inout [UInt8]) {
        let time = message.unixMilliseconds
        bytes += "\(timeText(unixMilliseconds: time, in: zone))  \(MessageDescription.line(of: message.message.content))  ".utf8
        bytes += TextWriter.wearer(logs.deployments.wearer(of: deviceID, at: time), of: deviceID)
        bytes += "  message \(message.message.sequence)\n".utf8
    }

    mutating func append(_ change: GapChange, deviceID: UInt64, to bytes: inout [UInt8]) {
        bytes += "\(timeText(unixMilliseconds: change.unixMilliseconds, in: zone))  ".utf8
        bytes += TextWriter.wearer(logs.deployments.wearer(of: deviceID, at: change.unixMilliseconds), of: deviceID)
        bytes += "  \(TextWriter.text(of: change))\n".utf8
    }

    /// The range of a gap and what became of it.
    static func text(of change: GapChange) -> String {
        let range = change.range
        let fixes = range.count == 1 ? "fix \(range.first)" : "fixes \(range.first) to \(range.last)"
        return switch change.event {
        case .missing: "\(fixes) missing"
        case .filled: "\(fixes) no longer missing"
        case .lost: "\(fixes) lost: the collar does not have them any more"
        case .elsewhere: "\(fixes) delivered to another receiver"
        }
    }

    mutating func setDeployments(_ deployments: DeploymentTable) { logs.setDeployments(deployments) }

    /// The name of an animal, if one is known, and its collar.
    private static func wearer(_ animal: Animal?, of deviceID: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        if let animal {
            bytes.append(shownText: animal.name)
            bytes += "  ".utf8
        }
        return bytes + "collar \(MessageDescription.hexadecimal(deviceID))".utf8
    }
}
