import CollarARQ
import CollarErrors
import CollarFormats
import CollarJournal
import LinuxSystem

/// The animals files, which are read again when they have changed.
package struct AnimalFiles {
    private struct File {
        package let path: String
        package var signature: FileSignature?
        /// The content that was read last without an error.
        package var register = AnimalRegister()
        /// Why the present content cannot be used; nil if it can.
        package var fault: AnimalFileFault?
    }

    private var files: [File]
    /// When the files were looked at last; nil before the first time.
    private var lookedAt: Instant?
    /// Time between two looks, in microseconds, see ``refresh(at:)``.
    private static let interval: Int64 = 1_000_000
    /// Which animal wears which collar: by each file as it was when it could be used last. Where two files contradict each other,
    /// the first counts.
    package private(set) var deployments = DeploymentTable()

    /// Names the files; nothing is read yet.
    /// - Parameter paths: those that go before others first.
    package init(paths: [String]) { files = paths.map { File(path: $0) } }

    /// The files with their animals, in the order in which they were named. A missing file has none.
    package var registers: [(path: String, register: AnimalRegister)] { files.map { ($0.path, $0.register) } }

    /// Why files cannot be used as they are now.
    package var faults: [AnimalFileFault] { files.compactMap(\.fault) }

    /// Reads the files that have changed, at most once a second. A program calls this when it makes a line, so that nothing wakes up
    /// for it.
    /// - Returns: why changed files cannot be used; nil if no file has changed, or none was looked at.
    package mutating func refresh(at now: Instant) -> [AnimalFileFault]? {
        if let lookedAt, now.microseconds(since: lookedAt) < AnimalFiles.interval { return nil }
        lookedAt = now
        return refresh()
    }

    /// Reads the files that have changed since the last call.
    /// - Returns: why changed files cannot be used; nil if no file has changed.
    package mutating func refresh() -> [AnimalFileFault]? {
        var faults: [AnimalFileFault]?
        for index in files.indices {
            let signature = FileSignature(path: files[index].path)
            guard signature != files[index].signature else { continue }
            files[index].signature = signature
            files[index].fault = nil
            do throws(AnimalFileFault) {
                files[index].register = try AnimalFiles.read(files[index].path, byteCount: signature?.byteCount ?? 0)
            } catch { files[index].fault = error }
            faults = (faults ?? []) + [files[index].fault].compactMap { $0 }
        }
        if faults != nil { deployments = DeploymentTable(files.flatMap(\.register.deployments)) }
        return faults
    }

    /// - Parameter byteCount: its size; no more is read than this and one byte, or what is too long.
    package static func read(_ path: String, byteCount: Int) throws(AnimalFileFault) -> AnimalRegister {
        var bytes: [UInt8] = []
        do throws(JournalError) {
            // A byte more tells of a file that grows while it is read, and of one that is too long.
            let limit = min(byteCount, AnimalRegister.byteLimit) + 1
            bytes = try SmallFile.contents(of: path, byteLimit: limit, POSIXFileSystem())
        } catch {
            guard case .file(let failure) = error else { return AnimalRegister() }
            throw .unreadable(failure)
        }
        do throws(AnimalRegisterError) { return try AnimalRegister(bytes) } catch { throw .wrong(path: path, error) }
    }
}

/// Why an animals file cannot be used.
package enum AnimalFileFault: Error, Equatable, Sendable {
    case unreadable(FileFailure)
    case wrong(path: String, AnimalRegisterError)

    /// The exit code of a command that cannot do without the file.
    package var exitCode: ExitCode {
        switch self {
        case .unreadable(let failure) where failure.isDenial: .noPermission
        case .unreadable, .wrong: .configuration
        }
    }
}
