import CollarWire

/// Reads the journal of a collar without a lock and without writing, also while another process appends to it.
///
/// A reader belongs to one thread.
package final class JournalReader {
    /// The directory of the journal's files.
    package let directory: JournalDirectory
    /// The collar.
    package let deviceID: UInt64

    /// The segment numbers that the last search found, ascending.
    private(set) var segments: [UInt32]
    private var files: SegmentFiles
    private let fileSystem: any FileSystem
    private var chunk: [UInt8] = []

    /// Looks for the segments of a collar.
    package convenience init(
        stateDirectory: String, deviceID: UInt64, fileSystem: (any FileSystem)? = nil
    ) throws(JournalError) {
        try self.init(
            JournalDirectory(stateDirectory: stateDirectory, deviceID: deviceID), deviceID: deviceID,
            fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory))
    }

    init(_ directory: JournalDirectory, deviceID: UInt64, _ fileSystem: any FileSystem) throws(JournalError) {
        segments = try JournalError.wrapping { () throws(FileFailure) in try directory.segments(fileSystem) }
        self.directory = directory
        self.deviceID = deviceID
        self.fileSystem = fileSystem
        files = SegmentFiles(directory, fileSystem)
    }

    /// Reads entries back, whether they are durable or not. An incomplete record at the end is left for a later call.
    /// - Parameters:
    ///   - position: the ``JournalBatch/end`` of a batch, or ``JournalPosition/start``. A position before the oldest segment
    ///     means the start of that segment.
    ///   - limit: the most entries, at least one.
    /// - Returns: some entries, or none if there are no more; and the damage that was skipped.
    ///
    /// Complexity: memory for one chunk of 64 KiB and the entries in it.
    package func entries(from position: JournalPosition, limit: Int) throws(JournalError) -> JournalBatch {
        // The buffer is taken out of the reader, because reading accesses the reader itself.
        var chunk: [UInt8] = []
        swap(&chunk, &self.chunk)
        defer { swap(&chunk, &self.chunk) }
        // A collar's directory is made a moment before its first segment: there may have been none at the last search, or the position
        // is the start of one that did not exist yet.
        if segment(atOrBehind: position.segment) == nil { try lookForSegments() }
        return try entries(from: position, limit: limit, chunk: &chunk)
    }

    /// A position at or before the first entry that was received at `unixMilliseconds` or later (milliseconds since 1970 by the
    /// host's clock). The position is the start of a segment. It is earlier than necessary if the clock was set back.
    ///
    /// Complexity: a binary search over the segments, one chunk of 64 KiB each.
    package func position(receivedSince unixMilliseconds: Int64) throws(JournalError) -> JournalPosition {
        try position(beginningBefore: unixMilliseconds)
    }

    /// The position right after the record of a fix; nil if no record of it can be found.
    ///
    /// Complexity: a binary search over the checkpoints at the starts of the segments, then one segment is read. If the fix
    /// is not in that segment, as can happen after damage, every checkpoint is read.
    package func position(behind sequence: UInt32, logID: UInt32) throws(JournalError) -> JournalPosition? {
        try record(of: sequence, logID: logID)?.end
    }
}

extension JournalReader: SegmentBytes {
    func endPosition() throws(JournalError) -> JournalPosition {
        guard let last = segments.last else { return .start }
        return JournalPosition(segment: last, offset: UInt32(try files.byteCount(of: last)))
    }

    func path(ofSegment segment: UInt32) -> String { directory.path(ofSegment: segment) }

    func mayGrow(_ segment: UInt32) throws(JournalError) -> Bool {
        if segment == segments.last { try lookForSegments() }
        return segment == segments.last
    }

    func read(_ segment: UInt32, at offset: Int, into chunk: inout [UInt8]) throws(JournalError) {
        do throws(JournalError) {
            try files.read(segment, at: offset, into: &chunk)
        } catch {
            guard case .file(let failure) = error, failure.isAbsence else { throw error }
            // The oldest segments may be removed at any time.
            try lookForSegments()
            guard self.segment(atOrBehind: segment) != segment else { throw error }
            chunk.removeAll(keepingCapacity: true)
        }
    }

    /// Bytes in the file of a segment.
    func byteCount(ofSegment segment: UInt32) throws(JournalError) -> Int { try files.byteCount(of: segment) }

    /// Some bytes of a segment; fewer if the file ends earlier.
    func bytes(of segment: UInt32, at offset: Int, count: Int) throws(JournalError) -> [UInt8] {
        var bytes: [UInt8] = []
        try files.read(segment, at: offset, count: count, into: &bytes)
        return bytes
    }

    /// Whether the file of a segment that was read still has its name.
    func isNamed(_ segment: UInt32) throws(JournalError) -> Bool { try files.isNamed(segment) }

    /// Closes the segment that was read last if its name leads to another file now: the next reading opens that one.
    func closeReplacedSegment() throws(JournalError) { try files.closeReplaced() }

    /// Makes the bytes of a segment durable.
    func synchronize(_ segment: UInt32) throws(JournalError) { try files.synchronize(segment) }

    /// How far the sealed frames of the collar have come; nil if there were none.
    ///
    /// Complexity: reads the last segment, and earlier ones only if its checkpoint is not complete.
    package func sealedProgress() throws(JournalError) -> SealedProgress? {
        guard let last = segments.last else { return nil }
        let end = JournalPosition(segment: last, offset: .max)
        return try JournalRecovery(self, upTo: end, asksForLossesAgain: true).sealed
    }

    /// Looks for the segments that exist now.
    func lookForSegments() throws(JournalError) {
        segments = try JournalError.wrapping { () throws(FileFailure) in try directory.segments(fileSystem) }
    }
}
