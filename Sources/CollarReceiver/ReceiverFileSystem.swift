import CollarJournal
import Glibc

/// The files of this machine, where the limit of file sizes (`ulimit -f`) is one more quota: once it is raised writing goes on.
final class ReceiverFileSystem: FileSystem {
    private let files = POSIXFileSystem()

    func write(
        _ bytes: [UInt8], from start: Int, to file: FileReference, at offset: Int
    ) throws(FileFailure) -> Int {
        do throws(FileFailure) { return try files.write(bytes, from: start, to: file, at: offset) } catch {
            guard error.errorNumber == EFBIG else { throw error }
            throw FileFailure(error.operation, error.path, errorNumber: EDQUOT)
        }
    }

    func makeDirectory(at path: String) throws(FileFailure) -> Bool { try files.makeDirectory(at: path) }
    func names(in directory: String) throws(FileFailure) -> [String] { try files.names(in: directory) }
    func open(_ path: String, _ mode: FileMode) throws(FileFailure) -> FileReference { try files.open(path, mode) }
    func close(_ file: FileReference) { files.close(file) }
    func byteCount(of file: FileReference) throws(FileFailure) -> Int { try files.byteCount(of: file) }
    func origin(of file: FileReference) throws(FileFailure) -> FileOrigin { try files.origin(of: file) }
    func read(
        from file: FileReference, at offset: Int, count: Int, into buffer: inout [UInt8]
    ) throws(FileFailure) { try files.read(from: file, at: offset, count: count, into: &buffer) }
    func truncate(_ file: FileReference, to byteCount: Int) throws(FileFailure) { try files.truncate(file, to: byteCount) }
    func synchronize(_ file: FileReference) throws(FileFailure) { try files.synchronize(file) }
    func synchronizeDirectory(at path: String) throws(FileFailure) { try files.synchronizeDirectory(at: path) }
    func remove(_ path: String) throws(FileFailure) { try files.remove(path) }
    func rename(_ path: String, to newPath: String) throws(FileFailure) { try files.rename(path, to: newPath) }
    func lock(_ file: FileReference) throws(FileFailure) -> Bool { try files.lock(file) }
}
