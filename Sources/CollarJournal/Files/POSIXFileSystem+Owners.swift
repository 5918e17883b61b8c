import Glibc

/// What root makes in the directory of another user belongs to that user, whose receiver could not use it otherwise. Where the file
/// system refuses that, it stays root's.
extension POSIXFileSystem {
    /// Makes a directory, and gives it to the owner of the directory above it.
    /// - Returns: whether it was made; if not, `errno` says why.
    static func makeOwnedDirectory(at path: String) -> Bool {
        let (above, name) = split(path)
        // The owner of the directory above it may replace names there at any moment. With its descriptor, root gives away nothing
        // from elsewhere.
        let parent = unsafe Glibc.open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { return false }
        defer { closeQuietly(parent) }
        guard unsafe mkdirat(parent, name, 0o700) == 0 else { return false }
        let new = unsafe openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard new >= 0 else { return true }
        give(new, toOwnerOf: parent)
        closeQuietly(new)
        return true
    }

    /// Gives a file that this process has made to the owner of its directory, if the process is root's.
    static func giveToOwnerOfDirectory(_ new: Int32, at path: String) {
        guard geteuid() == 0 else { return }
        let parent = unsafe Glibc.open(split(path).directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { return }
        give(new, toOwnerOf: parent)
        closeQuietly(parent)
    }

    private static func give(_ new: Int32, toOwnerOf directory: Int32) {
        var owner = stat()
        guard unsafe fstat(directory, &owner) == 0, owner.st_uid != 0 else { return }
        _ = fchown(new, owner.st_uid, owner.st_gid)
    }

    /// Closes a descriptor, and keeps `errno`.
    private static func closeQuietly(_ descriptor: Int32) {
        let cause = errno
        _ = Glibc.close(descriptor)
        errno = cause
    }

    /// The directory in which a path lies, and the name there.
    private static func split(_ path: String) -> (directory: String, name: String) {
        var trimmed = path[...]
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
        guard let slash = trimmed.lastIndex(of: "/") else { return (".", String(trimmed)) }
        let name = String(trimmed[trimmed.index(after: slash)...])
        // The directory above "/" is "/" itself.
        return (slash == trimmed.startIndex ? "/" : String(trimmed[..<slash]), name.isEmpty ? "." : name)
    }
}
