import CollarReceiver

/// Decodes the frames of a capture.
struct CaptureDecoding {
    private var reader = CaptureReader()
    private var frames = CaptureFrames()
    /// How many bytes that came in at ports there are.
    private(set) var byteCount = 0
    /// Why the capture cannot be read to its end; nil if it can.
    private(set) var fault: CaptureError?

    /// Decodes all frames of a capture, up to its end or its first damage.
    mutating func decode(_ input: inout ChunkInput, _ decoding: inout FrameDecoding) throws(CommandFailure) {
        while fault == nil, let chunk = try input.next() {
            reader.append(chunk)
            do throws(CaptureError) { while let record = try reader.next() { decode(record, &decoding) } } catch { fault = error }
            try decoding.flush()
        }
        guard fault == nil else { return }
        do throws(CaptureError) { try reader.finish() } catch { fault = error }
    }

    private mutating func decode(_ record: CaptureRecord, _ decoding: inout FrameDecoding) {
        if case .read(let bytes) = record.event { byteCount += bytes.count }
        for finding in frames.take(record, at: reader.recordOffset) {
            let place = FramePlace(
                offset: finding.offset,
                capture: .init(
                    port: record.port, direction: finding.direction, unixMilliseconds: finding.unixMilliseconds))
            switch finding.content {
            case .packet(let packet): decoding.decode(packet.span, at: place)
            case .rejected(let fault): decoding.reject(fault, at: place)
            }
        }
    }
}
