/// Names fixes that a collar does not have in its log and will never send: those overwritten before they were delivered, and
/// those torn by a power cut while they were written.
///
/// Payload: number of ranges (6 bits, 1 … 32), then the ranges in the form of ``Acknowledgement/resend``. The first range
/// begins with its first sequence (32 bits), each further one with the number of sequences between it and the range before it
/// (Elias gamma code). The number of sequences in the range follows (Elias gamma code).
public struct Tombstone: Equatable, Sendable {
    /// The ranges that are gone, oldest first, at least one; they do not touch.
    public var ranges: SequenceRangeList

    /// Creates a tombstone.
    public init(ranges: SequenceRangeList) { self.ranges = ranges }

    /// Appends the bare frame. Ranges that do not fit the output are left out, beginning with the newest.
    /// - Throws: ``EncodeError/field(_:value:)`` if there is no range or ranges are out of order;
    ///   ``EncodeError/frameTooSmall(neededByteCount:)`` if the output is too small for one range.
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
                // A tombstone needs one range. If not even one fits, the payload does not fit, and encoding throws.
                if count > 0 { payload.goBack(to: mark) }
                break
            }
            count &+= 1
        }
        payload.replaceFirstSixBits(by: count)
        try payload.encode(as: .tombstone, flags: flags, address: address, crc: log.boundCRC, into: &output)
    }

    /// Decodes the payload of a frame whose header and CRC have been verified.
    public init(decoding frame: Span<UInt8>) throws(DecodeError) {
        var reader = BitReader(payloadOf: frame)
        let count = RangeCoding.readCount(&reader)
        reader.require(count > 0, .range, count)
        ranges = SequenceRangeList()
        RangeCoding.readAscending(count, into: &ranges, from: &reader)
        try reader.checkEnd()
    }
}

extension FrameFlags {
    private static let deliveredElsewhereBit: UInt8 = 0b0000_1000

    /// Flags of a tombstone. `isDeliveredElsewhere` tells whether a former receiver of the collar acknowledged the fixes that the
    /// tombstone names; if not, these fixes are lost.
    public init(poll: PollNumber?, isDeliveredElsewhere: Bool) {
        self.init(poll: poll)
        if isDeliveredElsewhere { rawValue |= FrameFlags.deliveredElsewhereBit }
    }

    /// In a tombstone: whether a former receiver of the collar acknowledged the fixes that the tombstone names.
    public var isDeliveredElsewhere: Bool { rawValue & FrameFlags.deliveredElsewhereBit != 0 }
}
