/// A file that is read and replaced as a whole.
enum SmallFile {
    /// Its first 256 bytes; none where it is missing.
    static func contents(of path: String, _ fileSystem: any FileSystem) throws(JournalError) -> [UInt8] {
        do throws(FileFailure) {
            let file = try fileSystem.open(path, .reading)
            defer { fileSystem.close(file) }
            var bytes: [UInt8] = []
            try fileSystem.read(from: file, at: 0, count: 256, into: &bytes)
            return bytes
        } catch {
            if error.isAbsence { return [] }
            throw .file(error)
        }
    }

    /// Replaces the file, durably. Whatever a crash cuts short, either the old or the new content is there, and a file that has
    /// the name is durable except for the name.
    static func replace(
        _ path: String, in directory: String, with bytes: [UInt8], _ fileSystem: any FileSystem
    ) throws(FileFailure) {
        let new = try create(for: path, fileSystem)
        try finish(new, as: path, in: directory, with: bytes, fileSystem)
    }

    /// Makes the empty file that is to replace the one at `path`.
    /// - Returns: its path, for ``finish(_:as:in:with:_:)``.
    static func create(for path: String, _ fileSystem: any FileSystem) throws(FileFailure) -> String {
        let newPath = "\(path).new"
        // A failed attempt may have left a file. After a power cut during a rename it may even be the current file under a
        // second name, which must not be written to.
        do throws(FileFailure) { try fileSystem.remove(newPath) } catch {
            guard error.isAbsence else { throw error }
        }
        fileSystem.close(try fileSystem.open(newPath, .creatingIfMissing))
        return newPath
    }

    /// Fills the new file, and gives it the name.
    static func finish(
        _ newPath: String, as path: String, in directory: String, with bytes: [UInt8], _ fileSystem: any FileSystem
    ) throws(FileFailure) {
        try write(bytes, to: newPath, fileSystem)
        try fileSystem.rename(newPath, to: path)
        try fileSystem.synchronizeDirectory(at: directory)
    }

    private static func write(
        _ bytes: [UInt8], to path: String, _ fileSystem: any FileSystem
    ) throws(FileFailure) {
        let file = try fileSystem.open(path, .creatingIfMissing)
        defer { fileSystem.close(file) }
        var done = 0
        while done < bytes.count { done += try fileSystem.write(bytes, from: done, to: file, at: done) }
        try fileSystem.synchronize(file)
    }
}
