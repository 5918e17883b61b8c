/// Appends lines to the event log of a state directory. The holder of the ``StateDirectoryLock`` is the only writer.
package final class EventLogWriter {
    private let files: EventFiles
    private var current: (number: UInt32, file: FileReference, byteCount: Int)?

    /// Prepares to write; nothing is made yet.
    package init(stateDirectory: String, fileSystem: (any FileSystem)? = nil) {
        files = EventFiles(stateDirectory: stateDirectory, fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory))
    }

    deinit { close() }

    /// Appends a line, which ends with a line feed.
    ///
    /// Complexity: one system call, and a few more for the first line and for the first line of a file.
    /// - Throws: a failure; the next call tries again, and this line is lost.
    package func append(_ line: [UInt8]) throws(FileFailure) {
        do throws(FileFailure) {
            if current == nil { try openNewest() }
            if let full = current, full.byteCount > 0, full.byteCount + line.count > EventFiles.byteLimit {
                close()
                try begin(full.number + 1)
            }
            guard let (number, file, byteCount) = current else { return }
            var done = 0
            while done < line.count { done += try files.fileSystem.write(line, from: done, to: file, at: byteCount + done) }
            current = (number, file, byteCount + line.count)
        } catch {
            // What was written of the line is written over, or counts as a line that no reader understands.
            close()
            throw error
        }
    }

    private func close() {
        if let current { files.fileSystem.close(current.file) }
        current = nil
    }

    private func openNewest() throws(FileFailure) {
        guard let newest = try files.numbers().last else { return try begin(1) }
        let file = try files.fileSystem.open(files.path(of: newest), .writing)
        do throws(FileFailure) {
            var byteCount = try files.fileSystem.byteCount(of: file)
            var last: [UInt8] = []
            if byteCount > 0 { try files.fileSystem.read(from: file, at: byteCount - 1, count: 1, into: &last) }
            if let byte = last.first, byte != UInt8(ascii: "\n") {
                // A process that was killed left a part of a line.
                byteCount += try files.fileSystem.write([UInt8(ascii: "\n")], from: 0, to: file, at: byteCount)
            }
            current = (newest, file, byteCount)
        } catch {
            files.fileSystem.close(file)
            throw error
        }
    }

    /// Begins a file, and removes those that are no longer kept.
    private func begin(_ number: UInt32) throws(FileFailure) {
        let fileSystem = files.fileSystem
        _ = try JournalDirectory.makeShared(files.path, fileSystem: fileSystem)
        current = (number, try fileSystem.open(files.path(of: number), .creatingIfMissing), 0)
        _ = try fileSystem.share(files.path(of: number), as: .readableFile)
        for old in try files.numbers() where old + UInt32(EventFiles.fileCount) <= number {
            try fileSystem.remove(files.path(of: old))
        }
    }
}
