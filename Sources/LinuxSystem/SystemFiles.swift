import Glibc

package enum SystemFiles {
    /// The names in a directory without `.` and `..`; none when it cannot be read.
    package static func entries(of directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    package static func status(of path: String) -> stat? {
        var found = stat()
        return unsafe stat(path, &found) == 0 ? found : nil
    }

    /// The target of a symbolic link; nil when there is no link.
    package static func linkTarget(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe buffer.withUnsafeMutableBytes { bytes -> Int in
            guard let text = unsafe bytes.bindMemory(to: CChar.self).baseAddress else { return -1 }
            return unsafe readlink(path, text, bytes.count)
        }
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// The path, made absolute with the working directory; nil, with errno set, when that directory is gone.
    package static func absolutePath(_ path: String) -> String? {
        if path.hasPrefix("/") { return path }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard unsafe getcwd(&buffer, buffer.count) != nil else { return nil }
        let directory = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "\(directory)/\(path)"
    }

    /// The first line of a small file, at most 255 bytes; nil when it cannot be read.
    package static func firstLine(of path: String) -> String? {
        guard let bytes = content(of: path, byteLimit: 255), !bytes.isEmpty else { return nil }
        return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// The lines of a text file; nil when it cannot be read.
    package static func lines(of path: String) -> [String]? {
        content(of: path)?.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The content of a file, up to a limit; nil when it cannot be read, with the reason in `errno`.
    /// - Parameter flags: further flags of `open`.
    package static func content(of path: String, byteLimit: Int = .max, flags: Int32 = 0) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | flags)
        guard descriptor >= 0 else { return nil }
        defer { _ = close(descriptor) }
        var content: [UInt8] = []
        while content.count < byteLimit {
            guard let bytes = read(from: descriptor, byteLimit: min(65_536, byteLimit - content.count)) else { return nil }
            guard !bytes.isEmpty else { break }
            content += bytes
        }
        return content
    }

    /// The next bytes of a descriptor, at most `byteLimit`; none at the end, nil on failure, with the reason in `errno`.
    package static func read(from descriptor: Int32, byteLimit: Int = 65_536) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: byteLimit)
        let count = uninterrupted {
            unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        }
        return count < 0 ? nil : Array(bytes[..<count])
    }

    /// Writes all bytes.
    /// - Returns: false if that fails; `errno` says why.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = uninterrupted { unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) } }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

extension SystemFiles {
    /// Whether a path leads to a directory; if not, `errno` says why, or is 0.
    package static func isDirectory(_ path: String) -> Bool {
        var found = stat()
        errno = 0
        return unsafe stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }
}

package enum Environment {
    /// The value of a variable; nil where it is not set.
    package static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}

/// Identifies a file on this machine, independent of its names.
package struct FileIdentity: Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// The file that a path leads to; nil if there is none that can be seen.
    package init?(path: String) {
        guard let status = SystemFiles.status(of: path) else { return nil }
        self.init(status)
    }

    /// The file of an open descriptor; nil if the descriptor is closed.
    package init?(descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

/// Inode, size and times of a file. They differ if the file was changed or replaced.
package struct FileSignature: Equatable, Sendable {
    package private(set) var byteCount = 0
    private var numbers: [Int] = []

    /// Looks at a file; nil if there is none.
    ///
    /// A file in a directory that the user may not enter is none: `HOME` names somebody else's after some uses of `sudo`.
    package init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            if [ENOENT, ENOTDIR, EACCES].contains(errno) { return nil }
            // Reading the file tells what is wrong.
            return
        }
        byteCount = Int(status.st_size)
        numbers = [
            Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), byteCount, status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}
