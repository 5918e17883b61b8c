import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// The journal and the receiver's identity on a real file system.
@Suite struct RealFilesTests {
    /// Runs `body` with a new directory, which is removed afterwards.
    private func inTemporaryDirectory(_ body: (String) throws -> Void) throws {
        var random = SystemRandomNumberGenerator()
        let path = "/tmp/collar-journal-test-\(UInt64.random(in: .min ... .max, using: &random))"
        #expect(try POSIXFileSystem().makeDirectory(at: path))
        defer { remove(path) }
        try body(path)
    }

    private func remove(_ directory: String) {
        let files = POSIXFileSystem()
        for name in (try? files.names(in: directory)) ?? [] {
            let path = "\(directory)/\(name)"
            if (try? files.names(in: path)) != nil { remove(path) } else { try? files.remove(path) }
        }
        _ = unsafe rmdir(directory)
    }

    /// A child process has a copy of each descriptor until it executes its program.
    @Test func aClosedFileIsNotLockedThoughACopyOfItsDescriptorIsOpen() throws {
        try inTemporaryDirectory { directory in
            let files = POSIXFileSystem()
            let path = "\(directory)/file"
            let first = try files.open(path, .creatingIfMissing)
            #expect(try files.lock(first))
            let copy = dup(first.descriptor)
            defer { close(copy) }
            files.close(first)
            let second = try files.open(path, .creatingIfMissing)
            defer { files.close(second) }
            #expect(try files.lock(second))
        }
    }

    @Test func aJournalComesBackFromTheDisk() throws {
        try inTemporaryDirectory { directory in
            let state = "\(directory)/a/b"
            do {
                let journal = try openJournal(POSIXFileSystem(), limit: 5000, in: state)
                try append(0...299, to: journal)
                try journal.commit()
                try append(300...599, to: journal)
                journal.setEmissionCursor(journal.end)
                try journal.commit()
                #expect(try sequences(allEntries(journal)) == Array(0...599))
                var status = stat()
                #expect(unsafe stat(journal.directory.path, &status) == 0)
                #expect(status.st_mode & 0o777 == 0o700)
            }
            let journal = try openJournal(POSIXFileSystem(), limit: 5000, in: state)
            #expect(journal.segments == [1, 2, 3])
            #expect(try sequences(allEntries(journal)) == Array(0...599))
            #expect(try allEntries(journal, from: journal.emissionCursor) == [])
            #expect(journal.durable(logID: log).firstMissing == 600)
            let files = POSIXFileSystem()
            #expect(try JournalDirectory.knownCollars(stateDirectory: state, fileSystem: files) == [collar])
            #expect(try JournalDirectory.knownCollars(stateDirectory: "\(state)/none", fileSystem: files) == [])
        }
    }

