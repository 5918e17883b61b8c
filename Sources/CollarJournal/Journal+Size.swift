extension Journal {
    /// Whether the journal is as large as it may be. It takes no more records of a collar then, until old segments are removed.
    public var isAtByteLimit: Bool { byteLimit.map { earlierByteCount + Int(end.offset) >= $0 } ?? false }

    /// - Throws: ``JournalError/sizeLimitReached(_:path:)`` where ``isAtByteLimit``.
    public func checkSize() throws(JournalError) {
        if let byteLimit, isAtByteLimit { throw .sizeLimitReached(byteLimit, path: directory.path) }
    }

    /// Counts the bytes of the segments before the one that grows, where there is a limit.
    func countEarlierBytes() {
        guard byteLimit != nil else { return }
        // What cannot be read now does not keep a collar from being served.
        do throws(JournalError) { earlierByteCount = try byteCount(from: .start) - Int(end.offset) } catch { earlierByteCount = 0 }
    }

    /// Bytes of records from a position on, with those that wait for a commit; from ``JournalPosition/start`` on the size of
    /// the whole journal.
    ///
    /// Complexity: three system calls for each earlier segment from `position` on.
    /// - Throws: ``JournalError/file(_:)`` where a segment cannot be opened.
    public func byteCount(from position: JournalPosition) throws(JournalError) -> Int {
        var count = 0
        for segment in segments where segment >= position.segment {
            var size = Int(end.offset)
            if segment != writer.number { size = try earlier.byteCount(of: segment) }
            count += segment == position.segment ? max(0, size - Int(position.offset)) : size
        }
        return count
    }
}
