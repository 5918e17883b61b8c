import CollarHost
import CollarJournal
import CollarWire

/// Fixes, messages and changes of gaps, as lines for a person.
public enum FixDescription {
    /// Time, position, horizontal accuracy, speed, battery, collar and sequence; "?" for an unknown value.
    public static func line(of received: ReceivedFix) -> String {
        let fix = received.fix
        let digits = fix.positionStep.fractionDigits
        let accuracy = fix.horizontalAccuracy.map { rounded(millimeters: UInt64($0.millimeters)) } ?? "?"
        let speed = fix.speedDecimetersPerSecond.map { MessageDescription.decimal(Int64($0), 1) } ?? "?"
        let battery = fix.batteryPercent.map { "\($0)" } ?? "?"
        return "\(utcText(unixMilliseconds: fix.unixMilliseconds))  "
            + "\(MessageDescription.decimal(Int64(fix.latitudeSteps), digits)), "
            + "\(MessageDescription.decimal(Int64(fix.longitudeSteps), digits))  ±\(accuracy) m  \(speed) m/s  "
            + "battery \(battery) %  collar \(MessageDescription.hexadecimal(received.deviceID))  fix \(fix.sequence)"
    }

    /// A change of a gap, as a line for a person.
    public static func line(of change: GapChange, deviceID: UInt64) -> String {
        let range = change.range
        let fixes = range.count == 1 ? "fix \(range.first)" : "fixes \(range.first) to \(range.last)"
        let fate =
            switch change.event {
            case .missing: "missing"
            case .filled: "no longer missing"
            case .lost: "lost: the collar does not have them any more"
            case .elsewhere: "delivered to another receiver"
            }
        return "\(utcText(unixMilliseconds: change.unixMilliseconds))  "
            + "collar \(MessageDescription.hexadecimal(deviceID))  \(fixes) \(fate)"
    }

    /// A message of a collar's application, as a line for a person.
    public static func line(of record: JournaledMessage, deviceID: UInt64) -> String {
        let content = record.message.content
        let time = content.unixSeconds == 0 ? record.receivedUnixMilliseconds : Int64(content.unixSeconds) * 1000
        return "\(utcText(unixMilliseconds: time))  \(MessageDescription.line(of: content))  "
            + "collar \(MessageDescription.hexadecimal(deviceID))  message \(record.message.sequence)"
    }

    /// A length in metres: with one decimal place below 10 m, else without.
    private static func rounded(millimeters: UInt64) -> String {
        millimeters >= 10_000 ? "\((millimeters + 500) / 1000)" : MessageDescription.decimal(Int64((millimeters + 50) / 100), 1)
    }
}
