import CLinux
import Glibc

// An operation opens the directory in which its path lies once, and uses names in that directory. Its owner may replace names in it
// at any moment: with a second path walk, root could change, or give away, something from elsewhere.

extension POSIXFileSystem {
    /// A directory that is open as long as the value lives.
    struct OpenDirectory: ~Copyable {
        let descriptor: Int32

        /// Closes the directory, and keeps `errno`.
        deinit {
            let cause = errno
            _ = Glibc.close(descriptor)
            errno = cause
        }
    }

    /// A name in an open directory.
    struct Place: ~Copyable {
        let directory: OpenDirectory
        let name: String
        /// `O_NOFOLLOW` below the state directory, else 0.
        let linkFlag: Int32

        /// `openat`. New files have mode 0600.
        /// - Returns: the descriptor; -1, with `errno`, if it cannot be opened.
        func open(_ flags: Int32) -> Int32 {
            let descriptor = unsafe openat(directory.descriptor, name, flags | linkFlag | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o600)
            if descriptor < 0, flags & O_DIRECTORY != 0 { Place.nameLink(name, in: directory) }
            return descriptor
        }

        /// The status of the file with this name. A link is not followed. Nil if there is no such file.
        var status: stat? { Place.status(of: name, in: directory) }

        /// Gives a file that this process has made to the owner of the directory, if the process is root's: the receiver of that user
        /// could not use it otherwise. Where the file system refuses that, it stays root's.
        func giveToOwner(_ new: Int32) {
            var owner = stat()
            guard geteuid() == 0, unsafe fstat(directory.descriptor, &owner) == 0, owner.st_uid != 0 else { return }
            _ = fchown(new, owner.st_uid, owner.st_gid)
        }

        /// A directory could not be opened. The kernel reports a link in its place as something that is no directory.
        fileprivate static func nameLink(_ name: String, in directory: borrowing OpenDirectory) {
            guard errno == ENOTDIR else { return }
            errno = (status(of: name, in: directory)?.st_mode ?? 0) & S_IFMT == S_IFLNK ? ELOOP : ENOTDIR
        }

        private static func status(of name: String, in directory: borrowing OpenDirectory) -> stat? {
            var found = stat()
            return unsafe fstatat(directory.descriptor, name, &found, AT_SYMLINK_NOFOLLOW) == 0 ? found : nil
        }
    }

    /// Opens the directory in which a path lies.
    func place(of path: String, for operation: FileOperation) throws(FileFailure) -> Place {
        let (above, name) = POSIXFileSystem.split(path)
        let linkFlag = namesBelowStateDirectory(path)?.isEmpty == false ? O_NOFOLLOW : 0
        return Place(directory: try directory(above, flag_for_searching(), for: operation, of: path), name: name, linkFlag: linkFlag)
    }

    /// Opens a directory. Below the state directory no link is followed, and root enters only directories of the owner of the state
    /// directory.
    /// - Parameter path: the path of the operation, for its failure.
    func directory(
        _ directory: String, _ flags: Int32, for operation: FileOperation, of path: String
    ) throws(FileFailure) -> OpenDirectory {
        let flags = flags | O_DIRECTORY | O_CLOEXEC
        guard let stateDirectory, let names = namesBelowStateDirectory(directory), !names.isEmpty else {
            return OpenDirectory(
                descriptor: Int32(try repeating(operation, path) { unsafe Int(Glibc.open(directory, flags)) }))
        }
        let searching = flag_for_searching() | O_DIRECTORY | O_CLOEXEC
        var reached = OpenDirectory(
            descriptor: Int32(
                try repeating(operation, path) { unsafe Int(Glibc.open(stateDirectory, searching)) }))
        let owner = try POSIXFileSystem.owner(of: reached, for: operation, path)
        var reachedPath = stateDirectory
        for (index, name) in names.enumerated() {
            reachedPath += "/\(name)"
            let descriptor = unsafe openat(
                reached.descriptor, name, (index == names.count - 1 ? flags : searching) | O_NOFOLLOW)
            guard descriptor >= 0 else {
                Place.nameLink(name, in: reached)
                throw FileFailure(operation, errno == ENOENT ? path : reachedPath, errorNumber: errno)
            }
            reached = OpenDirectory(descriptor: descriptor)
            let found = try POSIXFileSystem.owner(of: reached, for: operation, reachedPath)
            guard geteuid() != 0 || found == owner else {
                throw FileFailure(operation, reachedPath, errorNumber: EPERM, foreignOwner: found)
            }
        }
        return reached
    }

    private static func owner(
        of directory: borrowing OpenDirectory, for operation: FileOperation, _ path: String
    ) throws(FileFailure) -> uid_t {
        var found = stat()
        guard unsafe fstat(directory.descriptor, &found) == 0 else { throw FileFailure(operation, path, errorNumber: errno) }
        return found.st_uid
    }

    /// The names that lead from the state directory to a path, none for the state directory itself; nil for any other path.
    private func namesBelowStateDirectory(_ path: String) -> [String]? {
        guard let stateDirectory, path.utf8.starts(with: stateDirectory.utf8) else { return nil }
        let rest = path.utf8.dropFirst(stateDirectory.utf8.count)
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") || stateDirectory.hasSuffix("/") else { return nil }
        return rest.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// The directory in which a path lies, and the name there.
    static func split(_ path: String) -> (directory: String, name: String) {
        var trimmed = path[...]
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
        guard let slash = trimmed.lastIndex(of: "/") else { return (".", String(trimmed)) }
        let name = String(trimmed[trimmed.index(after: slash)...])
        // The directory above "/" is "/" itself.
        return (slash == trimmed.startIndex ? "/" : String(trimmed[..<slash]), name.isEmpty ? "." : name)
    }
}
