/// The sizes of a journal's segments at one time.
package struct JournalExtent: Sendable {
    private let segments: [(number: UInt32, byteCount: Int)]

    init(_ segments: [(number: UInt32, byteCount: Int)]) { self.segments = segments }

    /// Bytes in all segments.
    package var byteCount: Int { segments.reduce(0) { $0 + $1.byteCount } }

    /// Bytes before a position.
    ///
    /// Complexity: linear in the number of segments.
    package func byteCount(before position: JournalPosition) -> Int {
        segments.reduce(0) { sum, segment in
            if segment.number < position.segment { return sum + segment.byteCount }
            return segment.number == position.segment ? sum + min(Int(position.offset), segment.byteCount) : sum
        }
    }
}

extension JournalReader {
    /// The sizes of the segments that the last search found.
    ///
    /// Complexity: opens the file of every segment.
    package func extent() throws(JournalError) -> JournalExtent {
        var sizes: [(number: UInt32, byteCount: Int)] = []
        for segment in segments { sizes.append((segment, try byteCount(ofSegment: segment))) }
        return JournalExtent(sizes)
    }
}
