import Glibc

/// What goes wrong on a ``SimulatedDisk``.
package struct DiskFaults: Equatable, Sendable {
    /// Probability that an operation fails with EIO.
    package var errorProbability = 0.0
    /// Probability that a write takes only a part of what it is given.
    package var shortWriteProbability = 0.0
    /// Whether the next synchronisation of a file fails with EIO.
    package var isNextSyncFailing = false
    /// Whether synchronisations succeed and do nothing: a disk that lies.
    package var ignoresSynchronization = false
    /// Whether whatever would change anything fails with EROFS.
    package var isReadOnly = false
    /// Bytes that the files may grow by together before the disk is full; nil for no end.
    package var room: Int?
    /// Operations until one fails, with ``failureNumber``; nil for never.
    package var operationsUntilFailure: Int?
    /// The `errno` of that one.
    package var failureNumber = EIO
    /// Operations until the system stops, amid one of them; nil for never. From then on all fail, until the machine or
    /// the process begins anew.
    package var operationsUntilStop: Int?

    /// Nothing goes wrong.
    package init() {}
}
