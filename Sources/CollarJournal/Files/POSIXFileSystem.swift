import CLinux
import Glibc

package final class POSIXFileSystem: FileSystem, Sendable {
    /// Below this directory no symbolic link is followed. The directory itself may be reached by links.
    let stateDirectory: String?

    /// The file system as this process sees it.
    /// - Parameter stateDirectory: the directory with the files of the receiver. Another user may own it, so below it every symbolic
    ///   link is a failure, and so is what is no regular file in place of a file. For root, a directory there that does not belong to
    ///   the owner of the state directory is a failure, too. Nil for files that a person names, anywhere.
    package init(stateDirectory: String? = nil) { self.stateDirectory = stateDirectory }

    /// `mkdirat`, mode 0700. A directory that root makes belongs to the owner of the directory above it.
    package func makeDirectory(at path: String) throws(FileFailure) -> Bool {
        let place = try place(of: path, for: .makeDirectory)
        guard unsafe mkdirat(place.directory.descriptor, place.name, 0o700) == 0 else {
            guard errno == EEXIST else { throw FileFailure(.makeDirectory, path, errorNumber: errno) }
            return false
        }
        let new = place.open(O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        if new >= 0 {
            place.giveToOwner(new)
            _ = Glibc.close(new)
        }
        return true
    }

    /// `readdir` to the end.
    package func names(in directory: String) throws(FileFailure) -> [String] {
        let opened = try self.directory(directory, O_RDONLY, for: .list, of: directory)
        // The stream closes its descriptor.
        let descriptor = fcntl(opened.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0, let stream = unsafe fdopendir(descriptor) else {
            throw FileFailure(.list, directory, errorNumber: errno)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            // A null pointer means the end or a failure; only errno tells which.
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw FileFailure(.list, directory, errorNumber: errno) }
        return names
    }

    /// `stat`.
    package func exists(_ path: String) throws(FileFailure) -> Bool {
        var found = stat()
        if unsafe stat(path, &found) == 0 { return true }
        guard errno == ENOENT else { throw FileFailure(.find, path, errorNumber: errno) }
        return false
    }

    /// `openat`; new files have mode 0600. A file that root makes belongs to the owner of its directory. The call does not block:
    /// something that is no file, such as a FIFO, fails at once or when it is read or written.
    package func open(_ path: String, _ mode: FileMode) throws(FileFailure) -> FileReference {
        let operation: FileOperation = mode == .creatingIfMissing || mode == .creating ? .create : .open
        let place = try place(of: path, for: operation)
        if mode == .creatingIfMissing, geteuid() == 0 {
            // Only a file that was not there before is root's to give away.
            do throws(FileFailure) { return try open(path, .creating, at: place, operation) } catch {
                guard error.errorNumber == EEXIST else { throw error }
            }
        }
        return try open(path, mode, at: place, operation)
    }

    private func open(
        _ path: String, _ mode: FileMode, at place: borrowing Place, _ operation: FileOperation
    ) throws(FileFailure) -> FileReference {
        let flags =
            switch mode {
            case .reading: O_RDONLY
            case .directory: O_RDONLY | O_DIRECTORY
            case .writing: O_RDWR | O_NOFOLLOW
            case .creatingIfMissing: O_RDWR | O_NOFOLLOW | O_CREAT
            case .creating: O_RDWR | O_NOFOLLOW | O_CREAT | O_EXCL
            }
        var descriptor: Int32
        repeat { descriptor = place.open(flags) } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else { throw FileFailure(operation, path, errorNumber: errno) }
        let file = FileReference(descriptor: descriptor, path: path)
        if mode == .creating { place.giveToOwner(descriptor) }
        if place.linkFlag != 0, mode != .directory {
            let kind = try status(of: file).st_mode & S_IFMT
            guard kind == S_IFREG else {
                close(file)
                throw FileFailure(operation, path, errorNumber: kind == S_IFDIR ? EISDIR : ENXIO)
            }
        }
        return file
    }

    /// `fstat` and `stat`.
    package func checkName(of file: FileReference) throws(FileFailure) {
        let opened = try status(of: file)
        var named = stat()
        try check(unsafe stat(file.path, &named), .find, file.path)
        guard named.st_dev == opened.st_dev, named.st_ino == opened.st_ino else {
            throw FileFailure(.find, file.path, errorNumber: ENOENT)
        }
    }

    /// `fstat`. The sticky bit makes no difference: with it, other users can still make a name before this process does.
    package func strangers(in directory: FileReference) throws(FileFailure) -> Strangers? {
        let found = try status(of: directory)
        // Root may use another user's directory, as containers do with a directory from outside.
        if found.st_uid != geteuid(), found.st_uid != 0, geteuid() != 0 { return .owner(found.st_uid) }
        return found.st_mode & (S_IWGRP | S_IWOTH) == 0 ? nil : .others
    }

    package func close(_ file: FileReference) {
        // A child between fork and exec still shares the descriptor, and would keep the lock.
        _ = flock(file.descriptor, LOCK_UN)
        // A failure loses nothing: everything that matters was synchronised before.
        _ = Glibc.close(file.descriptor)
    }

    /// `fstat`.
    package func byteCount(of file: FileReference) throws(FileFailure) -> Int { Int(try status(of: file).st_size) }

    private func status(of file: FileReference) throws(FileFailure) -> stat {
        try POSIXFileSystem.status(file.descriptor, for: .read, file.path)
    }

    private func check(_ result: Int32, _ operation: FileOperation, _ path: String) throws(FileFailure) {
        if result != 0 { throw FileFailure(operation, path, errorNumber: errno) }
    }

    /// `statx`.
    package func origin(of file: FileReference) throws(FileFailure) -> FileOrigin {
        var found = file_origin()
        let errorNumber = unsafe find_file_origin(file.descriptor, &found)
        guard errorNumber == 0 else { throw FileFailure(.read, file.path, errorNumber: errorNumber) }
        return FileOrigin(
            deviceMajor: found.device_major, deviceMinor: found.device_minor,
            birthUnixSeconds: found.birth_unix_seconds)
    }

    /// `pread` until `count` bytes are read or the file ends.
    package func read(from file: FileReference, at offset: Int, count: Int, into buffer: inout [UInt8]) throws(FileFailure) {
        if buffer.count != count { buffer = [UInt8](repeating: 0, count: count) }
        var filled = 0
        while filled < count {
            let start = filled
            let got = try repeating(.read, file.path) {
                unsafe buffer.withUnsafeMutableBytes {
                    unsafe pread(file.descriptor, $0.baseAddress.map { unsafe $0 + start }, count - start, off_t(offset + start))
                }
            }
            if got == 0 { break }
            filled += got
        }
        buffer.removeLast(count - filled)
    }

    /// One `pwrite`.
    package func write(_ bytes: [UInt8], from start: Int, to file: FileReference, at offset: Int) throws(FileFailure) -> Int {
        precondition(start >= 0 && start < bytes.count, "there is something to write")
        let written = try repeating(.write, file.path) {
            unsafe bytes.withUnsafeBytes {
                unsafe pwrite(file.descriptor, $0.baseAddress.map { unsafe $0 + start }, bytes.count - start, off_t(offset))
            }
        }
        // Without this check, the write would be repeated endlessly on a device that accepts no bytes and reports no error.
        guard written > 0 else { throw FileFailure(.write, file.path, errorNumber: ENOSPC) }
        return written
    }

    package func truncate(_ file: FileReference, to byteCount: Int) throws(FileFailure) {
        _ = try repeating(.truncate, file.path) { Int(ftruncate(file.descriptor, off_t(byteCount))) }
    }

    package func synchronize(_ file: FileReference) throws(FileFailure) {
        // Interrupted or not, a failure is final: the kernel may have dropped what it could not write.
        try check(fdatasync(file.descriptor), .synchronize, file.path)
    }

    /// `fsync` of the directory.
    package func synchronizeDirectory(at path: String) throws(FileFailure) {
        let opened = try directory(path, O_RDONLY, for: .synchronize, of: path)
        // Some file systems cannot synchronise directories and return EINVAL; there the name cannot be made safer.
        guard fsync(opened.descriptor) == 0 || errno == EINVAL else {
            throw FileFailure(.synchronize, path, errorNumber: errno)
        }
    }

    package func remove(_ path: String) throws(FileFailure) {
        let place = try place(of: path, for: .remove)
        try check(unsafe unlinkat(place.directory.descriptor, place.name, 0), .remove, path)
    }

    package func rename(_ path: String, to newPath: String) throws(FileFailure) {
        let place = try place(of: path, for: .rename)
        let directory = place.directory.descriptor
        try check(unsafe renameat(directory, place.name, directory, POSIXFileSystem.split(newPath).name), .rename, path)
    }

    /// `fstat`, `getgrgid_r` and `fchmod`.
    package func share(_ path: String, as access: SharedAccess) throws(FileFailure) -> Bool {
        let descriptor = try place(of: path, for: .share).open(O_RDONLY)
        guard descriptor >= 0 else {
            // What this user may not read belongs to another user.
            if errno == EACCES { return false }
            throw FileFailure(.share, path, errorNumber: errno)
        }
        let file = FileReference(descriptor: descriptor, path: path)
        defer { close(file) }
        let found = try status(of: file)
        let mode: mode_t =
            switch access {
            case .readableFile: 0o640
            case .readableDirectory: 0o750
            case .writableDirectory: 0o3770
            }
        // An administrator may have set the bit by which new files belong to the group.
        let kept = mode | (access == .readableDirectory ? found.st_mode & S_ISGID : 0)
        guard found.st_mode & 0o7777 != kept, found.st_uid == geteuid(), POSIXFileSystem.isServiceGroup(found.st_gid) else { return false }
        try check(fchmod(descriptor, kept), .share, path)
        return true
    }

    /// `fstatat`.
    package func owner(of path: String) throws(FileFailure) -> UInt32? {
        try place(of: path, for: .open).status?.st_uid
    }

    /// Whether a group is `collar-link`: a group of the system (id below 1000), not that of a user of this name.
    package static func isServiceGroup(_ groupID: gid_t) -> Bool { (1..<1000).contains(groupID) && groupName(groupID) == "collar-link" }

    private static func groupName(_ groupID: gid_t) -> String? {
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard unsafe getgrgid_r(groupID, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil, let name = unsafe entry.gr_name
        else { return nil }
        return unsafe String(cString: name)
    }

    package var processID: Int32 { getpid() }

    /// `flock`, exclusive.
    package func lock(_ file: FileReference) throws(FileFailure) -> Bool {
        while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            // Network file systems lock only files that are open for writing, so they cannot lock a directory. There the lock
            // file of the state directory is the only lock.
            if errno == EBADF { return true }
            guard errno == EWOULDBLOCK else { throw FileFailure(.lock, file.path, errorNumber: errno) }
            return false
        }
        return true
    }

    /// Repeats a call that a signal interrupted.
    func repeating(_ operation: FileOperation, _ path: String, _ call: () -> Int) throws(FileFailure) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            let cause = errno
            if cause != EINTR { throw FileFailure(operation, path, errorNumber: cause) }
        }
    }

    // MARK: Names in open directories

    // An operation opens the directory in which its path lies once, and uses names in that directory. Its owner may replace names in it
    // at any moment: with a second path walk, root could change, or give away, something from elsewhere.

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
            return OpenDirectory(descriptor: Int32(try repeating(operation, path) { unsafe Int(Glibc.open(directory, flags)) }))
        }
        let searching = flag_for_searching() | O_DIRECTORY | O_CLOEXEC
        var reached = OpenDirectory(
            descriptor: Int32(try repeating(operation, path) { unsafe Int(Glibc.open(stateDirectory, searching)) }))
        let owner = try POSIXFileSystem.status(reached.descriptor, for: operation, path).st_uid
        var reachedPath = stateDirectory
        for (index, name) in names.enumerated() {
            reachedPath += "/\(name)"
            let descriptor = unsafe openat(reached.descriptor, name, (index == names.count - 1 ? flags : searching) | O_NOFOLLOW)
            guard descriptor >= 0 else {
                Place.nameLink(name, in: reached)
                throw FileFailure(operation, errno == ENOENT ? path : reachedPath, errorNumber: errno)
            }
            reached = OpenDirectory(descriptor: descriptor)
            let found = try POSIXFileSystem.status(reached.descriptor, for: operation, reachedPath).st_uid
            guard geteuid() != 0 || found == owner else {
                throw FileFailure(operation, reachedPath, errorNumber: EPERM, foreignOwner: found)
            }
        }
        return reached
    }

    private static func status(_ descriptor: Int32, for operation: FileOperation, _ path: String) throws(FileFailure) -> stat {
        var found = stat()
        guard unsafe fstat(descriptor, &found) == 0 else { throw FileFailure(operation, path, errorNumber: errno) }
        return found
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
