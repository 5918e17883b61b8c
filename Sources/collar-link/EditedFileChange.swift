import CollarJournal
import CollarConfiguration
import Glibc
import LinuxSystem

/// A change of a file that a person edits, too.
struct EditedFileChange {
    /// The path of the file. It need not exist.
    let path: String

    private var directory: String { EditedFileChange.parent(of: path) }

    /// Changes the file, in one step: after a crash it has the old or the new content. The file keeps its owner and mode; a new one
    /// is readable by its owner alone. If the path is a symbolic link, the file it leads to changes.
    ///
    /// Two programs that change the file do so one after the other.
    /// - Parameter body: reads the file, and returns the new content.
    func run(_ body: () throws(CommandFailure) -> [UInt8]) throws(CommandFailure) {
        let descriptor = try lockedDirectory()
        defer { close(descriptor) }
        let content = try body()
        if content != SystemFiles.content(of: path) ?? [] { try write(content) }
    }

    /// Makes the directory of the file if there is none, and waits for the lock on it.
    private func lockedDirectory() throws(CommandFailure) -> Int32 {
        try makeDirectory(directory)
        let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw EditedFileChange.unwritable(directory, errno) }
        // Some network file systems have no locks.
        _ = uninterrupted { flock(descriptor, LOCK_EX) }
        return descriptor
    }

    private func makeDirectory(_ path: String) throws(CommandFailure) {
        for isFirstTime in [true, false] {
            if unsafe mkdir(path, 0o700) == 0 { return }
            switch errno {
            case EEXIST: return
            case ENOENT where isFirstTime && path != "/": try makeDirectory(EditedFileChange.parent(of: path))
            default: throw EditedFileChange.unwritable(path, errno)
            }
        }
    }

    private func write(_ content: [UInt8]) throws(CommandFailure) {
        let target = try target()
        var status = stat()
        let exists = unsafe stat(target, &status) == 0
        do throws(FileFailure) {
            try SmallFile.replace(
                target, in: EditedFileChange.parent(of: target), with: content, POSIXFileSystem()
            ) { (new) throws(FileFailure) in
                guard exists else { return }
                // The owner first: a change of the owner takes bits off the mode.
                if status.st_uid != geteuid() || status.st_gid != getegid() {
                    _ = fchown(new.descriptor, status.st_uid, status.st_gid)
                }
                guard fchmod(new.descriptor, status.st_mode & 0o7777) == 0 else {
                    throw FileFailure(.create, new.path, errorNumber: errno)
                }
            }
        } catch { throw EditedFileChange.unwritable(error.path, error.errorNumber) }
    }

    private func target() throws(CommandFailure) -> String {
        guard let resolved = unsafe realpath(path, nil) else {
            var status = stat()
            guard errno == ENOENT, unsafe lstat(path, &status) != 0 else {
                throw CommandFailure(.cannotCreate, "\(path) is a symbolic link that leads nowhere.", remedy: "Remove it.")
            }
            return path
        }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    private static func parent(of path: String) -> String {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    private static func unwritable(_ path: String, _ errorNumber: Int32) -> CommandFailure {
        CommandFailure(
            errorNumber == EACCES || errorNumber == EPERM ? .noPermission : .cannotCreate,
            "\(path) cannot be written: \(SystemError.text(errorNumber)).",
            remedy: "Set XDG_CONFIG_HOME to another place, or make this one writable for this user.")
    }
}

extension CommandFailure {
    /// The failure of a command that cannot do without a file.
    init(_ fault: EditedFileFault) { self.init(fault.exitCode, fault.message) }
}
