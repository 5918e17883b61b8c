/// Reads the files of a journal's segments. The file that was read last stays open.
struct SegmentFiles: ~Copyable {
    let directory: JournalDirectory
    let fileSystem: any FileSystem
    private var open: (segment: UInt32, file: FileReference)?
    /// The most bytes of a file that belong to the segment, because offsets have 32 bits. Whoever adds more has damaged the file.
    private static let byteLimit = Int(UInt32.max)

    init(_ directory: JournalDirectory, _ fileSystem: any FileSystem) {
        self.directory = directory
        self.fileSystem = fileSystem
    }

    deinit { if let open { fileSystem.close(open.file) } }

    /// Replaces the content of `chunk` with `count` bytes of the file from `offset` on, or fewer if the file ends earlier.
    mutating func read(
        _ segment: UInt32, at offset: Int, count: Int = chunkByteCount, into chunk: inout [UInt8]
    ) throws(JournalError) {
        let file = try file(segment)
        do throws(FileFailure) {
            try fileSystem.read(from: file, at: offset, count: min(count, max(0, SegmentFiles.byteLimit - offset)), into: &chunk)
        } catch {
            // The next attempt opens the file again: by then the name may lead to another file.
            close()
            throw .file(error)
        }
    }

    mutating func byteCount(of segment: UInt32) throws(JournalError) -> Int {
        let file = try file(segment)
        return min(try JournalError.wrapping(try fileSystem.byteCount(of: file)), SegmentFiles.byteLimit)
    }

    /// Whether a segment's file exists and is the one that is read. If it is not, the next call opens the file of that name.
    mutating func isNamed(_ segment: UInt32) throws(JournalError) -> Bool {
        do throws(JournalError) {
            let file = try file(segment)
            try JournalError.wrapping(try fileSystem.checkName(of: file))
            return true
        } catch {
            guard case .file(let failure) = error, failure.isAbsence else { throw error }
            close()
            return false
        }
    }

    /// Whether there is a file of a segment.
    func exists(_ segment: UInt32) throws(JournalError) -> Bool {
        try JournalError.wrapping(try fileSystem.exists(directory.path(ofSegment: segment)))
    }

    /// Closes the open file if its name is gone or leads to another file.
    mutating func closeReplaced() throws(JournalError) {
        if let open { _ = try isNamed(open.segment) }
    }

    mutating func synchronize(_ segment: UInt32) throws(JournalError) {
        let file = try file(segment)
        do throws(FileFailure) { try fileSystem.synchronize(file) } catch {
            close()
            throw .file(error)
        }
    }

    private mutating func close() {
        if let open { fileSystem.close(open.file) }
        open = nil
    }

    private mutating func file(_ segment: UInt32) throws(JournalError) -> FileReference {
        if let open, open.segment == segment { return open.file }
        close()
        let file = try JournalError.wrapping(try fileSystem.open(directory.path(ofSegment: segment), .reading))
        open = (segment, file)
        return file
    }
}
