import Glibc

/// The resolution of a path through all symbolic links, from the root to the file that the path names. `realpath` does not tell the links,
/// and does not return under umockdev, in which the tests run.
package struct PathResolution {
    /// The identity of a symbolic link; a link that is removed and created again has another identity.
    package struct Link: Equatable, Sendable {
        package let inode: UInt64
        package let changeSeconds: Int
        package let changeNanoseconds: Int
    }

    /// The most symbolic links in a path, as in the kernel.
    private static let linkLimit = 40

    package let links: [Link]
    /// The path of the found file, without symbolic links; nil if nothing is found.
    package let target: String?

    package init(of path: String) {
        var directory = ""
        var pending = PathResolution.components(SystemFiles.absolutePath(path) ?? path)
        var links: [Link] = []
        var isBroken = false
        while !isBroken, let name = pending.popLast() {
            if name == ".." {
                directory = String(directory[..<(directory.lastIndex(of: "/") ?? directory.endIndex)])
                continue
            }
            let place = "\(directory)/\(name)"
            var status = stat()
            isBroken = unsafe lstat(place, &status) != 0
            if isBroken { break }
            guard status.st_mode & S_IFMT == S_IFLNK else {
                directory = place
                isBroken = status.st_mode & S_IFMT != S_IFDIR && !pending.isEmpty
                continue
            }
            let changed = status.st_ctim
            links.append(Link(inode: UInt64(status.st_ino), changeSeconds: changed.tv_sec, changeNanoseconds: changed.tv_nsec))
            guard links.count <= PathResolution.linkLimit, let target = SystemFiles.linkTarget(place) else {
                isBroken = true
                break
            }
            if target.hasPrefix("/") { directory = "" }
            pending += PathResolution.components(target)
        }
        self.links = links
        target = isBroken ? nil : directory
    }

    /// The components of a path, the last one first, so that the next one is popped from the end of the array.
    private static func components(_ path: String) -> [String] {
        path.split(separator: "/").lazy.filter { $0 != "." }.map(String.init).reversed()
    }
}

/// The file to which a path leads at present. Two paths to one device are equal.
package struct DevicePath: Equatable, Sendable {
    /// The path without symbolic links; the path as it was given if it leads to nothing.
    package let target: String

    package init(_ path: String) { target = PathResolution(of: path).target ?? path }
}
