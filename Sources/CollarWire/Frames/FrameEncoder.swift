/// Assembles header, payload and CRC.
enum FrameEncoder {
    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Appends one bare frame.
    /// - Parameters:
    ///   - payload: the payload; it is padded to a whole byte.
    ///   - crc: the CRC over what the frame is bound to.
    ///   - shortSequence: the full sequence, if the frame holds only its low 16 bits; else 0.
    /// - Precondition: `output` is empty.
    static func encode(
        header: FrameHeader, payload: inout BitWriter, crc: CRC24, shortSequence: UInt32 = 0,
        into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        precondition(output.count == 0, "a frame starts an output of its own")
        try payload.checkFields()
        let byteCount = payload.byteCount &+ Frame.overheadByteCount
        guard payload.fits, output.freeCapacity >= byteCount else { throw .frameTooSmall(neededByteCount: byteCount) }
        header.encode(into: &output)
        payload.append(to: &output)
        FrameCRC.append(to: &output, crc: crc, shortSequence: shortSequence)
    }
}
