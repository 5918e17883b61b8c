/// The files of a ``SimulatedDisk`` by their paths, in the page cache and on the disk. All processes of a machine share them.
final class DiskTree {
    /// A name that was added or removed since its directory was synchronised.
    struct NameChange {
        let path: String
        /// Nil if the name was removed.
        let file: DiskFile?
        /// The old name, if the change is a rename: it is removed in the same step.
        var formerPath: String?
    }

    /// The names that the running system sees.
    var names: [String: DiskFile] = ["/": DiskFile(isDirectory: true)]
    /// The names on the disk.
    var durableNames: [String: DiskFile]
    var nameChanges: [NameChange] = []
    /// Grows with every operation that may change a file or a name, in the cache or on the disk.
    var generation = 0
    /// Whether a failed operation, damage or a replacement may have removed bytes that were durable, or that a process took for
    /// durable.
    var isDisturbed = false

    /// Makes an empty tree.
    init() { durableNames = names }
}
