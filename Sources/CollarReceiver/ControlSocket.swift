import CLinux
import CollarControl
import CollarJournal
import Glibc
import LinuxSystem

/// The socket file to which other programs send requests.
final class ControlSocket {
    /// No place can be used.
    struct OpenError: Error, Equatable {
        var path: String
        var errorNumber: Int32
    }

    let path: String
    let listener: Int32
    /// Whether the members of the group `collar-link` may connect: the socket is in a state directory that they may read.
    let isShared: Bool

    deinit {
        close(listener)
        unsafe _ = unlink(path)
    }

    /// Listens at the first place that can be used, and replaces a socket file there. Such a file is left from a killed
    /// process, because the caller holds the lock of the state directory.
    init(stateDirectory: String, runtimeDirectory: String?) throws(OpenError) {
        var failure = OpenError(path: stateDirectory, errorNumber: ENOENT)
        for place in ControlPlace.all(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory) where place.prepare() {
            unsafe _ = unlink(place.path)
            let listener = unsafe local_socket_listen(place.path)
            if listener >= 0 {
                (path, self.listener) = (place.path, listener)
                isShared = place.isInStateDirectory && ControlSocket.share(place.path, as: stateDirectory)
                return
            }
            failure = OpenError(path: place.path, errorNumber: errno)
        }
        throw failure
    }

    /// Lets a group connect to a socket if that is the group `collar-link`, and may read the state directory.
    private static func share(_ path: String, as stateDirectory: String) -> Bool {
        guard let state = SystemFiles.status(of: stateDirectory), state.st_mode & 0o050 == 0o050,
            POSIXFileSystem.isServiceGroup(state.st_gid)
        else { return false }
        // A service may change modes only; its sockets belong to the group already.
        let isOfGroup = SystemFiles.status(of: path)?.st_gid == state.st_gid
        return unsafe (isOfGroup || chown(path, geteuid(), state.st_gid) == 0) && chmod(path, 0o660) == 0
    }
}
