import Glibc

/// What tells that a file was changed or replaced: where it is stored, its size and its times.
package struct FileSignature: Equatable, Sendable {
    /// The size, in bytes.
    package private(set) var byteCount = 0
    private var numbers: [Int] = []

    /// Looks at a file; nil if there is none.
    ///
    /// A file in a directory that the user may not enter is none: `HOME` names somebody else's after some uses of `sudo`.
    package init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            if [ENOENT, ENOTDIR, EACCES].contains(errno) { return nil }
            // Reading the file tells what is wrong.
            return
        }
        byteCount = Int(status.st_size)
        numbers = [
            Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), byteCount, status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}
