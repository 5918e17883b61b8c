/// Puts header, payload and check together.
enum FrameEncoder {
    /// Appends one bare frame.
    /// - Parameters:
    ///   - payload: the payload; it is padded to a whole byte.
    ///   - log: what the check is bound to; nil for the types that are not bound.
    /// - Precondition: `output` is empty.
    static func encode(
        header: FrameHeader, payload: inout BitWriter, log: LogIdentity?, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        try encode(header: header, payload: &payload, check: log?.boundCheck ?? CRC24(), into: &output)
    }

    /// The same behind whatever else the check is bound to.
    static func encode(
        header: FrameHeader, payload: inout BitWriter, check: CRC24, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        precondition(output.count == 0, "a frame starts an output of its own")
        guard payload.fits, output.freeCapacity >= Frame.overheadByteCount + (payload.bitCount + 7) / 8 else {
            throw .frameTooSmall(neededByteCount: Frame.overheadByteCount + (payload.bitCount + 7) / 8)
        }
        header.encode(into: &output)
        try payload.finish(into: &output)
        let sum = FrameCheck.checksum(of: output.span, count: output.count, check: check)
        output.append(UInt8(truncatingIfNeeded: sum &>> 16))
        output.append(UInt8(truncatingIfNeeded: sum &>> 8))
        output.append(UInt8(truncatingIfNeeded: sum))
    }
}
