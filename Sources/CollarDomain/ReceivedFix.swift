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

    /// The fix's identifier for ever. Bits of ``logID`` above the 26th are dropped.
    @inlinable
    public var identifier: FixIdentifier {
        FixIdentifier(deviceID: deviceID, logID: logID & LogIdentity.maximumLogID, sequence: fix.sequence)
    }
}

/// How well a radio heard a packet.
public struct RadioSignal: Equatable, Sendable {
    /// Received strength in dBm.
    public var strengthDBm: Int16
    /// Signal-to-noise ratio in tenths of a decibel; nil when the radio does not report it.
    public var signalToNoiseTenthsDB: Int16?

    /// Creates a report.
    public init(strengthDBm: Int16, signalToNoiseTenthsDB: Int16? = nil) {
        self.strengthDBm = strengthDBm
        self.signalToNoiseTenthsDB = signalToNoiseTenthsDB
    }
}