    @Test func theSecondToOpenIsRefused() throws {
        try inTemporaryDirectory { directory in
            let files = POSIXFileSystem()
            let path = JournalDirectory(stateDirectory: directory, deviceID: collar).path
            do {
                let journal = try openJournal(files, in: directory)
                #expect(throws: JournalError.heldBy(processID: nil, path: path)) {
                    try openJournal(files, in: directory)
                }
                try append(0...0, to: journal)
                try journal.commit()
            }
            #expect(try openJournal(files, in: directory).durable(logID: log).firstMissing == 1)
        }
    }

    /// A cleaner of temporary files may remove a lock file, and a new file of that name is not locked. The lock on the directory
    /// still keeps others out.
    @Test func whoeverRemovesTheLockFileLetsNobodyIn() throws {
        try inTemporaryDirectory { directory in
            let files = POSIXFileSystem()
            let state = "\(directory)/state"
            let first = try StateDirectoryLock(state)
            #expect(throws: JournalError.heldBy(processID: getpid(), path: state)) { try StateDirectoryLock(state) }
            try files.remove("\(state)/lock")
            #expect(throws: JournalError.heldBy(processID: nil, path: state)) { try StateDirectoryLock(state) }
            let journal = try openJournal(files, in: state)
            for name in try files.names(in: journal.directory.path) where name == "lock" {
                try files.remove("\(journal.directory.path)/\(name)")
            }
            #expect(throws: JournalError.heldBy(processID: nil, path: journal.directory.path)) {
                try openJournal(files, in: state)
            }
            withExtendedLifetime(journal) {}
            withExtendedLifetime(first) {}
        }
    }

    @Test func aLinkInPlaceOfTheLockFileIsNotFollowed() throws {
        try inTemporaryDirectory { directory in
            let files = POSIXFileSystem()
            let target = try files.open("\(directory)/target", .creating)
            defer { files.close(target) }
            _ = try files.write(Array("precious".utf8), from: 0, to: target, at: 0)
            let state = "\(directory)/state"
            #expect(try files.makeDirectory(at: state))
            #expect(unsafe symlink("../target", "\(state)/lock") == 0)
            let failure = FileFailure(.create, "\(state)/lock", errorNumber: ELOOP)
            #expect(throws: JournalError.file(failure)) { try StateDirectoryLock(state) }
            #expect(try files.byteCount(of: target) == 8)
        }
    }

    @Test func aStateDirectoryThatOthersMayWriteToIsRefused() throws {
        try inTemporaryDirectory { directory in
            // Even in a sticky directory, others can create a file under a name that this program will use.
            for mode in [0o777, 0o770, 0o702, 0o1777] as [mode_t] {
                #expect(unsafe chmod(directory, mode) == 0)
                let error = JournalError.openToStrangers(.others, path: directory)
                #expect(throws: error) { try StateDirectoryLock(directory) }
            }
            for mode in [0o700, 0o755] as [mode_t] {
                #expect(unsafe chmod(directory, mode) == 0)
                _ = try StateDirectoryLock(directory)
            }
        }
    }

    @Test func whatIsWrittenToARemovedSegmentCountsForNothing() throws {
        try inTemporaryDirectory { directory in
            let files = POSIXFileSystem()
            for isReplaced in [false, true] {
                let state = "\(directory)/\(isReplaced)"
                let journal = try openJournal(files, in: state)
                try append(0...0, to: journal)
                try journal.commit()
                try files.rename(state, to: "\(state).moved")
                // With `isReplaced`, another process has begun a new journal at the old path.
                let other = isReplaced ? try openJournal(files, in: state) : nil
                try append(1...1, to: journal)
                let failure = FileFailure(
                    .find, journal.directory.path(ofSegment: 1), errorNumber: ENOENT)
                #expect(throws: JournalError.file(failure)) { try journal.commit() }
                #expect(journal.durable(logID: log).firstMissing == 1)
                #expect(throws: JournalError.stopped(after: failure)) { try journal.commit() }
                withExtendedLifetime(other) {}
            }
        }
    }

    /// Without `O_NONBLOCK`, opening a FIFO for reading would wait for a writer.
    @Test func aFIFOInPlaceOfASegmentFails() throws {
        try inTemporaryDirectory { directory in
            let path = JournalDirectory(stateDirectory: directory, deviceID: collar).path
            #expect(unsafe mkdir(path, 0o700) == 0)
            #expect(unsafe mkfifo("\(path)/00000001.journal", 0o600) == 0)
            let segment = "\(path)/00000001.journal"
            #expect(throws: JournalError.file(FileFailure(.read, segment, errorNumber: ESPIPE))) {
                try openJournal(POSIXFileSystem(), in: directory)
            }
            #expect(throws: JournalError.file(FileFailure(.open, segment, errorNumber: ENXIO))) {
                try openJournal(POSIXFileSystem(stateDirectory: directory), in: directory)
            }
        }
    }

    /// The owner of the state directory could lead root to any other directory by it.
    @Test func noLinkBelowTheStateDirectoryIsFollowed() throws {
        try inTemporaryDirectory { directory in
            let real = "\(directory)/real"
            #expect(try POSIXFileSystem().makeDirectory(at: real))
            // The state directory itself may be a link.
            let state = "\(directory)/state"
            #expect(unsafe symlink(real, state) == 0)
            let files = POSIXFileSystem(stateDirectory: state)
            #expect(try files.makeDirectory(at: "\(state)/a"))
            files.close(try files.open("\(state)/a/file", .creating))
            let link = "\(state)/link"
            #expect(unsafe symlink("a", link) == 0)
            #expect(try !files.makeDirectory(at: link))
            func fails(_ operation: FileOperation, at path: String = "\(directory)/state/link", _ body: () throws -> Void) {
                #expect(throws: FileFailure(operation, path, errorNumber: ELOOP)) { try body() }
            }
            fails(.list) { _ = try files.names(in: link) }
            fails(.open) { files.close(try files.open(link, .directory)) }
            fails(.open) { files.close(try files.open("\(link)/file", .reading)) }
            fails(.create) { files.close(try files.open("\(link)/new", .creating)) }
            fails(.create) { files.close(try files.open("\(link)/new", .creatingIfMissing)) }
            fails(.makeDirectory) { _ = try files.makeDirectory(at: "\(link)/new") }
            fails(.rename) { try files.rename("\(link)/file", to: "\(link)/other") }
            fails(.remove) { try files.remove("\(link)/file") }
            fails(.synchronize) { try files.synchronizeDirectory(at: link) }
            fails(.share) { _ = try files.share(link, as: .readableDirectory) }
            #expect(try files.names(in: "\(state)/a") == ["file"])
            // A link in the place of a file is not followed, whatever the use; it can be removed.
            let fileLink = "\(state)/a/link"
            #expect(unsafe symlink("file", fileLink) == 0)
            for mode in [.reading, .writing] as [FileMode] {
                fails(.open, at: fileLink) { files.close(try files.open(fileLink, mode)) }
            }
            try files.remove(fileLink)
            #expect(try files.names(in: "\(state)/a") == ["file"])
            #expect(throws: FileFailure(.open, "\(state)/a", errorNumber: EISDIR)) {
                files.close(try files.open("\(directory)/state/a", .reading))
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root")) func rootUsesOnlyDirectoriesOfTheOwnerOfTheStateDirectory() throws {
        try inTemporaryDirectory { directory in
            let files = POSIXFileSystem(stateDirectory: directory)
            #expect(unsafe chown(directory, 4000, 4001) == 0)
            for (name, owner) in [("own", 4000), ("root", 0), ("other", 4002)] as [(String, UInt32)] {
                let path = "\(directory)/\(name)"
                #expect(try files.makeDirectory(at: path))
                #expect(unsafe chown(path, owner, 4001) == 0)
                if owner == 4000 {
                    files.close(try files.open("\(path)/file", .creating))
                } else {
                    #expect(throws: FileFailure(.create, path, errorNumber: EPERM, foreignOwner: owner)) {
                        files.close(try files.open("\(path)/file", .creating))
                    }
                }
            }
        }
    }

    /// The receiver of that user could not use it otherwise.
    @Test(.enabled(if: geteuid() == 0, "needs root")) func whatRootMakesBelongsToTheOwnerOfTheDirectory() throws {
        try inTemporaryDirectory { directory in
            let files = POSIXFileSystem()
            func owner(of path: String) -> [UInt32] {
                var status = stat()
                return unsafe lstat(path, &status) == 0 ? [status.st_uid, status.st_gid] : []
            }
            files.close(try files.open("\(directory)/old", .creating))
            #expect(unsafe chown(directory, 4000, 4001) == 0)
            #expect(try files.makeDirectory(at: "\(directory)/a/"))
            #expect(try !files.makeDirectory(at: "\(directory)/a"))
            files.close(try files.open("\(directory)/a/b", .creating))
            files.close(try files.open("\(directory)/a/c", .creatingIfMissing))
            for name in ["a", "a/b", "a/c"] { #expect(owner(of: "\(directory)/\(name)") == [4000, 4001], "\(name)") }
            // This file was there before.
            files.close(try files.open("\(directory)/old", .creatingIfMissing))
            #expect(owner(of: "\(directory)/old") == [0, 0])
        }
    }

    @Test func failuresNameThePath() throws {
        let path = "/proc/version/a/0123456789abcdef"
        #expect(throws: JournalError.file(FileFailure(.makeDirectory, path, errorNumber: ENOTDIR))) {
            try openJournal(POSIXFileSystem(), in: "/proc/version/a")
        }
    }

    @Test func theReceiverStaysItselfOnItsMachineOnly() throws {
        try inTemporaryDirectory { directory in
            let machine = "\(directory)/machine"
            func load(_ machineIDPath: String) throws(JournalError) -> UInt32 {
                var places = ReceiverBinding.Places()
                places.machineID = machineIDPath
                var random = SystemRandomNumberGenerator()
                return try ReceiverIdentity.load(
                    stateDirectory: "\(directory)/state", places: places, fileSystem: POSIXFileSystem(), random: &random
                ).receiverID
            }
            let files = POSIXFileSystem()
            let file = try files.open(machine, .creating)
            defer { files.close(file) }
            _ = try files.write(Array("0123\n".utf8), from: 0, to: file, at: 0)
            let first = try load(machine)
            #expect(try load(machine) == first)
            #expect(try load("\(directory)/none") != first)
            _ = try files.write(Array("0124\n".utf8), from: 0, to: file, at: 0)
            #expect(try load(machine) != first)
        }
    }

    @Test func aFileIsAsOldAsItIs() throws {
        try inTemporaryDirectory { directory in
            let files = POSIXFileSystem()
            var before = timespec()
            _ = unsafe clock_gettime(CLOCK_REALTIME, &before)
            let file = try files.open("\(directory)/file", .creating)
            defer { files.close(file) }
            let origin = try files.origin(of: file)
            // A file system that keeps the birth time takes it from the coarse clock of the kernel, which may be slightly behind.
            #expect(origin.birthUnixSeconds == 0 || abs(origin.birthUnixSeconds - Int64(before.tv_sec)) <= 2)
            var status = stat()
            #expect(unsafe fstat(file.descriptor, &status) == 0)
            #expect(UInt64(origin.deviceMajor) == (UInt64(status.st_dev) >> 8) & 0xFFF)
            _ = try files.write([1], from: 0, to: file, at: 0)
            #expect(try files.origin(of: file) == origin, "writing makes no other file of it")
        }
    }
}
