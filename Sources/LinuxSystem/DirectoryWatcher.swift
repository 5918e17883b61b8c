import Glibc

/// Tells when entries of a directory are made, replaced or removed, or when their permissions change.
///
/// It is not thread-safe. It closes its descriptor when it is released.
package final class DirectoryWatcher {
    /// For epoll: readable when ``drain()`` has events to read. The watcher closes it.
    package let fileDescriptor: Int32
    private let prefix: String

    /// Begins to watch.
    /// - Parameter prefix: the start of the names that count.
    package init(_ directory: String, namesBeginningWith prefix: String) throws(SystemError) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError(operation: "inotify_init1", errno: errno) }
        let mask = UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB) | UInt32(IN_ONLYDIR)
        guard unsafe inotify_add_watch(descriptor, directory, mask) >= 0 else {
            let cause = errno
            _ = close(descriptor)
            throw SystemError(operation: "inotify_add_watch \(directory)", errno: cause)
        }
        fileDescriptor = descriptor
        self.prefix = prefix
    }

    deinit { _ = close(fileDescriptor) }

    /// Reads all events without waiting.
    /// - Returns: whether one of them concerns an entry that counts, or events were lost.
    package func drain() -> Bool {
        var isConcerned = false
        InotifyEventReader.readAll(from: fileDescriptor) { event in
            if event.name.hasPrefix(prefix) || event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isConcerned = true }
        }
        return isConcerned
    }
}
