import CLinux
import CheckedNumbers
import Glibc

/// The address of a radio that another machine passes on over TCP: `tcp://HOST:PORT`.
package struct NetworkAddress: Equatable, Sendable {
    /// The start of the path of such a port.
    package static let scheme = "tcp://"

    /// A name or a numeric address.
    package let host: String
    /// The TCP port, 1 … 65,535.
    package let port: UInt16

    /// Reads an address. A numeric address of IPv6 is in square brackets.
    package init?(_ text: String) {
        guard text.hasPrefix(NetworkAddress.scheme) else { return nil }
        var rest = text.dropFirst(NetworkAddress.scheme.count)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let colon = rest.lastIndex(of: ":") else { return nil }
        guard let port = UInt16(rest[rest.index(after: colon)...], in: 1 ... .max) else { return nil }
        var host = rest[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || $0 == "/" || $0 == "@" }) else { return nil }
        self.host = String(host)
        self.port = port
    }
}

/// An attempt to connect to a radio over TCP. Resolving the name and connecting do not block the caller.
package final class ConnectionAttempt {
    package struct Failure: Error, Equatable {
        /// The system's words for why the name cannot be resolved, or for the failure of the last address.
        package let text: String
    }

    /// For epoll: readable when the attempt has ended.
    package private(set) var fileDescriptor: Int32

    package init(to address: NetworkAddress) throws(Failure) {
        fileDescriptor = unsafe network_connect_begin(address.host, String(address.port))
        if fileDescriptor < 0 { throw Failure(text: SystemError.text(errno)) }
    }

    deinit { if fileDescriptor >= 0 { network_connect_abandon(fileDescriptor) } }

    /// Takes the result; call it once, after ``fileDescriptor`` has become readable.
    package func finish() throws(Failure) -> NetworkConnection {
        let result = network_connect_end(fileDescriptor)
        fileDescriptor = -1
        guard result.fd >= 0 else {
            guard result.resolution_error != 0, let text = unsafe network_resolution_text(result.resolution_error) else {
                throw Failure(text: SystemError.text(result.error_number))
            }
            throw Failure(text: unsafe String(cString: text))
        }
        return NetworkConnection(fileDescriptor: result.fd)
    }
}

/// A connection over TCP to a radio at another machine.
package final class NetworkConnection: StreamEnd {
    package private(set) var fileDescriptor: Int32

    init(fileDescriptor: Int32) { self.fileDescriptor = fileDescriptor }

    deinit { close() }

    /// The time that bytes take to the machine and back, in microseconds; 0 if it is not known.
    package var roundTripMicroseconds: Int64 { network_round_trip_microseconds(fileDescriptor) }

    /// Closes the connection. A second call does nothing.
    package func close() {
        guard fileDescriptor >= 0 else { return }
        _ = Glibc.close(fileDescriptor)
        fileDescriptor = -1
    }
}
