import Glibc

/// The faults of a ``SimulatedDisk``.
package struct DiskFaults: Equatable, Sendable {
    /// Probability that an operation fails with EIO.
    package var errorProbability = 0.0
    /// Probability that a write writes only a part of its bytes.
    package var shortWriteProbability = 0.0
    /// Whether the next synchronisation of a file fails with EIO.
    package var isNextSyncFailing = false
    /// Whether synchronisations succeed but do nothing: a disk that lies.
    package var ignoresSynchronization = false
    /// Whether every operation that would change something fails with EROFS.
    package var isReadOnly = false
    /// Bytes by which the files can grow, taken together, before the disk is full; nil for no limit.
    package var room: Int?
    /// Operations before one that fails with ``failureNumber``; nil for no such failure.
    package var operationsUntilFailure: Int?
    /// The `errno` of that failure.
    package var failureNumber = EIO
    /// Operations before the one in which the system stops; nil for never. That operation and all later ones fail until the
    /// process ends or the machine loses power.
    package var operationsUntilStop: Int?

    /// No faults.
    package init() {}
}
