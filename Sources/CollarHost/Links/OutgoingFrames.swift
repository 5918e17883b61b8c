import CollarWire

/// Bare frames that wait for their links, in one buffer that keeps its capacity.
struct OutgoingFrames {
    private struct Mark {
        var link: LinkID
        /// The end of the frame in the buffer.
        var end: Int
    }

    private var bytes: [UInt8] = []
    private var marks: [Mark] = []
    private var firstMark = 0
    private var start = 0

    /// Whether no frame waits.
    var isEmpty: Bool { firstMark == marks.count }

    /// Adds the frame that `encode` writes, if it writes one. Every frame of a host fits the smallest frame limit of a link.
    mutating func add(for link: LinkID, encode: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void) {
        do throws(EncodeError) {
            bytes += try [UInt8](capacity: Frame.minimumLimitByteCount) {
                (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try encode(&output)
            }
        } catch { preconditionFailure("a frame of a host fits the smallest limit: \(error)") }
        if bytes.count > marks.last?.end ?? 0 { marks.append(Mark(link: link, end: bytes.count)) }
    }

    /// Moves the oldest frame to `output`.
    /// - Returns: the link on which to send it; nil if no frame waits.
    mutating func next(into output: inout OutputSpan<UInt8>) -> LinkID? {
        guard firstMark < marks.count else { return nil }
        let mark = marks[firstMark]
        for index in start..<mark.end { output.append(bytes[index]) }
        start = mark.end
        firstMark += 1
        if firstMark == marks.count {
            bytes.removeAll(keepingCapacity: true)
            marks.removeAll(keepingCapacity: true)
            firstMark = 0
            start = 0
        }
        return mark.link
    }
}
