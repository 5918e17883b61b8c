import CollarHost
import CollarWire

/// Fixes and what became of others as lines for a person.
public enum FixText {
    /// When and where, how well it is known, how fast, the battery, and which fix it is. A "?" stands for what is not
    /// known.
    public static func line(of received: ReceivedFix) -> String {
        let fix = received.fix
        let digits = fix.positionStep.fractionDigits
        let accuracy = fix.horizontalAccuracy.map { rounded(millimeters: UInt64($0.millimeters)) } ?? "?"
        let speed = fix.speedDecimetersPerSecond.map { MessageText.decimal(Int64($0), 1) } ?? "?"
        let battery = fix.batteryPercent.map { "\($0)" } ?? "?"
        return "\(utcText(unixMilliseconds: fix.unixMilliseconds))  "
            + "\(MessageText.decimal(Int64(fix.latitudeSteps), digits)), "
            + "\(MessageText.decimal(Int64(fix.longitudeSteps), digits))  ±\(accuracy) m  \(speed) m/s  "
            + "battery \(battery) %  collar \(MessageText.hexadecimal(received.deviceID))  fix \(fix.sequence)"
    }

    /// What a gap line says.
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
            + "collar \(MessageText.hexadecimal(deviceID))  \(fixes) \(fate)"
    }

    /// Metres, with decimals only where they say something.
    private static func rounded(millimeters: UInt64) -> String {
        millimeters >= 10_000 ? "\((millimeters + 500) / 1000)" : MessageText.decimal(Int64((millimeters + 50) / 100), 1)
    }
}
