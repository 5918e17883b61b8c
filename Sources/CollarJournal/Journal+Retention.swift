extension Journal {
    /// Removes the oldest segments, as far as every entry in them was handed over (before ``emissionCursor``) and they are
    /// older, or the journal larger, than wanted. What they held stays covered: nothing of it is asked for again. The
    /// segment that grows always stays, and so does one behind which coverage could not be told any more.
    /// - Parameters:
    ///   - unixMilliseconds: what was received at this time or later stays, in milliseconds since 1970.
    ///   - byteLimit: older segments go also where they are newer than that, while the journal holds more bytes; nil for no
    ///     limit.
    /// - Returns: how many were removed.
    /// - Throws: ``JournalError/file(_:)`` where one cannot be removed or read; those before it are gone.
    ///
    /// Complexity: for each removed segment, and one more, one chunk of 64 KiB is read and the directory made durable once.
    @discardableResult
    public func removeSegments(
        receivedBefore unixMilliseconds: Int64, byteLimit: Int? = nil
    ) throws(JournalError) -> Int {
        var count = 0
        var excess = Int.min
        if let byteLimit { excess = try byteCount(from: .start) - byteLimit }
        while segments.count > 1, JournalPosition(segment: segments[1], offset: 0) <= emissionCursor {
            let isOld = try creationTime(atOrBehind: 1) < unixMilliseconds
            guard isOld || excess > 0, try JournalRecovery(checkpointOf: segments[1], self) != nil else { break }
            let size = try earlier.byteCount(of: segments[0])
            // One after the other, and the oldest first: a crash in between leaves no hole.
            try JournalError.wrapping { () throws(FileFailure) in
                try fileSystem.remove(directory.path(ofSegment: segments[0]))
                try fileSystem.synchronizeDirectory(at: directory.path)
            }
            repaired[segments[0]] = nil
            segments.removeFirst()
            excess -= excess > 0 ? size : 0
            count += 1
        }
        return count
    }
}
