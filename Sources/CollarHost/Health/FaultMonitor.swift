import CollarARQ
import CollarWire

/// Watches the last error in one collar's statuses. It reports an error when a status is the first to have it, and at most
/// one error a minute.
struct FaultMonitor {
    private enum Notice: Hashable, Sendable { case fault }

    private let deviceID: UInt64
    private var last = CollarFault.none
    private var notices = NoticeLimiter<Notice>()

    init(deviceID: UInt64) { self.deviceID = deviceID }

    /// The collar sent its status.
    /// - Parameter isReported: whether its last error was already reported.
    mutating func accept(_ status: Status, isReported: Bool, at now: Instant, _ output: HostOutput) {
        guard status.lastError != last else { return }
        last = status.lastError
        guard !isReported else { return }
        // The state of the GNSS receiver already tells its fault.
        let isOfGNSS = last == .gnssSilent || last == .gnssFault
        guard last != .none, !(isOfGNSS && status.gnssState == .fault), notices.isDue(.fault, at: now) else { return }
        output.report(.fault(deviceID: deviceID, last))
    }
}
