import CLinux
import CollarPorts
import Glibc
import LinuxSystem

/// The speed of a serial line, in bit/s.
package enum LineSpeed: UInt32, CaseIterable, Sendable {
    case b4800 = 4800
    case b9600 = 9600
    case b19200 = 19_200
    case b38400 = 38_400
    case b57600 = 57_600
    case b115200 = 115_200
    case b230400 = 230_400
    case b460800 = 460_800
    case b921600 = 921_600
}

/// An open serial line: raw, 8N1, without flow control. While it is open, it keeps other programs out.
///
/// No call blocks: wait for ``fileDescriptor`` to become readable or writable, then read or write until
/// `.wouldBlock`. It is not thread-safe. It closes the line when it is released.
package final class SerialPort: StreamEnd {
    package let path: String
    package let isPseudoTerminal: Bool
    /// The descriptor of the line, for epoll; −1 after ``close()``. This object closes the descriptor.
    package private(set) var fileDescriptor: Int32

    /// Opens a serial line for exclusive use.
    ///
    /// Opening keeps the bytes that already wait, because a radio may have sent them before the port was configured: a partial
    /// frame fails its CRC, but a whole frame may hold a position. On hardware, opening asserts DTR and RTS, which restarts
    /// some boards: allow such a board 2 s to start.
    /// - Parameters:
    ///   - path: a device node or a symbolic link to one.
    ///   - speed: has no effect on a pseudo-terminal, or on a device with a USB interface of its own.
    package init(opening path: String, speed: LineSpeed = .b115200) throws(SerialPortError) {
        var descriptor: Int32 = -1
        do throws(SerialPortError) {
            descriptor = try SerialPort.open(path)
            isPseudoTerminal = try SerialPort.claim(descriptor, path: path)
            try SerialPort.configure(descriptor, speed, path: path)
        } catch {
            if descriptor >= 0 { _ = Glibc.close(descriptor) }
            // A device that was unplugged in the meantime explains every other error.
            throw unsafe access(path, F_OK) != 0 && errno == ENOENT ? .notFound(path: path) : error
        }
        self.path = path
        fileDescriptor = descriptor
    }

    deinit { close() }

    /// Whether a path names this line; the path may differ from the one that the line was opened with.
    package func isNamed(by path: String) -> Bool {
        guard let named = FileIdentity(path: path) else { return false }
        return named == FileIdentity(descriptor: fileDescriptor)
    }

    /// Another process that has the line open as well, without a lock, so that it takes some of the bytes if it reads; nil if no
    /// such process is visible.
    package var otherReader: ProcessHolder? {
        ProcessHolder.holder(of: path, except: fileDescriptor).flatMap { $0.processID == getpid() ? nil : $0 }
    }

    /// Closes the line and lets others open it. A second call does nothing.
    package func close() {
        guard fileDescriptor >= 0 else { return }
        // The exclusive flag belongs to the terminal, and would stay if root has the terminal open as well.
        if !isPseudoTerminal { _ = terminal_set_exclusive(fileDescriptor, 0) }
        // A child between fork and exec still shares the descriptor, and would keep the lock.
        _ = flock(fileDescriptor, LOCK_UN)
        _ = Glibc.close(fileDescriptor)
        fileDescriptor = -1
    }

    /// Opens the line of a collar radio that udev has found, as ``init(opening:)`` does.
    ///
    /// Another device may have come to the node since udev found the radio, and opening the port of a stranger raises its DTR,
    /// which resets some devices. So only a device that is marked now is opened.
    /// - Throws: `.notFound` if the device is gone or is not marked as a collar radio any more.
    package convenience init(openingRadioAt path: String) throws(SerialPortError) {
        guard let radio = SerialDevice(at: path), radio.isCollarRadio else { throw .notFound(path: path) }
        try self.init(opening: path)
        // The device may have changed after the check. Only a simulated machine has a pseudo-terminal there.
        let opened = isPseudoTerminal ? SerialDevice(at: path) : SerialDevice(of: fileDescriptor)
        guard let opened, opened.isCollarRadio, opened.sysPath == radio.sysPath else {
            close()
            throw .notFound(path: path)
        }
    }

    static func open(_ path: String) throws(SerialPortError) -> Int32 {
        // Without O_NOCTTY unplugging would send SIGHUP to a session leader; without O_NONBLOCK the open would wait for a carrier
        // that a three-wire cable never gives.
        let descriptor = uninterrupted { unsafe Glibc.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) }
        guard descriptor >= 0 else { throw error(opening: path, errno: errno) }
        return descriptor
    }

    private static func error(opening path: String, errno cause: Int32) -> SerialPortError {
        switch cause {
        case ENOENT, ENOTDIR: .notFound(path: path)
        case EISDIR: .notATerminal(path: path)
        case EBUSY: .busy(path: path, holder: ProcessHolder.holder(of: path))
        case EACCES, EPERM:
            .permissionDenied(path: path, obstacle: PermissionFacts(opening: path, errno: cause).obstacle)
        case ENXIO, ENODEV, EIO: .disconnected(path: path)
        default: .system(path: path, operation: "open", errno: cause)
        }
    }

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
        if uninterrupted({ flock(descriptor, LOCK_EX | LOCK_NB) }) != 0 {
            guard errno == EWOULDBLOCK else { throw .system(path: path, operation: "flock", errno: errno) }
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
    static func configure(_ descriptor: Int32, _ speed: LineSpeed, path: String) throws(SerialPortError) {
        let failure = -terminal_set_raw(descriptor, speed.rawValue)
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
