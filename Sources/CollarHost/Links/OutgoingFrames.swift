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

    var isEmpty: Bool { firstMark == marks.count }

    /// Adds the frame that `encode` writes, if it writes one.
    /// - Parameters:
    ///   - seal: seals the frame; nil for a frame in clear.
    ///   - index: the index of a sealed frame.
    mutating func add(
        for link: LinkID, sealing seal: SealedAnswer? = nil, index: UInt8 = 0,
        encode: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void
    ) {
        let frame = [UInt8](hostFrame: encode, overhead: seal == nil ? 0 : SealedHostFrame.overheadByteCount)
        guard !frame.isEmpty else { return }
        if let seal {
            bytes += [UInt8](capacity: Frame.minimumLimitByteCount) { output in
                for byte in frame { output.append(byte) }
                seal.seal(&output, index: index)
            }
        } else {
            bytes += frame
        }
        marks.append(Mark(link: link, end: bytes.count))
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

/// Seals what the host sends in answer to one poll of a collar.
struct SealedAnswer {
    let keys: SealingKeys
    let log: LogIdentity
    let receiverID: UInt32
    /// The number of the collar's frame with the poll.
    let poll: FrameNumber

    /// Seals a frame in place.
    /// - Parameter index: 0 for the acknowledgement, 1 and 2 for the requests before it.
    func seal(_ frame: inout OutputSpan<UInt8>, index: UInt8) {
        SealedHostFrame.seal(&frame, poll: poll, index: index, receiverID: receiverID, log: log, keys: keys)
    }
}

extension [UInt8] {
    /// The bare frame of a host that `encode` writes. It fits the smallest frame limit of a link, also when it is sealed.
    /// - Parameter overhead: the bytes that sealing adds.
    init(hostFrame encode: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void, overhead: Int = 0) {
        do throws(EncodeError) {
            self = try [UInt8](capacity: Frame.minimumLimitByteCount - overhead) {
                (output: inout OutputSpan<UInt8>) throws(EncodeError) in try encode(&output)
            }
        } catch { preconditionFailure("a frame of a host fits the smallest limit: \(error)") }
    }
}
