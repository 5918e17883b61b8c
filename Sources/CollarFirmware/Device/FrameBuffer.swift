import CollarWire

/// A frame in memory of fixed size.
struct FrameBuffer {
    private var storage = InlineArray<253, UInt8>(repeating: 0)
    private var count = 0

    /// Creates the frame that `write` appends to an empty output with room for the largest one.
    init(_ write: (inout OutputSpan<UInt8>) -> Void) {
        var count = 0
        storage = InlineArray { (output: inout OutputSpan<UInt8>) in
            write(&output)
            count = output.count
            while output.freeCapacity > 0 { output.append(0) }
        }
        self.count = count
    }

    /// The bytes of the frame.
    var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(0..<count) }
    }
}
