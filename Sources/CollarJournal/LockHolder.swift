import Glibc

/// The process id in a lock file, for the message that a second process gets. The lock itself is the kernel's.
enum LockHolder {
    /// Keeps a second process out of a directory, as long as the file stays open.
    /// - Throws: ``JournalError/heldBy(processID:path:)`` where another process is in it.
    static func lock(
        _ path: String, of directory: String, _ fileSystem: any FileSystem
    ) throws(JournalError) -> FileReference {
        let file = try JournalError.wrapping { () throws(FileFailure) in
            try fileSystem.open(path, .creatingIfMissing)
        }
        do throws(FileFailure) {
            if try fileSystem.lock(file) {
                try write(to: file, fileSystem)
                return file
            }
        } catch {
            fileSystem.close(file)
            throw .file(error)
        }
        let holder = read(from: file, fileSystem)
        fileSystem.close(file)
        throw .heldBy(processID: holder, path: directory)
    }

    private static func write(to file: FileReference, _ fileSystem: any FileSystem) throws(FileFailure) {
        let text = Array("\(getpid())\n".utf8)
        do throws(FileFailure) {
            try fileSystem.truncate(file, to: 0)
            var done = 0
            while done < text.count { done += try fileSystem.write(text, from: done, to: file, at: done) }
        } catch {
            // On a full disk the lock holds without a name.
            guard error.isLackOfRoom else { throw error }
        }
    }

    private static func read(from file: FileReference, _ fileSystem: any FileSystem) -> Int32? {
        var text: [UInt8] = []
        do throws(FileFailure) { try fileSystem.read(from: file, at: 0, count: 16, into: &text) } catch { return nil }
        return Int32(String(decoding: text.prefix { $0 >= 0x30 && $0 <= 0x39 }, as: UTF8.self))
    }
}
