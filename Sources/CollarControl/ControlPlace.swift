import CollarFormats
import Glibc

/// A path where the control socket of a state directory may be. A state directory has one socket, whatever path names the
/// directory.
package struct ControlPlace {
    /// The socket file.
    package let path: String
    /// The runtime directory of the user, which exists while the user is logged in; nil where the socket is in the state
    /// directory.
    private let runtimeDirectory: String?

    /// The places where the socket may be, the preferred one first.
    /// - Parameters:
    ///   - stateDirectory: must exist; else there are no places.
    ///   - runtimeDirectory: `XDG_RUNTIME_DIR`; nil where that is not set.
    package static func all(stateDirectory: String, runtimeDirectory: String?) -> [ControlPlace] {
        guard let state = status(of: stateDirectory) else { return [] }
        let name = "\(MessageDescription.hexadecimal(UInt64(state.st_dev)))-\(MessageDescription.hexadecimal(UInt64(state.st_ino))).sock"
        var folders: [String] = []
        if let runtimeDirectory, runtimeDirectory.hasPrefix("/") { folders.append(runtimeDirectory) }
        let ofOwner = "/run/user/\(state.st_uid)"
        if !folders.contains(ofOwner) { folders.append(ofOwner) }
        return folders.map { ControlPlace(path: "\($0)/collar-link/\(name)", runtimeDirectory: $0) }
            + [ControlPlace(path: "\(stateDirectory)/control.sock", runtimeDirectory: nil)]
    }

    /// Creates the folder of the socket, with access for this user only. A socket in the state directory needs no folder.
    /// - Returns: whether the folder is this user's own, so that a socket can be made in it.
    package func prepare() -> Bool {
        guard let runtimeDirectory else { return true }
        guard ControlPlace.isOwn(runtimeDirectory) else { return false }
        let folder = "\(runtimeDirectory)/collar-link"
        _ = unsafe mkdir(folder, 0o700)
        return ControlPlace.isOwn(folder)
    }

    private static func isOwn(_ folder: String) -> Bool {
        guard let found = status(of: folder) else { return false }
        return found.st_uid == geteuid() && found.st_mode & S_IFMT == S_IFDIR
    }

    private static func status(of path: String) -> stat? {
        var found = stat()
        return unsafe stat(path, &found) == 0 ? found : nil
    }
}
