import Glibc

/// Tells when it is worth trying again to open a path that could not be opened: it appeared, its permissions changed,
/// or a symbolic link on the way to it was replaced. Directories of the path need not exist yet.
///
/// Opening, reading or closing the path causes no event, so a program that tries again does not wake itself. Events may
/// be missed between a failed open and ``init(path:)``: try once more after creating the watcher. udev sets a new
/// node's group and access list some time after creating it (60–290 ms were seen), so the first attempt after an
/// appearance may be refused, and the next is announced when the permissions have changed.
///
/// It is not thread-safe. It closes its descriptor when it is released.
public final class PathWatcher {
    /// The watched path, made absolute by the working directory at creation.
    public let path: String
    /// For epoll: readable when ``drain()`` has something to say. It remains the watcher's to close.
    public let fileDescriptor: Int32

    private var resolution: PathResolution
    /// The directory of each inotify watch.
    private var directories: [Int32: PathResolution.Step] = [:]

    /// Begins to watch.
    /// - Parameter path: absolute, or relative to the working directory.
    public init(path: String) throws(SystemError) {
        guard let absolute = SystemFiles.absolutePath(path) else {
            throw SystemError(operation: "getcwd", errno: errno)
        }
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else {
            throw SystemError(operation: "inotify_init1", errno: errno)
        }
        fileDescriptor = descriptor
        self.path = absolute
        resolution = PathResolution(of: absolute)
        try arm()
    }

    deinit { _ = close(fileDescriptor) }

    /// Takes in everything that has happened, without waiting, and watches whatever leads to the path now.
    /// - Returns: true when something that concerns the path has changed and there is something at the path.
    /// - Throws: when the way there can no longer be watched (the limit of watches); a path that appears later will go
    ///   unnoticed then, until another call succeeds.
    public func drain() throws(SystemError) -> Bool {
        guard readEvents() else { return false }
        try arm()
        return resolution.end != .missing
    }

    /// Reads all events. Returns whether one of them concerns the path.
    private func readEvents() -> Bool {
        var isConcerned = false
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(fileDescriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                if count < 0 && errno == EINTR { continue }
                return isConcerned
            }
            var reader = InotifyEventReader(bytes: buffer[..<count])
            while let event = reader.next() { if concerns(event) { isConcerned = true } }
        }
    }

    private func concerns(_ event: InotifyEvent) -> Bool {
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
        // Removing a watch, which is ours to do, is answered with IN_IGNORED.
        guard event.mask & UInt32(IN_IGNORED) == 0, let step = directories[event.watch] else { return false }
        return event.name.isEmpty || step.names.contains(event.name)
    }

    /// Watches every directory on the way. Something may change between looking and watching, so this looks again
    /// until both agree.
    private func arm() throws(SystemError) {
        /// A way that still changes after this many looks has left events behind, which lead here again.
        let lookLimit = 8
        for _ in 0..<lookLimit {
            resolution = PathResolution(of: path)
            try watch(resolution.steps)
            if PathResolution(of: path) == resolution { return }
        }
    }

    private func watch(_ steps: [PathResolution.Step]) throws(SystemError) {
        let own = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
        let decisive = own | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB)
        var watched: [Int32: PathResolution.Step] = [:]
        var mustStandIn = false
        // From the far end: where a directory may not be read, the one before it tells when that changes.
        for step in steps.reversed() {
            let mask = step.isDecisive || mustStandIn ? decisive : own
            let watch = unsafe inotify_add_watch(fileDescriptor, step.directory, mask | UInt32(IN_ONLYDIR))
            if watch >= 0 {
                watched[watch] = step
                mustStandIn = false
                continue
            }
            switch errno {
            // Gone since it was looked at: the second look of `arm` notices.
            case ENOENT, ENOTDIR: continue
            case EACCES: mustStandIn = true
            default: throw SystemError(operation: "inotify_add_watch", errno: errno)
            }
        }
        for watch in directories.keys where watched[watch] == nil { inotify_rm_watch(fileDescriptor, watch) }
        directories = watched
    }
}
