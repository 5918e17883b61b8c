import Glibc

/// Identifies a file on this machine, independent of its names.
package struct FileIdentity: Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// The file that a path leads to; nil if there is none that can be seen.
    package init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The file of an open descriptor; nil if the descriptor is closed.
    package init?(descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
