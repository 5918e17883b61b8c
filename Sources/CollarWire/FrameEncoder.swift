/// Puts header, payload and check together.
enum FrameEncoder {
    /// Appends one bare frame.
    /// - Parameters:
    ///   - payload: the payload; it is padded to a whole byte.
    ///   - check: the check over what it is bound to.
    ///   - shortSequence: the sequence of which the payload holds the low bits alone; 0 where there is none.
    /// - Precondition: `output` is empty.
    static func encode(
        header: FrameHeader, payload: inout BitWriter, check: CRC24, shortSequence: UInt32 = 0,
        into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        precondition(output.count == 0, "a frame starts an output of its own")
        try payload.checkFields()
        let byteCount = payload.byteCount &+ Frame.overheadByteCount
        guard payload.fits, output.freeCapacity >= byteCount else { throw .frameTooSmall(neededByteCount: byteCount) }
        header.encode(into: &output)
        payload.append(to: &output)
        let sum = FrameCheck.checksum(of: output.span, count: output.count, check: check, shortSequence: shortSequence)
        output.append(UInt8(truncatingIfNeeded: sum &>> 16))
        output.append(UInt8(truncatingIfNeeded: sum &>> 8))
        output.append(UInt8(truncatingIfNeeded: sum))
    }
}
