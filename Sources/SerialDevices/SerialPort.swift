import CTermios
import Glibc

/// An open serial line, raw, 115,200 bit/s, 8N1, without flow control, which nobody else may open as long as it lives.
///
/// Nothing in here blocks: wait for ``fileDescriptor`` to become readable or writable, then read or write until
/// `.wouldBlock`. It is not thread-safe. It closes the line when it is released.
public final class SerialPort {
    /// The path it was opened by.
    public let path: String
    /// Whether it is an end of a pseudo-terminal instead of hardware.
    public let isPseudoTerminal: Bool
    /// For epoll; −1 after ``close()``. It remains the port's to close.
    public private(set) var fileDescriptor: Int32

    /// Opens a serial line for one user.
    ///
    /// Bytes that already wait are kept: a radio may have spoken before the port was configured, and a piece of a frame
    /// is rejected by its checksum, whereas a whole one is a position. On hardware, opening raises DTR and RTS, which
    /// restarts some boards: allow such a board 2 s.
    /// - Parameter path: a device node or a symbolic link to one.
    public init(opening path: String) throws(SerialPortError) {
        let descriptor = try SerialPort.open(path)
        do throws(SerialPortError) {
            isPseudoTerminal = try SerialPort.claim(descriptor, path: path)
            try SerialPort.configure(descriptor, path: path)
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
        self.path = path
        fileDescriptor = descriptor
    }

    deinit { close() }

    /// Whether a path names this very line, perhaps another than it was opened by.
    public func isNamed(by path: String) -> Bool {
        var named = stat()
        var opened = stat()
        guard unsafe stat(path, &named) == 0, unsafe fstat(fileDescriptor, &opened) == 0 else { return false }
        return named.st_dev == opened.st_dev && named.st_ino == opened.st_ino
    }

    /// Closes the line and lets others open it. A second call does nothing.
    public func close() {
        guard fileDescriptor >= 0 else { return }
        // The exclusive flag belongs to the terminal and would stay if root has it open as well.
        if !isPseudoTerminal { _ = ctermios_set_exclusive(fileDescriptor, 0) }
        // A child between fork and exec still shares the descriptor, and would keep the lock.
        _ = flock(fileDescriptor, LOCK_UN)
        _ = Glibc.close(fileDescriptor)
        fileDescriptor = -1
    }

    /// Reads what is waiting over the start of the array, whose length stays and must not be 0. After ``close()`` the result
    /// is `.disconnected`.
    public func read(into buffer: inout [UInt8]) -> ReadResult { TerminalTransfer.read(fileDescriptor, into: &buffer) }

    /// Writes as many of the bytes as the output queue takes now; `.written(0)` only for no bytes.
    public func write(_ bytes: Span<UInt8>) -> WriteResult {
        TerminalTransfer.write(bytes, to: fileDescriptor)
    }
}
