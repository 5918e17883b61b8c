/// How a path leads to the number of a pseudo-terminal. The kernel gives the number of one that is gone to the next one,
/// whoever that belongs to, so a way that leads there still is no sign that the radio is back; one that was made anew is.
public struct TerminalRoute: Equatable, Sendable {
    private let links: [PathResolution.Link]

    /// The way as it is now, whether something is at its end or not.
    public init(of path: String) { links = PathResolution(of: SystemFiles.absolutePath(path) ?? path).links }

    /// The way to a pseudo-terminal; nil where the path leads to another device, or to nothing.
    public init?(toNumberAt path: String) {
        let resolution = PathResolution(of: SystemFiles.absolutePath(path) ?? path)
        guard let target = resolution.target, target.hasPrefix("/dev/pts/") else { return nil }
        links = resolution.links
    }

    /// Whether the path is the number itself: it cannot be made anew.
    public var isNumber: Bool { links.isEmpty }
}
