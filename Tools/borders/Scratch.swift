import Glibc

/// A directory for borders that need files, in memory where the system has such a place.
final class Scratch {
    let path: String

    init() {
        let folder = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/borders-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { fatalError("no directory can be made in \(folder)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Scratch.remove(path) }

    /// Replaces a file.
    func write(_ bytes: [UInt8], to path: String) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Makes a directory, and removes it after `body`.
    func withDirectory(_ name: String, _ body: (String) -> Void) {
        let place = "\(path)/\(name)"
        _ = unsafe mkdir(place, 0o700)
        body(place)
        Scratch.remove(place)
    }

    /// Makes the directories above a path.
    func makeParents(of path: String) {
        var place = ""
        for name in path.split(separator: "/").dropLast() {
            place += "/\(name)"
            _ = unsafe mkdir(place, 0o755)
        }
    }

    /// Removes a file, or a directory with all below it. Links are not followed.
    private static func remove(_ path: String) {
        if unsafe unlink(path) == 0 { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        _ = unsafe rmdir(path)
    }

    /// The names in a directory.
    static func names(in path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe _ = closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The bytes of a file; nil if it cannot be read.
    static func content(of path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return count < 0 ? nil : Array(bytes[..<count])
    }
}
