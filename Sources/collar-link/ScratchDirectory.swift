import CollarJournal
import CollarReceiver
import Glibc
import LinuxSystem
import SerialDevices

/// A new directory for the time of one command.
struct ScratchDirectory {
    /// Its path.
    let path: String

    /// Makes the directory below `TMPDIR`, else below `/tmp`; only this user may enter it.
    init() throws(CommandFailure) {
        let parent = Environment.value("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = Array("\(parent)/collar-link-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw CommandFailure(
                .cannotCreate, "no directory can be made in \(parent): \(SystemError.text(errno))",
                remedy: "Name another place: TMPDIR=DIR, or --state-dir DIR.")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the directory and all that is in it, as far as the system lets it.
    func remove() { ScratchDirectory.remove(path, POSIXFileSystem(stateDirectory: path)) }

    private static func remove(_ path: String, _ files: POSIXFileSystem) {
        do throws(FileFailure) { try files.remove(path) } catch {
            for name in (try? files.names(in: path)) ?? [] { remove("\(path)/\(name)", files) }
            unsafe _ = rmdir(path)
        }
    }
}

extension ScratchDirectory? {
    /// The path of the directory, or without one, that of the state directory.
    func directory(_ arguments: ParsedArguments) throws(CommandFailure) -> String {
        if let path = self?.path { return path }
        return try arguments.stateDirectory()
    }
}
