import CollarErrors
import CollarReceiver
import Glibc
import LinuxSystem
import SerialDevices

/// The udev rule file of the adapters that a person has marked.
struct RulesFile {
    /// Where udev looks for rules of the machine.
    static let systemDirectory = "/etc/udev/rules.d"
    /// The name of the file. udev reads it before `70-collar-link.rules`, which acts on the mark, and after `60-serial.rules`,
    /// which finds the numbers of an adapter.
    static let name = "69-my-collar-link.rules"

    /// The directory of the file.
    let directory: String

    /// The path of the file.
    var path: String { "\(directory)/\(RulesFile.name)" }

    /// The lines of the rule that the file does not have yet.
    func missing(of rule: MarkingRule) throws(CommandFailure) -> [String] {
        let present = Set(String(decoding: try content(), as: UTF8.self).split(separator: "\n").map(String.init))
        return rule.lines.filter { !present.contains($0) }
    }

    /// Whether this user may write the file.
    var isWritable: Bool {
        if unsafe access(path, F_OK) == 0 { return unsafe access(path, W_OK) == 0 }
        return unsafe access(directory, W_OK | X_OK) == 0
    }

    /// Whether the directory of the file exists.
    var hasDirectory: Bool { unsafe access(directory, F_OK) == 0 }

    /// Appends lines to the file, which is created if there is none.
    func append(_ lines: [String]) throws(CommandFailure) {
        let content = try content()
        let text = lines.map { $0 + "\n" }.joined()
        let bytes = Array(((content.isEmpty || content.last == UInt8(ascii: "\n") ? "" : "\n") + text).utf8)
        let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw unwritable(errno) }
        defer { _ = close(descriptor) }
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes[done...].withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw unwritable(errno) }
            done += count
        }
        guard fsync(descriptor) == 0 else { throw unwritable(errno) }
    }

    private func content() throws(CommandFailure) -> [UInt8] {
        guard unsafe access(path, F_OK) == 0 || errno != ENOENT else { return [] }
        var input = try ChunkInput(path: path)
        var content: [UInt8] = []
        while let chunk = try input.next() { content += chunk }
        return content
    }

    private func unwritable(_ errorNumber: Int32) -> CommandFailure {
        CommandFailure(
            errorNumber == EACCES || errorNumber == EPERM ? .noPermission : .cannotCreate,
            "\(path) cannot be written: \(SystemError.text(errorNumber))",
            remedy: errorNumber == ENOENT ? "Make the directory first: `\(ShellCommand("sudo", "mkdir", "-p", directory).text)`." : nil)
    }
}
