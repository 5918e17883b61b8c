import CollarWire

/// All frames and faults that a decoder finds in a stream.
struct StreamOutcome: Equatable {
    var frames: [[UInt8]] = []
    var faults: [StreamFault] = []
    /// The number of calls after which the index was wrong, and of frames with an impossible size.
    var violations = 0

    init() {}

    /// The outcome of a new decoder that gets `bytes` in pieces of `pieceByteCount`.
    init(of bytes: [UInt8], pieceByteCount: Int = .max) {
        var decoder = StreamDecoder()
        var start = 0
        while start < bytes.count {
            let end = pieceByteCount < bytes.count - start ? start + pieceByteCount : bytes.count
            add(bytes.span.extracting(start..<end), to: &decoder)
            start = end
        }
    }

    /// Adds the frames and faults of one piece.
    mutating func add(_ piece: Span<UInt8>, to decoder: inout StreamDecoder) {
        var index = 0
        var before = 0
        while let event = decoder.next(in: piece, at: &index) {
            if index <= before || index > piece.count { violations += 1 }
            before = index
            switch event {
            case .frame:
                let count = decoder.frame.count
                if count < Frame.overheadByteCount || count > Frame.maximumByteCount { violations += 1 }
                frames.append([UInt8](copying: decoder.frame))
            case .rejected(let fault):
                faults.append(fault)
            }
        }
        if index != piece.count { violations += 1 }
    }
}

/// Byte stuffing as section 4 of PROTOCOL.md describes it, slow and simple.
enum ReferenceStuffing {
    /// The frame is cut at its zero bytes; each block is written as its length + 1, then its bytes.
    static func stuffed(_ frame: [UInt8]) -> [UInt8] {
        frame.split(separator: 0, omittingEmptySubsequences: false).flatMap { [UInt8($0.count + 1)] + $0 }
    }

    /// Decodes the bytes between two delimiters; nil if a block reaches beyond the delimiter or a length byte is 0xFF.
    static func unstuffed(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var blocks: [ArraySlice<UInt8>] = []
        var rest = bytes
        while let length = rest.popFirst() {
            guard length != 0xFF, rest.count >= Int(length) - 1 else { return nil }
            blocks.append(rest.prefix(Int(length) - 1))
            rest = rest.dropFirst(Int(length) - 1)
        }
        return [UInt8](blocks.joined(separator: [0]))
    }

    /// The frames of a stream, and the number of runs of bytes between delimiters that are not frames.
    static func cut(_ stream: [UInt8]) -> (frames: [[UInt8]], faultCount: Int) {
        var frames: [[UInt8]] = []
        var faultCount = 0
        // The bytes after the last delimiter are incomplete, so they are neither a frame nor a fault.
        for piece in stream.split(separator: 0, omittingEmptySubsequences: false).dropLast() where !piece.isEmpty {
            if let frame = unstuffed(piece), frame.count >= 7, frame.count <= 253 {
                frames.append(frame)
            } else {
                faultCount += 1
            }
        }
        return (frames, faultCount)
    }
}
