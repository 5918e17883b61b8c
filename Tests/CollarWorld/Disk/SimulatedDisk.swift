import CollarJournal
import CollarSimulator
import Glibc

/// A file system in memory that keeps the page cache and the disk apart and fails as disks do. There are short writes, failing
/// operations, full disks, failed synchronisations that leave the cache ahead of the disk, and power cuts that keep any part of
/// what was not synchronised.
package final class SimulatedDisk: FileSystem {
    /// A file that a process has open.
    private struct OpenFile {
        let file: DiskFile
        /// The failed synchronisations of the file that this process knows of. The kernel reports each failure once to every
        /// process that had the file open.
        var knownFailureCount: Int
    }

    /// The faults that happen now.
    package var faults = DiskFaults()
    /// Whether the system has stopped in the middle of an operation, see ``DiskFaults/operationsUntilStop``.
    package private(set) var isStopped = false
    /// Number of operations so far that read or change anything.
    package private(set) var operationCount = 0
    /// Called with every failure.
    var failed: ((FileFailure) -> Void)?
    /// Called before every operation that may change something: other processes may run now.
    var changing: ((FileOperation) -> Void)?
    private let tree: DiskTree
    private var opened: [Int32: OpenFile] = [:]
    private var nextDescriptor: Int32 = 3
    private var random: SeededRandom

    /// Creates an empty disk; everything random about it comes from the seed.
    package init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        tree = DiskTree()
    }

    /// The same disk as another process uses it: with open files, locks and faults of its own.
    package init(sharing other: SimulatedDisk, seed: UInt64) {
        random = SeededRandom(seed: seed)
        tree = other.tree
    }

    /// Grows with every operation of any process that may change a file or a name, in the cache or on the disk.
    private(set) var generation: Int {
        get { tree.generation }
        set { tree.generation = newValue }
    }
    /// Whether an operation of any process failed, or somebody else changed the disk, so that durable bytes may be gone.
    var isDisturbed: Bool { tree.isDisturbed }
    private var names: [String: DiskFile] {
        get { tree.names }
        _modify { yield &tree.names }
    }
    private var durableNames: [String: DiskFile] {
        get { tree.durableNames }
        _modify { yield &tree.durableNames }
    }
    private var nameChanges: [DiskTree.NameChange] {
        get { tree.nameChanges }
        _modify { yield &tree.nameChanges }
    }

    /// The process ends: its files are closed, and the cache stays.
    package func endProcess() {
        for (descriptor, open) in opened where open.file.lockHolder?.isHeld(by: self, descriptor) == true {
            open.file.lockHolder = nil
        }
        opened = [:]
        isStopped = false
        faults.operationsUntilStop = nil
    }

    /// The machine loses power: any part of the changes of files and names that were not synchronised has reached the disk.
    /// Other processes that share the disk must have ended.
    package func losePower() {
        endProcess()
        generation += 1
        for change in nameChanges where random.chance(0.5) { apply(change) }
        nameChanges = []
        durableNames = reachableDurableNames
        names = durableNames
        for (_, file) in names.sorted(by: { $0.key < $1.key }) { file.crash(&random) }
    }

    /// A copy of all files: the bytes of each, by path; nil for a directory.
    typealias Snapshot = [String: [UInt8]?]

    /// Copies the files as the running system sees them.
    func snapshot() -> Snapshot { names.mapValues { $0.isDirectory ? nil : $0.cached } }

    /// Copies the files as they are on the disk, without anything that only the page cache has.
    func durableSnapshot() -> Snapshot { reachableDurableNames.mapValues { $0.isDirectory ? nil : $0.durable } }

    /// Replaces all files, in the cache and on the disk. A process that runs keeps its open files, which have no names any
    /// more.
    /// - Parameter snapshot: the new files; nil for none.
    func restore(_ snapshot: Snapshot?) {
        generation += 1
        tree.isDisturbed = true
        nameChanges = []
        names = ["/": DiskFile(isDirectory: true)]
        for (path, bytes) in snapshot ?? [:] where path != "/" {
            let file = DiskFile(isDirectory: bytes == nil)
            if let bytes {
                file.write(bytes[...], at: 0)
                file.synchronize()
            }
            names[path] = file
        }
        durableNames = names
    }

    /// Adds a file or a directory, durable at once, if the directory above it is durable and has no such name.
    func add(_ name: String, to directory: String, isDirectory: Bool) {
        let path = directory + "/" + name
        guard names[directory] != nil, durableNames[directory] != nil, names[path] == nil else { return }
        generation += 1
        let file = DiskFile(isDirectory: isDirectory)
        file.write([0x68, 0x69, 0x0A], at: 0)
        file.synchronize()
        names[path] = file
        durableNames[path] = file
    }

    /// The files in a directory whose names no crash can remove, in the order of their names.
    func certainFiles(in directory: String) -> [(path: String, file: DiskFile)] {
        let prefix = directory + "/"
        return durableNames.filter { path, file in
            path.hasPrefix(prefix) && !nameChanges.contains { $0.path == path && $0.file !== file || $0.formerPath == path }
        }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Changes bytes on the disk without an operation of the system, as damage does.
    func damage(_ file: DiskFile, at offsets: Range<Int>, _ change: (UInt8) -> UInt8) {
        generation += 1
        tree.isDisturbed = true
        for offset in offsets { file.damage(at: offset, change) }
    }

    private func begin(_ operation: FileOperation, _ path: String, isChange: Bool) throws(FileFailure) {
        operationCount += 1
        if isChange {
            changing?(operation)
            generation += 1
        }
        if let left = faults.operationsUntilStop {
            if left == 0 { isStopped = true }
            faults.operationsUntilStop = max(0, left - 1)
        }
        if isStopped { throw failure(operation, path, EIO) }
        if let left = faults.operationsUntilFailure {
            faults.operationsUntilFailure = left == 0 ? nil : left - 1
            if left == 0 { throw failure(operation, path, faults.failureNumber) }
        }
        if isChange, faults.isReadOnly { throw failure(operation, path, EROFS) }
        if faults.errorProbability > 0, random.chance(faults.errorProbability) {
            throw failure(operation, path, EIO)
        }
    }

    private func failure(_ operation: FileOperation, _ path: String, _ errorNumber: Int32) -> FileFailure {
        let failure = FileFailure(operation, path, errorNumber: errorNumber)
        if !isStopped, errorNumber == EIO || errorNumber == ENOSPC || errorNumber == EROFS { tree.isDisturbed = true }
        failed?(failure)
        return failure
    }

    /// The names on the disk. The content of a directory that is lost is lost too.
    private var reachableDurableNames: [String: DiskFile] {
        var reachable = durableNames
        // A directory sorts before its content.
        for path in durableNames.keys.sorted() where reachable[SimulatedDisk.parent(of: path)] == nil { reachable[path] = nil }
        return reachable
    }

    private func file(_ reference: FileReference) -> DiskFile {
        guard let file = opened[reference.descriptor]?.file else { preconditionFailure("the file is open") }
        return file
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private func apply(_ change: DiskTree.NameChange) {
        durableNames[change.path] = change.file
        if let formerPath = change.formerPath { durableNames[formerPath] = nil }
    }

    private func setName(_ path: String, _ file: DiskFile?) {
        names[path] = file
        nameChanges.append(DiskTree.NameChange(path: path, file: file))
    }

    /// Adds a new file. This can fail on a disk that is nearly full.
    private func make(_ operation: FileOperation, _ path: String, _ file: DiskFile) throws(FileFailure) {
        guard let parent = names[SimulatedDisk.parent(of: path)] else { throw failure(operation, path, ENOENT) }
        guard parent.isDirectory else { throw failure(operation, path, ENOTDIR) }
        if let room = faults.room, room < 64, random.chance(0.5) { throw failure(operation, path, ENOSPC) }
        setName(path, file)
    }

    /// Makes one directory.
    /// - Returns: false if it exists already.
    package func makeDirectory(at path: String) throws(FileFailure) -> Bool {
        let isNew = names[path] == nil
        try begin(.makeDirectory, path, isChange: isNew)
        if isNew { try make(.makeDirectory, path, DiskFile(isDirectory: true)) }
        return isNew
    }

    /// The names in a directory.
    package func names(in directory: String) throws(FileFailure) -> [String] {
        try begin(.list, directory, isChange: false)
        if names[directory]?.isDirectory == false { throw failure(.list, directory, ENOTDIR) }
        guard names[directory] != nil else { throw failure(.list, directory, ENOENT) }
        return listing(of: directory)
    }

    /// The names in a directory, without an operation of the system.
    func listing(of directory: String) -> [String] {
        let prefix = directory == "/" ? "/" : directory + "/"
        return names.keys.filter { $0.hasPrefix(prefix) && $0 != "/" && SimulatedDisk.parent(of: $0) == directory }
            .map { String($0.dropFirst(prefix.count)) }.sorted()
    }

    /// Opens a file.
    package func open(_ path: String, _ mode: FileMode) throws(FileFailure) -> FileReference {
        let mayCreate = mode == .creating || mode == .creatingIfMissing
        let operation: FileOperation = mayCreate ? .create : .open
        try begin(operation, path, isChange: ![.reading, .directory].contains(mode))
        if names[path] != nil, mode == .creating { throw failure(operation, path, EEXIST) }
        if names[path] == nil {
            guard mayCreate else { throw failure(operation, path, ENOENT) }
            try make(operation, path, DiskFile())
        }
        if mode == .directory, names[path]?.isDirectory == false { throw failure(operation, path, ENOTDIR) }
        nextDescriptor += 1
        if let file = names[path] { opened[nextDescriptor] = OpenFile(file: file, knownFailureCount: file.failureCount) }
        return FileReference(descriptor: nextDescriptor, path: path)
    }

    package func exists(_ path: String) throws(FileFailure) -> Bool { names[path] != nil }

    /// Makes sure that a file still has the name by which it was opened.
    package func checkName(of reference: FileReference) throws(FileFailure) {
        if names[reference.path] !== file(reference) { throw failure(.find, reference.path, ENOENT) }
    }

    /// Closes a file. Nothing happens if its process has ended.
    package func close(_ reference: FileReference) {
        guard let file = opened.removeValue(forKey: reference.descriptor)?.file else { return }
        if file.lockHolder?.isHeld(by: self, reference.descriptor) == true { file.lockHolder = nil }
    }

    /// The number of bytes in a file.
    package func byteCount(of reference: FileReference) throws(FileFailure) -> Int {
        try begin(.read, reference.path, isChange: false)
        return file(reference).cached.count
    }

    /// Reads from the cache.
    package func read(
        from reference: FileReference, at offset: Int, count: Int, into buffer: inout [UInt8]
    ) throws(FileFailure) {
        try begin(.read, reference.path, isChange: false)
        let bytes = file(reference).cached
        let start = min(offset, bytes.count)
        buffer = Array(bytes[start..<min(start + count, bytes.count)])
    }

    /// Writes to the cache. A write that fails with EIO may have written a part.
    package func write(
        _ bytes: [UInt8], from start: Int, to reference: FileReference, at offset: Int
    ) throws(FileFailure) -> Int {
        let file = self.file(reference)
        var count = bytes.count - start
        do throws(FileFailure) { try begin(.write, reference.path, isChange: true) } catch {
            if error.errorNumber == EIO { file.write(bytes[start..<(start + random.below(count + 1))], at: offset) }
            throw error
        }
        if faults.shortWriteProbability > 0, random.chance(faults.shortWriteProbability) {
            count = 1 + random.below(count)
        }
        if let room = faults.room {
            count = min(count, room + max(0, file.cached.count - offset))
            guard count > 0 else { throw failure(.write, reference.path, ENOSPC) }
            faults.room = room - max(0, offset + count - file.cached.count)
        }
        file.write(bytes[start..<(start + count)], at: offset)
        return count
    }

    /// Shortens or lengthens a file in the cache.
    // The disk has no devices, birth times and users, and its content does not depend on the real process.

    package func origin(of file: FileReference) throws(FileFailure) -> FileOrigin { FileOrigin() }

    package func share(_ path: String, as access: SharedAccess) throws(FileFailure) -> Bool { false }

    package func owner(of path: String) throws(FileFailure) -> UInt32? { nil }

    package func strangers(in directory: FileReference) throws(FileFailure) -> Strangers? { nil }

    package var processID: Int32 { 1000 }

    package func truncate(_ reference: FileReference, to byteCount: Int) throws(FileFailure) {
        try begin(.truncate, reference.path, isChange: true)
        let file = self.file(reference)
        if let room = faults.room { faults.room = room + max(0, file.cached.count - byteCount) }
        file.truncate(to: byteCount)
    }

    /// Brings the content of a file to the disk; if it fails, only a part of the content.
    package func synchronize(_ reference: FileReference) throws(FileFailure) {
        let file = self.file(reference)
        do throws(FileFailure) {
            try begin(.synchronize, reference.path, isChange: file.isChanged)
            if faults.isNextSyncFailing {
                faults.isNextSyncFailing = false
                throw failure(.synchronize, reference.path, EIO)
            }
            try promiseRoom(reference.path)
        } catch {
            if !isStopped {
                file.failToSynchronize(&random)
                opened[reference.descriptor]?.knownFailureCount = file.failureCount
            }
            throw error
        }
        guard opened[reference.descriptor]?.knownFailureCount == file.failureCount else {
            opened[reference.descriptor]?.knownFailureCount = file.failureCount
            throw failure(.synchronize, reference.path, EIO)
        }
        if !faults.ignoresSynchronization { file.synchronize() }
    }

    /// Brings the names in a directory to the disk; if it fails, only some of them.
    package func synchronizeDirectory(at path: String) throws(FileFailure) {
        var isWhole = true
        defer {
            for change in nameChanges where SimulatedDisk.parent(of: change.path) == path {
                if isWhole || random.chance(0.5) { apply(change) }
            }
            if isWhole { nameChanges.removeAll { SimulatedDisk.parent(of: $0.path) == path } }
        }
        let isChange = nameChanges.contains { SimulatedDisk.parent(of: $0.path) == path }
        do throws(FileFailure) {
            try begin(.synchronize, path, isChange: isChange)
            try promiseRoom(path)
        } catch {
            isWhole = false
            throw error
        }
    }

    /// On a disk with little room, a synchronisation can fail although the writes before it succeeded.
    private func promiseRoom(_ path: String) throws(FileFailure) {
        if faults.room != nil, random.chance(0.1) { throw failure(.synchronize, path, ENOSPC) }
    }

    /// Removes a name.
    package func remove(_ path: String) throws(FileFailure) {
        try begin(.remove, path, isChange: true)
        guard names[path] != nil else { throw failure(.remove, path, ENOENT) }
        setName(path, nil)
    }

    /// Gives a file another name, in one step.
    package func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try begin(.rename, path, isChange: true)
        guard let file = names[path] else { throw failure(.rename, path, ENOENT) }
        names[newPath] = file
        names[path] = nil
        nameChanges.append(DiskTree.NameChange(path: newPath, file: file, formerPath: path))
    }

    /// Takes the lock of a file.
    package func lock(_ reference: FileReference) throws(FileFailure) -> Bool {
        let file = self.file(reference)
        guard file.lockHolder == nil else { return false }
        file.lockHolder = LockOwner(process: self, descriptor: reference.descriptor)
        return true
    }
}

/// The open file that holds a lock.
struct LockOwner {
    private let process: ObjectIdentifier
    private let descriptor: Int32

    init(process: SimulatedDisk, descriptor: Int32) {
        self.process = ObjectIdentifier(process)
        self.descriptor = descriptor
    }

    func isHeld(by process: SimulatedDisk, _ descriptor: Int32) -> Bool {
        self.process == ObjectIdentifier(process) && self.descriptor == descriptor
    }
}
