import CLinux
import Glibc
import LinuxSystem

/// The manager of services that has started the program and wants to know when it is ready (sd_notify(3), *Notes*).
final class ServiceManager {
    private let descriptor: Int32

    /// - Returns: nil if no manager of services wants to know anything, as `NOTIFY_SOCKET` says.
    init?() {
        guard let path = Environment.value("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        descriptor = unsafe local_socket_connect_datagrams(path)
        // A child, such as a program that a person starts by hand in a shell of the service, is not the service.
        unsafe unsetenv("NOTIFY_SOCKET")
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The receiver opens its ports, and takes requests.
    func isReady() { send("READY=1") }

    func isStopping() { send("STOPPING=1") }

    private func send(_ state: String) {
        let bytes = Array(state.utf8)
        // If the manager does not read, it reports the time-out itself.
        _ = unsafe bytes.withUnsafeBytes { unsafe local_socket_send(descriptor, $0.baseAddress, $0.count) }
    }
}
