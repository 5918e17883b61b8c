import LinuxSystem

/// The symbolic links from a path to the number of a pseudo-terminal. The kernel gives the number of a closed terminal to
/// a new terminal, which may belong to any program. So an unchanged route does not show that the radio is back; a link that
/// was created again does.
package struct TerminalRoute: Equatable, Sendable {
    private let links: [PathResolution.Link]

    /// The present route, whether or not something is at its end.
    package init(of path: String) { links = PathResolution(of: SystemFiles.absolutePath(path) ?? path).links }

    /// The route to a pseudo-terminal; nil where the path leads to another device, or to nothing.
    package init?(toNumberAt path: String) {
        let resolution = PathResolution(of: SystemFiles.absolutePath(path) ?? path)
        guard let target = resolution.target, target.hasPrefix("/dev/pts/") else { return nil }
        links = resolution.links
    }

    /// Whether the path names the node, such as `/dev/pts/3`, without symbolic links. Such a route never changes, so it never
    /// shows that the radio is back.
    package var isNumber: Bool { links.isEmpty }
}
