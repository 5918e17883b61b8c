import Glibc

/// A process that has a terminal open.
public struct ProcessHolder: Equatable, Sendable {
    /// The process id.
    public let processID: Int32
    /// The short name of the process (at most 15 bytes), such as `ModemManager`.
    public let name: String

    /// A process that has the node at the path open: another process if one is visible, else this process. Nil if no such
    /// process is visible. Only root can see the descriptors of other users' processes, so the node may be open nevertheless.
    ///
    /// Complexity: one readlink for each open descriptor of the machine.
    /// - Parameter descriptor: the caller's own descriptor of the node, which does not count; −1 for none.
    static func holder(of path: String, except descriptor: Int32 = -1) -> ProcessHolder? {
        guard let node = nodePath(path, descriptor) else { return nil }
        let ownProcess = getpid()
        var own: ProcessHolder?
        for entry in SystemFiles.entries(of: "/proc") {
            guard let process = Int32(entry) else { continue }
            let folder = "/proc/\(process)/fd"
            for name in SystemFiles.entries(of: folder) where SystemFiles.linkTarget("\(folder)/\(name)") == node {
                if process != ownProcess { return running(process) }
                if name != String(descriptor) { own = running(process) }
            }
        }
        return own
    }

    /// The path that /proc shows for descriptors of the node.
    private static func nodePath(_ path: String, _ descriptor: Int32) -> String? {
        if descriptor >= 0 { return SystemFiles.linkTarget("/proc/self/fd/\(descriptor)") }
        return SystemFiles.absolutePath(path).flatMap { PathResolution(of: $0).target }
    }

    private static func running(_ process: Int32) -> ProcessHolder {
        ProcessHolder(processID: process, name: SystemFiles.firstLine(of: "/proc/\(process)/comm") ?? "unknown")
    }
}
