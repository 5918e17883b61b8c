/// Reads bit fields from bytes, most significant bit first.
///
/// Bits read past the end have no meaning. ``checkEnd()`` detects such reads, so that a decoder needs one check at the end
/// instead of one at each field.
public struct BitReader: ~Escapable {
    let bytes: Span<UInt8>
    let endBit: Int
    /// Offset of the next bit from the start of the bytes.
    public private(set) var bitPosition: Int
    /// The first invalid field that ``require(_:_:_:)`` recorded, and its code.
    private var invalidField: WireField?
    private var invalidCode: UInt32 = 0

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Reads the payload of a frame whose header and CRC have been verified.
    @_lifetime(copy frame)
    init(payloadOf frame: Span<UInt8>) { self.init(frame, from: FrameHeader.byteCount, to: frame.count &- CRC24.byteCount) }

    /// Reads `bytes` from byte `start` up to but not including byte `end`.
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
        precondition(start >= 0 && start <= end && end <= bytes.count, "a bit reader's range lies in its bytes")
        self.bytes = bytes
        endBit = end &* 8
        bitPosition = start &* 8
    }

    /// Bits not read yet; negative after reading past the end.
    public var remainingBitCount: Int { endBit &- bitPosition }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Reads an unsigned field.
    /// - Parameter count: width in bits, 0 … 32.
    @_lifetime(self: copy self)
    public mutating func read(_ count: Int) -> UInt32 {
        var value: UInt32 = 0
        var rest = count
        while rest > 0 {
            let byte = bitPosition &>> 3 < bytes.count ? UInt32(bytes[bitPosition &>> 3]) : 0
            let unread = 8 &- bitPosition & 7
            let taken = min(unread, rest)
            let bits = byte &>> UInt32(truncatingIfNeeded: unread &- taken) & (1 &<< UInt32(truncatingIfNeeded: taken) &- 1)
            value = value &<< UInt32(truncatingIfNeeded: taken) | bits
            bitPosition &+= taken
            rest &-= taken
        }
        return value
    }

    @_lifetime(self: copy self)
    mutating func readWide() -> UInt64 { UInt64(widening: read(32)) &<< 32 | UInt64(widening: read(32)) }

    @inline(never)
    /// Reads a positive integer of n bits in Elias gamma code: n − 1 zero bits, then the integer.
    /// - Returns: 1 … 2^32 − 1; nil if the code begins with 32 zero bits or is cut off.
    @_lifetime(self: copy self)
    public mutating func readEliasGamma() -> UInt32? {
        var zeroCount = 0
        while remainingBitCount > 0 {
            if read(1) != 0 { return 1 &<< UInt32(truncatingIfNeeded: zeroCount) | read(zeroCount) }
            zeroCount &+= 1
            if zeroCount == 32 { return nil }
        }
        // The code is cut off. A position past the end makes ``checkEnd()`` throw.
        bitPosition = endBit &+ 1
        return nil
    }

    /// Reads a two's complement field.
    /// - Parameter count: width in bits, 1 … 32.
    @_lifetime(self: copy self)
    public mutating func readSigned(_ count: Int) -> Int32 {
        let value = read(count)
        return Int32(bitPattern: value &<< UInt32(32 - count)) &>> Int32(32 - count)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Records the field that was read last, if it is the first invalid one. ``checkEnd()`` and ``checkNotPastEnd()`` then
    /// throw an error that names the field. A field that ends past the payload is not recorded: the error is then that the
    /// payload is cut off.
    /// - Returns: whether the field is valid.
    @discardableResult
    @_lifetime(self: copy self)
    mutating func require(_ isValid: Bool, _ field: WireField, _ code: UInt32) -> Bool {
        if !isValid, remainingBitCount >= 0, invalidField == nil {
            invalidField = field
            invalidCode = code
        }
        return isValid
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Ends reading. Checks that no field is invalid, that nothing was read past the end, and that fewer than 8 bits remain, all
    /// of them zero.
    @_lifetime(self: copy self)
    public mutating func checkEnd() throws(DecodeError) {
        try checkNotPastEnd()
        let remaining = remainingBitCount
        let padding = remaining & 7
        guard padding == 0 || read(padding) == 0 else { throw .nonzeroPadding(bitOffset: endBit &- remaining) }
        guard bitPosition == endBit else { throw .trailingBytes(byteOffset: bitPosition &>> 3) }
    }

    /// Ends reading a message to which a later version can add fields: the bits that remain are ignored.
    public func checkNotPastEnd() throws(DecodeError) {
        if let invalidField { throw .invalidField(invalidField, code: invalidCode) }
        guard remainingBitCount >= 0 else { throw .truncated(bitOffset: endBit) }
    }

    @inline(never)
    /// Reads the id of a receiver, which is never 0.
    @_lifetime(self: copy self)
    mutating func readReceiverID() -> UInt32 {
        let receiverID = read(32)
        require(receiverID != 0, .receiver, 0)
        return receiverID
    }
}
