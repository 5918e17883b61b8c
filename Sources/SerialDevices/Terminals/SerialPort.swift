import CLinux
import Glibc
import LinuxSystem

/// An open serial line: raw, 115,200 bit/s, 8N1, without flow control. While it is open, it keeps other programs out.
///
/// No call blocks: wait for ``fileDescriptor`` to become readable or writable, then read or write until
/// `.wouldBlock`. It is not thread-safe. It closes the line when it is released.
package final class SerialPort {
    /// The path by which the line was opened.
    package let path: String
    /// Whether the line is one end of a pseudo-terminal instead of hardware.
    package let isPseudoTerminal: Bool
    /// The descriptor of the line, for epoll; −1 after ``close()``. This object closes the descriptor.
    package private(set) var fileDescriptor: Int32

    /// Opens a serial line for exclusive use.
    ///
    /// Opening keeps the bytes that already wait, because a radio may have sent them before the port was configured: a partial
    /// frame fails its CRC, but a whole frame may hold a position. On hardware, opening asserts DTR and RTS, which restarts
    /// some boards: allow such a board 2 s to start.
    /// - Parameter path: a device node or a symbolic link to one.
    package init(opening path: String) throws(SerialPortError) {
        var descriptor: Int32 = -1
        do throws(SerialPortError) {
            descriptor = try SerialPort.open(path)
            isPseudoTerminal = try SerialPort.claim(descriptor, path: path)
            try SerialPort.configure(descriptor, path: path)
        } catch {
            if descriptor >= 0 { _ = Glibc.close(descriptor) }
            // A device that was unplugged in the meantime explains every other error.
            throw SerialPort.isGone(path) ? .notFound(path: path) : error
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

    /// Whether the device at the other end is gone; bytes that came before may still wait.
    package var isHungUp: Bool {
        var state = pollfd(fd: fileDescriptor, events: 0, revents: 0)
        guard fileDescriptor >= 0, unsafe poll(&state, 1, 0) >= 0 else { return true }
        return state.revents & Int16(POLLHUP) != 0
    }

    /// Another process that has the line open as well, without a lock, so that it takes some of the bytes if it reads; nil if no
    /// such process is visible.
    package var otherReader: ProcessHolder? { ProcessHolder.reader(besides: fileDescriptor) }

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

    /// Reads the waiting bytes into the start of the array, which must not be empty and keeps its length. After
    /// ``close()`` the result is `.disconnected`.
    package func read(into buffer: inout [UInt8]) -> ReadResult { StreamTransfer.read(fileDescriptor, into: &buffer) }

    /// Writes as many bytes as the output queue takes now. The result is `.written(0)` only if `bytes` is empty.
    package func write(_ bytes: Span<UInt8>) -> WriteResult {
        StreamTransfer.write(bytes, to: fileDescriptor)
    }
}
