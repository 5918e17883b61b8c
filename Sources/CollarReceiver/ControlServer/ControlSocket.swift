import CLinux
import CollarControl
import Glibc

/// The socket file to which other programs send requests.
final class ControlSocket {
    /// No place can be used.
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

    /// Listens at the first place that can be used, and replaces a socket file there. Such a file is left from a killed
    /// process, because the caller holds the lock of the state directory.
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
