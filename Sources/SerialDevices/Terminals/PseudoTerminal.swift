import CLinux
import Glibc
import LinuxSystem

/// A serial line without hardware. This object is the radio's end; ``path`` names the end that a program opens.
///
/// For that program, ``close()`` of this end is exactly like pulling out an adapter. Bytes pass unchanged both ways.
/// It is not thread-safe. It closes itself when it is released.
package final class PseudoTerminal {
    /// The node of the other end, such as `/dev/pts/3`.
    package let path: String
    /// The descriptor of this end; −1 after ``close()``. The pseudo-terminal closes it.
    ///
    /// While no program has the other end open, the descriptor reports POLLHUP, so level-triggered waiting would spin:
    /// use `EPOLLET`, or check ``hasPeer`` now and then. Linux does not wake this end when a program opens the other end.
    package private(set) var fileDescriptor: Int32

    /// Creates both ends.
    package init() throws(SystemError) {
        let master = terminal_open_pseudo_terminal()
        guard master >= 0 else { throw SystemError(operation: "posix_openpt", errno: -master) }
        do throws(SystemError) {
            path = try PseudoTerminal.slavePath(of: master)
            try PseudoTerminal.prepareSlave(at: path)
        } catch {
            _ = Glibc.close(master)
            throw error
        }
        fileDescriptor = master
    }

    deinit { close() }

    /// Whether a program has the other end open at the moment.
    package var hasPeer: Bool {
        var state = pollfd(fd: fileDescriptor, events: 0, revents: 0)
        guard fileDescriptor >= 0, unsafe poll(&state, 1, 0) >= 0 else { return false }
        return state.revents & Int16(POLLHUP) == 0
    }

    /// Hangs up: the program at the other end loses its line, and the node disappears. A second call does nothing.
    package func close() {
        guard fileDescriptor >= 0 else { return }
        _ = Glibc.close(fileDescriptor)
        fileDescriptor = -1
    }

    /// Reads bytes from the other end into the start of the array, which must not be empty and keeps its length.
    /// `.disconnected` means that no program has the other end open and that no unread bytes are left; a program can still
    /// open the other end later.
    package func read(into buffer: inout [UInt8]) -> ReadResult { StreamTransfer.read(fileDescriptor, into: &buffer) }

    /// Writes as many bytes as the queue takes now. If no program has the other end open, nothing is written and the result is
    /// `.disconnected`: an adapter, too, drops the bytes that it receives before it is opened.
    package func write(_ bytes: Span<UInt8>) -> WriteResult {
        guard hasPeer else { return .disconnected }
        return StreamTransfer.write(bytes, to: fileDescriptor)
    }

    private static func slavePath(of master: Int32) throws(SystemError) -> String {
        var path = [CChar](repeating: 0, count: 64)
        let failure = unsafe -terminal_slave_path(master, &path, path.count)
        guard failure == 0 else { throw SystemError(operation: "ptsname_r", errno: failure) }
        return String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Makes the terminal raw, and opens and closes the other end for that: until the first close of the other end, this end
    /// does not report that it has no peer. The raw settings stay, because the terminal exists as long as its master is open.
    private static func prepareSlave(at path: String) throws(SystemError) {
        let slave = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw SystemError(operation: "open \(path)", errno: errno) }
        defer { _ = Glibc.close(slave) }
        let failure = -terminal_set_raw(slave)
        guard failure <= 0 else { throw SystemError(operation: "tcsetattr", errno: failure) }
    }
}
