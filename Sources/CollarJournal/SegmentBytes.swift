import CollarWire

/// The bytes of a journal's segments, as who appends to it or who only reads it sees them. Everything that reads a
/// journal back stands in extensions of this.
protocol SegmentBytes: AnyObject {
    /// The collar.
    var deviceID: UInt64 { get }

    /// The numbers of the segments that exist, ascending.
    var segments: [UInt32] { get }

    /// Behind everything there is.
    func endPosition() throws(JournalError) -> JournalPosition

    /// Where a segment lies.
    func path(ofSegment segment: UInt32) -> String

    /// Replaces `chunk` by up to ``chunkByteCount`` bytes from `offset` on; none where the segment ends there. Where
    /// they are fewer than that, no record goes on behind them.
    func read(_ segment: UInt32, at offset: Int, into chunk: inout [UInt8]) throws(JournalError)

    /// Whether a process that appends to the segment may be about to complete what stands at its end. Looks for newer
    /// segments where it is the last one known.
    func mayGrow(_ segment: UInt32) throws(JournalError) -> Bool
}

/// Bytes read at once.
let chunkByteCount = 1 << 16

extension SegmentBytes {
    /// The first segment numbered `wanted` or higher; nil where there is none.
    ///
    /// Complexity: a binary search.
    func segment(atOrBehind wanted: UInt32) -> UInt32? {
        let index = indexOfSegment(atOrBehind: wanted)
        return index < segments.count ? segments[index] : nil
    }

    /// The index of the first segment numbered `wanted` or higher; their count where there is none.
    func indexOfSegment(atOrBehind wanted: UInt32) -> Int {
        var low = 0
        var high = segments.count
        while low < high {
            let middle = (low + high) / 2
            if segments[middle] >= wanted { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Refuses a segment of another collar or of a later format.
    func validate(_ header: SegmentHeader, of segment: UInt32) throws(JournalError) {
        guard header.format <= SegmentHeader.currentFormat else {
            throw .laterFormat(version: header.format, path: path(ofSegment: segment))
        }
        guard header.deviceID == deviceID, header.segment == segment else {
            throw .foreignSegment(path: path(ofSegment: segment))
        }
    }
}
