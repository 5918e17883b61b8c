/// A collar says which fixes of its log it does not have and will never send: overwritten before they could be
/// delivered, or torn by a power cut while they were written.
///
/// Payload: number of ranges (6 bits, 1 … 32), then in the form of ``Acknowledgement/resend``: the first sequence of
/// the first range as 32 bits, for each further one the number of sequences between it and the one before in Elias
/// gamma code; each followed by the number of sequences in it in Elias gamma code.
public struct Tombstone: Equatable, Sendable {
    /// The ranges that are gone, oldest first, apart from one another, at least one.
    public var ranges: SequenceRangeList

    /// Creates a tombstone.
    public init(ranges: SequenceRangeList) { self.ranges = ranges }

    /// Appends the bare frame. Ranges that do not fit the output are left out, the newest first.
    /// - Throws: ``EncodeError/field(_:value:)`` for no ranges or ranges out of order; an output too small for one.
    public func encode(
        address: UInt8, flags: FrameFlags, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) throws(EncodeError) {
        guard ranges.count > 0 else { throw .field(.range, value: 0) }
        try RangeCoding.validateAscending(ranges)
        let room = min(output.freeCapacity, Frame.maximumByteCount) &- Frame.overheadByteCount
        var payload = BitWriter(byteLimit: room)
        payload.write(0, RangeCoding.countBitCount)
        var count = 0
        while count < ranges.count {
            let mark = payload.mark
            RangeCoding.write(ranges, at: count, into: &payload)
            if !payload.fits {
                // Without a single range it is no tombstone, and what is written does not fit.
                if count > 0 { payload.goBack(to: mark) }
                break
            }
            count &+= 1
        }
        payload.replaceFirstSixBits(by: count)
        let header = FrameHeader(type: .tombstone, flags: flags, address: address)
        try FrameEncoder.encode(header: header, payload: &payload, check: log.boundCheck, into: &output)
    }

    /// Decodes the payload of a frame whose header and check have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        let count = RangeCoding.readCount(&reader)
        reader.require(count > 0, .range, count)
        ranges = SequenceRangeList()
        RangeCoding.readAscending(count, into: &ranges, from: &reader)
        try reader.checkEnd()
    }
}
