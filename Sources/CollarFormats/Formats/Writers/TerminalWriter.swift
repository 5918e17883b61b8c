
import CollarJournal
import CollarWire

/// Lines for people at a terminal, as they come: short times and ids, and no line wider than the terminal. An unknown value is "?".
struct TerminalWriter: FormatWriter {
    /// How many digits of the id of a collar without a name are shown. As `--collar`, they are enough.
    private static let idDigitCount = 8

    private let zone: TimeZoneOffset?
    private let width: Int
    private var deployments: DeploymentTable

    /// - Parameters:
    ///   - zone: the time zone of the times; nil for UTC.
    ///   - width: the width of the terminal, in characters.
    init(_ zone: TimeZoneOffset?, width: Int, _ deployments: DeploymentTable) {
        self.zone = zone
        self.width = width
        self.deployments = deployments
    }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        let digits = fix.positionStep.fractionDigits
        let position = [fix.latitudeSteps, fix.longitudeSteps].map { MessageDescription.decimal(Int64($0), digits) }
        append(
            [
                shortTimeText(unixMilliseconds: fix.unixMilliseconds, reference: received.receivedUnixMilliseconds, in: zone),
                position.joined(separator: ", "),
                "±" + (fix.horizontalAccuracy.map(MessageDescription.meters) ?? "?") + " m",
                (fix.speedDecimetersPerSecond.map { MessageDescription.decimal(Int64($0), 1) } ?? "?") + " m/s",
                "battery " + (fix.batteryPercent.map { "\($0)" } ?? "?") + " %",
                wearer(of: received.deviceID, at: fix.unixMilliseconds),
                "fix \(fix.sequence)",
            ], to: &bytes)
    }

    mutating func append(_ message: JournaledMessage, deviceID: UInt64, to bytes: inout [UInt8]) {
        append(
            [
                shortTimeText(unixMilliseconds: message.unixMilliseconds, reference: message.unixMilliseconds, in: zone),
                MessageDescription.line(of: message.message.content), wearer(of: deviceID, at: message.unixMilliseconds),
                "message \(message.message.sequence)",
            ], to: &bytes)
    }

    mutating func append(_ change: GapChange, deviceID: UInt64, to bytes: inout [UInt8]) {
        append(
            [
                shortTimeText(unixMilliseconds: change.unixMilliseconds, reference: change.unixMilliseconds, in: zone),
                wearer(of: deviceID, at: change.unixMilliseconds), TextWriter.text(of: change),
            ], to: &bytes)
    }

    mutating func setDeployments(_ deployments: DeploymentTable) { self.deployments = deployments }

    private func append(_ items: [String], to bytes: inout [UInt8]) {
        bytes += TextFlow.joined(items, hanging: 2, width: width).utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    /// The name of the animal that wore the collar, else the beginning of the collar's id.
    private func wearer(of deviceID: UInt64, at unixMilliseconds: Int64) -> String {
        guard let animal = deployments.wearer(of: deviceID, at: unixMilliseconds) else {
            return String(MessageDescription.hexadecimal(deviceID).prefix(TerminalWriter.idDigitCount))
        }
        var shown: [UInt8] = []
        shown.append(shownText: animal.name)
        return String(decoding: shown, as: UTF8.self)
    }
}
