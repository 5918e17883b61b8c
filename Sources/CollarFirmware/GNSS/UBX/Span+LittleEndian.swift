extension Span<UInt8> {
    /// The two bytes from `start` on, the first one least significant.
    func littleEndian16(at start: Int) -> UInt16 { UInt16(self[start]) | UInt16(self[start &+ 1]) &<< 8 }

    /// The four bytes from `start` on, the first one least significant.
    func littleEndian32(at start: Int) -> UInt32 {
        UInt32(littleEndian16(at: start)) | UInt32(littleEndian16(at: start &+ 2)) &<< 16
    }
}
