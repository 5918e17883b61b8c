import Glibc
import LinuxSystem

/// The resolution of a path from the root to the file that the path names, with every directory in which a change could
/// make the path resolve to another file.
struct PathResolution: Equatable {
    /// How the resolution ends.
    enum End: Equatable {
        /// The path leads to a file.
        case found
        /// A part of the path does not exist.
        case missing
        /// A part of the path cannot be examined, or the path has too many symbolic links, as in a loop of links.
        case refused
    }

    /// A directory that the resolution passes, and the names that were looked up in it.
    struct Step: Equatable {
        /// The directory, free of symbolic links.
        let directory: String
        /// The names that were looked up in it.
        var names: [String]
        /// Whether a change of a name in this directory matters, because the name is missing, a link, or the last one. Of
        /// any other directory, only its own removal or renaming matters.
        var isDecisive: Bool
    }

    /// The identity of a symbolic link; a link that is removed and created again has another identity.
    struct Link: Equatable, Sendable {
        let inode: UInt64
        let changeSeconds: Int
        let changeNanoseconds: Int
    }

    let end: End
    let steps: [Step]
    /// The symbolic links that were followed.
    let links: [Link]
    /// The path of the found file, without symbolic links; nil if nothing is found.
    let target: String?

    /// Follows an absolute path through all symbolic links.
    init(of path: String) {
        /// The kernel has the same limit.
        let linkLimit = 40
        var walk = Walk()
        var pending = PathResolution.components(path)
        var links: [Link] = []
        while let name = pending.popLast() {
            if name == ".." {
                walk.ascend()
                continue
            }
            var status = stat()
            guard unsafe lstat(walk.path(of: name), &status) == 0 else {
                let isMissing = errno == ENOENT || errno == ENOTDIR
                walk.visit(name, isDecisive: true)
                self.init(end: isMissing ? .missing : .refused, steps: walk.steps, links: links)
                return
            }
            switch status.st_mode & S_IFMT {
            case S_IFLNK:
                walk.visit(name, isDecisive: true)
                links.append(
                    Link(
                        inode: UInt64(status.st_ino), changeSeconds: status.st_ctim.tv_sec,
                        changeNanoseconds: status.st_ctim.tv_nsec))
                guard links.count <= linkLimit, let target = SystemFiles.linkTarget(walk.path(of: name)) else {
                    self.init(end: .refused, steps: walk.steps, links: links)
                    return
                }
                if target.hasPrefix("/") { walk.directory = "" }
                pending += PathResolution.components(target)
            case S_IFDIR where !pending.isEmpty:
                walk.visit(name, isDecisive: false)
                walk.directory = walk.path(of: name)
            default:
                walk.visit(name, isDecisive: true)
                let isFound = pending.isEmpty
                self.init(
                    end: isFound ? .found : .missing, steps: walk.steps, links: links,
                    target: isFound ? walk.path(of: name) : nil)
                return
            }
        }
        self.init(end: .found, steps: walk.steps, links: links, target: walk.directory)
    }

    private init(end: End, steps: [Step], links: [Link], target: String? = nil) {
        self.end = end
        self.steps = steps
        self.links = links
        self.target = target
    }

    /// The components of a path, the last one first, so that the next one is popped from the end of the array.
    private static func components(_ path: String) -> [String] {
        path.split(separator: "/").lazy.filter { $0 != "." }.map(String.init).reversed()
    }

    /// The resolution so far.
    private struct Walk {
        /// The directory that the resolution has reached, free of symbolic links; empty for the root.
        var directory = ""
        var steps: [Step] = []

        func path(of name: String) -> String { "\(directory)/\(name)" }

        mutating func ascend() {
            guard let slash = directory.lastIndex(of: "/") else { return }
            directory = String(directory[..<slash])
        }

        mutating func visit(_ name: String, isDecisive: Bool) {
            let directory = directory.isEmpty ? "/" : directory
            if let index = steps.firstIndex(where: { $0.directory == directory }) {
                if !steps[index].names.contains(name) { steps[index].names.append(name) }
                steps[index].isDecisive = steps[index].isDecisive || isDecisive
            } else {
                steps.append(Step(directory: directory, names: [name], isDecisive: isDecisive))
            }
        }
    }
}
