/// Writes bit fields into bytes, most significant bit first.
///
/// Writing beyond the room that was given is remembered, not trapped: ``finish(into:)`` reports it.
public struct BitWriter {
    /// Room for the largest payload, a frame of 253 bytes without header and check.
    static let capacity = 248

    private var bytes = InlineArray<248, UInt8>(repeating: 0)
    private var accumulator: UInt64 = 0
    private var pendingBitCount = 0
    private var byteCount = 0
    private let limit: Int

    /// Creates a writer with room for `byteLimit` bytes, at most 246.
    public init(byteLimit: Int = Frame.maximumPayloadByteCount) {
        limit = byteLimit < Frame.maximumPayloadByteCount ? byteLimit : Frame.maximumPayloadByteCount
    }

    /// Bits written so far, also those beyond the room.
    public var bitCount: Int { byteCount * 8 + pendingBitCount }

    /// Whether everything written fits the room.
    public var fits: Bool { bitCount <= limit * 8 }

    /// Bits that still fit.
    public var remainingBitCount: Int { limit * 8 - bitCount }

    /// Writes the low bits of an integer.
    /// - Parameter count: width in bits, 0 … 32.
    public mutating func write(_ value: UInt32, _ count: Int) {
        let masked = UInt64(widening: value) & ((1 &<< shiftCount(count)) - 1)
        accumulator = accumulator &<< shiftCount(count) | masked
        pendingBitCount += count
        while pendingBitCount >= 8 {
            pendingBitCount -= 8
            append(UInt8(truncatingIfNeeded: accumulator &>> shiftCount(pendingBitCount)))
        }
    }

    /// Writes the low bits of a signed integer, two's complement.
    /// - Parameter count: width in bits, 1 … 32.
    public mutating func writeSigned(_ value: Int32, _ count: Int) {
        write(UInt32(bitPattern: value), count)
    }

    /// Writes a positive integer in Elias gamma code (``eliasGammaBitCount(_:)`` bits).
    public mutating func writeEliasGamma(_ value: UInt32) {
        precondition(value > 0, "Elias gamma codes start at 1")
        let bitCount = 32 - value.leadingZeroBitCount
        write(0, bitCount - 1)
        write(value, bitCount)
    }

    /// Width of the Elias gamma code of `value`, in bits: 1, 3, 5 … 63.
    public static func eliasGammaBitCount(_ value: UInt32) -> Int { 2 * (32 - value.leadingZeroBitCount) - 1 }

    /// Pads with zero bits to a whole byte and appends everything to `output`.
    /// - Throws: ``EncodeError/frameTooSmall(neededByteCount:)`` where it does not fit.
    public mutating func finish(into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        if pendingBitCount > 0 { write(0, 8 - pendingBitCount) }
        guard byteCount <= limit, byteCount <= output.freeCapacity else {
            throw .frameTooSmall(neededByteCount: byteCount + Frame.overheadByteCount)
        }
        var index = 0
        while index < byteCount {
            output.append(bytes[index])
            index += 1
        }
    }

    /// Pads with zero bits to a whole byte and adds everything to a check.
    mutating func addTo(_ check: inout CRC24) {
        if pendingBitCount > 0 { write(0, 8 - pendingBitCount) }
        check.update(bytes.span, from: 0, to: byteCount)
    }

    private mutating func append(_ byte: UInt8) {
        if byteCount < BitWriter.capacity { bytes[byteCount] = byte }
        byteCount += 1
    }
}
