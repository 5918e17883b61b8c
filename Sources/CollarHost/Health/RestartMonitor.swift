import CollarARQ
import CollarWire

/// Watches the boot count of one collar, and reports each restart once, with its cause.
///
/// The identity that begins a boot counts it. The cause is the last error of the status that follows (PROTOCOL.md, section 13).
struct RestartMonitor {
    /// For how long a restart waits for the status with its cause, in microseconds. A collar sends at most one status a minute.
    static let statusTime: Int64 = 60_000_000

    private let deviceID: UInt64
    /// The boot count of the last restart that was reported, or of the first identity; 0 before that.
    private(set) var bootCount: UInt32
    /// The boot whose cause is awaited.
    private var awaited: (bootCount: UInt32, until: Instant)?

    /// - Parameter bootCount: the boot count that was known at the end of an earlier run; 0 if none was.
    init(deviceID: UInt64, bootCount: UInt32) {
        self.deviceID = deviceID
        self.bootCount = bootCount
    }

    /// When to call ``advance(to:_:)`` next; nil while no cause is awaited.
    var nextDeadline: Instant? { awaited?.until }

    /// The collar sent its identity.
    /// - Parameter isNewLog: whether the log was not known before. A collar whose memory was erased counts from the start again.
    mutating func accept(_ identity: Identity, isNewLog: Bool, at now: Instant, _ output: HostOutput) {
        let known = awaited?.bootCount ?? bootCount
        if known == 0 || isNewLog && identity.bootCount < known {
            awaited = nil
            bootCount = identity.bootCount
        } else if identity.bootCount > known {
            end(cause: nil, output)
            awaited = (identity.bootCount, now.advanced(byMicroseconds: RestartMonitor.statusTime))
        }
    }

    /// The collar sent its status.
    /// - Returns: whether its last error was reported as the cause of a restart.
    mutating func accept(_ status: Status, _ output: HostOutput) -> Bool {
        guard awaited != nil else { return false }
        // Any other error came after the boot, and hides the cause.
        let isReset = [.lowVoltageReset, .watchdogReset, .firmwareReset].contains(status.lastError)
        end(cause: isReset || status.lastError == .none ? status.lastError : nil, output)
        return isReset
    }

    /// Reports a restart whose cause has not come in time.
    mutating func advance(to now: Instant, _ output: HostOutput) {
        if let awaited, now >= awaited.until { end(cause: nil, output) }
    }

    private mutating func end(cause: CollarFault?, _ output: HostOutput) {
        guard let awaited else { return }
        self.awaited = nil
        bootCount = awaited.bootCount
        output.report(.restarted(deviceID: deviceID, cause: cause))
    }
}
