/// The first four bytes of a frame, not encrypted.
///
/// Layout: version (3 bits), type (5), flags (8), address (8), low byte (8).
public struct FrameHeader: Equatable, Sendable {
    /// Bytes on the wire.
    public static var byteCount: Int { 4 }

    /// The type as sent, 0 … 31; see ``type``.
    public var typeCode: UInt8
    /// Flags as sent.
    public var flags: FrameFlags
    /// Address of the collar on the air, 1 … 254; 0 stands for the base radio, 255 for every collar.
    public var address: UInt8
    /// In a fix, the low 8 bits of its sequence; in a batch, the low 8 bits of the first fix's sequence; in an acknowledgement,
    /// the number of the poll that it answers; else 0.
    public var lowByte: UInt8

    /// Creates a header for a message of this version. Without `flags` the message wants no answer.
    @inline(__always)
    init(type: MessageType, flags: FrameFlags = FrameFlags(poll: nil), address: UInt8, lowByte: UInt8 = 0) {
        self.init(typeCode: type.rawValue, flags: flags, address: address, lowByte: lowByte)
    }

    @inline(__always)
    init(typeCode: UInt8, flags: FrameFlags, address: UInt8, lowByte: UInt8) {
        self.typeCode = typeCode
        self.flags = flags
        self.address = address
        self.lowByte = lowByte
    }

    /// The type; nil if this version does not know it.
    public var type: MessageType? { MessageType(rawValue: typeCode) }

    /// Reads the header of a bare frame that is not sealed.
    /// - Throws: ``DecodeError`` for a frame below 7 or above 253 bytes, another version, an unknown critical flag, or a sealed
    ///   frame. The CRC is not verified here.
    public init(_ frame: Span<UInt8>) throws(DecodeError) {
        try self.init(ofAny: frame)
        guard !flags.isSealed else { throw .sealed }
    }

    /// Reads the header of a bare frame, sealed or not.
    /// - Throws: ``DecodeError`` for a frame below 7 or above 253 bytes, another version, or an unknown critical flag.
    public init(ofAny frame: Span<UInt8>) throws(DecodeError) {
        guard frame.count >= Frame.overheadByteCount else { throw .tooShort(byteCount: frame.count) }
        guard frame.count <= Frame.maximumByteCount else { throw .tooLong(byteCount: frame.count) }
        let version = frame[0] &>> 5
        guard version == Frame.protocolVersion else { throw .unsupportedVersion(version) }
        typeCode = FrameHeader.typeCode(of: frame)
        flags = FrameFlags(rawValue: frame[1])
        address = frame[2]
        lowByte = frame[3]
        guard flags.unknownCriticalBits == 0 else { throw .unknownCriticalFlags(flags.unknownCriticalBits) }
    }

    /// The first byte of a header: version and type.
    @inline(__always)
    static func firstByte(typeCode: UInt8) -> UInt8 { Frame.protocolVersion &<< 5 | typeCode }

    /// The type in the first byte of a frame, 0 … 31.
    @inline(__always)
    static func typeCode(of frame: Span<UInt8>) -> UInt8 { frame[0] & 0x1F }

    /// Appends the four bytes.
    public func encode(into output: inout OutputSpan<UInt8>) {
        output.append(FrameHeader.firstByte(typeCode: typeCode))
        output.append(flags.rawValue)
        output.append(address)
        output.append(lowByte)
    }
}
