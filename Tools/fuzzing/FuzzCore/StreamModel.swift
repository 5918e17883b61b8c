/// A slow and plain model of section 4 of PROTOCOL.md: the bytes between two zero bytes are one frame or one fault.
struct StreamModel {
    private var piece: [UInt8] = []
    private var frame: [UInt8] = []

    init() {
        piece.reserveCapacity(4096)
        frame.reserveCapacity(4096)
    }

    /// Reads a whole stream from its start.
    mutating func read(_ bytes: Span<UInt8>) -> StreamEvents {
        var events = StreamEvents()
        piece.removeAll(keepingCapacity: true)
        for index in bytes.indices {
            guard bytes[index] == 0 else {
                piece.append(bytes[index])
                continue
            }
            end(index + 1, &events)
            piece.removeAll(keepingCapacity: true)
        }
        return events
    }

    private mutating func end(_ position: Int, _ events: inout StreamEvents) {
        if piece.isEmpty { return }
        if piece.count > 254 { return events.add(.tooLong, at: position) }
        frame.removeAll(keepingCapacity: true)
        var start = 0
        while start < piece.count {
            let length = Int(piece[start]) - 1
            guard start + 1 + length <= piece.count else { return events.add(.brokenStuffing, at: position) }
            if start > 0 { frame.append(0) }
            frame.append(contentsOf: piece[(start + 1)..<(start + 1 + length)])
            start += 1 + length
        }
        if frame.count < 7 { return events.add(.tooShort, at: position) }
        events.add(frame.span, at: position)
    }
}
