import CollarWire

/// The effect of inverted bits on the CRC of frames of one length.
///
/// A CRC is linear: the change of the residue (computed CRC xor sent CRC) by an error depends on the error alone. It is the
/// xor of the changes by the single bits of the error. An error whose change is 0 is not detected.
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

    /// The CRC computed over a frame, xor the CRC that the frame holds; 0 if the frame is valid.
    static func residue(of frame: [UInt8]) -> UInt32 {
        let end = frame.count - CRC24.byteCount
        let sent = UInt32(frame[end]) &<< 16 | UInt32(frame[end + 1]) &<< 8 | UInt32(frame[end + 2])
        return FrameCRC.checksum(of: frame.span, count: end, log: nil) ^ sent
    }
}
