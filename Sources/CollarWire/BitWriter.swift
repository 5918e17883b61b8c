/// Writes bit fields into bytes, most significant bit first.
///
/// Writing beyond the room that was given is remembered, not trapped: ``finish(into:)`` reports it.
public struct BitWriter {
    /// Room for the largest payload, a frame of 253 bytes without header and check.
    static let capacity = 248

    private var bytes = InlineArray<248, UInt8>(repeating: 0)
    private var end = Mark()
    private let limit: Int
    /// The first invalid field, see ``require(_:_:_:)``, and its value.
    private var invalidField: WireField?
    private var invalidValue: UInt32 = 0

    /// A place in what is written.
    struct Mark {
        /// The last bits, of which the lowest `pendingBitCount` are not written yet.
        fileprivate var accumulator: UInt = 0
        fileprivate var pendingBitCount = 0
        /// Whole bytes, also those beyond the room.
        fileprivate(set) var byteCount = 0
        /// The same without the zero bytes at the end.
        fileprivate var significantByteCount = 0
    }

    /// Creates a writer with room for `byteLimit` bytes, at most 246.
    public init(byteLimit: Int = Frame.maximumPayloadByteCount) {
        limit = byteLimit < Frame.maximumPayloadByteCount ? byteLimit : Frame.maximumPayloadByteCount
    }

    /// Bits written so far, also those beyond the room.
    public var bitCount: Int { end.byteCount &* 8 &+ end.pendingBitCount }

    /// Bytes written so far, padded, also those beyond the room.
    var byteCount: Int { (bitCount &+ 7) &>> 3 }

    /// Whether everything written fits the room.
    public var fits: Bool { bitCount <= limit &* 8 }

    /// Bits that still fit.
    public var remainingBitCount: Int { limit &* 8 &- bitCount }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Writes the low bits of an integer.
    /// - Parameter count: width in bits, 0 … 32.
    public mutating func write(_ value: UInt32, _ count: Int) {
        // Half a word and up to 7 pending bits fit a word.
        let most = UInt.bitWidth / 2
        if count > most { writePart(value &>> UInt32(truncatingIfNeeded: most), count &- most) }
        writePart(value, min(count, most))
    }

    private mutating func writePart(_ value: UInt32, _ count: Int) {
        let mask: UInt = 1 &<< UInt(truncatingIfNeeded: count) &- 1
        end.accumulator = end.accumulator &<< UInt(truncatingIfNeeded: count) | UInt(truncatingIfNeeded: value) & mask
        end.pendingBitCount &+= count
        while end.pendingBitCount >= 8 {
            end.pendingBitCount &-= 8
            append(UInt8(truncatingIfNeeded: end.accumulator &>> UInt(truncatingIfNeeded: end.pendingBitCount)))
        }
    }

    /// Writes 64 bits.
    mutating func write(wide value: UInt64) {
        write(UInt32(truncatingIfNeeded: value &>> 32), 32)
        write(UInt32(truncatingIfNeeded: value), 32)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Notes that a field is invalid, unless one was before: what is written must not be sent then.
    mutating func require(_ isValid: Bool, _ field: WireField, _ value: UInt32) {
        if !isValid, invalidField == nil {
            invalidField = field
            invalidValue = value
        }
    }

    /// The first invalid field.
    func checkFields() throws(EncodeError) {
        if let invalidField { throw .field(invalidField, value: invalidValue) }
    }

    /// Writes the low bits of a signed integer, two's complement.
    /// - Parameter count: width in bits, 1 … 32.
    public mutating func writeSigned(_ value: Int32, _ count: Int) {
        write(UInt32(bitPattern: value), count)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Writes a positive integer in Elias gamma code (``eliasGammaBitCount(_:)`` bits).
    public mutating func writeEliasGamma(_ value: UInt32) {
        precondition(value > 0, "Elias gamma codes start at 1")
        let bitCount = 32 &- value.leadingZeroBitCount
        write(0, bitCount &- 1)
        write(value, bitCount)
    }

    /// Width of the Elias gamma code of `value`, in bits: 1, 3, 5 … 63.
    public static func eliasGammaBitCount(_ value: UInt32) -> Int { 63 &- 2 &* value.leadingZeroBitCount }

    /// Where the writer stands.
    var mark: Mark { end }

    /// Forgets what was written since.
    mutating func goBack(to mark: Mark) { end = mark }

    /// Replaces the upper six bits of the first byte, which is written already.
    mutating func replaceFirstSixBits(by value: Int) {
        bytes[0] = UInt8(truncatingIfNeeded: value &<< 2) | bytes[0] & 3
    }

    /// Pads with zero bits to a whole byte, then takes zero bytes from the end, down to `byteCount`.
    mutating func trim(toAtLeast byteCount: Int) {
        pad()
        end.byteCount = max(byteCount, end.significantByteCount)
    }

    /// Pads with zero bits to a whole byte and appends everything to `output`.
    /// - Throws: ``EncodeError/frameTooSmall(neededByteCount:)`` where it does not fit.
    public mutating func finish(into output: inout OutputSpan<UInt8>) throws(EncodeError) {
        guard fits, byteCount <= output.freeCapacity else {
            throw .frameTooSmall(neededByteCount: byteCount &+ Frame.overheadByteCount)
        }
        append(to: &output)
    }

    /// Pads with zero bits to a whole byte and appends everything to `output`, which has room for it.
    mutating func append(to output: inout OutputSpan<UInt8>) {
        pad()
        var index = 0
        while index < end.byteCount {
            output.append(bytes[index])
            index &+= 1
        }
    }

    /// Pads with zero bits to a whole byte and adds everything to a check.
    mutating func addTo(_ check: inout CRC24) {
        pad()
        check.update(bytes.span, from: 0, to: end.byteCount)
    }

    private mutating func pad() {
        if end.pendingBitCount > 0 { writePart(0, 8 &- end.pendingBitCount) }
    }

    private mutating func append(_ byte: UInt8) {
        if end.byteCount < BitWriter.capacity { bytes[end.byteCount] = byte }
        end.byteCount &+= 1
        if byte != 0 { end.significantByteCount = end.byteCount }
    }
}
