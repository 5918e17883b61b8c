import CollarJournal
import Glibc

/// A file system in memory. A test can make its operations fail, and simulate a crash that loses what was not synchronised.
final class MemoryFileSystem: FileSystem {
    final class File {
        var bytes: [UInt8] = []
        /// The bytes that are certainly on the disk.
        var durable: [UInt8] = []
        var isNameDurable = false
        var isLocked = false
    }

    private(set) var files: [String: File] = [:]
    /// The replaced files, by path. If a crash comes before the directory is synchronised, they may get their names back.
    private var displaced: [String: File] = [:]
    /// The directories, by path. The value of each is the object that is locked.
    private var directories: [String: File] = ["/": File()]
    private var open: [Int32: File] = [:]
    private var lockers: Set<Int32> = []
    private var nextDescriptor: Int32 = 3

    /// The most bytes that all files together may hold.
    var room = Int.max
    /// The most bytes that one write accepts.
    var longestWrite = Int.max
    /// The devices and birth times of files, by path. Those of other files are unknown.
    var origins: [String: FileOrigin] = [:]
    /// The errors of the next calls: each entry makes one call of its operation fail.
    var failures: [(operation: FileOperation, errorNumber: Int32)] = []
    /// How many calls of an operation that ``failures`` names succeed before the first one fails.
    var callsBeforeFailure = 0
    /// Called when a call fails because of ``failures``, before it throws.
    var whenFailing: () -> Void = {}
    /// The error of the next synchronisation of a directory; nil if it succeeds.
    var directorySyncFailure: Int32?
    /// How often each operation that ``failures`` can make fail was called.
    private(set) var calls: [FileOperation: Int] = [:]
    /// Bytes read so far.
    private(set) var readByteCount = 0

    init() {}

    /// Bytes in all files together.
    var usedByteCount: Int { files.values.reduce(0) { $0 + $1.bytes.count } }

    /// Simulates a power cut. Each file keeps as many bytes as `keep` returns, given its durable and its written length. If
    /// `keepsName` returns false, a name that was not synchronised is lost, and the file that it replaced has the name again.
    /// No file stays open or locked.
    func crash(keep: (_ durable: Int, _ written: Int) -> Int, keepsName: () -> Bool = { true }) {
        open = [:]
        lockers = []
        for directory in directories.values { directory.isLocked = false }
        for (path, file) in files.sorted(by: { $0.key < $1.key }) {
            file.isLocked = false
            if !file.isNameDurable, !keepsName() {
                files[path] = displaced[path]
                continue
            }
            // A file that was truncated below its durable length stays truncated.
            let written = file.bytes.count
            let kept = written >= file.durable.count ? keep(file.durable.count, written) : written
            file.bytes = Array(file.bytes.prefix(kept))
            file.durable = file.bytes
            file.isNameDurable = true
        }
        displaced = [:]
    }

    /// The bytes of a file; nil if there is none.
    func contents(_ path: String) -> [UInt8]? { files[path]?.bytes }

    func corrupt(_ path: String, at offset: Int, xor mask: UInt8) {
        files[path]?.bytes[offset] ^= mask
    }

    func replace(_ path: String, with bytes: [UInt8]) {
        let file = File()
        file.bytes = bytes
        file.durable = bytes
        file.isNameDurable = true
        files[path] = file
    }

    private func begin(_ operation: FileOperation, _ path: String) throws(FileFailure) {
        calls[operation, default: 0] += 1
        guard let index = failures.firstIndex(where: { $0.operation == operation }) else { return }
        if callsBeforeFailure > 0 {
            callsBeforeFailure -= 1
            return
        }
        whenFailing()
        throw FileFailure(operation, path, errorNumber: failures.remove(at: index).errorNumber)
    }

    private func file(_ reference: FileReference) -> File {
        guard let file = open[reference.descriptor] else { preconditionFailure("the file is open") }
        return file
    }

    private func parent(of path: String) -> String {
        let name = path.split(separator: "/").dropLast().joined(separator: "/")
        return "/" + name
    }

    func makeDirectory(at path: String) throws(FileFailure) -> Bool {
        try begin(.makeDirectory, path)
        guard directories[path] == nil else { return false }
        guard directories[parent(of: path)] != nil else {
            throw FileFailure(.makeDirectory, path, errorNumber: ENOENT)
        }
        directories[path] = File()
        return true
    }

    func names(in directory: String) throws(FileFailure) -> [String] {
        try begin(.list, directory)
        guard directories[directory] != nil else { throw FileFailure(.list, directory, errorNumber: ENOENT) }
        let paths = files.keys + directories.keys.filter { $0 != "/" }
        let inside = paths.filter { parent(of: $0) == directory }
        return inside.compactMap { $0.split(separator: "/").last.map(String.init) }
    }

