import CollarJournal
import CollarWire

/// A fix with its origin: everything that a fix line contains.
package struct ReceivedFix: Equatable, Sendable {
    /// The collar's 64-bit factory id.
    package var deviceID: UInt64
    /// The id of the log the fix is in, 26 bits.
    package var logID: UInt32
    /// When the host received the frame, in milliseconds since 1970 by the host's clock; nil if unknown.
    package var receivedUnixMilliseconds: Int64?
    /// The fix in the codes it was logged with.
    package var fix: Fix
    /// The signal that the radio reported for the frame; nil when it reports none.
    package var signal: RadioSignal?

    /// Creates a received fix. Nothing is checked here.
    package init(
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
    /// Creates a received fix from a record in a collar's journal; the record does not contain the collar's `deviceID`.
    package init(deviceID: UInt64, _ record: JournaledFix) {
        self.init(
            deviceID: deviceID, logID: record.logID, receivedUnixMilliseconds: record.receivedUnixMilliseconds,
            fix: record.fix, signal: record.signal)
    }

    /// The permanent identifier. The log id is cut to the 26 bits that it has on the wire.
    var identifier: FixIdentifier {
        FixIdentifier(deviceID: deviceID, logID: logID & LogIdentity.maximumLogID, sequence: fix.sequence)
    }
}
