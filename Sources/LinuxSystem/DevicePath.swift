/// The file to which a path leads at present. Two paths to one device are equal.
package struct DevicePath: Equatable, Sendable {
    /// The path without symbolic links; the path as it was given if it leads to nothing.
    package let target: String

    /// Follows a path.
    package init(_ path: String) {
        target = PathResolution(of: SystemFiles.absolutePath(path) ?? path).target ?? path
    }
}
