import Glibc
import LinuxSystem

/// The two ends of a pipe or of a socket. Programs that other tests start at the same time do not inherit them.
final class Ends {
    private(set) var reading: Int32 = -1
    private(set) var writing: Int32 = -1

    /// - Parameter isBlocking: whether a read or a write waits.
    init(isSocket: Bool = false, isBlocking: Bool = true) throws {
        let nonblocking = isBlocking ? 0 : O_NONBLOCK
        guard !isSocket else {
            var ends: [Int32] = [-1, -1]
            unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
            (reading, writing) = (ends[0], ends[1])
            return
        }
        // A program could inherit a descriptor of `pipe` before its close-on-exec flag is set.
        let folder = try TemporaryFolder()
        let place = "\(folder.path)/pipe"
        guard unsafe mkfifo(place, 0o600) == 0 else { throw SystemError(operation: "mkfifo", errno: errno) }
        reading = unsafe open(place, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        writing = unsafe open(place, O_WRONLY | O_CLOEXEC | nonblocking)
        if isBlocking { _ = fcntl(reading, F_SETFL, 0) }
    }

    deinit {
        closeReader()
        closeWriter()
    }

    func closeReader() {
        if reading >= 0 { close(reading) }
        reading = -1
    }

    func closeWriter() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    /// Reads up to this many bytes.
    /// - Returns: how many were read; -1 if none wait.
    @discardableResult func read(_ byteCount: Int) -> Int { SystemFiles.read(from: reading, byteLimit: byteCount)?.count ?? -1 }

    func put() { _ = SystemFiles.write([1], to: writing) }

    func fill() { while SystemFiles.write([0], to: writing) {} }
}
