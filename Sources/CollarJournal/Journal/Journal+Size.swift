extension Journal {
    /// Whether the journal has reached its size limit. Appending to it then fails until old segments are removed.
    package var isAtByteLimit: Bool { byteLimit.map { earlierByteCount + Int(end.offset) >= $0 } ?? false }

    /// Checks the size limit.
    /// - Throws: ``JournalError/sizeLimitReached(_:path:)`` if ``isAtByteLimit``.
    package func checkSize() throws(JournalError) {
        if let byteLimit, isAtByteLimit { throw .sizeLimitReached(byteLimit, path: directory.path) }
    }

    /// Counts the bytes of the segments before the one that grows, if there is a limit.
    func countEarlierBytes() {
        guard byteLimit != nil else { return }
        // A collar is served even if a segment cannot be opened now: the size limit then ignores all earlier segments.
        do throws(JournalError) { earlierByteCount = try byteCount(from: .start) - Int(end.offset) } catch {
            earlierByteCount = 0
        }
    }

    /// The number of bytes of records from a position on, including those that wait for a commit. From ``JournalPosition/start``
    /// on it is the size of the whole journal.
    ///
    /// Complexity: three system calls for each earlier segment from `position` on.
    /// - Throws: ``JournalError/file(_:)`` if a segment cannot be opened.
    package func byteCount(from position: JournalPosition) throws(JournalError) -> Int {
        var count = 0
        for segment in segments where segment >= position.segment {
            var size = Int(end.offset)
            if segment != writer.number { size = try earlier.byteCount(of: segment) }
            count += segment == position.segment ? max(0, size - Int(position.offset)) : size
        }
        return count
    }
}
