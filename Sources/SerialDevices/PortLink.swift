import Glibc

/// A symbolic link that gives a pseudo-terminal a lasting name.
public struct PortLink: Sendable {
    /// Where the link is.
    public let path: String

    /// Names the place; nothing is made yet.
    public init(path: String) { self.path = path }

    /// Makes the link, in one step: who waits for it never sees a half-made one. It takes the place of another link to a
    /// pseudo-terminal, or of one that leads nowhere, and of nothing else.
    public func point(to terminal: String) throws(PortLinkError) {
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

    /// Removes the link, unless something else is there by now.
    public func remove(from terminal: String) {
        if SystemFiles.linkTarget(path) == terminal { unsafe _ = unlink(path) }
    }
}

/// Why a link cannot be made.
public enum PortLinkError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Something is there that is not such a link.
    case occupied(path: String)
    /// The system refuses.
    case system(path: String, errno: Int32)

    /// One sentence: what is the matter, and where.
    public var description: String {
        switch self {
        case .occupied(let path): "\(path) is there, and is not a link to a pseudo-terminal."
        case .system(let path, let code): "\(path) cannot be made a link: \(SystemError.text(code))."
        }
    }

    /// One step that a person can take; nil where the description says it.
    public var remedy: String? { if case .occupied = self { "Remove it, or choose another path." } else { nil } }
}
