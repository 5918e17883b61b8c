import CheckedNumbers
import CollarControl
import CollarPorts
import Glibc
import LinuxSystem
import SerialDevices

/// The machine on which the program runs.
package final class RunningMachine: MachineFacts {
    /// The largest part of a file that is read, in bytes.
    private static let byteLimit = 1 << 20

    /// The facts that the program itself knows, such as the state directory.
    private let known: [MachineFact: String]

    /// - Parameter known: the facts that no system call gives.
    package init(known: [MachineFact: String]) { self.known = known }

    package func content(of path: String) -> FileContent { RunningMachine.read(path) }

    /// The content of a file; of a long file, the end.
    package static func read(_ path: String) -> FileContent {
        // Some files of the kernel, such as its log, would block at their end.
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT || errno == ENOTDIR ? .absent : .refused }
        defer { _ = close(descriptor) }
        var status = stat()
        if unsafe fstat(descriptor, &status) == 0, status.st_size > RunningMachine.byteLimit {
            lseek(descriptor, status.st_size - RunningMachine.byteLimit, SEEK_SET)
        }
        var content: [UInt8] = []
        // The kernel's log gives one record for each read, which must fit.
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while content.count < RunningMachine.byteLimit {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                content += buffer[..<count]
                continue
            }
            // EPIPE: a record of the kernel's log was overwritten before it was read.
            if count < 0, errno == EINTR || errno == EPIPE { continue }
            guard count == 0 || errno == EAGAIN else { return .refused }
            break
        }
        return .bytes(content)
    }

    package func names(in directory: String) -> [String] { SystemFiles.entries(of: directory).sorted() }

    package func linkTarget(of path: String) -> String? { SystemFiles.linkTarget(path) }

    package func text(of fact: MachineFact) -> String? {
        switch fact {
        case .user: "\(geteuid()) \(UserDatabase.userName(geteuid()))"
        case .groups: RunningMachine.list(UserDatabase.processGroups())
        case .sessionGroups: RunningMachine.list(UserDatabase.groups(of: geteuid()))
        case .time: String(WallClock.unixMilliseconds)
        case .environment(let name): Environment.value(name)
        case .status(let path): RunningMachine.status(path)
        case .access(let path): RunningMachine.access(path)
        case .space(let path): RunningMachine.space(path)
        case .holder(let path): ProcessHolder.holder(of: path).map { "\($0.processID) \($0.name)" }
        case .process(let name): RunningMachine.process(name)
        case .userName(let id): UserDatabase.userName(id)
        case .groupName(let id): UserDatabase.groupName(id)
        case .version, .stateDirectory, .configurationFiles, .namedPorts, .collarFile, .receiverPort, .radioOptions, .receiver: known[fact]
        }
    }

    private static func list(_ ids: [UInt32]) -> String { ids.map { String($0) }.joined(separator: " ") }

    private static func status(_ path: String) -> String? {
        guard let found = SystemFiles.status(of: path) else { return nil }
        let kind: FileStatus.Kind =
            switch found.st_mode & S_IFMT {
            case S_IFCHR: .characterDevice
            case S_IFDIR: .directory
            case S_IFREG: .regularFile
            default: .other
            }
        let number = kind == .characterDevice ? found.st_rdev : 0
        // The C library's macros for this are hidden from Swift.
        let major = (number >> 8) & 0xFFF | (number >> 32) & ~0xFFF
        let minor = number & 0xFF | (number >> 12) & ~0xFF
        return "\(kind.rawValue) \(String(found.st_mode & 0o7777, radix: 8)) \(found.st_uid) \(found.st_gid) "
            + "\(major):\(minor) \(found.st_mtim.tv_sec)"
    }

    private static func access(_ path: String) -> String {
        // Plain access(2) examines the real user, and is all that libraries of simulated devices know.
        let isPlain = getuid() == geteuid() && getgid() == getegid()
        return [("r", R_OK), ("w", W_OK), ("x", X_OK)].filter { _, right in
            unsafe (isPlain ? Glibc.access(path, right) : faccessat(AT_FDCWD, path, right, AT_EACCESS)) == 0
        }.map(\.0).joined()
    }

    private static func space(_ path: String) -> String? {
        var found = statvfs()
        guard unsafe statvfs(path, &found) == 0 else { return nil }
        let bytes = Int64(clamping: UInt64(found.f_bavail) &* UInt64(found.f_frsize))
        // Some file systems make files as they are needed, and give 0 for all numbers of files.
        let files = found.f_files == 0 ? "-" : String(found.f_favail)
        return "\(bytes) \(files) \(found.f_flag & UInt(ST_RDONLY) == 0 ? "rw" : "ro")"
    }

    private static func process(_ name: String) -> String? {
        // The kernel keeps 15 bytes of a name.
        let kept = String(decoding: name.utf8.prefix(15), as: UTF8.self)
        return SystemFiles.entries(of: "/proc").first { Int32($0, in: 1 ... .max) != nil && SystemFiles.firstLine(of: "/proc/\($0)/comm") == kept }
    }
}

/// The answer of the running receiver of a state directory to a request for its figures.
package enum ReceiverAnswer {
    /// Nothing: a receiver listens, and does not answer.
    package static let silent = "silent"
    /// A receiver listens, and tells this user nothing.
    private static let denied = "denied"

    /// The answer as a fact of a machine: the line of figures, or a word; nil if no receiver listens.
    /// - Parameter end: until when to wait for the answer, a time of ``MonotonicClock``.
    package static func text(stateDirectory: String, runtimeDirectory: String?, untilMicroseconds end: Int64) -> String? {
        do throws(ControlConnection.ConnectError) {
            let connection = try ControlConnection(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory)
            switch connection.figures(untilMicroseconds: end) {
            case .figures(let figures):
                return String(decoding: figures.line(unixMilliseconds: WallClock.unixMilliseconds).dropLast(), as: UTF8.self)
            case .refused: return denied
            case .none: return silent
            }
        } catch {
            if case .denied = error { return denied }
            return nil
        }
    }
}
