import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// The journal and the receiver's identity on a real file system.
@Suite struct RealFilesTests {
    /// Runs in a directory of its own, which goes afterwards.
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

    @Test func theSecondToOpenIsToldWhoHoldsIt() throws {
        try inTemporaryDirectory { directory in
            let files = POSIXFileSystem()
            let path = JournalDirectory(stateDirectory: directory, deviceID: collar).path
            do {
                let journal = try openJournal(files, in: directory)
                #expect(throws: JournalError.heldBy(processID: getpid(), path: path)) {
                    try openJournal(files, in: directory)
                }
                try append(0...0, to: journal)
                try journal.commit()
            }
            #expect(try openJournal(files, in: directory).durable(logID: log).firstMissing == 1)
            #expect(JournalError.heldBy(processID: 4711, path: path).description.contains("4711"))
        }
    }

    @Test func failuresNameThePathAndARemedy() throws {
        let path = "/proc/version/a/0123456789abcdef"
        #expect(throws: JournalError.file(FileFailure(.makeDirectory, path, errorNumber: ENOTDIR))) {
            try openJournal(POSIXFileSystem(), in: "/proc/version/a")
        }
        let failure = JournalError.file(FileFailure(.write, "/x/00000001.journal", errorNumber: ENOSPC))
        #expect(failure.description == "cannot write to /x/00000001.journal: No space left on device")
        #expect(failure.remedy == "Make room on the disk that holds /x/00000001.journal.")
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
            // File systems that keep it keep it exactly; the clock of the kernel ticks a little behind.
            #expect(origin.birthUnixSeconds == 0 || abs(origin.birthUnixSeconds - Int64(before.tv_sec)) <= 2)
            var status = stat()
            #expect(unsafe fstat(file.descriptor, &status) == 0)
            #expect(UInt64(origin.deviceMajor) == (UInt64(status.st_dev) >> 8) & 0xFFF)
            _ = try files.write([1], from: 0, to: file, at: 0)
            #expect(try files.origin(of: file) == origin, "writing makes no other file of it")
        }
    }
}
