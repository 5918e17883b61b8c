import CollarJournal
import CollarWire

/// Watches the battery of one collar. It reports once that the battery is low, and once that it is almost empty, until the battery was
/// charged: a charge that rises by less is the noise of a measurement.
struct BatteryMonitor {
    /// A charge up to this is low, in percent. The collar saves power from here on (PROTOCOL.md, section 13).
    static let lowPercent: UInt8 = 20
    /// A charge up to this is critical, in percent.
    static let criticalPercent: UInt8 = 10
    /// A charge more than this above the limit ends a warning, in percent. A battery gauge jumps by 1 to 2 percent with load and temperature.
    static let risePercent: UInt8 = 5

    private let deviceID: UInt64
    /// The last warning.
    private(set) var warning: CollarMemory.BatteryWarning
    /// The time of the last status, by the collar's clock, in milliseconds since 1970; nil if it told none.
    private var statusUnixMilliseconds: Int64?

    /// - Parameter warning: the last warning of an earlier run.
    init(deviceID: UInt64, warning: CollarMemory.BatteryWarning) {
        self.deviceID = deviceID
        self.warning = warning
    }

    /// The collar sent its status.
    mutating func accept(_ status: Status, _ output: HostOutput) {
        statusUnixMilliseconds = status.clock?.unixMilliseconds
        note(status.batteryPercent, output)
    }

    /// The newest fix of the collar was stored. One that was made before the last status says nothing about the battery now.
    mutating func accept(newest fix: Fix, _ output: HostOutput) {
        if let statusUnixMilliseconds, fix.unixMilliseconds < statusUnixMilliseconds { return }
        note(fix.batteryPercent, output)
    }

    private mutating func note(_ percent: UInt8?, _ output: HostOutput) {
        guard let percent else { return }
        let present = BatteryMonitor.warning(at: percent)
        if present > warning {
            output.report(.battery(deviceID: deviceID, present, percent: Int(percent)))
            warning = present
        } else if present < warning {
            // The warning that a charge lower by the rise would have.
            let lower = BatteryMonitor.warning(at: percent > BatteryMonitor.risePercent ? percent - BatteryMonitor.risePercent : 0)
            warning = min(warning, max(present, lower))
        }
    }

    private static func warning(at percent: UInt8) -> CollarMemory.BatteryWarning {
        percent <= criticalPercent ? .critical : percent <= lowPercent ? .low : .none
    }
}
