/// A constant text of at most 32 bytes. It is kept in a 32-byte vector, so that a single store writes the whole text.
struct InlineBytes {
    let bytes: SIMD32<UInt8>
    let count: Int

    init(_ text: String) {
        let utf8 = Array(text.utf8)
        precondition(utf8.count <= 32, "a constant of a line has at most 32 bytes")
        var bytes = SIMD32<UInt8>(repeating: 0)
        for index in utf8.indices { bytes[index] = utf8[index] }
        self.bytes = bytes
        count = utf8.count
    }
}

/// A text of at most eight bytes in one word.
struct InlineWord {
    /// The text's bytes, with the first one in the lowest byte of the word. Bytes above the first `count` have no meaning.
    let bytes: UInt64
    let count: Int

    @inline(__always)
    init(bytes: UInt64, count: Int) {
        self.bytes = bytes
        self.count = count
    }

    init(_ text: String) {
        precondition(text.utf8.count <= 8, "a short word has at most 8 bytes")
        bytes = text.utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        count = text.utf8.count
    }
}
