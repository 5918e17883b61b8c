/// The segment that grows: its file, how much of it is written and durable, and the records that wait in memory.
struct SegmentWriter {
    let number: UInt32
    let file: FileReference
    var pending: RecordBuffer
    private(set) var writtenByteCount: Int
    /// Bytes of the segment's header and checkpoint.
    private let checkpointByteCount: Int
    private(set) var durableByteCount: Int

    /// Continues a segment after its first `byteCount` bytes, which count as durable.
    init(number: UInt32, file: FileReference, byteCount: Int, checkpointByteCount: Int, crc: RecordCRC) {
        self.number = number
        self.file = file
        self.checkpointByteCount = checkpointByteCount
        pending = RecordBuffer(crc: crc)
        writtenByteCount = byteCount
        durableByteCount = byteCount
    }

    /// Whether the next segment is due: at `limit` bytes, but not before the records take as many bytes as header and checkpoint.
    func isFull(limit: Int) -> Bool { writtenByteCount >= max(limit, 2 * checkpointByteCount) }

    /// The position after all appended records, written or not.
    var end: JournalPosition { JournalPosition(segment: number, offset: UInt32(writtenByteCount + pending.bytes.count)) }

    /// Writes the pending records. After a failure all of them are still pending, and the file is cut to its former length if
    /// possible.
    mutating func write(_ fileSystem: any FileSystem) throws(FileFailure) {
        do throws(FileFailure) { try fileSystem.writeAll(pending.bytes, to: file, at: writtenByteCount) } catch {
            // Bytes that cannot be cut off do no harm: the next write begins at the same place.
            do throws(FileFailure) { try fileSystem.truncate(file, to: writtenByteCount) } catch {}
            throw error
        }
        writtenByteCount += pending.bytes.count
        pending.removeAll()
    }

    mutating func synchronize(_ fileSystem: any FileSystem) throws(FileFailure) {
        do throws(FileFailure) {
            try fileSystem.synchronize(file)
        } catch {
            // The kernel now treats the pages as clean: a process that opens the file next would read from the page cache what
            // the disk does not hold. So the bytes in doubt are cut off.
            do throws(FileFailure) { try fileSystem.truncate(file, to: durableByteCount) } catch {}
            throw error
        }
        durableByteCount = writtenByteCount
    }

    /// Resumes the last segment, and makes all of it durable.
    static func resume(
        _ number: UInt32, at recovery: JournalRecovery, place: Journal.Opening, _ fileSystem: any FileSystem
    ) throws(FileFailure) -> SegmentWriter {
        let found = recovery.last
        let file = try fileSystem.open(place.directory.path(ofSegment: number), .writing)
        return try fileSystem.closingOnFailure(file) { () throws(FileFailure) in
            if found.byteCount > found.end { try fileSystem.truncate(file, to: found.end) }
            // A process that was killed between write and fdatasync left records that can be read but are not durable. After
            // a failed fdatasync the kernel even treats them as clean: only writing them again brings them to the disk.
            try rewrite(file, byteCount: found.end, fileSystem)
            var writer = SegmentWriter(
                number: number, file: file, byteCount: found.end, checkpointByteCount: found.checkpointEnd,
                crc: RecordCRC(deviceID: place.deviceID, segment: number))
            for progress in recovery.missingProgress { writer.pending.append(progress) }
            do throws(FileFailure) { try writer.write(fileSystem) } catch {
                // On a full disk the progress waits for the next commit, and so do the records before it.
                guard error.isLackOfRoom else { throw error }
            }
            try writer.synchronize(fileSystem)
            try fileSystem.synchronizeDirectory(at: place.directory.path)
            return writer
        }
    }

    /// Writes the content of a file to the same file again.
    private static func rewrite(_ file: FileReference, byteCount: Int, _ fileSystem: any FileSystem) throws(FileFailure) {
        var chunk: [UInt8] = []
        var offset = 0
        while offset < byteCount {
            let count = min(chunkByteCount, byteCount - offset)
            try fileSystem.read(from: file, at: offset, count: count, into: &chunk)
            // The lock is held, so no other process shortens the file and the chunk is never empty.
            guard !chunk.isEmpty else { return }
            try fileSystem.writeAll(chunk, to: file, at: offset)
            offset += chunk.count
        }
    }

    /// Makes the file of a segment with header and checkpoint. The file gets its name when its bytes are durable. So readers never
    /// see a segment that is given up because the disk is full: they would continue there, and miss later records of the last segment.
    /// - Returns: the number of its bytes.
    static func makeFile(
        _ number: UInt32, place: Journal.Opening, checkpoint: Checkpoint, _ fileSystem: any FileSystem
    ) throws(FileFailure) -> Int {
        let header = SegmentHeader(
            deviceID: place.deviceID, receiverID: place.receiverID, segment: number,
            createdUnixMilliseconds: place.latestUnixMilliseconds)
        let start = RecordBuffer(startWith: header, checkpoint, crc: RecordCRC(deviceID: place.deviceID, segment: number))
        let new = try SmallFile.create(for: place.directory.path(ofSegment: number), fileSystem)
        do throws(FileFailure) {
            _ = try fileSystem.share(new, as: .readableFile)
            try SmallFile.rename(new, to: place.directory.path(ofSegment: number), with: start.bytes, fileSystem)
        } catch {
            // If the file cannot be removed now, the next attempt removes it.
            do throws(FileFailure) { try fileSystem.remove(new) } catch {}
            throw error
        }
        return start.bytes.count
    }

    /// Opens a segment that was just made, and makes its name durable.
    static func openNew(
        _ number: UInt32, _ byteCount: Int, place: Journal.Opening, _ fileSystem: any FileSystem
    ) throws(FileFailure) -> SegmentWriter {
        let file = try fileSystem.open(place.directory.path(ofSegment: number), .writing)
        try fileSystem.closingOnFailure(file) { () throws(FileFailure) in
            try fileSystem.synchronizeDirectory(at: place.directory.path)
        }
        return SegmentWriter(
            number: number, file: file, byteCount: byteCount, checkpointByteCount: byteCount,
            crc: RecordCRC(deviceID: place.deviceID, segment: number))
    }
}
