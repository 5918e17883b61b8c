import Glibc
import LinuxSystem

/// Passes on the facts of a machine, and remembers each, so that they can be written to a directory.
package final class MachineRecorder: MachineFacts {
    private let machine: any MachineFacts
    private var contents: [String: [UInt8]] = [:]
    private var facts: [String: String] = [:]
    /// Lines of the file at a path that are not recorded, because they may hold what nobody should send to others.
    private let isKept: (_ path: String, _ line: ArraySlice<UInt8>) -> Bool

    /// - Parameters:
    ///   - machine: the machine whose facts are passed on.
    ///   - isKept: whether a line of the file at a path is recorded.
    package init(
        _ machine: any MachineFacts, keeping isKept: @escaping (_ path: String, _ line: ArraySlice<UInt8>) -> Bool = { _, _ in true }
    ) {
        self.machine = machine
        self.isKept = isKept
    }

    package func content(of path: String) -> FileContent {
        let content = machine.content(of: path)
        switch content {
        case .bytes(let bytes):
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            contents[path] = Array(lines.filter { isKept(path, $0) }.joined(separator: [UInt8(ascii: "\n")]))
        case .refused: facts["refused \(path)"] = ""
        case .absent: break
        }
        return content
    }

    package func names(in directory: String) -> [String] {
        let names = machine.names(in: directory)
        for name in names { facts["entry \(directory == "/" ? "" : directory)/\(name)"] = "" }
        return names
    }

    package func linkTarget(of path: String) -> String? {
        let target = machine.linkTarget(of: path)
        if let target { facts["link \(path)"] = target }
        return target
    }

    package func text(of fact: MachineFact) -> String? {
        let text = machine.text(of: fact)
        if let text { facts[fact.key] = text }
        return text
    }

    /// Writes what was asked for so far to a directory, which must not exist.
    package func write(to directory: String) throws(SystemError) {
        try MachineRecorder.make(directory)
        for (path, bytes) in contents {
            var place = directory
            for name in path.split(separator: "/").dropLast() {
                place += "/\(name)"
                do throws(SystemError) { try MachineRecorder.make(place) } catch {
                    guard error.errno == EEXIST else { throw error }
                }
            }
            try MachineRecorder.write(bytes, to: directory + path)
        }
        let lines = facts.sorted { $0.key < $1.key }.map { FactLine(key: $0.key, value: $0.value).text }
        try MachineRecorder.write(Array(lines.joined().utf8), to: "\(directory)/facts")
    }

    private static func make(_ directory: String) throws(SystemError) {
        guard unsafe mkdir(directory, 0o700) == 0 else { throw SystemError(operation: "mkdir \(directory)", errno: errno) }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError(operation: "open \(path)", errno: errno) }
        defer { _ = close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError(operation: "write \(path)", errno: errno) }
            rest = rest.dropFirst(count)
        }
    }
}
