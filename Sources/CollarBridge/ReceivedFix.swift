import CollarJournal
import CollarWire

/// A fix together with where it came from: everything a line of JSON says.
public struct ReceivedFix: Equatable, Sendable {
    /// The collar's 64-bit factory id.
    public var deviceID: UInt64
    /// The id of the log the fix is in, 26 bits.
    public var logID: UInt32
    /// When the host received the frame, in milliseconds since 1970 by the host's clock.
    public var receivedUnixMilliseconds: Int64?
    /// The fix in the codes it was logged with.
    public var fix: Fix
    /// What the radio said about the frame; nil when it says nothing.
    public var signal: RadioSignal?

    /// Creates a received fix. Nothing is checked here.
    public init(
        deviceID: UInt64, logID: UInt32, receivedUnixMilliseconds: Int64?, fix: Fix, signal: RadioSignal? = nil
    ) {
        self.deviceID = deviceID
        self.logID = logID
        self.receivedUnixMilliseconds = receivedUnixMilliseconds
        self.fix = fix
        self.signal = signal
    }
}

extension ReceivedFix {
    /// A fix as a collar's journal keeps it.
    /// - Parameter deviceID: the collar's, which is not in the record.
    public init(deviceID: UInt64, _ record: JournaledFix) {
        self.init(
            deviceID: deviceID, logID: record.logID, receivedUnixMilliseconds: record.receivedUnixMilliseconds,
            fix: record.fix, signal: record.signal)
    }
}
