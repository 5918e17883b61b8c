import Glibc
import LinuxSystem

/// Tells when to try again to open a path that could not be opened: the path appeared, its permissions changed, or a
/// symbolic link on the way to it was replaced. The directories of the path need not exist yet.
///
/// Opening, reading or closing the path causes no event, so a program that tries again does not wake itself. Events
/// between a failed open and ``init(path:)`` are missed: try once more after creating the watcher. udev sets a new node's
/// group and access list some time after creating it (60–290 ms were seen). So the first try after the node appears may
/// be refused; the later change of the permissions causes another event.
///
/// It is not thread-safe. It closes its descriptor when it is released.
package final class PathWatcher {
    /// The watched path; a relative one is made absolute with the working directory at creation.
    package let path: String
    /// For epoll: readable when ``drain()`` has events to read. The watcher closes it.
    package let fileDescriptor: Int32

    private var resolution: PathResolution
    /// The directory that each inotify watch belongs to.
    private var directories: [Int32: PathResolution.Step] = [:]

    /// Begins to watch.
    /// - Parameter path: absolute, or relative to the working directory.
    package init(path: String) throws(SystemError) {
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

    /// Reads all events without waiting, and watches the directories that lead to the path now.
    /// - Returns: whether one of the events concerns the path, and no part of the path is missing.
    /// - Throws: when the directories cannot be watched, for example because the limit of watches is reached. If the path
    ///   appears after that, nothing reports it until another call succeeds.
    package func drain() throws(SystemError) -> Bool {
        guard readEvents() else { return false }
        try arm()
        return resolution.end != .missing
    }

    /// Reads all events. Returns whether one of them concerns the path.
    private func readEvents() -> Bool {
        var isConcerned = false
        InotifyEventReader.readAll(from: fileDescriptor) { event in if concerns(event) { isConcerned = true } }
        return isConcerned
    }

    private func concerns(_ event: InotifyEvent) -> Bool {
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
        // IN_IGNORED only confirms that a watch was removed.
        guard event.mask & UInt32(IN_IGNORED) == 0, let step = directories[event.watch] else { return false }
        return event.name.isEmpty || step.names.contains(event.name)
    }

    /// Watches every directory that the path passes. The path may change between resolving and watching, so both are
    /// repeated until the path resolves in the same way before and after.
    private func arm() throws(SystemError) {
        /// If the path still changes after this many rounds, further events are queued, and they cause another call.
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
        // The loop begins at the end of the path: if a directory is not readable, the watch of the directory before it in the
        // path reports when the permissions change.
        for step in steps.reversed() {
            let mask = step.isDecisive || mustStandIn ? decisive : own
            let watch = unsafe inotify_add_watch(fileDescriptor, step.directory, mask | UInt32(IN_ONLYDIR))
            if watch >= 0 {
                watched[watch] = step
                mustStandIn = false
                continue
            }
            switch errno {
            // The directory went away after the path was resolved; `arm` notices that when it resolves the path again.
            case ENOENT, ENOTDIR: continue
            case EACCES: mustStandIn = true
            default: throw SystemError(operation: "inotify_add_watch", errno: errno)
            }
        }
        for watch in directories.keys where watched[watch] == nil { inotify_rm_watch(fileDescriptor, watch) }
        directories = watched
    }
}
