extension Journal {
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
