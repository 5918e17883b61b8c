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
