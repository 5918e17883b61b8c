import CollarErrors
import CollarJournal
import CollarWire

/// Lines for people: fixes, messages and gaps. An unknown value is "?".
struct TextWriter: FormatWriter {
    /// The time zone of the times; nil for UTC.
    let zone: TimeZoneOffset?
    var deployments: DeploymentTable

    /// All digits of a position are written, so that the lines stand below one another.
    func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        bytes.appendRow { row in
            row.append(unixMilliseconds: fix.unixMilliseconds, in: zone)
            row.append("  ", fix.latitudeDegrees.keepingZeros)
            row.append(", ", fix.longitudeDegrees.keepingZeros)
            row.append("  ±", fix.horizontalAccuracy?.shownMeters, orUnknown: "?")
            row.append(" m  ", fix.speedMetersPerSecond?.keepingZeros, orUnknown: "?")
            row.append(" m/s  battery ", fix.battery, orUnknown: "?")
            row.append(" %  ")
        }
        append(wearerOf: received.deviceID, at: fix.unixMilliseconds, to: &bytes)
        for item in received.whereabouts?.items() ?? [] { bytes += "  \(item)".utf8 }
        bytes.appendRow { row in
            row.append("  fix ", fix.sequence)
            row.append("\n")
        }
    }

    func append(_ message: JournaledMessage, deviceID: DeviceID, to bytes: inout [UInt8]) {
        bytes.appendRow { $0.append(unixMilliseconds: message.unixMilliseconds, in: zone) }
        bytes += "  \(MessageDescription.line(of: message.message.content))  ".utf8
        append(wearerOf: deviceID, at: message.unixMilliseconds, to: &bytes)
        bytes += "  message \(message.message.sequence)\n".utf8
    }

    func append(_ change: GapChange, deviceID: DeviceID, to bytes: inout [UInt8]) {
        bytes.appendRow { $0.append(unixMilliseconds: change.unixMilliseconds, in: zone) }
        bytes.append("  ")
        append(wearerOf: deviceID, at: change.unixMilliseconds, to: &bytes)
        bytes += "  \(TextWriter.text(of: change))\n".utf8
    }

    func append(_ line: AlertLine, to bytes: inout [UInt8]) {
        bytes.appendRow { $0.append(unixMilliseconds: line.unixMilliseconds, in: zone) }
        bytes += "  \(line.text.withEscapedControls)\n".utf8
    }

    /// Appends the name of the animal that wore a collar, if one is known, and the collar.
    private func append(wearerOf deviceID: DeviceID, at unixMilliseconds: Int64, to bytes: inout [UInt8]) {
        if let animal = deployments.wearer(of: deviceID, at: unixMilliseconds) {
            bytes += animal.name.withEscapedControls.utf8
            bytes.append("  ")
        }
        bytes.append("collar ")
        bytes.appendRow { $0.append(collar: deviceID) }
    }

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
}

/// Lines for people at a terminal, as they come: short times and ids, and no line wider than the terminal. An unknown value is "?".
struct TerminalWriter: FormatWriter {
    /// How many digits of the id of a collar without a name are shown. As `--collar`, they are enough.
    private static let idDigitCount = 8

    /// The time zone of the times; nil for UTC.
    let zone: TimeZoneOffset?
    /// The width of the terminal, in characters.
    let width: Int
    var deployments: DeploymentTable

    func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        append(
            [
                shortTimeText(unixMilliseconds: fix.unixMilliseconds, reference: received.receivedUnixMilliseconds, in: zone),
                "\(fix.latitudeDegrees.keepingZeros.text), \(fix.longitudeDegrees.keepingZeros.text)",
                "±\(fix.horizontalAccuracy?.shownMeters.text ?? "?") m",
                "\(fix.speedMetersPerSecond?.keepingZeros.text ?? "?") m/s",
                "battery \(fix.battery?.text ?? "?") %",
                wearer(of: received.deviceID, at: fix.unixMilliseconds),
            ] + (received.whereabouts?.items() ?? []) + ["fix \(fix.sequence)"], to: &bytes)
    }

    func append(_ message: JournaledMessage, deviceID: DeviceID, to bytes: inout [UInt8]) {
        append(
            [
                shortTimeText(unixMilliseconds: message.unixMilliseconds, reference: message.unixMilliseconds, in: zone),
                MessageDescription.line(of: message.message.content), wearer(of: deviceID, at: message.unixMilliseconds),
                "message \(message.message.sequence)",
            ], to: &bytes)
    }

    func append(_ change: GapChange, deviceID: DeviceID, to bytes: inout [UInt8]) {
        append(
            [
                shortTimeText(unixMilliseconds: change.unixMilliseconds, reference: change.unixMilliseconds, in: zone),
                wearer(of: deviceID, at: change.unixMilliseconds), TextWriter.text(of: change),
            ], to: &bytes)
    }

    func append(_ line: AlertLine, to bytes: inout [UInt8]) {
        let time = shortTimeText(unixMilliseconds: line.unixMilliseconds, reference: line.unixMilliseconds, in: zone)
        append([time, line.text.withEscapedControls], to: &bytes)
    }

    private func append(_ items: [String], to bytes: inout [UInt8]) {
        bytes += TextFlow.joined(items, hanging: 2, width: width).utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    /// The name of the animal that wore the collar, else the beginning of the collar's id.
    private func wearer(of deviceID: DeviceID, at unixMilliseconds: Int64) -> String {
        deployments.wearer(of: deviceID, at: unixMilliseconds)?.name.withEscapedControls
            ?? String("\(deviceID)".prefix(TerminalWriter.idDigitCount))
    }
}
