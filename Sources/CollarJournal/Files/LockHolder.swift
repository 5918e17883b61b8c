import CheckedNumbers

/// Takes the kernel's locks, and keeps the process id in a lock file for the error message of a second process.
enum LockHolder {
    /// Locks a directory against other processes as long as the returned reference stays open.
    /// - Returns: nil if another process has the lock.
    static func lock(directory path: String, _ fileSystem: any FileSystem) throws(JournalError) -> FileReference? {
        try JournalError.wrapping { () throws(FileFailure) in
            let directory = try fileSystem.open(path, .directory)
            do throws(FileFailure) { if try fileSystem.lock(directory) { return directory } } catch {
                fileSystem.close(directory)
                throw error
            }
            fileSystem.close(directory)
            return nil
        }
    }

    /// Writes the id of this process to a lock file.
    static func write(to file: FileReference, _ fileSystem: any FileSystem) throws(FileFailure) {
        let text = Array("\(fileSystem.processID)\n".utf8)
        do throws(FileFailure) {
            try fileSystem.truncate(file, to: 0)
            var done = 0
            while done < text.count { done += try fileSystem.write(text, from: done, to: file, at: done) }
        } catch {
            // On a full disk the lock holds without a process id in the file.
            guard error.isLackOfRoom else { throw error }
        }
    }

    /// The process id in a lock file; nil if there is none.
    static func processID(in path: String, _ fileSystem: any FileSystem) -> Int32? {
        do throws(JournalError) {
            let text = try SmallFile.contents(of: path, fileSystem)
            return Int32(digits: text.prefix { $0 >= 0x30 && $0 <= 0x39 }, radix: 10, in: 1 ... .max)
        } catch { return nil }
    }
}
