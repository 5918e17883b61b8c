import CollarWire

/// Where the emission of entries begins.
package enum EmissionStart: Equatable, Sendable {
    /// After the last entry that the previous run emitted.
    case whereItStopped
    /// At the oldest entry of the journals.
    case all
    /// At the first entry received at this time or later; the time is in milliseconds since 1970 by the host's clock.
    case since(unixMilliseconds: Int64)
    /// After this fix, in the order in which fixes were stored. For other collars, emission begins where it stopped.
    case after(FixIdentifier)
}
