import CollarWire

/// A result of the bytes of a GNSS receiver.
public enum GNSSEvent: Equatable, Sendable {
    /// A position whose time is resolved to UTC, with the date as the receiver says it.
    case reading(GNSSReading)
    /// The receiver works, but does not know its position or its time.
    case noFix
    /// The receiver accepts or refuses a message of its configuration.
    case answer(UBXMessageType, isAccepted: Bool)
    /// The receiver says whether its antenna is short-circuited or open. The value is false if it does not watch its antenna.
    case antenna(isFaulty: Bool)
    /// A valid message of another kind.
    case other
}
