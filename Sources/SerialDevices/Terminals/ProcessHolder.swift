import CheckedNumbers
import CollarPorts
import Glibc
import LinuxSystem

extension ProcessHolder {
    /// A process that has the node at the path open: another process if one is visible, else this process. Nil if no such
    /// process is visible. Only root can see the descriptors of other users' processes, so the node may be open nevertheless.
    ///
    /// Complexity: one readlink for each open descriptor of the machine.
    /// - Parameter descriptor: the caller's own descriptor of the node, which does not count; −1 for none.
    package static func holder(of path: String, except descriptor: Int32 = -1) -> ProcessHolder? {
        guard let node = Node(path, descriptor) else { return nil }
        let ownProcess = getpid()
        var own: ProcessHolder?
        for process in SystemFiles.entries(of: "/proc").compactMap({ Int32($0, in: 1 ... .max) }) {
            let files = openFiles(of: process)
            guard process == ownProcess || !hasOtherEnd(of: node, files) else { continue }
            for file in files where node.isOpen(as: file) {
                if process != ownProcess { return running(process) }
                if file.path != "/proc/\(process)/fd/\(descriptor)" { own = running(process) }
            }
        }
        return own
    }

    private struct OpenFile {
        /// Its link in /proc.
        let path: String
        let target: String
    }

    private struct Node {
        /// The path that /proc shows for its descriptors.
        let path: String
        private let identity: FileIdentity

        /// - Parameter descriptor: a descriptor of the node; −1 to use the path instead.
        init?(_ path: String, _ descriptor: Int32) {
            let link = "/proc/self/fd/\(descriptor)"
            let shown = descriptor >= 0 ? SystemFiles.linkTarget(link) : PathResolution(of: path).target
            guard let shown, let identity = FileIdentity(path: descriptor >= 0 ? link : shown) else { return nil }
            self.path = shown
            self.identity = identity
        }

        /// Whether a descriptor is one of this node. Terminals of containers have the same names, in file systems of their own.
        func isOpen(as file: OpenFile) -> Bool { file.target == path && FileIdentity(path: file.path) == identity }
    }

    /// Whether a process that has these files open has the other end of a pseudo-terminal: it is the radio, and no rival.
    private static func hasOtherEnd(of node: Node, _ files: [OpenFile]) -> Bool {
        node.path.hasPrefix("/dev/pts/") && files.contains { $0.target.hasSuffix("/ptmx") }
    }

    private static func openFiles(of process: Int32) -> [OpenFile] {
        let folder = "/proc/\(process)/fd"
        return SystemFiles.entries(of: folder).compactMap { name in
            let path = "\(folder)/\(name)"
            return SystemFiles.linkTarget(path).map { OpenFile(path: path, target: $0) }
        }
    }

    private static func running(_ process: Int32) -> ProcessHolder {
        ProcessHolder(processID: process, name: SystemFiles.firstLine(of: "/proc/\(process)/comm") ?? "unknown")
    }
}

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
        // The node of the open line, even if another one has its path by now.
        fileDescriptor = try InotifyEventReader.descriptor(
            watching: "/proc/self/fd/\(line.fileDescriptor)", for: UInt32(IN_OPEN | IN_CLOSE | IN_ACCESS))
    }

    deinit { _ = close(fileDescriptor) }

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
