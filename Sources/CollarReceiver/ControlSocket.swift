import CLinux
import CollarControl
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
                return
            }
            failure = OpenError(path: place.path, errorNumber: errno)
        }
        throw failure
    }
}