    func open(_ path: String, _ mode: FileMode) throws(FileFailure) -> FileReference {
        let mayCreate = mode == .creating || mode == .creatingIfMissing
        try begin(mayCreate ? .create : .open, path)
        let found = mode == .directory ? directories[path] : files[path]
        if found == nil, !mayCreate {
            throw FileFailure(.open, path, errorNumber: ENOENT)
        }
        if found != nil, mode == .creating { throw FileFailure(.create, path, errorNumber: EEXIST) }
        let file = found ?? File()
        if mode != .directory { files[path] = file }
        nextDescriptor += 1
        open[nextDescriptor] = file
        return FileReference(descriptor: nextDescriptor, path: path)
    }

    func exists(_ path: String) throws(FileFailure) -> Bool { files[path] != nil || directories[path] != nil }

    func checkName(of reference: FileReference) throws(FileFailure) {
        let file = file(reference)
        guard files[reference.path] !== file, directories[reference.path] !== file else { return }
        throw FileFailure(.find, reference.path, errorNumber: ENOENT)
    }

    func close(_ reference: FileReference) {
        if lockers.remove(reference.descriptor) != nil { open[reference.descriptor]?.isLocked = false }
        open[reference.descriptor] = nil
    }

    func origin(of file: FileReference) throws(FileFailure) -> FileOrigin { origins[file.path] ?? FileOrigin() }

    // There are no users, and the content does not depend on the real process.

    func share(_ path: String, as access: SharedAccess) throws(FileFailure) -> Bool { false }

    func owner(of path: String) throws(FileFailure) -> UInt32? { nil }

    func strangers(in directory: FileReference) throws(FileFailure) -> Strangers? { nil }

    let processID: Int32 = 1000

    func byteCount(of file: FileReference) throws(FileFailure) -> Int { self.file(file).bytes.count }

    func read(
        from reference: FileReference, at offset: Int, count: Int, into buffer: inout [UInt8]
    ) throws(FileFailure) {
        try begin(.read, reference.path)
        let bytes = file(reference).bytes
        let start = min(offset, bytes.count)
        buffer = Array(bytes[start..<min(start + count, bytes.count)])
        readByteCount += buffer.count
    }

    func write(
        _ bytes: [UInt8], from start: Int, to reference: FileReference, at offset: Int
    ) throws(FileFailure) -> Int {
        try begin(.write, reference.path)
        let file = file(reference)
        let free = room - usedByteCount + file.bytes.count - offset
        let count = min(bytes.count - start, longestWrite, free)
        guard count > 0 else { throw FileFailure(.write, reference.path, errorNumber: ENOSPC) }
        if file.bytes.count < offset + count {
            file.bytes += [UInt8](repeating: 0, count: offset + count - file.bytes.count)
        }
        file.bytes.replaceSubrange(offset..<(offset + count), with: bytes[start..<(start + count)])
        return count
    }

    func truncate(_ reference: FileReference, to byteCount: Int) throws(FileFailure) {
        try begin(.truncate, reference.path)
        let file = file(reference)
        file.bytes = Array(file.bytes.prefix(byteCount))
    }

    func synchronize(_ reference: FileReference) throws(FileFailure) {
        try begin(.synchronize, reference.path)
        let file = file(reference)
        file.durable = file.bytes
    }

    func synchronizeDirectory(at path: String) throws(FileFailure) {
        if let errorNumber = directorySyncFailure {
            directorySyncFailure = nil
            throw FileFailure(.synchronize, path, errorNumber: errorNumber)
        }
        for (name, file) in files where parent(of: name) == path {
            file.isNameDurable = true
            displaced[name] = nil
        }
    }

    func remove(_ path: String) throws(FileFailure) {
        try begin(.remove, path)
        guard files.removeValue(forKey: path) != nil else { throw FileFailure(.remove, path, errorNumber: ENOENT) }
    }

    func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try begin(.rename, path)
        guard let file = files[path] else { throw FileFailure(.rename, path, errorNumber: ENOENT) }
        if let former = files[newPath], former.isNameDurable { displaced[newPath] = former }
        files[path] = nil
        files[newPath] = file
        file.isNameDurable = false
    }

    func lock(_ reference: FileReference) throws(FileFailure) -> Bool {
        let file = file(reference)
        guard !file.isLocked else { return false }
        file.isLocked = true
        lockers.insert(reference.descriptor)
        return true
    }
}
