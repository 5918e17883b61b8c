import CLinuxEvents
import Glibc
import SerialDevices

/// An attempt to connect to a radio over TCP. Resolving the name and connecting do not block the caller.
final class ConnectionAttempt {
    /// Why an attempt failed.
    enum Failure: Error, Equatable {
        /// The name cannot be resolved; the system's words for it.
        case unresolved(String)
        /// The connection could not be made; the errno of the last address.
        case refused(errno: Int32)

        /// The failure in words.
        var text: String {
            switch self {
            case .unresolved(let text): text
            case .refused(let code): SystemError.text(code)
            }
        }
    }

    /// For epoll: readable when the attempt has ended.
    private(set) var fileDescriptor: Int32

    /// Begins to connect.
    init(to address: NetworkAddress) throws(Failure) {
        fileDescriptor = unsafe network_connect_begin(address.host, String(address.port))
        if fileDescriptor < 0 { throw .refused(errno: errno) }
    }

    deinit { if fileDescriptor >= 0 { network_connect_abandon(fileDescriptor) } }

    /// Takes the result; call it once, after ``fileDescriptor`` has become readable.
    func finish() throws(Failure) -> NetworkConnection {
        let result = network_connect_end(fileDescriptor)
        fileDescriptor = -1
        guard result.fd >= 0 else {
            guard result.resolution_error != 0, let text = unsafe network_resolution_text(result.resolution_error) else {
                throw .refused(errno: result.error_number)
            }
            throw .unresolved(unsafe String(cString: text))
        }
        return NetworkConnection(fileDescriptor: result.fd)
    }
}
