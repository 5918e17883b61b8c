import CTermios
import Glibc

/// A serial line without hardware: this is the radio's end, and ``path`` names the end that a program opens.
///
/// Closing it looks to that program exactly like pulling out an adapter. Bytes pass unchanged in both directions.
/// It is not thread-safe. It closes itself when it is released.
public final class PseudoTerminal {
    /// The node of the other end, such as `/dev/pts/3`.
    public let path: String
    /// This end; −1 after ``close()``. It remains the pseudo-terminal's to close.
    ///
    /// As long as nobody has the other end open it reports POLLHUP: level-triggered waiting would spin, so use
    /// `EPOLLET` or look at ``hasPeer`` now and then. Linux does not wake this end when a peer comes.
    public private(set) var fileDescriptor: Int32

    /// Creates a pair.
    public init() throws(SystemError) {
        let master = ctermios_open_pseudo_terminal()
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
    public var hasPeer: Bool {
        var state = pollfd(fd: fileDescriptor, events: 0, revents: 0)
        guard fileDescriptor >= 0, unsafe poll(&state, 1, 0) >= 0 else { return false }
        return state.revents & Int16(POLLHUP) == 0
    }

    /// Hangs up: the program at the other end sees its line vanish, and the node goes. A second call does nothing.
    public func close() {
        guard fileDescriptor >= 0 else { return }
        _ = Glibc.close(fileDescriptor)
        fileDescriptor = -1
    }

    /// Reads what the other end wrote over the start of the array, whose length stays and must not be 0. `.disconnected`
    /// means that nobody has the other end open and nothing is left of what was written; it may be opened again.
    public func read(into buffer: inout [UInt8]) -> ReadResult { TerminalTransfer.read(fileDescriptor, into: &buffer) }

    /// Writes as many of the bytes as the queue takes now. Without a peer nothing is taken and the result is
    /// `.disconnected`: an adapter too drops what comes before it is opened.
    public func write(_ bytes: Span<UInt8>) -> WriteResult {
        guard hasPeer else { return .disconnected }
        return TerminalTransfer.write(bytes, to: fileDescriptor)
    }

    private static func slavePath(of master: Int32) throws(SystemError) -> String {
        var path = [CChar](repeating: 0, count: 64)
        let failure = unsafe -ctermios_slave_path(master, &path, path.count)
        guard failure == 0 else { throw SystemError(operation: "ptsname_r", errno: failure) }
        return String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Opens and closes the other end once: only then does this end report "nobody there" (before, it reports nothing).
    /// The raw settings stay, because the terminal lives as long as the master does.
    private static func prepareSlave(at path: String) throws(SystemError) {
        let slave = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw SystemError(operation: "open \(path)", errno: errno) }
        defer { _ = Glibc.close(slave) }
        let failure = -ctermios_set_raw(slave)
        guard failure <= 0 else { throw SystemError(operation: "tcsetattr", errno: failure) }
    }
}
