import CLinux
import CollarFormats
import Glibc
import LinuxSystem

/// A path where the control socket of a state directory may be. A state directory has one socket, whatever path names the
/// directory.
package struct ControlPlace {
    package let path: String
    /// The runtime directory of the user, which exists while the user is logged in; nil where the socket is in the state
    /// directory.
    private let runtimeDirectory: String?
    package var isInStateDirectory: Bool { runtimeDirectory == nil }

    /// The places where the socket may be, the preferred one first.
    /// - Parameters:
    ///   - stateDirectory: must exist; else there are no places.
    ///   - runtimeDirectory: `XDG_RUNTIME_DIR`; nil where that is not set.
    package static func all(stateDirectory: String, runtimeDirectory: String?) -> [ControlPlace] {
        guard let state = SystemFiles.status(of: stateDirectory) else { return [] }
        let name = "\(MessageDescription.hexadecimal(UInt64(state.st_dev)))-\(MessageDescription.hexadecimal(UInt64(state.st_ino))).sock"
        var folders: [String] = []
        if let runtimeDirectory, runtimeDirectory.hasPrefix("/") { folders.append(runtimeDirectory) }
        let ofOwner = "/run/user/\(state.st_uid)"
        if !folders.contains(ofOwner) { folders.append(ofOwner) }
        return folders.map { ControlPlace(path: "\($0)/collar-link/\(name)", runtimeDirectory: $0) }
            + [ControlPlace(path: "\(stateDirectory)/control.sock", runtimeDirectory: nil)]
    }

    /// Creates the folder of the socket, with access for this user only. A socket in the state directory needs no folder.
    /// - Returns: whether the folder is this user's own, so that a socket can be made in it.
    package func prepare() -> Bool {
        guard let runtimeDirectory else { return true }
        guard ControlPlace.isOwn(runtimeDirectory) else { return false }
        let folder = "\(runtimeDirectory)/collar-link"
        _ = unsafe mkdir(folder, 0o700)
        return ControlPlace.isOwn(folder)
    }

    private static func isOwn(_ folder: String) -> Bool {
        guard let found = SystemFiles.status(of: folder) else { return false }
        return found.st_uid == geteuid() && found.st_mode & S_IFMT == S_IFDIR
    }
}

/// A connection to the control socket of a running receiver, for a program that may block while it waits for a line.
package final class ControlConnection {
    package enum ConnectError: Error, Equatable, Sendable {
        /// No receiver listens for the state directory.
        case absent
        /// A socket file exists, but the receiver that made it was killed; a receiver may be restarted at any moment.
        case deserted
        /// This user is not allowed to connect to the socket. The value is the path of the socket file.
        case denied(path: String)
        /// The system refuses the connection. The values are the path that was tried, and `errno`.
        case system(path: String, errorNumber: Int32)
    }

    /// The result of waiting for a line.
    package enum Reception<Line: Equatable & Sendable>: Equatable, Sendable {
        case line(Line)
        case timeout
        /// The receiver is gone, or sent something else.
        case closed
    }

    /// Readable when the receiver has sent something, or has ended.
    package let fileDescriptor: Int32
    private var buffer: [UInt8] = []
    /// A receiver's lines are shorter than this, in bytes.
    private static let lineLimit = 65_536

    /// - Parameter patience: how long to retry while too many other programs are connecting, in microseconds.
    package init(stateDirectory: String, runtimeDirectory: String?, patience: Int64 = 2_000_000) throws(ConnectError) {
        var failure = ConnectError.absent
        let end = MonotonicClock.microseconds + patience
        for place in ControlPlace.all(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory) {
            while true {
                let connected = unsafe local_socket_connect(place.path)
                if connected >= 0 {
                    fileDescriptor = connected
                    return
                }
                guard errno == EAGAIN, MonotonicClock.microseconds < end else { break }
                usleep(10_000)
            }
            switch errno {
            case ENOENT, ENAMETOOLONG, ENOTDIR: break
            case ECONNREFUSED: if failure == .absent { failure = .deserted }
            case EACCES, EPERM: failure = .denied(path: place.path)
            default: failure = .system(path: place.path, errorNumber: errno)
            }
        }
        throw failure
    }

    deinit { close(fileDescriptor) }

    /// Sends a request. If the receiver is gone, ``next(untilMicroseconds:)`` reports it.
    package func send(_ request: ControlRequest) { send(request.line) }

    /// Sends a line, which ends with a line feed.
    package func send(_ line: [UInt8]) { ControlConnection.send(line, to: fileDescriptor) }

    package static func send(_ line: [UInt8], to fileDescriptor: Int32) {
        _ = unsafe line.withUnsafeBytes { unsafe local_socket_send(fileDescriptor, $0.baseAddress, $0.count) }
    }

    /// Waits for the next line of a result, at most until `end`, a time of ``MonotonicClock``.
    package func next(untilMicroseconds end: Int64) -> Reception<ResultLine> {
        switch nextLine(untilMicroseconds: end) {
        case .line(let bytes): ResultLine(bytes: bytes).map { .line($0) } ?? .closed
        case .timeout: .timeout
        case .closed: .closed
        }
    }

    /// Waits for the next line, at most until `end`, a time of ``MonotonicClock``. The line comes without its line feed.
    package func nextLine(untilMicroseconds end: Int64) -> Reception<[UInt8]> {
        while true {
            if let line = takeLine() { return .line(line) }
            let rest = end - MonotonicClock.microseconds
            guard rest > 0 else { return .timeout }
            var query = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&query, 1, Int32(clamping: (rest + 999) / 1000))
            if ready < 0, errno != EINTR { return .closed }
            if ready > 0, !receive() { return .closed }
        }
    }

    /// The next line, if it has come; nil if the receiver may still send it. A caller that waits for ``fileDescriptor`` itself calls this
    /// each time that it is readable.
    package func receivedLine() -> Reception<[UInt8]>? {
        if let line = takeLine() { return .line(line) }
        var query = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&query, 1, 0) > 0 else { return nil }
        return receive() ? takeLine().map { .line($0) } : .closed
    }

    private func takeLine() -> [UInt8]? {
        guard let feed = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = Array(buffer[..<feed])
        buffer.removeFirst(feed + 1)
        return line
    }

    /// Reads what has come.
    /// - Returns: false if nothing more will come.
    private func receive() -> Bool {
        let bytes = SystemFiles.read(from: fileDescriptor, byteLimit: 4096)
        if bytes == nil, errno == EAGAIN { return true }
        guard let bytes, !bytes.isEmpty, buffer.count < ControlConnection.lineLimit else { return false }
        buffer += bytes
        return true
    }
}
