import CLinux
import Glibc

extension SerialPort {
    /// Opens whatever is at the path.
    static func open(_ path: String) throws(SerialPortError) -> Int32 {
        while true {
            // Without O_NOCTTY unplugging would send SIGHUP to a session leader; without O_NONBLOCK the open would
            // wait for a carrier that a three-wire cable never gives.
            let descriptor = unsafe Glibc.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0 { return descriptor }
            let cause = errno
            if cause != EINTR { throw error(opening: path, errno: cause) }
        }
    }

    private static func error(opening path: String, errno cause: Int32) -> SerialPortError {
        switch cause {
        case ENOENT, ENOTDIR: .notFound(path: path)
        case EISDIR: .notATerminal(path: path)
        case EBUSY: .busy(path: path, holder: ProcessHolder.holder(of: path))
        case EACCES, EPERM:
            .permissionDenied(path: path, obstacle: PermissionObstacle(PermissionFacts(opening: path, errno: cause)))
        case ENXIO, ENODEV, EIO: .disconnected(path: path)
        default: .system(path: path, operation: "open", errno: cause)
        }
    }

    /// Whether the path leads to nothing.
    static func isGone(_ path: String) -> Bool { unsafe access(path, F_OK) != 0 && errno == ENOENT }

    /// Makes this process the only user of the terminal. Returns whether it is a pseudo-terminal.
    static func claim(_ descriptor: Int32, path: String) throws(SerialPortError) -> Bool {
        switch terminal_is_terminal(descriptor) {
        case 1: break
        case 0: throw .notATerminal(path: path)
        // The device was unplugged after it was opened.
        default: throw .disconnected(path: path)
        }
        let isPseudoTerminal = terminal_is_pseudo_terminal(descriptor) == 1
        // The lock keeps out the programs that lock the line themselves, even if root runs them. TIOCEXCL keeps out the programs
        // that do not lock the line, unless root runs them.
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let cause = errno
            if cause == EINTR { continue }
            guard cause == EWOULDBLOCK else { throw .system(path: path, operation: "flock", errno: cause) }
            throw .busy(path: path, holder: ProcessHolder.holder(of: path, except: descriptor))
        }
        // On a pseudo-terminal the exclusive flag would outlive a killed process for as long as the master is open, and
        // would lock out ordinary users.
        if isPseudoTerminal { return true }
        // Root can open a line that another program uses exclusively, but must not take that program's bytes. The flag
        // alone does not prove that there is such a program: a console keeps the flag after the program that set it ends.
        if terminal_is_exclusive(descriptor) == 1, let holder = ProcessHolder.holder(of: path, except: descriptor) {
            throw .busy(path: path, holder: holder)
        }
        _ = terminal_set_exclusive(descriptor, 1)
        return false
    }

    /// Sets up the line. The failure of a setting that a driver may lack is not an error.
    static func configure(_ descriptor: Int32, path: String) throws(SerialPortError) {
        let failure = -terminal_set_raw(descriptor)
        switch failure {
        case ...0: break
        case EIO, ENODEV, ENXIO: throw .disconnected(path: path)
        default: throw .system(path: path, operation: "tcsetattr", errno: failure)
        }
        _ = terminal_set_low_latency(descriptor)
        // Boards with native USB (CDC-ACM) send nothing until DTR is asserted. Asserting DTR and RTS together does not
        // trigger the reset circuit of the common boards.
        _ = terminal_assert_modem_lines(descriptor)
    }
}
