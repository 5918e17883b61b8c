/// Writes bit fields into bytes, most significant bit first.
///
/// Writing more than the limit allows does not trap; ``finish(into:)`` throws an error instead.
public struct BitWriter {
    /// Bytes of storage; the largest payload has 246.
    static let capacity = 248

    private var bytes = InlineArray<248, UInt8>(repeating: 0)
    private var end = Mark()
    private let limit: Int
    /// The first invalid field that ``require(_:_:_:)`` recorded, and its value.
    private var invalidField: WireField?
    private var invalidValue: UInt32 = 0

    struct Mark {
        /// The bits written last; the lowest `pendingBitCount` of them are not stored yet.
        fileprivate var accumulator: UInt = 0
        fileprivate var pendingBitCount = 0
        /// Bytes stored, including those past the limit.
        fileprivate var byteCount = 0
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Creates a writer with room for `byteLimit` bytes, at most 246.
    public init(byteLimit: Int = Frame.maximumPayloadByteCount) {
        limit = byteLimit < Frame.maximumPayloadByteCount ? byteLimit : Frame.maximumPayloadByteCount
    }

    /// Bits written so far, including those past the limit.
    public var bitCount: Int { end.byteCount &* 8 &+ end.pendingBitCount }

    /// Bytes written so far, the last one padded, including those past the limit.
    var byteCount: Int { (bitCount &+ 7) &>> 3 }

    /// Whether everything written is within the limit.
    public var fits: Bool { bitCount <= limit &* 8 }

    /// Bits that still fit; negative after writing past the limit.
    public var remainingBitCount: Int { limit &* 8 &- bitCount }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Writes the lowest `count` bits of an integer; `count` is 0 … 32.
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
        #if hasFeature(Embedded)
        storeBytes()
        #else
        if end.pendingBitCount >= 32 { storeHalfWord() }
        #endif
    }

    #if !hasFeature(Embedded)
    /// Stores four bytes at once, which is faster than one at a time.
    @inline(__always)
    private mutating func storeHalfWord() {
        guard end.byteCount <= BitWriter.capacity - 4 else { return storeBytes() }
        end.pendingBitCount &-= 32
        let word = UInt32(truncatingIfNeeded: end.accumulator &>> UInt(truncatingIfNeeded: end.pendingBitCount))
        var span = bytes.mutableSpan
        span.store(word.bigEndian, at: end.byteCount)
        end.byteCount &+= 4
    }
    #endif

    #if !hasFeature(Embedded)
    @inline(never)
    #endif
    private mutating func storeBytes() {
        while end.pendingBitCount >= 8 {
            end.pendingBitCount &-= 8
            let byte = UInt8(truncatingIfNeeded: end.accumulator &>> UInt(truncatingIfNeeded: end.pendingBitCount))
            if end.byteCount < BitWriter.capacity { bytes[end.byteCount] = byte }
            end.byteCount &+= 1
        }
    }

    mutating func write(wide value: UInt64) {
        write(UInt32(truncatingIfNeeded: value &>> 32), 32)
        write(UInt32(truncatingIfNeeded: value), 32)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Records an invalid field, if it is the first one. After that the output must not be sent.
    mutating func require(_ isValid: Bool, _ field: WireField, _ value: UInt32) {
        if !isValid, invalidField == nil {
            invalidField = field
            invalidValue = value
        }
    }

    /// Throws the first invalid field, if one was recorded.
    func checkFields() throws(EncodeError) {
        if let invalidField { throw .field(invalidField, value: invalidValue) }
    }

    /// Writes the lowest `count` bits of a signed integer in two's complement; `count` is 1 … 32.
    public mutating func writeSigned(_ value: Int32, _ count: Int) { write(UInt32(bitPattern: value), count) }

    @inline(never)
    /// Writes a positive integer in Elias gamma code (``eliasGammaBitCount(_:)`` bits).
    public mutating func writeEliasGamma(_ value: UInt32) {
        precondition(value > 0, "Elias gamma codes start at 1")
        let bitCount = 32 &- value.leadingZeroBitCount
        write(0, bitCount &- 1)
        write(value, bitCount)
    }

    /// Width of the Elias gamma code of `value`, in bits: 1, 3, 5 … 63.
    public static func eliasGammaBitCount(_ value: UInt32) -> Int { 63 &- 2 &* value.leadingZeroBitCount }

    var mark: Mark { end }

    /// Discards everything written after `mark`.
    mutating func goBack(to mark: Mark) { end = mark }

    /// Pads with zero bits to a whole byte, and replaces the upper six bits of the first byte.
    mutating func replaceFirstSixBits(by value: Int) {
        pad()
        bytes[0] = UInt8(truncatingIfNeeded: value &<< 2) | bytes[0] & 3
    }

    /// Pads with zero bits to a whole byte, then removes zero bytes from the end; at least `byteCount` bytes remain.
    mutating func trim(toAtLeast byteCount: Int) {
        pad()
        guard end.byteCount <= BitWriter.capacity else { return }
        while end.byteCount > byteCount, bytes[end.byteCount &- 1] == 0 { end.byteCount &-= 1 }
    }

    /// Pads with zero bits to a whole byte and appends everything to `output`.
    /// - Throws: ``EncodeError/frameTooSmall(neededByteCount:)`` if the bytes do not fit.
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

    /// The bytes written so far, after ``pad()``.
    var written: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(0..<end.byteCount) }
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Pads with zero bits to a whole byte.
    mutating func pad() {
        let incomplete = end.pendingBitCount & 7
        if incomplete > 0 { writePart(0, 8 &- incomplete) }
        #if !hasFeature(Embedded)
        storeBytes()
        #endif
    }
}
