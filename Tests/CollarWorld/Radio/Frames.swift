import CollarWire

extension [UInt8] {
    /// The frame that `encode` writes; its content must fit a frame.
    static func frame(_ encode: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void) -> [UInt8] {
        do throws(EncodeError) {
            return try [UInt8](capacity: Frame.maximumByteCount, initializingWith: encode)
        } catch { preconditionFailure("what a simulation sends fits a frame: \(error)") }
    }
}

extension StreamDecoder {
    /// The bare frames in bytes of a serial line.
    mutating func frames(in bytes: [UInt8]) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var index = 0
        while let event = next(in: bytes.span, at: &index) {
            guard case .frame = event else { continue }
            let span = frame
            frames.append(span.indices.map { span[$0] })
        }
        return frames
    }
}

extension SequenceRangeList {
    /// The ranges of the list, in order.
    package var closedRanges: [ClosedRange<UInt32>] { (0..<count).map { self[$0].first...self[$0].last } }
}
