import CLinux
import CollarPorts
import Glibc
import LinuxSystem

/// A serial line without hardware. This object is the radio's end; ``path`` names the end that a program opens.
///
/// For that program, ``close()`` of this end is exactly like pulling out an adapter. Bytes pass unchanged both ways.
/// It is not thread-safe. It closes itself when it is released.
package final class PseudoTerminal: StreamEnd {
    /// The node of the other end, such as `/dev/pts/3`.
    package let path: String
    /// The descriptor of this end; −1 after ``close()``. The pseudo-terminal closes it.
    ///
    /// While no program has the other end open, the descriptor reports POLLHUP, so level-triggered waiting would spin:
    /// use `EPOLLET`, or check ``hasPeer`` now and then. Linux does not wake this end when a program opens the other end.
    package private(set) var fileDescriptor: Int32

    package init() throws(SystemError) {
        let master = terminal_open_pseudo_terminal()
        guard master >= 0 else { throw SystemError(operation: "posix_openpt", errno: -master) }
        do throws(SystemError) {
            path = try PseudoTerminal.slavePath(of: master)
            try PseudoTerminal.prepareSlave(at: path)
        } catch {
            _ = Glibc.close(master)
            throw error
        }
        fileDescriptor = master
    }

    deinit { close() }

    /// Whether a program has the other end open at the moment.
    package var hasPeer: Bool { !isHungUp }

    /// Hangs up: the program at the other end loses its line, and the node disappears. A second call does nothing.
    package func close() {
        guard fileDescriptor >= 0 else { return }
        _ = Glibc.close(fileDescriptor)
        fileDescriptor = -1
    }

    /// Writes as many bytes as the queue takes now. If no program has the other end open, nothing is written and the result is
    /// `.disconnected`: an adapter, too, drops the bytes that it receives before it is opened.
    package func write(_ bytes: Span<UInt8>) -> WriteResult { hasPeer ? (self as any StreamEnd).write(bytes) : .disconnected }

    private static func slavePath(of master: Int32) throws(SystemError) -> String {
        var path = [CChar](repeating: 0, count: 64)
        let failure = unsafe -terminal_slave_path(master, &path, path.count)
        guard failure == 0 else { throw SystemError(operation: "ptsname_r", errno: failure) }
        return String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Makes the terminal raw, and opens and closes the other end for that: until the first close of the other end, this end
    /// does not report that it has no peer. The raw settings stay, because the terminal exists as long as its master is open.
    private static func prepareSlave(at path: String) throws(SystemError) {
        let slave = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw SystemError(operation: "open \(path)", errno: errno) }
        defer { _ = Glibc.close(slave) }
        let failure = -terminal_set_raw(slave, LineSpeed.b115200.rawValue)
        guard failure <= 0 else { throw SystemError(operation: "tcsetattr", errno: failure) }
    }
}

/// A symbolic link that gives a pseudo-terminal a lasting name.
package struct PortLink: Sendable {
    package let path: String

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
    package func remove(from terminal: String) { if SystemFiles.linkTarget(path) == terminal { unsafe _ = unlink(path) } }
}

package enum PortLinkError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The path holds something that ``PortLink/point(to:)`` does not replace.
    case occupied(path: String)
    case system(path: String, errno: Int32)

    package var description: String {
        switch self {
        case .occupied(let path): "\(path) is there, and is not a link to a pseudo-terminal."
        case .system(let path, let code): "\(path) cannot be made a link: \(SystemError.text(code))."
        }
    }

    /// One step that a person can take; nil where the description says enough.
    package var remedy: String? { if case .occupied = self { "Remove it, or choose another path." } else { nil } }
}

extension TerminalRoute {
    /// The present route, whether or not something is at its end.
    package init(of path: String) { self.init(PathResolution(of: path)) }

    /// The route to a pseudo-terminal; nil where the path leads to another device, or to nothing.
    package init?(toNumberAt path: String) {
        let resolution = PathResolution(of: path)
        guard let target = resolution.target, target.hasPrefix("/dev/pts/") else { return nil }
        self.init(resolution)
    }

    private init(_ resolution: PathResolution) { self.init(links: resolution.links.map { "\($0)" }) }
}
