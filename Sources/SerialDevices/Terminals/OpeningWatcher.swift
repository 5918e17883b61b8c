import Glibc
import LinuxSystem

/// Tells when other programs open a line that is open in this process, or read from it, and whether they still have it open.
///
/// It is not thread-safe. It closes its descriptor when it is released.
package final class OpeningWatcher {
    /// For epoll: readable when ``drain()`` has events to read. The watcher closes it.
    package let fileDescriptor: Int32
    private var openCount = 0
    /// Whether a program that had the line open before the watch began has read from it, and none such has closed it since.
    private var isReadByEarlier = false

    /// Begins to watch. A program that has the line open already counts as soon as it reads.
    package init(of line: SerialPort) throws(SystemError) {
        fileDescriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard fileDescriptor >= 0 else { throw SystemError(operation: "inotify_init1", errno: errno) }
        // The node of the open line, even if another one has its path by now.
        let path = "/proc/self/fd/\(line.fileDescriptor)"
        guard unsafe inotify_add_watch(fileDescriptor, path, UInt32(IN_OPEN | IN_CLOSE | IN_ACCESS)) >= 0 else {
            throw SystemError(operation: "inotify_add_watch \(path)", errno: errno)
        }
    }

    deinit { if fileDescriptor >= 0 { _ = close(fileDescriptor) } }

    /// Whether a program that has opened the line since the watch began, or has read from it, has not closed it yet.
    package var isOpen: Bool { openCount > 0 || isReadByEarlier }

    /// Reads all events without waiting.
    ///
    /// An event does not tell which process reads. So call this before each read of this process, and with `isAfterOwnRead` after
    /// it. The kernel notes a read before it returns, and merges equal events in a row, so events are not counted.
    /// - Parameter isAfterOwnRead: whether this process has read bytes from the line since the last call: then no read counts.
    /// - Returns: whether a program has opened the line, or one that had it open before has begun to read.
    package func drain(isAfterOwnRead: Bool = false) -> Bool {
        var isNews = false
        InotifyEventReader.readAll(from: fileDescriptor) { event in
            if event.mask & UInt32(IN_OPEN) != 0 {
                isNews = true
                openCount += 1
            } else if event.mask & UInt32(IN_CLOSE) != 0 {
                if openCount > 0 { openCount -= 1 } else { isReadByEarlier = false }
            } else if event.mask & UInt32(IN_ACCESS) != 0, !isAfterOwnRead, openCount == 0, !isReadByEarlier {
                isNews = true
                isReadByEarlier = true
            }
        }
        return isNews
    }
}
