import CollarWire

/// What flipping bits does to the check of frames of one length.
///
/// A CRC is linear: the change that an error makes to the residue (computed check xor sent check) depends on the error
/// alone, and is the xor of the changes of its bits. Errors whose change is 0 go unnoticed.
struct Syndromes {
    /// The change of the residue by each single bit of the frame.
    let ofBit: [UInt32]

    init(frameByteCount: Int) {
        var frame = [UInt8](repeating: 0, count: frameByteCount)
        let residue = Syndromes.residue(of: frame)
        ofBit = (0..<frame.bitCount).map { bit in
            frame.flip(bit: bit)
            defer { frame.flip(bit: bit) }
            return Syndromes.residue(of: frame) ^ residue
        }
    }

    /// The check computed over a frame, xor the check it carries; 0 where the frame is valid.
    static func residue(of frame: [UInt8]) -> UInt32 {
        let end = frame.count - CRC24.byteCount
        let sent = UInt32(frame[end]) &<< 16 | UInt32(frame[end + 1]) &<< 8 | UInt32(frame[end + 2])
        return FrameCheck.checksum(of: frame.span, count: end, log: nil) ^ sent
    }
}
