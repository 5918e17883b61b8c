import CollarWire

/// The bytes of a journal's segments, for a ``Journal`` or a ``JournalReader``. All code that reads a journal back is in
/// extensions of this protocol.
protocol SegmentBytes: AnyObject {
    /// The collar.
    var deviceID: UInt64 { get }

    /// The numbers of the segments that exist, ascending.
    var segments: [UInt32] { get }

    /// The position after all records.
    func endPosition() throws(JournalError) -> JournalPosition

    /// The path of a segment.
    func path(ofSegment segment: UInt32) -> String

    /// Replaces the content of `chunk` with ``chunkByteCount`` bytes of the segment from `offset` on, or fewer if no record
    /// continues after them; with none at the end of the segment.
    func read(_ segment: UInt32, at offset: Int, into chunk: inout [UInt8]) throws(JournalError)

    /// Whether another process may be about to complete the record at the end of the segment. Looks for newer segments if
    /// this is the last one known.
    func mayGrow(_ segment: UInt32) throws(JournalError) -> Bool
}

/// The number of bytes read at a time.
let chunkByteCount = 1 << 16

extension SegmentBytes {
    /// The first segment numbered `wanted` or higher; nil if there is none.
    ///
    /// Complexity: a binary search.
    func segment(atOrBehind wanted: UInt32) -> UInt32? {
        let index = indexOfSegment(atOrBehind: wanted)
        return index < segments.count ? segments[index] : nil
    }

    /// The index of the first segment numbered `wanted` or higher; the number of segments if there is none.
    func indexOfSegment(atOrBehind wanted: UInt32) -> Int {
        var low = 0
        var high = segments.count
        while low < high {
            let middle = (low + high) / 2
            if segments[middle] >= wanted { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Refuses a segment that belongs to another collar, has another number, or has a later format.
    func validate(_ header: SegmentHeader, of segment: UInt32) throws(JournalError) {
        guard header.format <= SegmentHeader.currentFormat else {
            throw .laterFormat(version: header.format, path: path(ofSegment: segment))
        }
        guard header.deviceID == deviceID, header.segment == segment else {
            throw .foreignSegment(path: path(ofSegment: segment))
        }
    }
}
