import Glibc

/// What goes wrong on a ``SimulatedDisk``.
public struct DiskFaults: Equatable, Sendable {
    /// Probability that an operation fails with EIO.
    public var errorProbability = 0.0
    /// Probability that a write takes only a part of what it is given.
    public var shortWriteProbability = 0.0
    /// Whether the next synchronisation of a file fails with EIO.
    public var isNextSyncFailing = false
    /// Whether whatever would change anything fails with EROFS.
    public var isReadOnly = false
    /// Bytes that the files may grow by together before the disk is full; nil for no end.
    public var room: Int?
    /// Operations until one fails, with ``failureNumber``; nil for never.
    public var operationsUntilFailure: Int?
    /// The `errno` of that one.
    public var failureNumber = EIO
    /// Operations until the system stops, amid one of them; nil for never. From then on all fail, until the machine or
    /// the process begins anew.
    public var operationsUntilStop: Int?

    /// Nothing goes wrong.
    public init() {}
}
