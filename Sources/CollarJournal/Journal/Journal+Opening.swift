import CollarWire

extension Journal {
    struct Opening {
        let directory: JournalDirectory
        let deviceID: DeviceID
        let receiverID: UInt32
        let segmentByteLimit: Int
        /// The newest time seen, for the headers of segments. It does not decrease when the clock is set back, so that the headers
        /// can be searched by time.
        var latestUnixMilliseconds: Int64
        var limits = TrackingLimits()
        var byteLimit: Int?
    }

    /// Opens the journal of a collar, or makes it if there is none.
    ///
    /// A torn tail is cut off. Damage before it is skipped and reported in ``damage``. Announced sequences that were lost to
    /// this damage show up in ``CoveredSequences/oldestLostRange(from:)``.
    ///
    /// A journal that has reached `byteLimit` bytes accepts no more records, see ``isAtByteLimit``; nil means no limit.
    ///
    /// Complexity: reads the last segment, and earlier ones only if its checkpoint is not complete. With a size limit also
    /// three system calls for each segment.
    package static func open(
        stateDirectory: String, deviceID: DeviceID, receiverID: UInt32, nowUnixMilliseconds: Int64,
        segmentByteLimit: Int = Journal.defaultSegmentByteLimit, byteLimit: Int? = nil,
        limits: TrackingLimits = TrackingLimits(), fileSystem: (any FileSystem)? = nil
    ) throws(JournalError) -> Journal {
        let fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        let place = Opening(
            directory: JournalDirectory(stateDirectory: stateDirectory, deviceID: deviceID), deviceID: deviceID,
            receiverID: receiverID, segmentByteLimit: segmentByteLimit, latestUnixMilliseconds: nowUnixMilliseconds,
            limits: limits, byteLimit: byteLimit)
        try JournalError.wrappingAll { () throws(FileFailure) in
            guard try JournalDirectory.makeShared(place.directory.path, fileSystem: fileSystem) else { return }
            // The segments come from a time without the group.
            for segment in try place.directory.segments(fileSystem) {
                _ = try fileSystem.share(place.directory.path(ofSegment: segment), as: .readableFile)
            }
        }
        guard let lockFile = try LockHolder.lock(directory: place.directory.path, fileSystem) else {
            throw .heldBy(processID: nil, path: place.directory.path)
        }
        return try fileSystem.closingOnFailure(lockFile) { () throws(JournalError) in
            try open(place, lockFile: lockFile, fileSystem)
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
            var found = try JournalRecovery(files, upTo: JournalPosition(segment: last, offset: .max), asksForLossesAgain: true)
            if let start = found.last.unfinishedUncovering {
                found = try JournalRecovery(
                    files, upTo: JournalPosition(segment: last, offset: UInt32(start)), asksForLossesAgain: true)
            }
            recovery = found
            place.latestUnixMilliseconds = max(place.latestUnixMilliseconds, found.latestUnixMilliseconds)
            // After a crash the last segment may have no complete checkpoint and no records: it is made again.
            let isEmpty = !found.last.hasCheckpoint && !found.last.hasRecords
            if found.isLastSegmentDestroyed(of: files) {
                found.noteDestroyedSegment()
                recovery = found
                number = last + 1
            } else if isEmpty {
                number = last
                segments.removeLast()
            } else {
                // The segment is resumed even if a new one is made after it: the checkpoint of the new one names the records of
                // this one as covered, and a torn tail in this one would then count as damage.
                let writer = try JournalError.wrapping(try SegmentWriter.resume(last, at: found, place: place, fileSystem))
                if found.last.hasCheckpoint, found.header?.receiverID == place.receiverID,
                    !writer.isFull(limit: place.segmentByteLimit)
                {
                    return Journal(place, found, lockFile, segments, writer, fileSystem)
                }
                fileSystem.close(writer.file)
                number = last + 1
            }
        }
        var checkpoint = recovery?.checkpoint ?? Checkpoint()
        checkpoint.cursor = min(checkpoint.cursor, JournalPosition(segment: number, offset: 0))
        let writer = try JournalError.wrappingAll { () throws(FileFailure) in
            let byteCount = try SegmentWriter.makeFile(number, place: place, checkpoint: checkpoint, fileSystem)
            return try SegmentWriter.openNew(number, byteCount, place: place, fileSystem)
        }
        return Journal(place, recovery, lockFile, segments + [number], writer, fileSystem)
    }
}
