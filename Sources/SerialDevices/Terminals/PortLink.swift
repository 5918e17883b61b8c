import Glibc
import LinuxSystem

/// A symbolic link that gives a pseudo-terminal a lasting name.
package struct PortLink: Sendable {
    /// Where the link is.
    package let path: String

    /// Creates a value for the path; no link is made yet.
    package init(path: String) { self.path = path }

    /// Makes or replaces the link atomically, so that a program that waits for the link never finds an incomplete one. Only
    /// a link to a pseudo-terminal, or a link that leads nowhere, is replaced.
    package func point(to terminal: String) throws(PortLinkError) {
        var status = stat()
        if unsafe lstat(path, &status) == 0, !isReplaceable { throw .occupied(path: path) }
        let temporary = "\(path).\(getpid())"
        guard unsafe symlink(terminal, temporary) == 0 else { throw .system(path: path, errno: errno) }
        guard unsafe Glibc.rename(temporary, path) == 0 else {
            let cause = errno
            unsafe _ = unlink(temporary)
            throw .system(path: path, errno: cause)
        }
    }

    private var isReplaceable: Bool {
        guard let target = SystemFiles.linkTarget(path) else { return false }
        return unsafe target.hasPrefix("/dev/pts/") || (access(path, F_OK) != 0 && errno == ENOENT)
    }

    /// Removes the link if it still leads to `terminal`.
    package func remove(from terminal: String) {
        if SystemFiles.linkTarget(path) == terminal { unsafe _ = unlink(path) }
    }
}

/// Why a link cannot be made.
package enum PortLinkError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The path holds something that ``PortLink/point(to:)`` does not replace.
    case occupied(path: String)
    /// The system refuses.
    case system(path: String, errno: Int32)

    /// The problem and its place, in one sentence.
    package var description: String {
        switch self {
        case .occupied(let path): "\(path) is there, and is not a link to a pseudo-terminal."
        case .system(let path, let code): "\(path) cannot be made a link: \(SystemError.text(code))."
        }
    }

    /// One step that a person can take; nil where the description says enough.
    package var remedy: String? { if case .occupied = self { "Remove it, or choose another path." } else { nil } }
}
