import Glibc

/// Tells when other programs open a line that is open in this process, and whether they still have it open.
///
/// It is not thread-safe. It closes its descriptor when it is released.
package final class OpeningWatcher {
    /// For epoll: readable when ``drain()`` has events to read. The watcher closes it.
    package let fileDescriptor: Int32
    private var openCount = 0

    /// Begins to watch. Programs that have the line open already are not counted.
    package init(of line: SerialPort) throws(SystemError) {
        fileDescriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard fileDescriptor >= 0 else { throw SystemError(operation: "inotify_init1", errno: errno) }
        // The node of the open line, even if another one has its path by now.
        let path = "/proc/self/fd/\(line.fileDescriptor)"
        guard unsafe inotify_add_watch(fileDescriptor, path, UInt32(IN_OPEN) | UInt32(IN_CLOSE)) >= 0 else {
            throw SystemError(operation: "inotify_add_watch \(path)", errno: errno)
        }
    }

    deinit { if fileDescriptor >= 0 { _ = close(fileDescriptor) } }

    /// Whether a program that has opened the line since the watch began has not closed it yet.
    package var isOpen: Bool { openCount > 0 }

    /// Reads all events without waiting.
    /// - Returns: whether a program has opened the line.
    package func drain() -> Bool {
        var wasOpened = false
        InotifyEventReader.readAll(from: fileDescriptor) { event in
            if event.mask & UInt32(IN_OPEN) != 0 {
                wasOpened = true
                openCount += 1
            } else if event.mask & UInt32(IN_CLOSE) != 0, openCount > 0 {
                openCount -= 1
            }
        }
        return wasOpened
    }
}
