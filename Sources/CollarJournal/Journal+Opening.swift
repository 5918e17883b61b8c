extension Journal {
    /// What a journal is opened with.
    struct Opening {
        let directory: JournalDirectory
        let deviceID: UInt64
        let receiverID: UInt32
        let segmentByteLimit: Int
        var latestUnixMilliseconds: Int64
        var limits = TrackingLimits()
        var byteLimit: Int?
    }

    /// The open files a journal begins with.
    struct Start {
        /// The directory, which is locked.
        let lockFile: FileReference
        let segments: [UInt32]
        let writer: SegmentWriter
    }

    /// Opens the journal of a collar, and makes it where there is none.
    ///
    /// A torn tail is cut off. Damage before it is stepped over and reported in ``damage``; what it took away of what
    /// was announced shows up in ``CoveredSequences/oldestLostRange(from:)``.
    ///
    /// Complexity: reads the last segment, and earlier ones only where the checkpoint at its start is not complete. With a limit
    /// of size also three system calls for each segment.
    /// - Parameter byteLimit: bytes after which nothing more is taken, see ``isAtByteLimit``; nil for no limit.
    public static func open(
        stateDirectory: String, deviceID: UInt64, receiverID: UInt32, nowUnixMilliseconds: Int64,
        segmentByteLimit: Int = Journal.defaultSegmentByteLimit, byteLimit: Int? = nil,
        limits: TrackingLimits = TrackingLimits(), fileSystem: any FileSystem = POSIXFileSystem()
    ) throws(JournalError) -> Journal {
        let place = Opening(
            directory: JournalDirectory(stateDirectory: stateDirectory, deviceID: deviceID), deviceID: deviceID,
            receiverID: receiverID, segmentByteLimit: segmentByteLimit, latestUnixMilliseconds: nowUnixMilliseconds,
            limits: limits, byteLimit: byteLimit)
        try JournalError.wrapping { () throws(FileFailure) in
            try JournalDirectory.make(place.directory.path, fileSystem: fileSystem)
        }
        guard let lockFile = try LockHolder.lock(directory: place.directory.path, fileSystem) else {
            throw .heldBy(processID: nil, path: place.directory.path)
        }
        do throws(JournalError) {
            return try open(place, lockFile: lockFile, fileSystem)
        } catch {
            fileSystem.close(lockFile)
            throw error
        }
    }

    private static func open(
        _ opening: Opening, lockFile: FileReference, _ fileSystem: any FileSystem
    ) throws(JournalError) -> Journal {
        var place = opening
        let files = try JournalReader(place.directory, deviceID: place.deviceID, fileSystem)
        var segments = files.segments
        var recovery: JournalRecovery?
        var number: UInt32 = 1
        if let last = segments.last {
            var found = try JournalRecovery(
                files, upTo: JournalPosition(segment: last, offset: .max), asksForLossesAgain: true)
            if let start = found.last.unfinishedUncovering {
                found = try JournalRecovery(
                    files, upTo: JournalPosition(segment: last, offset: UInt32(start)), asksForLossesAgain: true)
            }
            recovery = found
            place.latestUnixMilliseconds = max(place.latestUnixMilliseconds, found.latestUnixMilliseconds)
            // A segment that a crash left without its checkpoint holds nothing: it is begun again.
            let isEmpty = !found.last.hasCheckpoint && !found.last.hasRecords
            if isEmpty {
                number = last
                segments.removeLast()
            } else {
                // Also where it is not gone on with: the next segment calls its records covered, and an end that is
                // no record would be damage there.
                let writer = try JournalError.wrapping { () throws(FileFailure) in
                    try SegmentWriter.resume(last, at: found, place: place, fileSystem)
                }
                if found.last.hasCheckpoint, found.header?.receiverID == place.receiverID,
                    found.last.end < place.segmentByteLimit
                {
                    let start = Start(lockFile: lockFile, segments: segments, writer: writer)
                    return Journal(place, fileSystem: fileSystem, recovery: found, start: start)
                }
                fileSystem.close(writer.file)
                number = last + 1
            }
        }
        let checkpoint = Checkpoint(
            logs: recovery?.logsInOrder ?? [], closedLogIDs: recovery?.closedLogIDs ?? [],
            repaired: recovery?.repaired ?? [:],
            cursor: min(recovery?.cursor ?? .start, JournalPosition(segment: number, offset: 0)))
        let writer = try JournalError.wrapping { () throws(FileFailure) in
            try SegmentWriter.create(number, place: place, checkpoint: checkpoint, fileSystem)
        }
        let start = Start(lockFile: lockFile, segments: segments + [number], writer: writer)
        return Journal(place, fileSystem: fileSystem, recovery: recovery, start: start)
    }
}

