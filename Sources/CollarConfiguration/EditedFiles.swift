import CollarErrors
import CollarJournal
import LinuxSystem

/// A file that a person edits while programs use it.
protocol EditedFile {
    /// The content of a missing file.
    init()
    /// The largest file that is read, in bytes.
    static var byteLimit: Int { get }
    /// The code of an error in the file.
    static var code: ErrorCode { get }
    /// Other files that the content comes from.
    var furtherPaths: [String] { get }
    init(_ content: [UInt8], path: String) throws(EditedFileFault)
}

extension EditedFile {
    /// Reads a file. A missing one is empty.
    static func read(_ path: String) throws(EditedFileFault) -> Self {
        var bytes: [UInt8] = []
        do throws(JournalError) {
            // A byte more tells of a file that grows while it is read, and of one that is too long.
            let limit = min(FileSignature(path: path)?.byteCount ?? 0, byteLimit) + 1
            bytes = try SmallFile.contents(of: path, byteLimit: limit, POSIXFileSystem())
        } catch {
            guard case .file(let failure) = error else { return Self() }
            throw .unreadable(failure, code)
        }
        return try Self(bytes, path: path)
    }
}

/// Files of one kind, which are read again when they have changed.
struct EditedFiles<Content: EditedFile> {
    private struct File {
        let path: String
        /// Signatures of the file, and of those that its content comes from; nil for a missing one.
        var signatures: [FileSignature?] = [nil]
        /// The content that was read last without an error.
        var content = Content()
        /// Why the present content cannot be used; nil if it can.
        var fault: EditedFileFault?

        var presentSignatures: [FileSignature?] {
            ([path] + content.furtherPaths + [fault?.furtherPath].compactMap { $0 }).map { FileSignature(path: $0) }
        }
    }

    private var files: [File]

    /// Names the files; nothing is read yet.
    /// - Parameter paths: each overrides those after it.
    init(paths: [String]) { files = paths.map { File(path: $0) } }

    /// The files with their contents, in the order in which they were named. A missing file is empty.
    var contents: [(path: String, content: Content)] { files.map { ($0.path, $0.content) } }

    /// Why files cannot be used as they are now.
    var faults: [EditedFileFault] { files.compactMap(\.fault) }

    /// Reads the files that have changed since the last call.
    /// - Returns: why changed files cannot be used; nil if no file has changed.
    mutating func refresh() -> [EditedFileFault]? {
        var faults: [EditedFileFault]?
        for index in files.indices {
            let path = files[index].path
            guard files[index].signatures != files[index].presentSignatures else { continue }
            files[index].fault = nil
            do throws(EditedFileFault) { files[index].content = try Content.read(path) } catch { files[index].fault = error }
            files[index].signatures = files[index].presentSignatures
            faults = (faults ?? []) + [files[index].fault].compactMap { $0 }
        }
        return faults
    }
}

/// Why a file that a person edits cannot be used.
package enum EditedFileFault: Error, Equatable, Sendable {
    case unreadable(FileFailure, ErrorCode)
    case animals(path: String, AnimalRegisterError)
    case places(path: String, PlaceFileError)

    /// The exit code of a command that cannot do without the file.
    package var exitCode: ExitCode {
        switch self {
        case .unreadable(let failure, _) where failure.isDenial: .noPermission
        case .unreadable, .animals, .places: .configuration
        }
    }

    /// The file that has to change, where it is not the edited one.
    var furtherPath: String? { if case .places(_, let error) = self { error.problem.areaPath } else { nil } }

    /// The code of the error.
    package var code: ErrorCode {
        switch self {
        case .unreadable(_, let code): code
        case .animals: AnimalRegister.code
        case .places: PlaceFile.code
        }
    }

    /// The fault, for a person: where it is, what is wrong, and what to do about it.
    package var message: UserMessage {
        switch self {
        case .unreadable(let failure, let code):
            UserMessage(
                code, "\(failure.path) cannot be read: \(SystemError.text(failure.errorNumber)).", "Let this user read the file, or remove it.")
        case .animals(let path, let error): error.message(path: path)
        case .places(let path, let error): error.message(path: path)
        }
    }
}
