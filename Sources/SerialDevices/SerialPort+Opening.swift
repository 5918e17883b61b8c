import CTermios
import Glibc

extension SerialPort {
    /// A descriptor of whatever is at the path, or why there is none.
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

    /// Makes this process the only user. Returns whether it is a pseudo-terminal.
    static func claim(_ descriptor: Int32, path: String) throws(SerialPortError) -> Bool {
        switch ctermios_is_terminal(descriptor) {
        case 1: break
        case 0: throw .notATerminal(path: path)
        // Pulled out since it was opened.
        default: throw .disconnected(path: path)
        }
        let isPseudoTerminal = ctermios_is_pseudo_terminal(descriptor) == 1
        // The lock keeps out programs that also lock, root among them; TIOCEXCL keeps out those that do not.
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let cause = errno
            if cause == EINTR { continue }
            guard cause == EWOULDBLOCK else { throw .system(path: path, operation: "flock", errno: cause) }
            throw .busy(path: path, holder: ProcessHolder.holder(of: path, except: descriptor))
        }
        // On a pseudo-terminal the flag would outlive a killed process for as long as the master is open, and lock the
        // ordinary user out.
        if isPseudoTerminal { return true }
        // Root gets in although another program asked for exclusive use: do not take its bytes. The flag alone does
        // not tell, because a console keeps it after its setter is gone.
        if ctermios_is_exclusive(descriptor) == 1, let holder = ProcessHolder.holder(of: path, except: descriptor) {
            throw .busy(path: path, holder: holder)
        }
        _ = ctermios_set_exclusive(descriptor, 1)
        return false
    }

    /// Sets the line up; what a driver may lack is not an error.
    static func configure(_ descriptor: Int32, path: String) throws(SerialPortError) {
        let failure = -ctermios_set_raw(descriptor)
        switch failure {
        case ...0: break
        case EIO, ENODEV, ENXIO: throw .disconnected(path: path)
        default: throw .system(path: path, operation: "tcsetattr", errno: failure)
        }
        _ = ctermios_set_low_latency(descriptor)
        // USB boards of their own (CDC-ACM) send nothing before DTR. Both lines together leave the reset circuit of
        // the common boards at rest.
        _ = ctermios_assert_modem_lines(descriptor)
    }
}
