import CollarErrors
import Glibc

/// Why a serial line could not be opened.
package enum SerialPortError: Error, Equatable, Sendable {
    /// There is nothing at the path.
    case notFound(path: String)
    /// The file at the path is not a terminal.
    case notATerminal(path: String)
    /// The line is in use; `holder` is nil if this process is not allowed to inspect any process that has the line open.
    case busy(path: String, holder: ProcessHolder?)
    /// The node exists, but the user is not allowed to open it.
    case permissionDenied(path: String, obstacle: PermissionObstacle)
    /// The node exists, but its device is gone.
    case disconnected(path: String)
    /// In the place of a radio that was at the path is another device, which nobody has named or marked.
    case replaced(path: String, by: String)
    /// A system call failed for another reason.
    case system(path: String, operation: String, errno: Int32)

    /// The path that was to be opened.
    package var path: String {
        switch self {
        case .notFound(let path), .notATerminal(let path), .busy(let path, _), .permissionDenied(let path, _),
            .disconnected(let path), .replaced(let path, _), .system(let path, _, _):
            path
        }
    }
}