extension SegmentWriter {
    /// Goes on with the last segment, and makes all of it durable.
    static func resume(
        _ number: UInt32, at recovery: JournalRecovery, place: Journal.Opening, _ fileSystem: any FileSystem
    ) throws(FileFailure) -> SegmentWriter {
        let found = recovery.last
        let file = try fileSystem.open(place.directory.path(ofSegment: number), .writing)
        do throws(FileFailure) {
            if found.byteCount > found.end { try fileSystem.truncate(file, to: found.end) }
            // A process that was killed between write and fdatasync left records that can be read and are not durable.
            // After an fdatasync that failed the kernel even takes them for clean: only what is written again is
            // brought to the disk.
            try rewrite(file, byteCount: found.end, fileSystem)
            var writer = SegmentWriter(
                number: number, file: file, byteCount: found.end,
                check: RecordCheck(deviceID: place.deviceID, segment: number))
            for progress in recovery.missingProgress { writer.pending.append(progress) }
            do throws(FileFailure) { try writer.write(fileSystem) } catch {
                // On a full disk it waits for the next commit, and so do the records before it.
                guard error.isLackOfRoom else { throw error }
            }
            try writer.synchronize(fileSystem)
            try fileSystem.synchronizeDirectory(at: place.directory.path)
            return writer
        } catch {
            fileSystem.close(file)
            throw error
        }
    }

    /// Writes to a file what it holds.
    private static func rewrite(
        _ file: FileReference, byteCount: Int, _ fileSystem: any FileSystem
    ) throws(FileFailure) {
        var chunk: [UInt8] = []
        var offset = 0
        while offset < byteCount {
            let count = min(chunkByteCount, byteCount - offset)
            try fileSystem.read(from: file, at: offset, count: count, into: &chunk)
            // Nobody else cuts it: the lock is held.
            guard !chunk.isEmpty else { return }
            var done = 0
            while done < chunk.count {
                done += try fileSystem.write(chunk, from: done, to: file, at: offset + done)
            }
            offset += chunk.count
        }
    }

    /// Makes a segment with header and checkpoint, durably.
    static func create(
        _ number: UInt32, place: Journal.Opening, checkpoint: Checkpoint, _ fileSystem: any FileSystem
    ) throws(FileFailure) -> SegmentWriter {
        let path = place.directory.path(ofSegment: number)
        let file = try fileSystem.open(path, .creatingIfMissing)
        var writer = SegmentWriter(
            number: number, file: file, byteCount: 0,
            check: RecordCheck(deviceID: place.deviceID, segment: number))
        writer.pending.append(
            SegmentHeader(
                deviceID: place.deviceID, receiverID: place.receiverID, segment: number,
                createdUnixMilliseconds: place.latestUnixMilliseconds))
        writer.pending.appendCheckpoint(checkpoint)
        do throws(FileFailure) {
            // There may be the remains of an attempt that failed.
            try fileSystem.truncate(file, to: 0)
            try writer.write(fileSystem)
            try writer.synchronize(fileSystem)
            try fileSystem.synchronizeDirectory(at: place.directory.path)
        } catch {
            fileSystem.close(file)
            throw error
        }
        return writer
    }
}
