import Glibc

/// The way from the root to what a path names, with every directory in which a change could lead it elsewhere.
struct PathResolution: Equatable {
    /// How the way ends.
    enum End: Equatable {
        /// Something is there.
        case found
        /// A part of the path does not exist.
        case missing
        /// A part of the path may not be looked at, or its links run in a circle.
        case refused
    }

    /// A directory on the way and the names that were looked up in it.
    struct Step: Equatable {
        /// The directory, free of symbolic links.
        let directory: String
        /// What was looked up there.
        var names: [String]
        /// Whether a change of what a name means there matters: it is missing, a link, or the end of the way. For the
        /// other directories only their own removal does.
        var isDecisive: Bool
    }

    /// A symbolic link as it was made: one that is made anew is another one.
    struct Link: Equatable, Sendable {
        let inode: UInt64
        let changeSeconds: Int
        let changeNanoseconds: Int
    }

    let end: End
    let steps: [Step]
    /// The symbolic links that were followed.
    let links: [Link]
    /// What is found, by its path without symbolic links; nil unless the way ends there.
    let target: String?

    /// Follows an absolute path through all symbolic links.
    init(of path: String) {
        /// As many as the kernel follows.
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

    /// The parts of a path, the last one first so that the next one is taken from the end.
    private static func components(_ path: String) -> [String] {
        path.split(separator: "/").lazy.filter { $0 != "." }.map(String.init).reversed()
    }

    /// Where the way has come to, and what it passed.
    private struct Walk {
        /// The directory, free of symbolic links; empty for the root.
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
