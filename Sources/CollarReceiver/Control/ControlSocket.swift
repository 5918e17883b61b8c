import CLinuxEvents
import Glibc

/// The socket file at which other programs of this user give requests.
final class ControlSocket {
    /// The system refuses every place.
    struct OpenError: Error, Equatable {
        /// The place that was tried last.
        var path: String
        var errorNumber: Int32
    }

    /// The socket file.
    let path: String
    let listener: Int32

    private init(path: String, listener: Int32) {
        self.path = path
        self.listener = listener
    }

    deinit {
        close(listener)
        unsafe _ = unlink(path)
    }

    /// Listens at the first place where that can be done. A file that stands there was left by a process that was killed:
    /// whoever opens the socket holds the lock of the state directory.
    static func open(stateDirectory: String, runtimeDirectory: String?) throws(OpenError) -> ControlSocket {
        var failure = OpenError(path: stateDirectory, errorNumber: ENOENT)
        for place in ControlPlace.all(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory) where place.prepare() {
            unsafe _ = unlink(place.path)
            let listener = unsafe local_socket_listen(place.path)
            if listener >= 0 { return ControlSocket(path: place.path, listener: listener) }
            failure = OpenError(path: place.path, errorNumber: errno)
        }
        throw failure
    }
}
